//! `mean`: the mean of the class, whatever the size.

use super::super::history::Sample;
use super::{Fitted, Line, TaskTimeModel, points};

/// The mean, whatever the size.
pub(super) struct Mean;

impl TaskTimeModel for Mean {
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let flat: Vec<(f64, f64)> = points(samples).into_iter().map(|(_, time)| (0.0, time)).collect();
        Some(Box::new(Line::through(&flat)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate, ms, sample};

    #[test]
    fn every_size_takes_the_mean() {
        let samples = [sample(1, 1_000, "w"), sample(9, 4_000, "w")];
        for mib in [1, 9, 100] {
            assert_eq!(ms(estimate("mean", &samples, mib, None)), 2_500, "{mib} MiB");
        }
    }
}
