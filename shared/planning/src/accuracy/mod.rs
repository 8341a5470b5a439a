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
mod kind;
mod paced;
mod pair;
mod predict;
mod spread;
mod together;

pub use self::kind::Kind;
pub use across::{Prediction, across};
pub use compare::{Comparison, JobMeasure, Measure, Summary};
pub use paced::{Paced, Speeds, across_paced};
pub use pair::{PairError, in_common, is_alone, kind, predictor};
pub use predict::{AccuracyError, Maker, Model, compare, compare_under, options_of};
pub use spread::{JobSpread, Spread, measured_makespan_s, spread, spread_of};
pub use together::{Together, alike, as_it_was, together};
