//! `quantile`: the median of the class, whatever the size, with the quantiles at 5 % and 95 %: stragglers do not move it.

use super::super::history::Sample;
use super::{Estimate, Fitted, TaskTimeModel};

/// The model.
pub(super) struct Quantile;

/// What it has learnt: the same for every task.
struct Quantiles(Estimate);

impl TaskTimeModel for Quantile {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate, ms, sample};
    use super::*;

    #[test]
    fn a_straggler_moves_the_mean_and_not_the_median() {
        let mut samples: Vec<Sample> = (0..9).map(|_| sample(1, 1_000, "w")).collect();
        samples.push(sample(1, 11_000, "w"));
        assert_eq!(
            [ms(estimate("mean", &samples, 1, None)), ms(estimate("quantile", &samples, 1, None))],
            [2_000, 1_000]
        );
    }
}
