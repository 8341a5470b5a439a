//! How the time of a task is predicted from those of its class: the paper's line, and others beside it.
//!
//! A model is fitted once to what is remembered and then asked for each task. A new one is a type under
//! [`TaskTimeModel`] and a line in [`MODELS`]. Times are in microseconds, sizes in bytes.

use super::history::Sample;

/// What 90 % of a normal distribution stay within, either way, in standard deviations.
pub(super) const TWO_SIDED_90: f64 = 1.645;

/// A time with the interval in which 90 % of such tasks are expected, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The time.
    pub expected: f64,
    /// The interval's ends.
    pub low: f64,
    /// The interval's ends.
    pub high: f64,
}

impl Estimate {
    /// With a standard deviation.
    fn within(expected: f64, deviation: f64) -> Estimate {
        let expected = expected.max(1.0);
        let half = TWO_SIDED_90 * deviation;
        Estimate { expected, low: (expected - half).max(0.0), high: expected + half }
    }

    /// With an interval of another width around the same time.
    pub(super) fn scaled(self, by: f64) -> Estimate {
        let Estimate { expected, low, high } = self;
        Estimate { expected, low: (expected - by * (expected - low)).max(0.0), high: expected + by * (high - expected) }
    }

    /// Of a place where everything takes so many times as long.
    pub(super) fn times(self, by: f64) -> Estimate {
        let Estimate { expected, low, high } = self;
        Estimate { expected: expected * by, low: low * by, high: high * by }
    }

    /// How far off it is from what a task took, in halves of the interval: 1 at its ends.
    pub(super) fn error(&self, time: f64) -> f64 {
        let half = if time < self.expected { self.expected - self.low } else { self.high - self.expected };
        (time - self.expected).abs() / half.max(1.0)
    }

    /// Whether a task's time lies within.
    pub fn holds(&self, time: f64) -> bool {
        self.low <= time && time <= self.high
    }
}

/// A way to tell times.
pub trait TaskTimeModel: Send + Sync {
    /// As chosen by name.
    fn name(&self) -> &'static str;

    /// Learns from finished tasks of one class, oldest first: of known size all of them, or none, which is as if all sizes
    /// were 0. `None` if they do not tell enough.
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>>;
}

/// What was learnt of a class.
pub trait Fitted: Send + Sync {
    /// The time of a task with so much input on a worker, which is not always known.
    fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate;

    /// Whether the worker makes a difference.
    fn reads_worker(&self) -> bool {
        false
    }
}

/// All models by name: the paper's first.
pub const MODELS: [&str; 5] = ["linear", "piecewise", "mean", "quantile", "per-worker"];

pub fn by_name(name: &str) -> Option<Box<dyn TaskTimeModel>> {
    Some(match name {
        "linear" => Box::new(Linear),
        "piecewise" => Box::new(Piecewise),
        "mean" => Box::new(Mean),
        "quantile" => Box::new(Quantile),
        "per-worker" => Box::new(PerWorker),
        _ => return None,
    })
}

/// A straight line by least squares (§II-A). Where all sizes are the same, or more input would take less time, the mean.
struct Linear;

/// A line, and how far tasks lie from it.
#[derive(Clone, Copy, Debug)]
struct Line {
    n: f64,
    mean_bytes: f64,
    mean_time: f64,
    slope: f64,
    /// Sum of squared distances of sizes from their mean.
    spread: f64,
    /// Of a task from the line.
    deviation: f64,
    squares: f64,
}

impl Line {
    fn through(points: &[(f64, f64)]) -> Option<Line> {
        if points.is_empty() {
            return None;
        }
        let n = points.len() as f64;
        let mean_bytes = points.iter().map(|point| point.0).sum::<f64>() / n;
        let mean_time = points.iter().map(|point| point.1).sum::<f64>() / n;
        let spread: f64 = points.iter().map(|point| (point.0 - mean_bytes).powi(2)).sum();
        let product: f64 = points.iter().map(|point| (point.0 - mean_bytes) * (point.1 - mean_time)).sum();
        let slope = if spread > 0.0 { (product / spread).max(0.0) } else { 0.0 };
        let from_line = |point: &(f64, f64)| point.1 - mean_time - slope * (point.0 - mean_bytes);
        let squares: f64 = points.iter().map(|point| from_line(point).powi(2)).sum();
        let free = n - if slope > 0.0 { 2.0 } else { 1.0 };
        // One task, or two on their own line, do not tell how far others are: half of the time either way, as 90 %.
        let deviation = if free > 0.0 { (squares / free).sqrt() } else { mean_time / 2.0 / TWO_SIDED_90 };
        Some(Line { n, mean_bytes, mean_time, slope, spread, deviation, squares })
    }

    fn at(&self, bytes: u64) -> Estimate {
        let from_mean = bytes as f64 - self.mean_bytes;
        let away = if self.slope > 0.0 { from_mean.powi(2) / self.spread } else { 0.0 };
        let deviation = self.deviation * (1.0 + 1.0 / self.n + away).sqrt();
        Estimate::within(self.mean_time + self.slope * from_mean, deviation)
    }
}

fn points(samples: &[&Sample]) -> Vec<(f64, f64)> {
    samples.iter().map(|sample| (sample.bytes.unwrap_or(0) as f64, sample.time.as_us() as f64)).collect()
}

impl TaskTimeModel for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        Some(Box::new(Line::through(&points(samples))?))
    }
}

impl Fitted for Line {
    fn estimate(&self, bytes: u64, _worker: Option<&str>) -> Estimate {
        self.at(bytes)
    }
}

/// Two lines with a threshold between them where that fits clearly better than one: a map whose output no longer fits
/// into memory spills and merges (Fig. 1c).
struct Piecewise;

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
    fn name(&self) -> &'static str {
        "piecewise"
    }

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

/// The mean, whatever the size.
struct Mean;

impl TaskTimeModel for Mean {
    fn name(&self) -> &'static str {
        "mean"
    }

    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let flat: Vec<(f64, f64)> = points(samples).into_iter().map(|(_, time)| (0.0, time)).collect();
        Some(Box::new(Line::through(&flat)?))
    }
}

/// The median, with the quantiles at 5 % and 95 %: stragglers do not move it.
struct Quantile;

struct Quantiles(Estimate);

impl TaskTimeModel for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let mut times: Vec<u64> = samples.iter().map(|sample| sample.time.as_us()).collect();
        times.sort_unstable();
        let at = |per_mille: usize| times.get((times.len().saturating_sub(1) * per_mille + 500) / 1_000).copied();
        let (low, expected, high) = (at(50)?, at(500)?, at(950)?);
        Some(Box::new(Quantiles(Estimate { expected: (expected as f64).max(1.0), low: low as f64, high: high as f64 })))
    }
}

impl Fitted for Quantiles {
    fn estimate(&self, _bytes: u64, _worker: Option<&str>) -> Estimate {
        self.0
    }
}

/// Of a task whose input may have any size, where that of others is known: their mean, from their quantile at 5 % to that at
/// 95 %, and as far from the mean at least as one task of the class alone would tell, half of it either way.
pub(super) fn whatever_the_size(samples: &[&Sample]) -> Option<Estimate> {
    let expected = Mean.fit(samples)?.estimate(0, None).expected;
    let Estimate { low, high, .. } = Quantile.fit(samples)?.estimate(0, None);
    Some(Estimate { expected, low: low.min(0.5 * expected), high: high.max(1.5 * expected) })
}

/// A line for each worker that has finished enough tasks of the class, and one for the others: machines differ.
struct PerWorker;

struct Workers {
    all: Line,
    of: std::collections::BTreeMap<String, Line>,
}

impl TaskTimeModel for PerWorker {
    fn name(&self) -> &'static str {
        "per-worker"
    }

    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let all = Line::through(&points(samples))?;
        let mut by_worker: std::collections::BTreeMap<String, Vec<&Sample>> = std::collections::BTreeMap::new();
        for sample in samples {
            by_worker.entry(sample.worker.clone()).or_default().push(sample);
        }
        let enough = by_worker.into_iter().filter(|(_, samples)| samples.len() >= SIDE);
        let of = enough.filter_map(|(worker, samples)| Some((worker, Line::through(&points(&samples))?))).collect();
        Some(Box::new(Workers { all, of }))
    }
}

impl Fitted for Workers {
    fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate {
        worker.and_then(|worker| self.of.get(worker)).unwrap_or(&self.all).at(bytes)
    }

    fn reads_worker(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::time::Span;

    fn sample(mib: u64, ms: u64, worker: &str) -> Sample {
        Sample { bytes: Some(mib << 20), time: Span::from_ms(ms), worker: worker.to_owned(), place: None }
    }

    fn estimate(model: &str, samples: &[Sample], mib: u64, worker: Option<&str>) -> Option<Estimate> {
        let samples: Vec<&Sample> = samples.iter().collect();
        Some(by_name(model).expect("it is listed").fit(&samples)?.estimate(mib << 20, worker))
    }

    fn ms(estimate: Option<Estimate>) -> u64 {
        (estimate.expect("there are samples").expected / 1e3).round() as u64
    }

    #[test]
    fn every_listed_model_is_found_under_its_name_and_says_nothing_without_samples() {
        for name in MODELS {
            assert_eq!(by_name(name).expect("it is listed").name(), name);
            assert_eq!(estimate(name, &[], 1, None), None);
        }
        assert!(by_name("oracle").is_none());
    }

    #[test]
    fn a_line_goes_on_beyond_the_sizes_it_was_learnt_from() {
        let samples: Vec<Sample> = (1..20).map(|mib| sample(mib, 1_000 + 50 * mib, "w")).collect();
        assert_eq!(ms(estimate("linear", &samples, 5, None)), 1_250);
        assert_eq!(ms(estimate("linear", &samples, 100, None)), 6_000);
        let exact = estimate("linear", &samples, 5, None).expect("it is known");
        assert!(exact.high - exact.low < 1_000.0, "{exact:?}");
    }

    #[test]
    fn one_task_tells_a_time_with_a_wide_interval() {
        let one = estimate("linear", &[sample(8, 2_000, "w")], 64, None).expect("one is something");
        assert_eq!(one.expected, 2_000_000.0);
        assert!(one.low < 700_000.0 && one.high > 3_300_000.0, "{one:?}");
    }

    #[test]
    fn more_input_never_takes_less_time() {
        let samples = [sample(1, 3_000, "w"), sample(2, 2_000, "w"), sample(3, 1_000, "w")];
        assert_eq!(ms(estimate("linear", &samples, 9, None)), 2_000, "the mean");
    }

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

    #[test]
    fn a_task_of_any_size_takes_the_mean_and_is_never_told_closely() {
        let told = |ms: &[u64]| {
            let samples: Vec<Sample> = ms.iter().map(|&ms| sample(64, ms, "w")).collect();
            let told = whatever_the_size(&samples.iter().collect::<Vec<_>>())?;
            Some([told.low, told.expected, told.high].map(|us| us as u64 / 1_000))
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[1_000; 50]), Some([500, 1_000, 1_500]), "that others were alike does not say that it is");
        assert_eq!(told(&[100, 200, 300, 3_400]), Some([100, 1_000, 3_400]));
    }

    #[test]
    fn a_straggler_moves_the_mean_and_not_the_median() {
        let mut samples: Vec<Sample> = (0..9).map(|_| sample(1, 1_000, "w")).collect();
        samples.push(sample(1, 11_000, "w"));
        assert_eq!(
            [ms(estimate("mean", &samples, 1, None)), ms(estimate("quantile", &samples, 1, None))],
            [2_000, 1_000]
        );
    }

    #[test]
    fn a_slow_worker_has_its_own_line() {
        let of = |worker: &str, ms: u64| (0..9).map(move |_| sample(1, ms, worker)).collect::<Vec<_>>();
        let both: Vec<Sample> =
            ["fast", "slow"].into_iter().zip([1_000, 3_000]).flat_map(|(w, ms)| of(w, ms)).collect();
        let of = |worker| ms(estimate("per-worker", &both, 1, worker));
        assert_eq!([of(Some("fast")), of(Some("slow")), of(Some("new")), of(None)], [1_000, 3_000, 2_000, 2_000]);
    }
}
