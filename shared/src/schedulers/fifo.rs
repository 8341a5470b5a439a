//! First in, first out: the plain one, which fills every free slot.
//!
//! Order: priority, then time of submission, then number. A job that waits is in an ordered index of its kind
//! from the moment it has something to offer until it has nothing, so that a decision costs the same with 10
//! and with 10,000 waiting jobs. Hadoop's own per-heartbeat limits belong to its dialects, not to this one.
//! Source: `hadoop-semantics` §4.4 for the order. `Deviation:` Hadoop orders by start time, which initialisation
//! delays; here it is the time of submission.

use std::collections::BTreeSet;

use super::reason::waiting_kind;
use super::registry::{Reader, SchedulerError};
use super::{
    Assignment, Change, Choice, NearestFirst, NoSpeculation, Reason, Round, Scheduler, Speculation, TaskChoice,
};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, Priority, TaskKind, WorkerId};
use crate::time::Time;

/// A job's place in the queue; smaller runs first.
type Place = (Priority, Time, JobId);

/// The policy.
pub struct Fifo {
    /// Jobs with something to offer, by kind.
    waiting: [BTreeSet<Place>; 2],
    /// The first of them, by kind.
    first: [Option<JobId>; 2],
    /// Jobs with running attempts that might get second ones; only kept for a rule that wants it.
    running: BTreeSet<Place>,
    choice: Box<dyn TaskChoice>,
    speculation: Box<dyn Speculation>,
    round: Option<Round>,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo {
            waiting: Default::default(),
            first: [None; 2],
            running: BTreeSet::new(),
            choice: Box::new(NearestFirst),
            speculation: Box::new(NoSpeculation),
            round: None,
        }
    }
}

fn place(job: &Job) -> Place {
    (job.priority(), job.submitted(), job.id())
}

impl Fifo {
    /// Reads `speculation` (`none`).
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Fifo, SchedulerError> {
        params.word("speculation", &["none"])?;
        Ok(Fifo::default())
    }

    fn assign_kind(&mut self, state: &ClusterState, kind: TaskKind, worker: WorkerId) -> Option<Assignment> {
        let worker = state.worker(worker)?;
        if worker.free(kind) == 0 {
            return None;
        }
        // The job that is first takes nearly every slot, and starting an iteration costs more than finding it.
        let first = self.first[kind as usize]?;
        let job = state.job(first)?;
        if let Ok(Choice { index, locality }) = self.choice.choose(state, job, kind, worker) {
            return Some(Assignment { job: first, kind, index, locality, speculative: false });
        }
        for &(_, _, id) in self.waiting[kind as usize].iter().skip(1) {
            let job = state.job(id)?;
            if let Ok(Choice { index, locality }) = self.choice.choose(state, job, kind, worker) {
                return Some(Assignment { job: id, kind, index, locality, speculative: false });
            }
        }
        None
    }

    fn speculate(&mut self, state: &ClusterState, round: &Round) -> Option<Assignment> {
        if self.speculation.is_none() {
            return None;
        }
        let worker = state.worker(round.worker)?;
        for &(_, _, id) in &self.running {
            let job = state.job(id)?;
            for kind in TaskKind::ALL {
                if worker.free(kind) > 0
                    && let Some(found) = self.speculation.pick(round.now, state, job, kind, round.worker)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    fn note_offerable(&mut self, job: JobId, kind: TaskKind, offerable: bool, state: &ClusterState) {
        let Some(job) = state.job(job) else { return };
        let waiting = &mut self.waiting[kind as usize];
        if offerable {
            waiting.insert(place(job));
        } else {
            waiting.remove(&place(job));
        }
        self.find_first();
    }

    fn find_first(&mut self) {
        self.first = [0, 1].map(|kind: usize| self.waiting[kind].first().map(|&(_, _, id)| id));
    }
}

impl Scheduler for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        match *change {
            Change::Offerable { job, kind, offerable } => self.note_offerable(job, kind, offerable, state),
            Change::Priority { job, from } => {
                let Some(job) = state.job(job) else { return };
                let old = (from, job.submitted(), job.id());
                for set in self.waiting.iter_mut().chain([&mut self.running]) {
                    if set.remove(&old) {
                        set.insert(place(job));
                    }
                }
                self.find_first();
            }
            Change::Submitted { job } if !self.speculation.is_none() => {
                self.running.extend(state.job(job).map(place));
            }
            Change::JobOver { job, .. } if !self.speculation.is_none() => {
                if let Some(job) = state.job(job) {
                    self.running.remove(&place(job));
                }
            }
            _ => {}
        }
    }

    fn begin_round(&mut self, round: &Round, _state: &ClusterState) {
        self.round = Some(*round);
    }

    fn assign(&mut self, state: &ClusterState) -> Option<Assignment> {
        let round = self.round?;
        self.assign_kind(state, TaskKind::Map, round.worker)
            .or_else(|| self.assign_kind(state, TaskKind::Reduce, round.worker))
            .or_else(|| self.speculate(state, &round))
    }

    fn may_speculate(&self) -> bool {
        !self.speculation.is_none()
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(job), Some(kind)) = (state.job(id), waiting_kind(id, state)) else { return Reason::Unknown };
        let mut ahead = self.waiting[kind as usize].range(..place(job)).map(|&(_, _, id)| id);
        let first = ahead.next();
        Reason::in_order(kind, first.map(|first| (1 + ahead.count() as u32, first)), state)
    }

    fn attach(&mut self, state: &ClusterState) {
        self.waiting = Default::default();
        self.find_first();
        self.running.clear();
        for job in state.jobs() {
            for kind in TaskKind::ALL {
                self.note_offerable(job.id(), kind, job.offerable(kind), state);
            }
            if !self.speculation.is_none() {
                self.running.insert(place(job));
            }
        }
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(Fifo {
            waiting: self.waiting.clone(),
            first: self.first,
            running: self.running.clone(),
            choice: self.choice.fork(),
            speculation: self.speculation.fork(),
            round: self.round,
        })
    }
}
