//! Mean and standard deviation of numbers that change one by one, as whole numbers: comparisons with them are exact.

/// Count, sum and sum of squares, as Hadoop's `DataStatistics` in doubles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    n: u32,
    sum: i128,
    squares: i128,
}

impl Statistics {
    pub(super) fn add(&mut self, number: u64) {
        let number = i128::from(number);
        self.n += 1;
        self.sum += number;
        self.squares = self.squares.saturating_add(number.saturating_mul(number));
    }

    /// One of the numbers has changed.
    pub(super) fn replace(&mut self, old: u64, new: u64) {
        let (old, new) = (i128::from(old), i128::from(new));
        self.sum += new - old;
        self.squares = self.squares.saturating_add(new.saturating_mul(new)).saturating_sub(old.saturating_mul(old));
    }

    /// Whether a number is more than so many standard deviations, in thousandths, below the mean.
    pub(super) fn is_far_below(&self, number: u64, deviations_milli: u32) -> bool {
        let n = i128::from(self.n);
        self.is_far(self.sum - n.saturating_mul(i128::from(number)), deviations_milli)
    }

    /// The same above the mean.
    pub(super) fn is_far_above(&self, number: u64, deviations_milli: u32) -> bool {
        let n = i128::from(self.n);
        self.is_far(n.saturating_mul(i128::from(number)) - self.sum, deviations_milli)
    }

    /// `distance` is n times the one to the mean: d ÷ n > k σ, and n² σ² is n Σx² − (Σx)².
    fn is_far(&self, distance: i128, deviations_milli: u32) -> bool {
        if distance <= 0 {
            return false;
        }
        let spread = i128::from(self.n).saturating_mul(self.squares) - self.sum.saturating_mul(self.sum);
        let milli = i128::from(deviations_milli);
        let left = distance.saturating_mul(1_000).saturating_mul(distance.saturating_mul(1_000));
        left > spread.max(0).saturating_mul(milli * milli)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_compared_with_mean_and_deviation_exactly() {
        let mut statistics = Statistics::default();
        [2, 4, 4, 4, 5, 5, 7, 1].into_iter().for_each(|number| statistics.add(number));
        statistics.replace(1, 9);
        // Mean 5, standard deviation 2.
        assert!(
            statistics.is_far_below(2, 1_000) && !statistics.is_far_below(3, 1_000),
            "3 is just one deviation away"
        );
        assert!(statistics.is_far_below(3, 999) && !statistics.is_far_below(2, 1_500));
        assert!(statistics.is_far_above(8, 1_000) && !statistics.is_far_above(7, 1_000));
        assert!(!statistics.is_far_above(5, 0) && statistics.is_far_above(6, 0));
        assert!(!Statistics::default().is_far_above(5, 0), "nothing is far from nothing");
    }
}
