//! What one run comes to, and what several runs of a kind come to.

use howdah_core::models::moments::{percentile, sorted};

/// One run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// From the first submission to the last finish.
    pub(super) total_s: f64,
    /// Speculative attempts launched.
    pub(super) launched: u64,
    /// Of them, those that ended before their originals.
    pub(super) won: u64,
    /// Slot time of attempts that lost a race.
    pub(super) wasted_s: f64,
    /// Mean time of a worker's slot without work.
    pub(super) idle_s: f64,
}

impl Figures {
    /// Speculative attempts that ended in vain.
    pub(super) fn lost(&self) -> u64 {
        self.launched - self.won
    }

    /// One after the other.
    fn and(self, other: Figures) -> Figures {
        Figures {
            total_s: self.total_s + other.total_s,
            launched: self.launched + other.launched,
            won: self.won + other.won,
            wasted_s: self.wasted_s + other.wasted_s,
            idle_s: self.idle_s + other.idle_s,
        }
    }
}

/// Runs of the same point under the same rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(pub(super) Vec<Figures>);

impl Runs {
    /// Percentile of one of the figures.
    pub(super) fn at(&self, percent: f64, of: impl Fn(&Figures) -> f64) -> f64 {
        percentile(&sorted(self.0.iter().map(of)), percent).unwrap_or(0.0)
    }

    /// Median total time.
    pub(super) fn total(&self) -> f64 {
        self.at(50.0, |one| one.total_s)
    }

    /// Least and most total time.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.at(0.0, |one| one.total_s), self.at(100.0, |one| one.total_s))
    }

    /// Mean of one of the figures: counts of a few attempts have no telling median. 0 without runs.
    pub(super) fn mean(&self, of: impl Fn(&Figures) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The first runs of all of them together, the second ones, and so on as far as all have one.
    pub(super) fn together(all: impl IntoIterator<Item = Runs>) -> Runs {
        let add = |sum: Runs, runs: Runs| Runs(sum.0.into_iter().zip(runs.0).map(|(sum, run)| sum.and(run)).collect());
        all.into_iter().reduce(add).unwrap_or_default()
    }

    /// Speculative attempts launched in all runs together.
    pub(super) fn launched(&self) -> u64 {
        self.0.iter().map(|one| one.launched).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_a_median_a_range_and_a_sum() {
        let run = |total_s, launched| Figures { total_s, launched, won: 1, ..Figures::default() };
        let runs = Runs(vec![run(10.0, 3), run(12.0, 2), run(11.0, 1)]);
        assert_eq!((runs.total(), runs.range(), runs.launched()), (11.0, (10.0, 12.0), 6));
        assert_eq!(runs.0[0].lost(), 2);
    }
}
