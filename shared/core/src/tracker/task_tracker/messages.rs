//! What a TaskTracker receives and what it wants done.

use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, WorkerId};
use crate::time::Span;

/// What a worker is and how patient it is.
#[derive(Clone, Debug)]
pub struct TrackerConfig {
    /// Map slots, may be 0.
    pub map_slots: u16,
    /// Reduce slots, may be 0.
    pub reduce_slots: u16,
    /// Larger than in any earlier run of the worker.
    pub incarnation: u64,
    /// From the polite signal to the hard one (`mapred.tasktracker.tasks.sleeptime-before-sigkill`, 5 s).
    pub kill_grace: Span,
    /// From the hard signal until an attempt whose process does not end is given up: it waits in the kernel, most often
    /// for a file system that does not answer, and may do so for ever.
    pub kill_patience: Span,
    /// First pause after the master could not be reached; doubles each time.
    pub retry_first: Span,
    /// Longest such pause.
    pub retry_max: Span,
    /// How long a reusable process waits for another attempt of its job.
    pub reuse_idle: Span,
    /// How long after an answer a worker at work keeps its next report, if that has no news, before it lets it
    /// wait at the master. It does so only if that answer came no longer than this after the one before.
    pub park_pause: Span,
    /// Seed of the jitter on pauses, so that workers do not return in step.
    pub seed: u64,
}

impl Default for TrackerConfig {
    fn default() -> TrackerConfig {
        TrackerConfig {
            map_slots: 2,
            reduce_slots: 2,
            incarnation: 1,
            kill_grace: Span::from_secs(5),
            kill_patience: Span::from_secs(30),
            retry_first: Span::from_ms(100),
            retry_max: Span::from_secs(10),
            reuse_idle: Span::from_secs(2),
            park_pause: Span::from_ms(5),
            seed: 0,
        }
    }
}

/// A directive in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Start an attempt; harmless when repeated.
    Launch(AttemptId),
    /// Stop an attempt; harmless when it is gone.
    Kill(AttemptId),
    /// The attempt may commit its output.
    Commit(AttemptId),
    /// The job's files can go.
    ForgetJob(JobId),
    /// Kill everything and register again.
    Reinit,
}

/// One input of the TaskTracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackerInput {
    /// The master answered the registration.
    Registered {
        /// Our number from now on.
        worker: WorkerId,
        /// When to report first.
        interval: Span,
    },
    /// The registration did not get through.
    RegisterFailed,
    /// The master answered report `seq`.
    Answer {
        /// Number of the report that it answers.
        seq: u32,
        /// The answer's number.
        response_id: u32,
        /// When to report next.
        interval: Span,
        /// What to do.
        directives: Vec<Directive>,
    },
    /// Report `seq` did not get through, or its answer did not.
    HeartbeatFailed {
        /// Number of the report that is lost, or whose answer is.
        seq: u32,
    },
    /// The master does not know who sent report `seq`: everything starts over, as after a `Reinit`.
    Unknown {
        /// Number of the report that was refused.
        seq: u32,
    },
    /// The worker's attributes are these from now on.
    Attributes(Vec<(String, String)>),
    /// The driver has the file of a job that was asked for with [`TrackerEffect::FetchJob`].
    JobKnown {
        /// The job whose attempts may start now.
        job: JobId,
        /// Longest time without progress; zero for no limit.
        task_timeout: Span,
        /// Attempts that one process may run; -1 any number.
        reuse_tasks: i32,
    },
    /// The job's file cannot be had.
    JobUnavailable {
        /// The job whose attempts fail for want of it.
        job: JobId,
    },
    /// An attempt said how far it is. Also a sign of life.
    Progress {
        /// The attempt that said it; one that does not run here is ignored.
        attempt: AttemptId,
        /// The phase that it is in.
        phase: Phase,
        /// Over all of its phases.
        progress: Progress,
    },
    /// A reduce could not fetch a map's output.
    FetchFailure {
        /// The reduce.
        attempt: AttemptId,
        /// The map attempt.
        map: AttemptId,
    },
    /// The attempt's output waits for the grant.
    CommitPending {
        /// The attempt that waits.
        attempt: AttemptId,
    },
    /// The attempt is over: its process said so and either exited or, if it can be reused, waits.
    Ended {
        /// The attempt that is over.
        attempt: AttemptId,
        /// By its own account and its process's exit code.
        ok: bool,
        /// Whether the process waits for another attempt.
        process_alive: bool,
    },
    /// The attempt came to grief by what others did to the worker: it runs again and has not failed.
    Spared {
        /// The attempt. Its process has exited.
        attempt: AttemptId,
    },
    /// A process that was waiting for another attempt, or that was given up, is gone.
    ProcessGone {
        /// The process's number on this worker.
        process: u32,
    },
    /// Take no more attempts; stop when the last one's end is acknowledged.
    Drain,
    /// Kill everything and stop.
    Stop,
    /// Time has passed.
    Tick,
}

/// One effect of the TaskTracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerEffect {
    /// Say hello to the master.
    Register {
        /// Of this registration.
        incarnation: u64,
    },
    /// Send a report: take it with [`TaskTracker::report`](super::TaskTracker::report) now. It supersedes an
    /// older one that is still waiting for its answer.
    Report {
        /// Its number, repeated in the answer.
        seq: u32,
    },
    /// Get the job's file, then say `JobKnown` or `JobUnavailable`.
    FetchJob {
        /// The job that an attempt belongs to and that the worker does not know.
        job: JobId,
    },
    /// Start the attempt in a process.
    Start {
        /// The attempt, which fills a slot from now on.
        attempt: AttemptId,
        /// The process's number on this worker.
        process: u32,
        /// Whether the process exists and waits.
        reused: bool,
    },
    /// Ask the attempt's process group to end.
    Terminate {
        /// The attempt, which has `kill_grace` to end in.
        attempt: AttemptId,
        /// Why.
        cause: StopCause,
    },
    /// End the attempt's process group now.
    Kill {
        /// The attempt, whose `kill_grace` is over or which the master no longer knows.
        attempt: AttemptId,
    },
    /// The attempt's process was killed and does not end. Its `Finished` follows; until `ProcessGone` it keeps its slot.
    GivenUp {
        /// The attempt that ends without its process.
        attempt: AttemptId,
        /// The process that is still there.
        process: u32,
    },
    /// Tell the attempt that it may commit.
    GrantCommit {
        /// The attempt that won its task.
        attempt: AttemptId,
    },
    /// The attempt's final state, which the next report carries.
    Finished {
        /// The attempt that is over here.
        attempt: AttemptId,
        /// `Succeeded`, `Failed` or `Killed`.
        state: AttemptState,
    },
    /// Let a waiting process go.
    Retire {
        /// The process's number on this worker.
        process: u32,
    },
    /// Delete the job's files, not its logs.
    ForgetJob {
        /// The job that is over.
        job: JobId,
    },
    /// The job's attempts are gone with the registration. What the job left on the disk the next registration names, and its
    /// answer says what of that stays.
    DropJob {
        /// The job that the worker had attempts or outputs of.
        job: JobId,
    },
    /// A launch was ignored because no slot is free; the master repeats it.
    NoSlot {
        /// The attempt that was to be launched.
        attempt: AttemptId,
    },
    /// All is over: say goodbye to the master.
    Stopped,
}

/// Why an attempt is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The master wants it gone; it ends `Killed`.
    Directive,
    /// It made no progress for too long; it ends `Failed`.
    Timeout,
}
