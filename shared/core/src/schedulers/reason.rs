//! Why a job is not running now, in one or two sentences.
//!
//! Policies answer with a typed reason from their own state; [`Reason::common`] covers what holds for any of
//! them. `Display` writes the sentences; job numbers are the serial parts of printed ids.

use std::fmt;

use super::Unmet;
use crate::cluster::{ClusterState, Job, Worker, WorkerState};
use crate::job::{JobId, JobState, TaskKind};

/// Why a job is not running (more) now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No such job.
    Unknown,
    /// It is over.
    Over(JobState),
    /// It is being stopped and waits for its last attempts.
    Ending {
        /// What it will be.
        end: JobState,
        /// Attempts that have not gone yet.
        running: u32,
    },
    /// Its output is being promoted.
    Committing,
    /// All of its tasks run or are done.
    NothingWaits {
        /// Running attempts.
        running: u32,
    },
    /// Only reduces wait, for maps to finish.
    SlowStart {
        /// Maps done.
        done: u32,
        /// Maps that must be done before reduces start.
        needed: u32,
    },
    /// No worker has registered, or all are lost.
    NoWorkers {
        /// Workers that are lost.
        lost: u32,
    },
    /// Workers are there but none takes tasks.
    NoLiveWorkers {
        /// Blacklisted workers.
        blacklisted: u32,
        /// Draining workers.
        draining: u32,
    },
    /// No live worker has a slot of the kind at all.
    NoSlotsOfKind(TaskKind),
    /// No live worker meets what the job requires.
    Requirements(Box<Unmet>),
    /// Some workers meet what the job requires, and have no slot free.
    RequirementsTaken {
        /// Map or reduce.
        kind: TaskKind,
        /// Live workers that meet them and have enough slots.
        workers: u32,
        /// Live workers with enough slots.
        live: u32,
    },
    /// Its attempts failed on every worker that has a free slot.
    Avoided {
        /// Workers that it keeps away from.
        workers: u32,
    },
    /// No worker that is of use to it has a free slot.
    Useless {
        /// Map or reduce.
        kind: TaskKind,
        /// Live workers that cannot see its files.
        blind: u32,
        /// Live workers that nobody can fetch from.
        unreachable: u32,
    },
    /// Another job goes first.
    Behind {
        /// Map or reduce.
        kind: TaskKind,
        /// The job right at the front.
        first: JobId,
        /// Jobs before this one that wait for such slots.
        jobs: u32,
    },
    /// It is the next one; every slot is taken.
    SlotsTaken {
        /// Map or reduce.
        kind: TaskKind,
        /// Slots of live workers.
        slots: u32,
    },
    /// It is the next one and slots are free: a worker will get its task with the next heartbeat.
    NextHeartbeat(TaskKind),
    /// The policy lets so many of its tasks run, and they do.
    AtLimit {
        /// Map or reduce.
        kind: TaskKind,
        /// Attempts at a time.
        limit: u32,
    },
    /// A limit of the policy, in the policy's words.
    Limit(String),
    /// A reason, and what else the policy has to say of the job.
    Noted {
        /// Why it waits.
        reason: Box<Reason>,
        /// A sentence.
        note: String,
    },
}

impl Reason {
    /// The reasons that do not depend on the policy; `None` when only its order or limits hold the job back.
    pub fn common(id: JobId, state: &ClusterState) -> Option<Reason> {
        let Some(job) = state.job(id) else {
            return Some(state.ended_job(id).map_or(Reason::Unknown, |job| Reason::Over(job.state)));
        };
        let running = TaskKind::ALL.iter().map(|&kind| job.tasks(kind).n_attempts()).sum();
        if let Some(end) = job.ending() {
            return Some(Reason::Ending { end, running });
        }
        if job.state() == JobState::Committing {
            return Some(Reason::Committing);
        }
        let kind = waiting_kind(id, state)?;
        if job.tasks(kind).pending().count() == 0 {
            return Some(Reason::NothingWaits { running });
        }
        if !job.offerable(kind) {
            let maps = job.tasks(TaskKind::Map);
            return Some(Reason::SlowStart { done: maps.n_done(), needed: job.slowstart_maps() });
        }
        no_worker_for(id, kind, state)
    }

    /// After [`Reason::common`], for a policy that strictly follows an order: `ahead` is the number of jobs
    /// before this one and the first of them, without those that no worker may serve as well as it.
    pub fn in_order(kind: TaskKind, ahead: Option<(u32, JobId)>, state: &ClusterState) -> Reason {
        if let Some((jobs, first)) = ahead {
            return Reason::Behind { kind, first, jobs };
        }
        let totals = state.totals();
        if totals.running[kind] < totals.slots[kind] {
            return Reason::NextHeartbeat(kind);
        }
        Reason::SlotsTaken { kind, slots: totals.slots[kind] }
    }
}

/// The kind of task that the job waits for: maps, unless only reduces are pending.
pub(crate) fn waiting_kind(id: JobId, state: &ClusterState) -> Option<TaskKind> {
    let job = state.job(id)?;
    let maps = job.tasks(TaskKind::Map).pending().count();
    Some(if maps > 0 || job.tasks(TaskKind::Reduce).pending().count() == 0 { TaskKind::Map } else { TaskKind::Reduce })
}

/// Whether another job may take a slot from this one: it has something to offer, and some live worker may serve both.
/// What goes first in a policy's order but is no rival, such as a job whose requirements nobody meets, holds nobody up.
pub(crate) fn rivals(id: JobId, kind: TaskKind, state: &ClusterState) -> impl Fn(JobId) -> bool + Copy + '_ {
    move |other| {
        let (Some(job), Some(other)) = (state.job(id), state.job(other)) else { return false };
        other.offerable(kind)
            && state.workers().iter().any(|worker| {
                worker.state() == WorkerState::Live
                    && may_serve(worker, other, kind, state)
                    && may_serve(worker, job, kind, state)
            })
    }
}

/// Whether a worker that is free of attempts could run a job's tasks.
fn may_serve(worker: &Worker, job: &Job, kind: TaskKind, state: &ClusterState) -> bool {
    worker.slots(kind) >= job.slots(kind) && state.job_may_use(job, kind, worker)
}

/// Reasons that lie with the workers.
fn no_worker_for(id: JobId, kind: TaskKind, state: &ClusterState) -> Option<Reason> {
    let (job, totals) = (state.job(id)?, state.totals());
    if totals.present == 0 {
        return Some(Reason::NoWorkers { lost: state.workers().len() as u32 });
    }
    if totals.live == 0 {
        let draining = totals.present - totals.blacklisted;
        return Some(Reason::NoLiveWorkers { blacklisted: totals.blacklisted, draining });
    }
    if totals.slots[kind] == 0 {
        return Some(Reason::NoSlotsOfKind(kind));
    }
    let mut live = state.workers().iter().filter(|w| w.state() == WorkerState::Live);
    let slots = job.slots(kind);
    if !live.clone().any(|w| w.slots(kind) >= slots) {
        return Some(Reason::Limit(format!("Each of its {kind}s takes {slots} slots, more than any live worker has.")));
    }
    let room = |w: &Worker| w.occupied(kind) + slots <= w.slots(kind);
    if !job.spec().conf.requires.is_empty() {
        let large = live.clone().filter(|w| w.slots(kind) >= slots);
        if let Some(unmet) = Unmet::of(state, job, large.clone()) {
            return Some(Reason::Requirements(Box::new(unmet)));
        }
        let meeting = large.clone().filter(|w| state.meets_requirements(job, w));
        let (workers, live) = (meeting.clone().count() as u32, large.count() as u32);
        if workers < live && !meeting.clone().any(room) {
            return Some(Reason::RequirementsTaken { kind, workers, live });
        }
    }
    let useless = live.clone().filter(|w| state.is_useless(job, kind, w.id()));
    if useless.clone().next().is_some() && !live.clone().any(|w| room(w) && !state.is_useless(job, kind, w.id())) {
        let blind = useless.clone().filter(|w| job.is_blind(w.id())).count() as u32;
        return Some(Reason::Useless { kind, blind, unreachable: useless.count() as u32 - blind });
    }
    let avoided = live.clone().filter(|w| state.job_avoids(job, kind, w.id())).count() as u32;
    if avoided > 0 && !live.any(|w| room(w) && !state.job_avoids(job, kind, w.id())) {
        return Some(Reason::Avoided { workers: avoided });
    }
    None
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unknown => write!(f, "There is no such job."),
            Reason::Over(state) => write!(f, "The job is over: {}.", state.name()),
            Reason::Ending { end, running } => write!(
                f,
                "The job will be {}. It waits for {} to stop.",
                end.name(),
                count(*running, "running attempt", "running attempts")
            ),
            Reason::Committing => write!(f, "All tasks are done; the output is being put in its place."),
            Reason::NothingWaits { running } => {
                write!(f, "Nothing waits: {} and the rest is done.", count(*running, "attempt runs", "attempts run"))
            }
            Reason::SlowStart { done, needed } => {
                write!(f, "Its reduces wait for maps: {done} of the {needed} that slow start wants are done.")
            }
            Reason::NoWorkers { lost: 0 } => write!(f, "No worker has registered with the master yet."),
            Reason::NoWorkers { lost } => {
                write!(f, "No worker is there: {} lost.", count(*lost, "worker is", "workers are"))
            }
            Reason::NoLiveWorkers { blacklisted, draining } => {
                write!(f, "No worker takes tasks: {blacklisted} blacklisted, {draining} draining.")
            }
            Reason::NoSlotsOfKind(kind) => write!(f, "No live worker has {kind} slots."),
            Reason::Requirements(unmet) => unmet.fmt(f),
            Reason::RequirementsTaken { kind, workers, live } => write!(
                f,
                "It waits for {} that {} what it requires (of {live} live ones): no {kind} slot is free there.",
                count(*workers, "worker", "workers"),
                if *workers == 1 { "meets" } else { "meet" }
            ),
            Reason::Avoided { workers } => write!(
                f,
                "Its attempts failed too often on {}; it waits for a slot on another.",
                count(*workers, "worker", "workers")
            ),
            Reason::Useless { kind, blind, unreachable } => {
                if *blind > 0 {
                    write!(f, "{} its files; ", count(*blind, "worker does not see", "workers do not see"))?;
                }
                if *unreachable > 0 {
                    write!(f, "nobody can fetch from {}; ", count(*unreachable, "worker", "workers"))?;
                }
                write!(f, "it waits for a {kind} slot on another.")
            }
            Reason::Behind { kind, first, jobs: 1 } => {
                write!(f, "It is behind job {}, which still has {kind}s waiting.", first.0)
            }
            Reason::Behind { kind, first, jobs } => {
                write!(f, "It is behind {jobs} jobs with {kind}s waiting; the first of them is job {}.", first.0)
            }
            Reason::SlotsTaken { kind, slots } => {
                write!(
                    f,
                    "It is next, but {} taken.",
                    count(*slots, &format!("{kind} slot is"), &format!("{kind} slots are"))
                )
            }
            Reason::NextHeartbeat(kind) => {
                write!(f, "It is next and {kind} slots are free: it starts with the next heartbeat of their workers.")
            }
            Reason::AtLimit { kind, limit } => {
                let tasks = count(*limit, &format!("{kind} task"), &format!("{kind} tasks"));
                write!(f, "It may run {tasks} at a time and has that many running.")
            }
            Reason::Limit(text) => f.write_str(text),
            Reason::Noted { reason, note } => write!(f, "{reason} {note}"),
        }
    }
}

pub(super) fn count(n: u32, one: &str, many: &str) -> String {
    if n == 1 { format!("{n} {one}") } else { format!("{n} {many}") }
}

/// "1 map slot", "2 map slots".
pub(super) fn count_slots(n: u32, kind: TaskKind) -> String {
    count(n, &format!("{kind} slot"), &format!("{kind} slots"))
}

/// At the start of a sentence on a job: its user, who has no name in many traces.
pub(super) fn its_user(name: &str) -> String {
    if name.is_empty() { "Its user".to_owned() } else { format!("User `{name}`") }
}
