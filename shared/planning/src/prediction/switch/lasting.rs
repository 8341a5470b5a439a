//! `lasting`: a small gain has to last, a large one is not waited for.
//!
//! Forecasts of two policies that do about as well change places with every draw of luck. So a candidate takes over only
//! once its gain reached the margin in enough rounds running, where a gain of several margins counts as that many rounds. A gain
//! below the margin, in one round, begins the count anew.
//!
//! What keeps it from going back and forth: a candidate that is never a margin ahead never takes over, and neither does one
//! that is ahead by a margin for fewer than `rounds` rounds running. What does not: a lead of `rounds` margins is acted on at
//! once, so that two policies which take turns in leading by that much change places as often as the switcher lets them,
//! which holds every rule back for a while after a switch.

use super::{Standing, SwitchingRule, Thresholds};

/// The rule.
#[derive(Debug)]
pub(super) struct Lasting {
    thresholds: Thresholds,
    /// By candidate: its gains in the rounds running in which they reached the margin, in margins.
    gained: Vec<f64>,
}

impl Lasting {
    pub(super) fn new(thresholds: Thresholds) -> Lasting {
        Lasting { thresholds, gained: Vec::new() }
    }
}

impl SwitchingRule for Lasting {
    fn consider(&mut self, standing: &Standing<'_>) -> Option<usize> {
        let Thresholds { margin, rounds } = self.thresholds;
        self.gained.resize(standing.figures.len(), 0.0);
        for (candidate, gained) in self.gained.iter_mut().enumerate() {
            let gain = standing.gain(candidate);
            *gained = if self.thresholds.are_met_by(gain) { *gained + gain / margin } else { 0.0 };
        }
        // Sums of equal gains fall a little short of what they should be.
        let enough = f64::from(rounds.max(1)) - 1e-9;
        standing.best_of((0..self.gained.len()).filter(|&candidate| self.gained[candidate] >= enough))
    }

    fn switched(&mut self) {
        self.gained.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{followed, forecast, options};
    use super::super::{RuleName, Switcher};

    fn switches(rounds: impl IntoIterator<Item = (u64, [u64; 2])>) -> Vec<(u64, usize)> {
        followed("lasting", 60, rounds)
    }

    #[test]
    fn a_gain_of_the_margin_has_to_last_and_a_large_one_switches_at_once_each_only_once() {
        assert_eq!(switches((0..10).map(|i| (i * 10, [10_000, 9_470]))), [(20, 1)]);
        assert_eq!(switches((0..10).map(|i| (i * 10, [10_000, 5_000]))), [(0, 1)]);
    }

    #[test]
    fn a_small_gain_or_a_passing_one_switches_nothing() {
        assert_eq!(switches((0..50).map(|i| (i * 10, [10_000, 9_700]))), []);
        let passing = |i| if i % 3 == 0 { [10_000, 10_000] } else { [10_000, 9_400] };
        assert_eq!(switches((0..50).map(|i| (i * 10, passing(i)))), []);
    }

    #[test]
    fn evidence_for_one_candidate_is_not_lost_when_another_leads_once() {
        let mut switcher = Switcher::new(&options(RuleName::default(), 60));
        let figures = [[10_000, 9_400, 9_450], [10_000, 9_450, 9_400], [10_000, 9_400, 9_450]];
        let found = figures.into_iter().zip(0..).filter_map(|(ends, at)| {
            let forecasts = ends.map(|ends| forecast(at, ends));
            switcher.consider(0, &forecasts).map(|switch| (at, switch.to))
        });
        assert_eq!(found.collect::<Vec<_>>(), [(2, 1)]);
    }

    // While nobody may take over, a lead goes on being counted: it lasted when the time is over.
    #[test]
    fn a_gain_that_lasted_while_switches_were_held_back_need_not_last_again() {
        let ends = |at| if at == 0 { [10_000, 5_000] } else { [9_470, 10_000] };
        assert_eq!(switches((0..10).map(|i| (i * 10, ends(i * 10)))), [(0, 1), (60, 0)]);
    }
}
