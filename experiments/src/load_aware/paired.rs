//! Runs under one rule against runs under another, pair by pair.
//!
//! A seed, or live a turn, makes both runs of a pair long or short alike: seeds differ by a tenth of the total time, rules
//! by less. What a rule is worth is the difference within the pairs; the spread over seeds says nothing of it.

use howdah_core::models::moments::{percentile, sorted};

use super::figures::Runs;

/// Differences in total time, pair by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paired {
    /// `ours ÷ theirs − 1`, ascending.
    differences: Vec<f64>,
}

impl Paired {
    /// The n-th run of ours against the n-th of theirs. What only one of them has is left out.
    pub(super) fn new(ours: &Runs, theirs: &Runs) -> Paired {
        let pairs = ours.0.iter().zip(&theirs.0).filter(|(_, theirs)| theirs.total_s > 0.0);
        Paired { differences: sorted(pairs.map(|(ours, theirs)| ours.total_s / theirs.total_s - 1.0)) }
    }

    /// Pairs.
    pub(super) fn n(&self) -> usize {
        self.differences.len()
    }

    /// The middle difference, negative where ours are shorter; 0 without pairs.
    pub(super) fn median(&self) -> f64 {
        self.at(50.0)
    }

    /// First and third quartile.
    pub(super) fn quartiles(&self) -> (f64, f64) {
        (self.at(25.0), self.at(75.0))
    }

    /// Pairs in which ours is the shorter one.
    pub(super) fn won(&self) -> usize {
        self.differences.partition_point(|&difference| difference < 0.0)
    }

    /// Share of the pairs in which ours is not shorter; all without pairs.
    pub(super) fn not_won(&self) -> f64 {
        1.0 - self.won() as f64 / self.n().max(1) as f64
    }

    fn at(&self, percent: f64) -> f64 {
        percentile(&self.differences, percent).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figures;
    use super::*;

    fn runs(totals: &[f64]) -> Runs {
        Runs(totals.iter().map(|&total_s| Figures { total_s, ..Figures::default() }).collect())
    }

    /// The ranges of both overlap almost wholly, and still ours is shorter by a tenth each time.
    #[test]
    fn what_seeds_have_in_common_does_not_hide_a_difference() {
        let theirs = [100.0, 200.0, 150.0, 120.0];
        let paired = Paired::new(&runs(&theirs.map(|total| 0.9 * total)), &runs(&theirs));
        let (first, third) = paired.quartiles();
        assert!((paired.median() + 0.1).abs() < 1e-9 && third - first < 1e-9);
        assert_eq!((paired.n(), paired.won()), (4, 4));
        // In another order of seeds they are other pairs.
        let mixed = Paired::new(&runs(&[180.0, 90.0, 108.0, 135.0]), &runs(&theirs));
        let (first, third) = mixed.quartiles();
        assert!(third - first > 0.4 && mixed.won() == 2, "{mixed:?}");
    }

    #[test]
    fn ties_are_not_won() {
        let paired = Paired::new(&runs(&[98.0, 100.0, 100.0, 102.0, 106.0]), &runs(&[100.0; 5]));
        assert_eq!((paired.won(), paired.n()), (1, 5));
        assert!((paired.not_won() - 0.8).abs() < 1e-9);
        let (first, third) = paired.quartiles();
        assert!((third - 0.02).abs() < 1e-9 && first.abs() < 1e-9, "{paired:?}");
    }

    #[test]
    fn without_pairs_nothing_is_won() {
        let none = Paired::new(&runs(&[1.0]), &Runs::default());
        assert_eq!((none.n(), none.won(), none.median(), none.not_won()), (0, 0, 0.0, 1.0));
    }
}
