//! The states of jobs and attempts, and the small scales that reports use.

use serde::{Deserialize, Serialize};

/// The state of a job.
///
/// ```text
///                            ┌─────────────┐         (a part of the output is gone)
///                            ▼             │
///  submitted ──► Prep ──► Running ──► Committing ──► Succeeded
///                 │          │             │
///                 │          ├─────────────┼───────► Failed   (a task ran out of attempts, or the commit failed)
///                 └──────────┴─────────────┴───────► Killed   (by request)
/// ```
///
/// `Prep` ends with the job's first launch. A job that is to fail or be killed stays in its state, marked as
/// ending, until its last running attempt has been reported gone; only then is its output cleared away.
/// `Deviation:` Hadoop's setup and cleanup tasks occupy slots; here the master's driver prepares and
/// promotes the output directory, so `Committing` holds no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum JobState {
    /// Accepted, nothing launched yet.
    Prep = 0,
    /// At least one attempt was launched.
    Running = 1,
    /// All tasks are done; the winners' output is being promoted.
    Committing = 2,
    /// Done, `_SUCCESS` written.
    Succeeded = 3,
    /// Ended by failures.
    Failed = 4,
    /// Ended by request.
    Killed = 5,
}

impl JobState {
    /// Whether the job is over.
    pub const fn is_final(self) -> bool {
        matches!(self, JobState::Succeeded | JobState::Failed | JobState::Killed)
    }

    /// Hadoop's name; `Committing` is `RUNNING` there, as its cleanup task is part of the run.
    pub const fn name(self) -> &'static str {
        match self {
            JobState::Prep => "PREP",
            JobState::Running => "RUNNING",
            JobState::Committing => "COMMITTING",
            JobState::Succeeded => "SUCCEEDED",
            JobState::Failed => "FAILED",
            JobState::Killed => "KILLED",
        }
    }
}

/// The state of an attempt.
///
/// ```text
///  Launching ──► Running ──► CommitPending ──► Succeeded
///      │            │  │           │
///      │            │  └───────────┼─────────► Succeeded  (nothing to commit: maps of a job with reduces)
///      ├────────────┼──────────────┼─────────► Failed     (counts towards the task's attempts)
///      └────────────┴──────────────┴─────────► Killed     (does not count)
/// ```
///
/// A succeeded map attempt may later become `Killed` (its worker was lost while reduces need its output) or
/// `Failed` (its output could not be fetched).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum AttemptState {
    /// Assigned; the worker has not reported it yet.
    Launching = 0,
    /// Reported running.
    Running = 1,
    /// Its output is complete and waits for the master's grant.
    CommitPending = 2,
    /// Done.
    Succeeded = 3,
    /// Ended by its own fault.
    Failed = 4,
    /// Ended by request, or lost with its worker.
    Killed = 5,
}

impl AttemptState {
    /// Whether the attempt is over.
    pub const fn is_final(self) -> bool {
        matches!(self, AttemptState::Succeeded | AttemptState::Failed | AttemptState::Killed)
    }

    /// Hadoop's name.
    pub const fn name(self) -> &'static str {
        match self {
            AttemptState::Launching => "UNASSIGNED",
            AttemptState::Running => "RUNNING",
            AttemptState::CommitPending => "COMMIT_PENDING",
            AttemptState::Succeeded => "SUCCEEDED",
            AttemptState::Failed => "FAILED",
            AttemptState::Killed => "KILLED",
        }
    }
}

/// What a running attempt is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum Phase {
    /// Its process has been asked for.
    #[default]
    Starting = 0,
    /// A map reads its split.
    Map = 1,
    /// A reduce fetches map output: first third of its progress.
    Shuffle = 2,
    /// A reduce merges: second third.
    Sort = 3,
    /// A reduce runs the user's function: last third.
    Reduce = 4,
}

/// How close a map ran to its data. Smaller is closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Locality {
    /// On a host that holds the split.
    Node = 0,
    /// In a rack that holds the split.
    Rack = 1,
    /// Elsewhere.
    OffRack = 2,
    /// The split has no known location, or the task is a reduce.
    Unknown = 3,
}

/// Progress in ten-thousandths, 0 to 10,000: integers, so that no float decides anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Progress(#[serde(deserialize_with = "parts")] u16);

/// From a document that anybody may have written.
fn parts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    u16::deserialize(from).map(|parts| Progress::from_parts(parts).parts())
}

impl Progress {
    /// Nothing done.
    pub const ZERO: Progress = Progress(0);
    /// All done.
    pub const DONE: Progress = Progress(10_000);

    /// From ten-thousandths; larger values are cut to 10,000.
    pub const fn from_parts(parts: u16) -> Progress {
        Progress(if parts > 10_000 { 10_000 } else { parts })
    }

    /// Ten-thousandths, 0 to 10,000.
    pub const fn parts(self) -> u16 {
        self.0
    }

    /// From a fraction; anything outside 0 to 1, NaN included, is cut to that range.
    pub fn from_fraction(fraction: f64) -> Progress {
        Progress((fraction.clamp(0.0, 1.0) * 10_000.0) as u16)
    }

    /// As a fraction from 0 to 1, for people.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}
