//! How far simulated times are from measured ones.
//!
//! A trace of a live run holds both: what its jobs' tasks took (the profile) and when each job was over (the
//! measurement). Simulating the profile on the run's own cluster and comparing is the *self* error; it leaks the
//! answer, since the profile comes from the very run that it predicts. So the profile of one run also predicts
//! another: on the same cluster (*cross-run*) or on one of another shape or policy (*cross-shape*). An error
//! smaller than the difference between real repeats says nothing, hence [`Spread`], and [`Together`] for what is left
//! of it over several runs. After SimMR §IV-D.

mod across;
mod compare;
mod paced;
mod pair;
mod predict;
mod spread;
mod together;

pub use across::{Prediction, across};
pub use compare::{Comparison, JobMeasure, Measure, Summary};
pub use paced::{Paced, Speeds, across_paced};
pub use pair::{PairError, kind, predictor};
pub use predict::{AccuracyError, Maker, Model, compare, compare_under, options_of};
pub use spread::measured_makespan_s;
pub use spread::{JobSpread, Spread, spread, spread_of};
pub use together::{Together, alike, as_it_was, together};

/// What the profile was to the run that it predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The run itself.
    Own,
    /// Another run on a cluster of the same shape under the same policy.
    CrossRun,
    /// A run on another cluster or under another policy.
    CrossShape,
}

impl Kind {
    /// All, from the easiest to the hardest.
    pub const ALL: [Kind; 3] = [Kind::Own, Kind::CrossRun, Kind::CrossShape];

    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Own => "self",
            Kind::CrossRun => "cross-run",
            Kind::CrossShape => "cross-shape",
        }
    }
}
