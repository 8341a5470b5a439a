//! Replay: a trace driven through the JobTracker with a virtual clock.
//!
//! The engine holds no policy. It plays the part of the workers and of time: what the core launches ends when the
//! template says, what ends is told to the core at the next heartbeat (at once in the slot-pool model), and the core's
//! own scheduler decides what comes next. Source: SimMR §III-B.
//!
//! [`simulate`] is the whole of it where nothing is to be seen in between. The makespan paper's two jobs on 30 + 30
//! slots (§3.1), first in the worse order:
//!
//! ```
//! use howdah_core::job::profile::{JobTemplate, Trace};
//! use howdah_core::replay::{ReplayOptions, View, simulate};
//! use howdah_core::time::Span;
//!
//! let job = |map_s: u64, reduce_s: u64| JobTemplate {
//!     n_maps: 30,
//!     n_reduces: 30,
//!     map_ms: vec![map_s * 1_000], // one time stands for all tasks
//!     reduce_ms: vec![reduce_s * 1_000],
//!     ..JobTemplate::default()
//! };
//! let trace = Trace { jobs: vec![job(20, 2), job(2, 20)], ..Trace::default() };
//! let on = |scheduler: &str| ReplayOptions {
//!     scheduler: scheduler.to_owned(),
//!     view: View::Slots { maps: 30, reduces: 30 },
//!     ..ReplayOptions::default()
//! };
//!
//! assert_eq!(simulate(&trace, &on("fifo"))?.makespan, Span::from_secs(42));
//! assert_eq!(simulate(&trace, &on("johnson"))?.makespan, Span::from_secs(24));
//! # Ok::<(), howdah_core::replay::ReplayError>(())
//! ```
//!
//! A [`Simulation`] is the same step by step: it can be looked at, observed, forked and put under another policy while
//! it runs. Figures come from a [`Summary`](summary::Summary); slowdowns need the jobs' times alone.
//!
//! ```
//! use howdah_core::job::profile::{JobTemplate, Trace};
//! use howdah_core::replay::summary::Summary;
//! use howdah_core::replay::{ReplayOptions, Simulation, View, reference_times};
//! use howdah_core::time::Time;
//!
//! let job = JobTemplate { n_maps: 4, map_ms: vec![1_000], ..JobTemplate::default() };
//! let trace = Trace { jobs: vec![job.clone(), job], ..Trace::default() };
//! let options = ReplayOptions { view: View::Slots { maps: 2, reduces: 1 }, ..ReplayOptions::default() };
//!
//! let mut simulation = Simulation::new(&trace, &options)?;
//! while simulation.now() < Time::from_ms(2_000) && simulation.step() {}
//! assert_eq!(simulation.progress(), (4, 8)); // tasks that are done, and all
//! simulation.run();
//!
//! let alone = reference_times(&trace, &options)?;
//! let figures = Summary::new(&simulation.report(), &trace, Some(&alone), &[50.0, 95.0]);
//! assert_eq!(figures.slowdowns, [Some(1.0), Some(2.0)]); // the second waited for the first
//! # Ok::<(), howdah_core::replay::ReplayError>(())
//! ```

mod alone;
mod arrivals;
mod attributes;
mod check;
mod deadlines;
mod digest;
mod ends;
mod error;
mod fault_injector;
mod followers;
mod heartbeat_schedule;
mod job;
mod jobs;
mod losses;
mod machine_model;
mod options;
mod report;
mod setup;
mod sharing;
mod simulation;
mod streams;
pub mod summary;
mod watch;
mod workers;

pub use alone::{Alone, alone, reference_times};
pub use arrivals::{ArrivalsError, submit_order, submit_times};
pub use deadlines::deadlines;
pub use error::ReplayError;
pub use job::spec as job_spec;
pub use options::{
    Arrivals, Deadlines, FaultPlan, LocalityCost, ReplayOptions, ShuffleModel, SimHeartbeat, SimWorker, View,
    WorkerLoss, WorkersView,
};
pub use report::{AttemptRecord, JobOutcome, Observer, ReplayReport};
pub use simulation::{Course, Simulation};

use crate::job::profile::Trace;

/// Simulates the trace to its end, or until nothing can move any more.
///
/// # Errors
/// Names the option or job that does not fit, and what was expected; nothing was simulated then.
pub fn simulate(trace: &Trace, options: &ReplayOptions) -> Result<ReplayReport, ReplayError> {
    let mut simulation = Simulation::new(trace, options)?;
    simulation.run();
    Ok(simulation.report())
}
