//! What passes between the tracker and a policy: changes, a worker's round, and the assignments of the round.

use crate::cluster::{AttemptRef, EndCause};
use crate::job::{AttemptId, AttemptState, JobId, JobState, Locality, Priority, TaskId, TaskKind, WorkerId};
use crate::time::Time;

/// What changed. `state` already shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A job was accepted.
    Submitted {
        /// The new job.
        job: JobId,
    },
    /// A job is over and leaves the state after this call.
    JobOver {
        /// The job that is over.
        job: JobId,
        /// How it ended.
        end: JobState,
    },
    /// Someone changed a job's priority.
    Priority {
        /// The job, which has its new priority.
        job: JobId,
        /// The priority before.
        from: Priority,
    },
    /// Someone moved a job to another queue. It may have attempts that run.
    Queue {
        /// The job, whose specification names its new queue.
        job: JobId,
    },
    /// A job has another deadline, as only a fork that asks what if gives it.
    Deadline {
        /// The job, whose specification has its new deadline.
        job: JobId,
    },
    /// A job now has, or has no longer, pending tasks of a kind that may start.
    Offerable {
        /// The job.
        job: JobId,
        /// The kind of its tasks.
        kind: TaskKind,
        /// Whether it has such tasks now.
        offerable: bool,
    },
    /// An attempt was assigned.
    Launched {
        /// The attempt that starts.
        attempt: AttemptId,
        /// Finds it in the state while it runs.
        reference: AttemptRef,
        /// The worker that runs it.
        worker: WorkerId,
        /// Whether another attempt of its task is running.
        speculative: bool,
    },
    /// An attempt is over for its job.
    Ended {
        /// The attempt that ended.
        attempt: AttemptId,
        /// The worker that ran it.
        worker: WorkerId,
        /// `Succeeded`, `Failed` or `Killed`.
        state: AttemptState,
        /// The cause, which says something unless it succeeded.
        cause: EndCause,
        /// When it was assigned.
        started: Time,
    },
    /// A task that had run waits again, after a failure, a kill or the loss of its output; or it does not have to run again
    /// after all, as its output came back with its worker.
    Returned {
        /// The task.
        task: TaskId,
    },
    /// A worker registered, was lost, or changed its state, slots or attributes.
    Worker {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker reported; its vitals and its attempts' progress are new.
    Reported {
        /// The worker whose heartbeat came.
        worker: WorkerId,
    },
    /// The master recovered: waits and timeouts start again.
    Recovered,
}

/// One worker's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The current instant.
    pub now: Time,
    /// The worker that has its turn.
    pub worker: WorkerId,
    /// Free map slots.
    pub free_maps: u16,
    /// Free reduce slots.
    pub free_reduces: u16,
    /// Whether its heartbeat was parked and new work, not a report, gives it this turn.
    pub parked: bool,
}

/// What a policy wants started on the round's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The job.
    pub job: JobId,
    /// Map or reduce.
    pub kind: TaskKind,
    /// The task's index.
    pub index: u32,
    /// How close to its data; `Unknown` for reduces.
    pub locality: Locality,
    /// Whether the task is running already and this is to be another attempt of it.
    pub speculative: bool,
}
