//! Workers that are kept for jobs whose tasks need several slots.
//!
//! Such a job would never find enough free slots at once while tasks of one slot take each that ends. So a worker
//! that has too few is kept for it until it has enough: its free slots lie fallow and count as the job's. A job keeps
//! at most as many workers as it has tasks waiting. Source: `docs/hadoop.md#capacity`.
//!
//! `Deviation:` a worker is let go when the job has nothing waiting any more; in Hadoop, when it has the slots free.

use super::Capacity;
use crate::cluster::{ClusterState, Worker, WorkerState};
use crate::job::{JobId, TaskKind, WorkerId};

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
