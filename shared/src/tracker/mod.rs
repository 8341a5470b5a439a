//! The two state machines that decide everything: [`JobTracker`] and [`TaskTracker`].
//!
//! Both are pure: `apply(now, inputs, effects)` is the only mutation, `next_deadline` says when a tick would
//! change something. Neither knows who drives it.

mod effect;
mod input;
pub mod task_tracker;

pub use effect::{Effect, EndCause, Rejection, WorkerState};
pub use input::{AttemptReport, Input, Registration, Report, Vitals};
