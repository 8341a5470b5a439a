//! What can happen to a cluster, as the JobTracker receives it.
//!
//! A driver hands over all inputs of one instant in one batch. Within a batch the core applies them by rank
//! (finished attempts, lost workers, submissions and requests, tick, then the rounds of reports that ask for
//! work) and, within a rank, in order of arrival.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::cluster::Vitals;
use crate::job::{AttemptId, AttemptState, JobId, JobSpec, Phase, Priority, Progress, WorkerId};
use crate::schedulers::registry::Params;

/// One input of the JobTracker.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A job was accepted; `job` is the number after the last one's.
    Submit {
        /// Its serial number.
        job: JobId,
        /// Immutable from here on, but for its queue.
        spec: Arc<JobSpec>,
    },
    /// A worker says hello, for the first time or after a restart of its process, and which map outputs it still has.
    Register(Box<Registration>),
    /// A worker's heartbeat.
    Report(Box<Report>),
    /// Someone wants the job gone.
    KillJob {
        /// The job; one that is over, or that there is not, is rejected.
        job: JobId,
    },
    /// Someone wants one attempt gone.
    KillAttempt {
        /// The attempt; one that is over, or that there is not, is rejected.
        attempt: AttemptId,
        /// Whether it counts as a failure of its task (`-fail-task`) or not (`-kill-task`).
        fail: bool,
    },
    /// Someone changes a job's priority.
    SetPriority {
        /// The job; one that is over, or that there is not, is rejected.
        job: JobId,
        /// Its priority from now on.
        priority: Priority,
    },
    /// Someone moves a job to another queue. Whoever hands this in has asked the policy whether it takes such a job.
    SetQueue {
        /// The job; one that is over, or that there is not, is rejected.
        job: JobId,
        /// Its queue from now on, by a name that the policy understands.
        queue: SmolStr,
    },
    /// A worker is to get no new attempts, or to get some again.
    Drain {
        /// The worker, whose running attempts go on.
        worker: WorkerId,
        /// True to drain, false to take it back.
        drain: bool,
    },
    /// A worker is taken off the cluster's blacklist, its faults forgotten.
    Enable {
        /// The worker that may get attempts again.
        worker: WorkerId,
    },
    /// The worker said goodbye: it is lost at once, without waiting for its expiry.
    Goodbye {
        /// The worker that is going.
        worker: WorkerId,
        /// The registration that says goodbye; an older one is ignored.
        incarnation: u64,
    },
    /// The connections of a worker closed, and it did not come back within seconds: it is lost at once, and had not been asked
    /// to go.
    Gone {
        /// The worker that is not there any more.
        worker: WorkerId,
        /// The registration whose connections closed; an older one is ignored.
        incarnation: u64,
    },
    /// A worker cannot see a job's files, as where a share is not mounted: it gets no more tasks of the job, and what
    /// fails there counts as killed while another worker may run it.
    CannotServe {
        /// The worker that cannot see them.
        worker: WorkerId,
        /// The job that the files belong to.
        job: JobId,
    },
    /// Whether others can fetch from a worker. From one that nobody reaches no map output is wanted, and what it has runs
    /// again elsewhere.
    Reach {
        /// The worker that others fetch from, or cannot.
        worker: WorkerId,
        /// Workers are reachable until an input says otherwise.
        reachable: bool,
    },
    /// Another policy is to decide from now on, or the present one with other parameters.
    SetScheduler(Box<SchedulerChoice>),
    /// The driver has promoted the winners' output, or failed to.
    JobCommitted {
        /// The job, which was `Committing`.
        job: JobId,
        /// Whether all of it worked.
        ok: bool,
    },
    /// Of these winners nothing was there when the driver was to promote the job's output, and nothing was moved.
    OutputGone {
        /// The job, which was `Committing` and runs again.
        job: JobId,
        /// The winners of which nothing was there, in any order.
        attempts: Box<[AttemptId]>,
    },
    /// Time has passed: expiries, timeouts, parked heartbeats, the scheduler's own deadlines.
    Tick,
    /// The driver keeps a snapshot after this batch, in which it is the only input: the master becomes what its
    /// [snapshot](crate::tracker::JobTracker::snapshot) says, and the policy in charge, which this names, begins anew. Refused
    /// beside other inputs that leave work for the end of the batch, and of a policy that neither the core nor itself can make.
    Snapshot(Box<SchedulerChoice>),
    /// The master was down and recovered: liveness clocks start again at this batch's time.
    Recovered,
}

/// A policy by name, with its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulerChoice {
    /// As the registry has it.
    pub name: String,
    /// All of them; those that are left out have their defaults.
    pub params: Params,
}

/// A worker's first words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Dense number: the one this name had before, or the next free one.
    pub worker: WorkerId,
    /// Differs between two runs of the same worker; larger is younger.
    pub incarnation: u64,
    /// Whether its process has just started, and not only lost the master. Recordings made before this was said never have it.
    pub starts: bool,
    /// Unique in the cluster, stable over restarts.
    pub name: String,
    /// The host as split locations name it.
    pub host: String,
    /// Rack path, `/default-rack` unless configured.
    pub rack: String,
    /// Map slots, may be 0.
    pub map_slots: u16,
    /// Reduce slots, may be 0.
    pub reduce_slots: u16,
    /// Named attributes; of two with one name the first in their order counts. Later ones come in reports.
    pub attributes: Vec<(String, String)>,
    /// Map attempts whose output lies whole on the worker's disk, in any order; usually empty. Recordings made before there
    /// was such a thing have it nowhere.
    pub kept: Vec<AttemptId>,
}

/// All attributes of a worker, in the place of those that it had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeSet {
    /// Counts the changes of one registration, from 1: a set that is not younger than the one known is no news.
    pub version: u32,
    /// Named attributes, at most [`MAX_ATTRIBUTES`](crate::job::requirement::MAX_ATTRIBUTES); of two with one name the
    /// first in their order counts.
    pub attributes: Vec<(String, String)>,
}

/// A heartbeat as the core sees it.
///
/// `response_id` is the number of the last answer that the worker has. The number of the last answer makes it
/// a fresh report, which supersedes one that is parked; the number before it means that the answer was lost:
/// it is sent again, and what the report says of attempts is applied where it is still news. Any other number
/// is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Who reports.
    pub worker: WorkerId,
    /// Of its registration.
    pub incarnation: u64,
    /// Of the last answer received; 0 before the first.
    pub response_id: u32,
    /// Map slots free now, at most the registered number.
    pub free_maps: u16,
    /// Reduce slots free now, at most the registered number.
    pub free_reduces: u16,
    /// Whether it wants work (enough disk, healthy, not stopping).
    pub accepts_tasks: bool,
    /// Whether the answer may be held back until there is something to say.
    pub may_park: bool,
    /// Every attempt that the worker runs, and every one that ended since the last answered report.
    pub attempts: Vec<AttemptReport>,
    /// Quantised measurements.
    pub vitals: Vitals,
    /// Its attributes, if they changed since its registration and no answer has confirmed it; repeated until then.
    pub attributes: Option<AttributeSet>,
}

/// One attempt in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptReport {
    /// An attempt that the worker was given.
    pub attempt: AttemptId,
    /// Its state on the worker; never `Launching`.
    pub state: AttemptState,
    /// What it does now.
    pub phase: Phase,
    /// How far it is.
    pub progress: Progress,
    /// Map attempts whose output this reduce could not fetch since the last report; usually empty. Each failure
    /// is listed in one report only: a parked report that a newer one supersedes has been counted.
    pub fetch_failures: Vec<AttemptId>,
    /// Whether it failed in a way that another attempt cannot mend: its task gets no other one. Recordings made before
    /// there was such a thing have it nowhere.
    pub fatal: bool,
}
