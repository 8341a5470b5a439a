//! What the JobTracker wants done, and the facts that it announces.
//!
//! Effects are small and `Copy` (at most 32 bytes): millions of them pass a second in replay. Names, counters
//! and diagnostics stay with the drivers.

use crate::cluster::{EndCause, WorkerState};
use crate::job::{AttemptId, AttemptState, JobId, JobState, Locality, TaskId, WorkerId};
use crate::time::Time;

/// One effect. Directives (`Launch` to `Reinit`) belong to the next `Answer` to the same worker in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Directive: start an attempt. Repeated in every answer until a report confirms it.
    Launch {
        /// The worker that is to run it.
        worker: WorkerId,
        /// The attempt to start.
        attempt: AttemptId,
        /// How close to its data.
        locality: Locality,
        /// Whether another attempt of the task is running.
        speculative: bool,
    },
    /// Directive: stop an attempt. Repeated until a report confirms it.
    Kill {
        /// The worker that runs it.
        worker: WorkerId,
        /// The attempt to stop.
        attempt: AttemptId,
        /// Why.
        cause: EndCause,
    },
    /// Directive: this attempt is its task's winner and may finish. Repeated until a report confirms it.
    Commit {
        /// The worker that runs it.
        worker: WorkerId,
        /// The winner.
        attempt: AttemptId,
    },
    /// Directive: the job is over; its files on the worker (not its logs) can go.
    ForgetJob {
        /// A worker that ran some of it.
        worker: WorkerId,
        /// The job that is over.
        job: JobId,
    },
    /// Directive: kill everything and register again.
    Reinit {
        /// The worker that has to begin anew.
        worker: WorkerId,
    },
    /// Releases the worker's heartbeat with the directives since the previous answer.
    Answer {
        /// To whom.
        worker: WorkerId,
        /// The worker sends it with its next report.
        response_id: u32,
        /// When the worker is to report again, in milliseconds. A worker with free slots may ask again at
        /// once, to be parked.
        interval_ms: u32,
    },
    /// Fact: the job is now in this state.
    JobState {
        /// The job whose state changed.
        job: JobId,
        /// New state.
        state: JobState,
    },
    /// Request to the driver: promote the output of the winners, then hand in `JobCommitted`; or, where the output of some is
    /// gone, `OutputGone`.
    CommitJob {
        /// The job, all of whose tasks are done.
        job: JobId,
    },
    /// Request to the driver: clear away the unpromoted output of a failed or killed job.
    AbortJob {
        /// The job that failed or was killed.
        job: JobId,
    },
    /// Fact: an attempt is over for its job, once for each attempt. One that lost a race is over when the
    /// winner is, before its worker has stopped it; until then it only fills its slot.
    AttemptEnded {
        /// The attempt that is over.
        attempt: AttemptId,
        /// Where it ran.
        worker: WorkerId,
        /// `Succeeded`, `Failed` or `Killed`.
        state: AttemptState,
        /// Why, unless it succeeded.
        cause: EndCause,
        /// When it was assigned.
        started: Time,
    },
    /// Fact: reduces may fetch this map's output.
    MapOutputReady {
        /// The winner.
        attempt: AttemptId,
        /// Where its output lies.
        worker: WorkerId,
    },
    /// Fact: this map's output is gone or bad; the map runs again.
    MapOutputLost {
        /// The former winner.
        attempt: AttemptId,
        /// Where its output was.
        worker: WorkerId,
        /// `TooManyFetchFailures` makes the attempt a failed one, anything else a killed one.
        cause: EndCause,
    },
    /// Fact: this map's output is still there, or there again, although its worker was restarted or lost: reduces may fetch it
    /// from the worker's new run, which is told to keep it. A former winner of which `MapOutputLost` was said counts again.
    OutputKept {
        /// The winner.
        attempt: AttemptId,
        /// Where its output lies.
        worker: WorkerId,
    },
    /// Fact: this winner's output was gone when the job's was to be put in its place. The attempt counts as failed after all,
    /// and its task runs again.
    OutputGone {
        /// The former winner.
        attempt: AttemptId,
        /// Where it ran.
        worker: WorkerId,
    },
    /// Fact: a task is out of attempts. The job goes on if it tolerates that: reduces then do without this map.
    TaskFailed {
        /// The task whose attempts all failed.
        task: TaskId,
    },
    /// Fact: the worker is now in this state.
    WorkerState {
        /// The worker whose state changed.
        worker: WorkerId,
        /// New state.
        state: WorkerState,
    },
    /// An input made no sense and was dropped.
    Rejected {
        /// The reporting worker, if one reported.
        worker: Option<WorkerId>,
        /// What was wrong.
        why: Rejection,
    },
}

/// Why an input was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No such job, or it is over.
    UnknownJob(JobId),
    /// The job's number is not the next one.
    JobOutOfOrder(JobId),
    /// The specification's tables do not fit its numbers of tasks.
    MalformedJob(JobId),
    /// No such worker, or it was lost; it is told to register again.
    UnknownWorker(WorkerId),
    /// The registration's number is not the name's, nor the next one.
    WorkerOutOfOrder(WorkerId),
    /// The report belongs to an older run of the worker.
    StaleIncarnation(WorkerId),
    /// The report's number of attempts or slots is beyond the worker's registration.
    MalformedReport(WorkerId),
    /// A response id that the worker cannot have seen.
    WrongResponseId {
        /// As reported.
        reported: u32,
        /// The last one answered.
        last: u32,
    },
    /// An attempt that the worker was never given, or that is already over.
    UnknownAttempt(AttemptId),
    /// A state that cannot follow the attempt's current one.
    ImpossibleTransition {
        /// The attempt that the report speaks of.
        attempt: AttemptId,
        /// As the core has it.
        from: AttemptState,
        /// As reported.
        to: AttemptState,
    },
    /// The job is not waiting for its output to be promoted.
    NotCommitting(JobId),
    /// The policy cannot be made, or does not take these parameters while it runs; nothing changed.
    BadScheduler,
    /// A snapshot is kept between two batches only, under a policy that can be made anew.
    NotAtRest,
}

const _: () = assert!(std::mem::size_of::<Effect>() <= 32, "effects are copied by the million");
