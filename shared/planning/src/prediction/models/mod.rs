//! How the time of a task is predicted from those of its class: the paper's line, and others beside it.
//!
//! A model is a file here, under [`TaskTimeModel`], and a line in `list.rs`; `docs/guide/own-models.md` adds one step by
//! step. It is fitted once to what is remembered and then asked for each task. Times are in microseconds, sizes in bytes.

mod any_size;
mod estimate;
mod line;
mod list;
mod mean;
mod model;
mod per_worker;
mod piecewise;
mod quantile;
#[cfg(test)]
mod tests;

pub(super) use any_size::whatever_the_size;
pub use estimate::Estimate;
pub(super) use estimate::TWO_SIDED_90;
use line::{Line, Linear, points};
pub use list::{MODELS, by_name};
use mean::Mean;
pub use model::{Fitted, TaskTimeModel};
use per_worker::PerWorker;
use piecewise::Piecewise;
use quantile::Quantile;
