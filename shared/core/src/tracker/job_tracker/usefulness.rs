//! Workers that are there and yet of no use: they cannot see a job's files, or nobody can fetch from them.
//!
//! Both are found outside, by an attempt or by the master, and cost jobs nothing as long as another worker can do their
//! work. Where none can, everything goes on as without this: a job whose files are nowhere fails, and says why.

use super::JobTracker;
use crate::cluster::{Attempt, EndCause};
use crate::job::{AttemptState, JobId, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::tracker::Rejection;

impl JobTracker {
    /// A worker cannot see a job's files.
    pub(super) fn on_cannot_serve(&mut self, id: WorkerId, job: JobId) {
        if self.state.worker(id).is_none() {
            self.reject(Some(id), Rejection::UnknownWorker(id));
            return;
        }
        // The job may have ended meanwhile.
        let Some(live) = self.state.jobs.get_mut(job) else { return };
        if live.failures.make().blind.insert(id) {
            live.note_plain();
            self.observe(Change::Worker { worker: id });
            self.wake = [true; 2];
        }
    }

    /// A worker that registers may see today what it did not yesterday.
    pub(super) fn forget_blindness(&mut self, id: WorkerId) {
        let blind: Vec<JobId> = self.state.jobs().filter(|job| job.is_blind(id)).map(|job| job.id).collect();
        for job in blind {
            let Some(job) = self.state.jobs.get_mut(job) else { continue };
            job.failures.make().blind.remove(&id);
            job.note_plain();
        }
        self.count_unreachable();
    }

    /// Others can fetch from a worker, or cannot.
    pub(super) fn on_reach(&mut self, id: WorkerId, reachable: bool) {
        let Some(worker) = self.state.workers.get_mut(id.0 as usize) else {
            self.reject(Some(id), Rejection::UnknownWorker(id));
            return;
        };
        if worker.unreachable != reachable {
            return;
        }
        worker.unreachable = !reachable;
        self.count_unreachable();
        self.observe(Change::Worker { worker: id });
        self.wake = [true; 2];
        if !reachable {
            self.give_up_outputs(id);
        }
    }

    fn count_unreachable(&mut self) {
        self.state.unreachable = self.state.workers.iter().filter(|worker| worker.unreachable).count() as u32;
    }

    /// Map output on an unreachable worker, and what would become some, is made again elsewhere; nobody is charged.
    fn give_up_outputs(&mut self, id: WorkerId) {
        for job in self.jobs_that_used(id) {
            let elsewhere = self.state.job(job).is_some_and(|live| self.state.another_is_useful(live, TaskKind::Map));
            if !elsewhere {
                continue;
            }
            for map in self.outputs_on(job, id) {
                self.lose_output(job, map, EndCause::Unreachable);
            }
            let slots = self.state.workers[id.0 as usize].attempts.clone();
            for slot in slots {
                let attempt = self.state.attempts.at(slot).id;
                let keeps = self.state.job(job).is_some_and(|live| live.spec.n_reduces > 0);
                if attempt.job == job && attempt.kind == TaskKind::Map && keeps {
                    self.order_kill(slot, EndCause::Unreachable, false);
                }
            }
        }
    }

    /// Whether a failure is only that of a worker that cannot see the job's files, while another may.
    pub(super) fn is_only_blind(&self, attempt: &Attempt, reported: AttemptState) -> bool {
        reported == AttemptState::Failed
            && self
                .state
                .job(attempt.id.job)
                .is_some_and(|job| job.is_blind(attempt.worker) && self.state.another_is_useful(job, attempt.id.kind))
    }
}
