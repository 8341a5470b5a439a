//! `linear`, the paper's model, and the line that others are made of, too.

use super::super::history::Sample;
use super::{Estimate, Fitted, TWO_SIDED_90, TaskTimeModel};

/// A straight line by least squares (§II-A). Where all sizes are the same, or more input would take less time, the mean.
pub(super) struct Linear;

/// A line, and how far tasks lie from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    n: f64,
    mean_bytes: f64,
    mean_time: f64,
    slope: f64,
    /// Sum of squared distances of sizes from their mean.
    spread: f64,
    /// Of a task from the line.
    deviation: f64,
    /// Sum of squared distances of tasks from the line.
    pub(super) squares: f64,
}

impl Line {
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Line> {
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

    pub(super) fn at(&self, bytes: u64) -> Estimate {
        let from_mean = bytes as f64 - self.mean_bytes;
        let away = if self.slope > 0.0 { from_mean.powi(2) / self.spread } else { 0.0 };
        let deviation = self.deviation * (1.0 + 1.0 / self.n + away).sqrt();
        Estimate::within(self.mean_time + self.slope * from_mean, deviation)
    }
}

pub(super) fn points(samples: &[&Sample]) -> Vec<(f64, f64)> {
    samples.iter().map(|sample| (sample.bytes.unwrap_or(0) as f64, sample.time.as_us() as f64)).collect()
}

impl TaskTimeModel for Linear {
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        Some(Box::new(Line::through(&points(samples))?))
    }
}

impl Fitted for Line {
    fn estimate(&self, bytes: u64, _worker: Option<&str>) -> Estimate {
        self.at(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate, ms, sample};
    use super::*;

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
}
