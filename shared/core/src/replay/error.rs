//! A replay that cannot begin.

use super::arrivals::ArrivalsError;
use crate::job::SpecError;
use crate::schedulers::SchedulerError;

/// Why it cannot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The policy does not take a job.
    #[error("job {number} (`{name}`): {why}")]
    Refused {
        /// Its place in the trace, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// The policy's words.
        why: String,
    },
    /// The policy cannot be made.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// The rule of arrivals cannot be followed.
    #[error(transparent)]
    Arrivals(#[from] ArrivalsError),
    /// A job's tables do not fit its numbers of tasks.
    #[error("trace, job {number}: {source}")]
    Template {
        /// Its place in the trace, from 1.
        number: usize,
        /// What does not fit.
        source: SpecError,
    },
    /// Tasks that no slot can run.
    #[error("{kind} slots: found 0, expected at least 1, as job {number} (`{name}`) has {n} {kind} tasks")]
    NoSlots {
        /// `map` or `reduce`.
        kind: &'static str,
        /// Its place in the trace, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// Its tasks of the kind.
        n: u32,
    },
    /// A task that takes more slots than any worker has.
    #[error("job {number} (`{name}`): each {kind} takes {slots} slots, expected at most the {most} of a worker")]
    LargeTask {
        /// `map` or `reduce`.
        kind: &'static str,
        /// Its place in the trace, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// Of one task.
        slots: u16,
        /// Of the largest worker.
        most: u16,
    },
    /// A job of more tasks than the core takes.
    #[error("job {number} (`{name}`): found {n} {kind} tasks, expected at most {most}")]
    TooManyTasks {
        /// `map` or `reduce`.
        kind: &'static str,
        /// Its place in the trace, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// Its tasks of the kind.
        n: u32,
        /// Most that one job may have.
        most: u32,
    },
    /// More jobs than ids.
    #[error("trace: {found} jobs, expected at most {most}")]
    TooManyJobs {
        /// In the trace.
        found: usize,
        /// Most that fit.
        most: u32,
    },
    /// Two workers of one name.
    #[error("worker `{name}`: listed twice, expected each name once")]
    SameName {
        /// The name.
        name: String,
    },
    /// A worker that is to be lost but is not there.
    #[error("loss of worker {worker}: no such worker, expected a number below {n_workers}")]
    NoSuchWorker {
        /// As given, from 0.
        worker: u32,
        /// Workers of the cluster.
        n_workers: usize,
    },
    /// An option that does not fit.
    #[error("{what}: found {found}, expected {expected}")]
    Option {
        /// The option.
        what: &'static str,
        /// As given.
        found: String,
        /// A noun phrase.
        expected: &'static str,
    },
}
