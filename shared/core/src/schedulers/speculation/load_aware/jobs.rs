//! What is kept of each live job, by kind: its running attempts, and finished tasks to estimate others from.

use std::collections::BTreeMap;

use super::formula::Reference;
use super::strain::{Strains, Sums};
use crate::cluster::{Attempt, AttemptRef, ClusterState};
use crate::job::{AttemptId, JobId, PerKind, Progress, TaskKind, WorkerId};
use crate::schedulers::PerJob;
use crate::time::Time;

/// A running attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) reference: AttemptRef,
    pub(super) worker: WorkerId,
    pub(super) started: Time,
    /// Its worker's sums when it began.
    begun: Sums,
    /// When its worker last reported.
    pub(super) reported_at: Time,
    /// Microseconds of work at no load that its worker had let it do by then.
    pub(super) work_us: u64,
    progress: Progress,
    /// When its worker first reported this progress.
    pub(super) moved: Time,
    /// The work that it had done by then.
    pub(super) work_moved_us: u64,
}

/// Of one job and kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// By index and number, so that the attempts of a task stand together.
    pub(super) runs: BTreeMap<(u32, u16), Run>,
    /// The last task that each worker finished.
    by_worker: BTreeMap<WorkerId, Reference>,
    last: Option<Reference>,
    /// The worker that was last refused a pending task, and got none since.
    pub(super) declined: Option<WorkerId>,
}

impl Known {
    /// The finished task from which to estimate one on a worker: its own last one, or else the last one.
    pub(super) fn reference(&self, worker: WorkerId) -> Option<&Reference> {
        self.by_worker.get(&worker).or(self.last.as_ref())
    }
}

/// All live jobs that ran anything.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs(PerJob<PerKind<Known>>);

impl Jobs {
    pub(super) fn get(&self, job: JobId, kind: TaskKind) -> Option<&Known> {
        self.0.get(job).map(|kinds| &kinds[kind])
    }

    pub(super) fn get_mut(&mut self, job: JobId, kind: TaskKind) -> Option<&mut Known> {
        self.0.get_mut(job).map(|kinds| &mut kinds[kind])
    }

    /// An attempt began, or is found running; its worker's strain is up to date.
    pub(super) fn begin(&mut self, reference: AttemptRef, attempt: &Attempt, reported_at: Time, strains: &Strains) {
        let (id, worker, started) = (attempt.id(), attempt.worker(), attempt.started());
        let Some(strain) = strains.get(worker) else { return };
        let begun = strain.sums_at(started);
        let reported_at = reported_at.max(started);
        let (work_us, progress) = (strain.sums_at(reported_at).work_us_since(begun), attempt.progress());
        let (moved, work_moved_us) = (reported_at, work_us);
        let run = Run { reference, worker, started, begun, reported_at, work_us, progress, moved, work_moved_us };
        if self.0.get(id.job).is_none() {
            self.0.insert(id.job, Default::default());
        }
        if let Some(known) = self.get_mut(id.job, id.kind) {
            known.runs.insert((id.index, id.number), run);
            known.declined.take_if(|declined| *declined == worker);
        }
    }

    /// An attempt ended; if it succeeded, its task is a reference.
    pub(super) fn end(&mut self, id: AttemptId, now: Time, succeeded: bool, strains: &Strains) {
        let Some(known) = self.get_mut(id.job, id.kind) else { return };
        let Some(run) = known.runs.remove(&(id.index, id.number)) else { return };
        let Some(strain) = strains.get(run.worker).filter(|_| succeeded) else { return };
        let (sums, time_us) = (strain.sums_at(now), now.since(run.started).as_us());
        let reference = Reference {
            worker: run.worker,
            time_us,
            unloaded_us: sums.work_us_since(run.begun),
            load_milli: sums.mean_load_milli_since(run.begun, time_us),
            khz: strain.place().khz,
        };
        known.by_worker.insert(run.worker, reference);
        known.last = Some(reference);
    }

    /// A worker has said how far its attempts are.
    pub(super) fn reported(&mut self, worker: WorkerId, state: &ClusterState, strains: &Strains) {
        let Some(strain) = strains.get(worker) else { return };
        let sums = strain.sums_at(state.now());
        for attempt in state.attempts_on(worker) {
            let id = attempt.id();
            let known = self.get_mut(id.job, id.kind);
            if let Some(run) = known.and_then(|known| known.runs.get_mut(&(id.index, id.number))) {
                run.reported_at = state.now();
                run.work_us = sums.work_us_since(run.begun);
                if run.progress != attempt.progress() {
                    (run.progress, run.moved, run.work_moved_us) = (attempt.progress(), run.reported_at, run.work_us);
                }
            }
        }
    }

    /// Takes over the finished tasks of live jobs, each seen anew.
    pub(super) fn recall(&mut self, old: &Jobs, anew: impl Fn(&Reference) -> Reference) {
        for (id, kinds) in old.0.iter() {
            if self.0.get(id).is_none() {
                self.0.insert(id, Default::default());
            }
            for (known, old) in self.0.get_mut(id).into_iter().flatten().zip(kinds) {
                known.by_worker = old.by_worker.iter().map(|(&worker, reference)| (worker, anew(reference))).collect();
                known.last = old.last.as_ref().map(&anew);
            }
        }
    }

    pub(super) fn leave(&mut self, job: JobId) {
        self.0.remove(job);
    }

    /// Begins with what runs; what has finished is not in the state and is forgotten.
    pub(super) fn attach(&mut self, state: &ClusterState, strains: &Strains) {
        self.0.clear();
        for (reference, attempt) in state.attempts().iter().filter(|(_, attempt)| !attempt.detached()) {
            let reported_at = state.worker(attempt.worker()).map_or(state.now(), |worker| worker.last_contact());
            self.begin(reference, attempt, reported_at, strains);
        }
    }
}
