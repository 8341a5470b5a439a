//! What a process is told to run, where, and what its keeper reports.

use std::sync::Arc;

use howdah_core::job::counters::Counters;
use howdah_core::job::{AttemptId, ClusterId, JobFile, Phase, Progress};
use howdah_proto::v1;

use super::cores::Cores;
use crate::cgroup::Cgroups;
use crate::directory::Directory;
use crate::logs::Logs;
use crate::memory::Memory;
use crate::space::Space;
use crate::vitals::OwnProcesses;

/// The executable that the worker itself is: the file that it was started from, whatever lies under its name by now. A
/// child that is not yet another program finds it under the same name.
pub(crate) const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// What every keeper needs.
#[derive(Debug)]
pub(crate) struct ProcessContext {
    pub(crate) directory: Directory,
    pub(crate) logs: Arc<Logs>,
    pub(crate) space: Space,
    pub(crate) memory: Memory,
    pub(crate) worker_name: String,
    pub(crate) task_command: Vec<String>,
    pub(crate) cgroups: Option<Cgroups>,
    /// That maps and reduces are kept to.
    pub(crate) cores: [Option<Cores>; 2],
    pub(crate) own: OwnProcesses,
}

/// One attempt to run.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) cluster: ClusterId,
    pub(crate) attempt: AttemptId,
    pub(crate) job: Arc<JobFile>,
}

/// What a keeper notices of its process.
#[derive(Debug)]
pub(crate) enum ProcessEvent {
    /// The attempt said how far it is.
    Status { phase: Phase, progress: Progress, counters: Option<Counters>, message: Option<String> },
    /// The attempt could not fetch this map attempt's output.
    FetchFailure(AttemptId),
    /// Its output waits for the grant.
    CommitPending,
    /// It is over; `fatal` if it says that no other attempt of its task could do better, `spared` if others took the
    /// disk away that it needed.
    Ended { ok: bool, fatal: bool, spared: bool, process_alive: bool, end: Box<v1::AttemptEnd>, counters: Counters },
    /// The process, waiting for another attempt, is gone.
    Gone,
}

/// Where a keeper sends what it notices.
pub(crate) type EventSink = Box<dyn Fn(AttemptId, ProcessEvent) + Send>;
