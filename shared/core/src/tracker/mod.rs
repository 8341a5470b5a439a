//! The two state machines that decide everything: [`JobTracker`] and [`TaskTracker`].
//!
//! Both are pure: `apply(now, inputs, effects)` is the only mutation, `next_deadline` says when a tick would
//! change something. Neither knows who drives it.

mod config;
mod effect;
mod input;
mod job_tracker;
mod planted;
mod recorded;
pub mod task_tracker;
#[cfg(test)]
mod tests;

pub use config::{Blacklist, ClusterConfig, FaultMemory, HeartbeatRule};
pub use effect::{Effect, Rejection};
pub use input::{AttemptReport, AttributeSet, Input, Registration, Report, SchedulerChoice};
pub use job_tracker::{
    AttemptProgress, Driver, Ended, Finished, JobTracker, Launched, MAX_TASKS, Snapshot, SnapshotError,
};
pub use recorded::{Preemption, Recorded, RecordedLaunch, Reservation};
pub use task_tracker::TaskTracker;

pub use crate::cluster::{EndCause, Vitals, WorkerState};
