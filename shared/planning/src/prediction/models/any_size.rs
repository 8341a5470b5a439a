//! The estimate for a task whose input is of unknown size, the same under every model.

use super::super::history::Sample;
use super::{Estimate, Mean, Quantile, TaskTimeModel};

/// Of a task whose input may have any size, where that of others is known: their mean, from their quantile at 5 % to that at
/// 95 %, and as far from the mean at least as one task of the class alone would tell, half of it either way.
pub(in super::super) fn whatever_the_size(samples: &[&Sample]) -> Option<Estimate> {
    let expected = Mean.fit(samples)?.estimate(0, None).expected;
    let Estimate { low, high, .. } = Quantile.fit(samples)?.estimate(0, None);
    Some(Estimate { expected, low: low.min(0.5 * expected), high: high.max(1.5 * expected) })
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

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
}
