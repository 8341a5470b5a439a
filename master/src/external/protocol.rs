//! The lines between howdah and an external policy: one JSON object each. The guide documents them for people.
//!
//! The program is notified of a job in full once and then of what changed; it is asked by `offer` and answers each
//! offer with one line that repeats its number, so that an answer that comes too late is known for what it is. Unknown
//! keys in an answer are refused: a misspelt one would otherwise be a silent change of policy.

use howdah_core::cluster::{ClusterState, Job, Worker, WorkerState};
use howdah_core::job::{Locality, TaskKind};
use howdah_core::schedulers::Change;
use serde::{Deserialize, Serialize};

/// The only version so far.
pub(super) const PROTOCOL: u32 = 1;

/// From howdah.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The first line; answered by [`FirstLine`].
    Hello { protocol: u32, howdah: &'static str },
    /// One worker's turn; answered by [`Answer`].
    Offer {
        id: u64,
        now_us: u64,
        worker: OfferedWorker<'a>,
        free_maps: u16,
        free_reduces: u16,
        /// Jobs that are new or changed since the offer before.
        jobs: Vec<OfferedJob<'a>>,
        /// Jobs that are over.
        gone: &'a [u32],
        /// Choices of this turn that the worker cannot take.
        #[serde(skip_serializing_if = "<[Declined]>::is_empty")]
        declined: &'a [Declined],
    },
    /// An attempt was started; only for who asked for it.
    Launched { now_us: u64, job: u32, kind: Kind, task: u32, number: u16, worker: u32, speculative: bool },
    /// An attempt is over; only for who asked for it.
    Ended { now_us: u64, job: u32, kind: Kind, task: u32, number: u16, worker: u32, state: &'static str, ran_us: u64 },
    /// A worker came, went or changed; only for who asked for it.
    Worker { now_us: u64, worker: OfferedWorker<'a>, state: &'static str, map_slots: u16, reduce_slots: u16 },
}

#[derive(Serialize)]
pub(super) struct OfferedWorker<'a> {
    number: u32,
    name: &'a str,
    host: &'a str,
    rack: &'a str,
}

/// What is sent about a job; the optional half only the first time.
#[derive(Serialize)]
pub(super) struct OfferedJob<'a> {
    job: u32,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    fixed: Option<FixedHalf<'a>>,
    priority: &'static str,
    maps_waiting: u32,
    maps_running: u32,
    maps_done: u32,
    reduces_waiting: u32,
    reduces_running: u32,
    reduces_done: u32,
}

#[derive(Serialize)]
struct FixedHalf<'a> {
    name: &'a str,
    user: &'a str,
    queue: &'a str,
    submitted_us: u64,
    deadline_us: Option<u64>,
    n_maps: u32,
    n_reduces: u32,
    /// `None` when unknown.
    input_bytes: Option<u64>,
}

/// A choice that the worker cannot take, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Declined {
    pub(super) job: u32,
    pub(super) kind: Kind,
    pub(super) why: String,
}

/// Map or reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Map,
    Reduce,
}

/// How far from a map's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Within {
    Node,
    Rack,
    #[default]
    Any,
}

/// The program's first line.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FirstLine {
    Hello {
        protocol: u32,
        /// Which notices it wants.
        #[serde(default)]
        notices: Vec<Notice>,
        /// Whether it wants turns when no task waits, for speculative attempts of tasks that run.
        #[serde(default)]
        speculates: bool,
    },
}

/// A kind of notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Notice {
    Launched,
    Ended,
    Worker,
}

/// The answer to an offer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// The offer's.
    pub(super) id: u64,
    /// In this order.
    #[serde(default)]
    pub(super) choices: Vec<Wish>,
    /// Attempts to stop; their tasks run again later.
    #[serde(default)]
    pub(super) preempt: Vec<Named>,
    /// Ask again after so long even if nothing happens.
    #[serde(default)]
    pub(super) again_ms: Option<u64>,
    /// For `explain`: why jobs wait.
    #[serde(default)]
    pub(super) why: Vec<Why>,
}

/// One choice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    pub(super) job: u32,
    pub(super) kind: Kind,
    /// So many tasks of the job.
    #[serde(default = "one")]
    pub(super) count: u32,
    /// This task; without it, failed ones first and then the nearest.
    #[serde(default)]
    pub(super) task: Option<u32>,
    /// No map whose data is farther away.
    #[serde(default)]
    pub(super) within: Within,
    /// A speculative attempt of the task, which runs.
    #[serde(default)]
    pub(super) speculative: bool,
}

/// An attempt by its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    pub(super) job: u32,
    pub(super) kind: Kind,
    pub(super) task: u32,
    pub(super) number: u16,
}

/// A sentence on a job.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Why {
    pub(super) job: u32,
    pub(super) text: String,
}

fn one() -> u32 {
    1
}

impl From<TaskKind> for Kind {
    fn from(kind: TaskKind) -> Kind {
        match kind {
            TaskKind::Map => Kind::Map,
            TaskKind::Reduce => Kind::Reduce,
        }
    }
}

impl From<Kind> for TaskKind {
    fn from(kind: Kind) -> TaskKind {
        match kind {
            Kind::Map => TaskKind::Map,
            Kind::Reduce => TaskKind::Reduce,
        }
    }
}

impl From<Within> for Locality {
    fn from(within: Within) -> Locality {
        match within {
            Within::Node => Locality::Node,
            Within::Rack => Locality::Rack,
            Within::Any => Locality::Unknown,
        }
    }
}

impl<'a> OfferedWorker<'a> {
    pub(super) fn new(worker: &'a Worker) -> OfferedWorker<'a> {
        OfferedWorker { number: worker.id().0, name: worker.name(), host: worker.host_name(), rack: worker.rack_name() }
    }
}

impl<'a> OfferedJob<'a> {
    pub(super) fn new(job: &'a Job, first_time: bool) -> OfferedJob<'a> {
        let waiting = |kind| if job.offerable(kind) { job.tasks(kind).pending().count() } else { 0 };
        let (maps, reduces) = (job.tasks(TaskKind::Map), job.tasks(TaskKind::Reduce));
        let spec = job.spec();
        let fixed = || FixedHalf {
            name: &spec.name,
            user: &spec.user,
            queue: &spec.queue,
            submitted_us: job.submitted().as_us(),
            deadline_us: job.deadline().map(|deadline| deadline.as_us()),
            n_maps: spec.n_maps,
            n_reduces: spec.n_reduces,
            input_bytes: (!spec.map_input_bytes.is_empty()).then(|| spec.map_input_bytes.iter().sum()),
        };
        OfferedJob {
            job: job.id().0,
            fixed: first_time.then(fixed),
            priority: job.priority().name(),
            maps_waiting: waiting(TaskKind::Map),
            maps_running: maps.n_running(),
            maps_done: maps.n_done(),
            reduces_waiting: waiting(TaskKind::Reduce),
            reduces_running: reduces.n_running(),
            reduces_done: reduces.n_done(),
        }
    }
}

/// The line of a change, for who asked for such; `None` for all other changes.
pub(super) fn notice<'a>(change: &Change, wanted: &[Notice], state: &'a ClusterState) -> Option<Line<'a>> {
    let now_us = state.now().as_us();
    let wants = |notice| wanted.contains(&notice);
    match *change {
        Change::Launched { attempt, worker, speculative, .. } if wants(Notice::Launched) => Some(Line::Launched {
            now_us,
            job: attempt.job.0,
            kind: attempt.kind.into(),
            task: attempt.index,
            number: attempt.number,
            worker: worker.0,
            speculative,
        }),
        Change::Ended { attempt, worker, state: end, started, .. } if wants(Notice::Ended) => Some(Line::Ended {
            now_us,
            job: attempt.job.0,
            kind: attempt.kind.into(),
            task: attempt.index,
            number: attempt.number,
            worker: worker.0,
            state: end.name(),
            ran_us: state.now().since(started).as_us(),
        }),
        Change::Worker { worker } if wants(Notice::Worker) => state.worker(worker).map(|worker| Line::Worker {
            now_us,
            worker: OfferedWorker::new(worker),
            state: match worker.state() {
                WorkerState::Live => "LIVE",
                WorkerState::Draining => "DRAINING",
                WorkerState::Blacklisted => "BLACKLISTED",
                WorkerState::Lost => "LOST",
            },
            map_slots: worker.slots(TaskKind::Map),
            reduce_slots: worker.slots(TaskKind::Reduce),
        }),
        _ => None,
    }
}
