//! `piecewise`: two lines where one does not fit, as when large outputs spill.

use super::super::history::Sample;
use super::{Estimate, Fitted, Line, TaskTimeModel, points};

/// Two lines with a threshold between them where that fits clearly better than one: a map whose output no longer fits
/// into memory spills and merges (Fig. 1c).
pub(super) struct Piecewise;

struct TwoLines {
    threshold: f64,
    below: Line,
    above: Line,
}

/// Tasks on each side of a threshold, at least.
const SIDE: usize = 5;
/// Thresholds that are tried first.
const THRESHOLDS: usize = 32;
/// Two lines have to leave less than this share of the squares.
const CLEARLY: f64 = 0.7;

impl TaskTimeModel for Piecewise {
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let mut points = points(samples);
        let one = Line::through(&points)?;
        points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let places = (SIDE..points.len().saturating_sub(SIDE - 1)).filter(|&at| points[at - 1].0 < points[at].0);
        let places: Vec<usize> = places.collect();
        let squares = |two: &TwoLines| two.below.squares + two.above.squares;
        let best_of = |tried: &mut dyn Iterator<Item = usize>| {
            let lines = tried.filter_map(|place| {
                let at = *places.get(place)?;
                let (below, above) = (Line::through(&points[..at])?, Line::through(&points[at..])?);
                Some((place, TwoLines { threshold: points[at].0, below, above }))
            });
            lines.min_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)))
        };
        // A few all over, then all between the best one's neighbours.
        let step = places.len().div_ceil(THRESHOLDS).max(1);
        let coarse = best_of(&mut (0..places.len()).step_by(step)).map_or(0, |best| best.0);
        let best = best_of(&mut (coarse.saturating_sub(step)..=coarse + step)).map(|best| best.1);
        match best.filter(|two| squares(two) < CLEARLY * one.squares) {
            Some(two) => Some(Box::new(two)),
            None => Some(Box::new(one)),
        }
    }
}

impl Fitted for TwoLines {
    fn estimate(&self, bytes: u64, _worker: Option<&str>) -> Estimate {
        if (bytes as f64) < self.threshold { self.below.at(bytes) } else { self.above.at(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate, ms, sample};
    use super::*;

    // As TeraSort's maps in Fig. 1c: one line below 27 MB, a steeper and higher one above.
    #[test]
    fn two_lines_are_found_where_one_does_not_fit_and_one_where_it_does() {
        let time = |mib: u64| if mib < 27 { 1_500 + 30 * mib } else { 2_600 + 45 * mib };
        let samples: Vec<Sample> = (1..70).map(|mib| sample(mib, time(mib), "w")).collect();
        for mib in [5, 26, 30, 60] {
            let found = ms(estimate("piecewise", &samples, mib, None)) as f64;
            assert!((found / time(mib) as f64 - 1.0).abs() < 0.05, "{mib} MiB: {found}");
        }
        let one = ms(estimate("linear", &samples, 26, None)) as f64;
        assert!((one / time(26) as f64 - 1.0).abs() > 0.05, "one line misses: {one}");
        let straight: Vec<Sample> = (1..70).map(|mib| sample(mib, 1_000 + 40 * mib + mib % 3, "w")).collect();
        let [two, one] = ["piecewise", "linear"].map(|model| ms(estimate(model, &straight, 33, None)));
        assert_eq!(two, one);
    }
}
