//! What a switching rule is: it sees how the candidates stand in each round of forecasts, and names who takes over.
//!
//! A rule is a function of the rounds that it has seen: equal rounds give equal choices. No clock, no random source, no order
//! of a hash map.

use std::fmt::Debug;

use howdah_core::time::Time;

/// How the candidates stand in one round of forecasts.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'f> {
    /// When the forecasts were made.
    pub at: Time,
    /// The place of the policy in charge in the list of candidates.
    pub present: usize,
    /// What the measure says of each candidate's forecast, in the order of the list; less is better.
    pub figures: &'f [f64],
    /// How much of the present policy's figure is still to come; what lies behind, no policy can change.
    pub to_come: f64,
}

impl Standing<'_> {
    /// By how much a candidate is better than the policy in charge, as a share of what is still to come. Negative if it is
    /// worse; 0 of the one in charge, and of all where nothing is to come.
    pub fn gain(&self, candidate: usize) -> f64 {
        let ahead = self.figures[self.present] - self.figures[candidate];
        if self.to_come > 0.0 { ahead / self.to_come } else { 0.0 }
    }

    /// The one of these with the best figure; of equals the first.
    pub fn best_of(&self, candidates: impl Iterator<Item = usize>) -> Option<usize> {
        candidates.min_by(|&a, &b| self.figures[a].total_cmp(&self.figures[b]))
    }
}

/// What settings tell every rule. A rule may leave some of it out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Least gain, as a share of what is still to come: more than 0, less than 1.
    pub margin: f64,
    /// For how many rounds running.
    pub rounds: u32,
}

impl Thresholds {
    /// Whether a gain is one, and no smaller than the margin.
    pub fn are_met_by(self, gain: f64) -> bool {
        gain > 0.0 && gain >= self.margin
    }
}

/// When one policy takes over from another.
pub trait SwitchingRule: Debug + Send + Sync {
    /// Sees a round and names the candidate that is to take over, if any: one that is better than the policy in charge. It is
    /// asked in every round, also while nobody may take over yet; then what it names is left alone.
    fn consider(&mut self, standing: &Standing<'_>) -> Option<usize>;

    /// The one that it has just named has taken over.
    fn switched(&mut self) {}
}
