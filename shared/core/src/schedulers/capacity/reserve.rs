//! Workers that are kept for jobs whose tasks need several slots.
//!
//! Such a job would never find enough free slots at once while tasks of one slot take each that ends. So a worker
//! that has too few is kept for it until it has enough: its free slots lie fallow and count as the job's. A job keeps
//! at most as many workers as it has tasks waiting. Source: `docs/hadoop.md#capacity`.
//!
//! `Deviation:` a worker is let go when the job has nothing waiting any more; in Hadoop, when it has the slots free.

use std::collections::BTreeMap;

use super::Capacity;
use crate::cluster::{ClusterState, Job, Worker, WorkerState};
use crate::job::{JobId, TaskKind, WorkerId};
use crate::schedulers::Actions;

/// Who is kept for whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    held: BTreeMap<(WorkerId, TaskKind), JobId>,
    /// What the core has not been told yet: a job to keep the worker for, or none to let it go.
    untold: Vec<(WorkerId, TaskKind, Option<JobId>)>,
}

impl Reservations {
    /// Keeps a worker for a job, if it will do and the job has more tasks waiting than workers kept.
    pub(super) fn wants(&mut self, id: JobId, job: &Job, kind: TaskKind, worker: &Worker) -> bool {
        let never = worker.slots(kind) < job.slots(kind);
        if never || self.n_of(id, kind) >= job.tasks(kind).pending().count() {
            return false;
        }
        self.held.insert((worker.id(), kind), id);
        self.untold.push((worker.id(), kind, Some(id)));
        true
    }

    /// Workers kept for a job.
    pub(super) fn n_of(&self, id: JobId, kind: TaskKind) -> u32 {
        self.held.iter().filter(|&(&(_, of_kind), &job)| of_kind == kind && job == id).count() as u32
    }

    /// Tells the core.
    pub(super) fn carry_out(&mut self, actions: &mut Actions) {
        for (worker, kind, job) in self.untold.drain(..) {
            match job {
                Some(job) => actions.reserve(worker, kind, job),
                None => actions.release(worker, kind),
            }
        }
    }

    /// Takes over what the core has not been told.
    pub(super) fn tell_as(&mut self, old: &Reservations) {
        self.untold.clone_from(&old.untold);
    }

    fn let_go(&mut self, worker: WorkerId, kind: TaskKind) -> Option<JobId> {
        let job = self.held.remove(&(worker, kind))?;
        self.untold.push((worker, kind, None));
        Some(job)
    }
}

impl Capacity {
    /// Counts the slots of the reservation that was just made.
    pub(super) fn hold_reserved(&mut self, kind: TaskKind) {
        if let Some(&(_, _, Some(job))) = self.reservations.untold.last() {
            self.hold(job, kind);
        }
    }

    /// Lets a worker go.
    pub(super) fn release(&mut self, worker: WorkerId, kind: TaskKind) {
        if let Some(job) = self.reservations.let_go(worker, kind) {
            self.give_back(job, kind);
        }
    }

    /// Lets all workers go that are kept for a job's tasks of a kind.
    pub(super) fn release_kind(&mut self, id: JobId, kind: TaskKind) {
        while let Some((&(worker, _), _)) =
            self.reservations.held.iter().find(|&(&(_, of_kind), &job)| of_kind == kind && job == id)
        {
            self.release(worker, kind);
        }
    }

    /// The job is over.
    pub(super) fn release_all(&mut self, id: JobId) {
        TaskKind::ALL.into_iter().for_each(|kind| self.release_kind(id, kind));
    }

    /// A worker changed: one that takes no tasks is kept for nobody, and none for a job whose requirements it no longer
    /// meets.
    pub(super) fn release_lost(&mut self, id: WorkerId, state: &ClusterState) {
        let live = state.worker(id).filter(|worker| worker.state() == WorkerState::Live);
        for kind in TaskKind::ALL {
            let Some(&job) = self.reservations.held.get(&(id, kind)) else { continue };
            let meets = |worker: &Worker| state.job(job).is_some_and(|job| state.meets_requirements(job, worker));
            if !live.is_some_and(meets) {
                self.release(id, kind);
            }
        }
    }

    /// The reservations of a running cluster.
    pub(super) fn take_over_reservations(&mut self, state: &ClusterState) {
        for worker in state.workers() {
            for kind in TaskKind::ALL {
                let let_go =
                    self.reservations.untold.iter().any(|&(id, of_kind, _)| (id, of_kind) == (worker.id(), kind));
                let known = |&job: &JobId| !let_go && self.jobs.get(job).is_some();
                if let Some(job) = worker.reserved(kind).filter(known) {
                    self.reservations.held.insert((worker.id(), kind), job);
                    self.hold(job, kind);
                }
            }
        }
    }
}
