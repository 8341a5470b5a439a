//! Replay: a trace driven through the JobTracker with a virtual clock.
//!
//! The engine holds no policy. It plays the part of the workers and of time: what the core launches ends when the
//! template says, what ends is told to the core at the next heartbeat (at once in the slots' view), and the core's
//! own scheduler decides what comes next. Source: SimMR §III-B.

mod alone;
mod arrivals;
mod attributes;
mod beats;
mod check;
mod deadlines;
mod digest;
mod ends;
mod error;
mod fates;
mod job;
mod losses;
mod options;
mod report;
mod setup;
mod sharing;
mod simulation;
mod station;
mod streams;
pub mod summary;
mod watch;
mod workers;

pub use alone::{Alone, alone, reference_times};
pub use arrivals::{ArrivalsError, submit_order, submit_times};
pub use deadlines::deadlines;
pub use error::ReplayError;
pub use options::{
    Arrivals, Deadlines, FaultPlan, LocalityCost, ReplayOptions, ShuffleModel, SimHeartbeat, SimWorker, View,
    WorkerLoss, WorkersView,
};
pub use report::{AttemptRecord, JobOutcome, Observer, ReplayReport};
pub use simulation::Simulation;
