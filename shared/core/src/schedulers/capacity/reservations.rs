//! Which workers are kept for which jobs, and what of it the core does not know yet.

use std::collections::BTreeMap;

use crate::cluster::{Job, Worker};
use crate::job::{JobId, TaskKind, WorkerId};
use crate::schedulers::Actions;

/// Who is kept for whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    pub(super) held: BTreeMap<(WorkerId, TaskKind), JobId>,
    /// What the core does not know yet: a job to keep the worker for, or none to let it go.
    pub(super) untold: Vec<(WorkerId, TaskKind, Option<JobId>)>,
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

    /// Takes over what the core does not know yet.
    pub(super) fn tell_as(&mut self, old: &Reservations) {
        self.untold.clone_from(&old.untold);
    }

    pub(super) fn let_go(&mut self, worker: WorkerId, kind: TaskKind) -> Option<JobId> {
        let job = self.held.remove(&(worker, kind))?;
        self.untold.push((worker, kind, None));
        Some(job)
    }
}
