//! `best`: the candidate with the best forecast takes over if its gain reaches the margin.
//!
//! That is all that §IV-B asks for in so many words: a change only where it gives a significant gain. One round is enough, so
//! that a lucky forecast switches as well as a good one. Two policies that take turns in leading by the margin go back and
//! forth as often as the switcher lets them, which holds every rule back for a while after a switch, and nothing else does.

use super::{Standing, SwitchingRule, Thresholds};

/// The rule. It remembers nothing.
#[derive(Debug)]
pub(super) struct Best {
    thresholds: Thresholds,
}

impl Best {
    pub(super) fn new(thresholds: Thresholds) -> Best {
        Best { thresholds }
    }
}

impl SwitchingRule for Best {
    fn consider(&mut self, standing: &Standing<'_>) -> Option<usize> {
        let best = standing.best_of(0..standing.figures.len())?;
        self.thresholds.are_met_by(standing.gain(best)).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::followed;

    #[test]
    fn a_gain_of_the_margin_switches_in_its_first_round_and_a_smaller_one_never() {
        let rounds = |second| (0..10).map(move |i| (i * 10, [10_000, second]));
        assert_eq!(followed("best", 60, rounds(9_500)), [(0, 1)]);
        assert_eq!(followed("best", 60, rounds(9_510)), []);
    }
}
