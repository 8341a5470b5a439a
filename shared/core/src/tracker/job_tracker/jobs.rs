//! The life of a job: submission, requests, commit, end.
//!
//! A job that is to fail or be killed stops its attempts first and ends when the last one is gone; then its
//! output is cleared away. A job whose tasks are done asks the driver to promote the winners' output and ends
//! when that is done. The final `JobState` is the last effect about a job.

use std::sync::Arc;

use smol_str::SmolStr;

use super::JobTracker;
use crate::cluster::{EndCause, Job, LocalityIndex, WorkerState};
use crate::job::{JobId, JobSpec, JobState, Priority, TaskId, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::time::Time;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, Rejection};

/// Most tasks of one kind in one job; beyond it the tables would not fit a machine.
pub const MAX_TASKS: u32 = 50_000_000;

impl JobTracker {
    /// A job was accepted by the driver.
    pub(super) fn on_submit(&mut self, id: JobId, spec: &Arc<JobSpec>) {
        if self.state.last_job().checked_add(1) != Some(id.0) {
            self.reject(None, Rejection::JobOutOfOrder(id));
            return;
        }
        if spec.check().is_err() || spec.n_maps > MAX_TASKS || spec.n_reduces > MAX_TASKS {
            self.reject(None, Rejection::MalformedJob(id));
            return;
        }
        let mut job = Job::new(id, Arc::clone(spec), self.state.now);
        job.locality = LocalityIndex::new(spec, &job.tasks[0].pending, &mut self.state.topology).map(Box::new);
        job.note_plain();
        self.state.jobs.push(job);
        self.out.push(Effect::JobState { job: id, state: JobState::Prep });
        self.observe(Change::Submitted { job: id });
        self.refresh(id);
        self.check_job(id);
    }

    /// Someone wants the job gone. One that is being committed may still succeed: its output may be there.
    pub(super) fn on_kill_job(&mut self, id: JobId) {
        match self.state.jobs.get_mut(id) {
            None => self.reject(None, Rejection::UnknownJob(id)),
            Some(job) if job.state == JobState::Committing => job.ending = Some(JobState::Killed),
            Some(_) => {
                self.begin_ending(id, JobState::Killed);
                self.check_job(id);
            }
        }
    }

    pub(super) fn on_set_priority(&mut self, id: JobId, priority: Priority) {
        let Some(job) = self.state.jobs.get_mut(id) else {
            self.reject(None, Rejection::UnknownJob(id));
            return;
        };
        let from = std::mem::replace(&mut job.priority, priority);
        if from != priority {
            self.observe(Change::Priority { job: id, from });
        }
    }

    /// What runs of the job goes on, and counts for its new queue from here on.
    pub(super) fn on_set_queue(&mut self, id: JobId, queue: &SmolStr) {
        let Some(job) = self.state.jobs.get_mut(id) else {
            self.reject(None, Rejection::UnknownJob(id));
            return;
        };
        if job.spec.queue != *queue {
            Arc::make_mut(&mut job.spec).queue.clone_from(queue);
            self.observe_waking(Change::Queue { job: id });
        }
    }

    /// Gives a job another deadline; meant for a [fork](JobTracker::fork), as no input does this. The policy ranks the job anew,
    /// and workers that wait are offered work with the next batch. A job that is not there is left alone.
    pub fn set_deadline(&mut self, id: JobId, due: Time) {
        let Some(job) = self.state.jobs.get_mut(id) else { return };
        let within = due.since(job.submitted);
        Arc::make_mut(&mut job.spec).conf.deadline = Some(within);
        self.observe(Change::Deadline { job: id });
        self.wake_all = true;
    }

    /// The job's first attempt was assigned.
    pub(super) fn job_runs(&mut self, id: JobId) {
        if let Some(job) = self.state.jobs.get_mut(id) {
            job.state = JobState::Running;
            self.out.push(Effect::JobState { job: id, state: JobState::Running });
        }
    }

    /// Decides that a job fails or is killed, and stops its attempts. The first decision stands.
    pub(super) fn begin_ending(&mut self, id: JobId, end: JobState) {
        let Some(job) = self.state.jobs.get_mut(id).filter(|job| job.ending.is_none()) else { return };
        job.ending = Some(end);
        let running: Vec<u32> = self
            .state
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.id.job == id && !attempt.detached)
            .map(|(reference, _)| reference.slot)
            .collect();
        for slot in running.into_iter().filter(|_| !planted(Fault::ForgetKill)) {
            self.order_kill(slot, EndCause::JobEnded, false);
        }
        self.refresh(id);
    }

    /// Moves a job on if nothing holds it in its state.
    pub(super) fn check_job(&mut self, id: JobId) {
        let Some(job) = self.state.job(id) else { return };
        if !matches!(job.state, JobState::Prep | JobState::Running) {
            return;
        }
        let running = job.tasks.iter().any(|tasks| tasks.n_attempts > 0);
        match job.ending {
            Some(end) if !running => self.finish_job(id, end),
            None if job.all_done() => self.begin_commit(id),
            _ => {}
        }
    }

    /// All tasks are done.
    fn begin_commit(&mut self, id: JobId) {
        let Some(job) = self.state.jobs.get_mut(id) else { return };
        job.state = JobState::Committing;
        let idle = job.tasks.iter().all(|tasks| tasks.n_attempts == 0);
        // Maps that ran again for reduces which are done now; usually none.
        let needless: Vec<TaskId> = self
            .state
            .attempts
            .iter()
            .take_while(|_| !idle)
            .filter(|(_, attempt)| attempt.id.job == id && !attempt.detached)
            .map(|(_, attempt)| attempt.id.task())
            .collect();
        for task in needless {
            self.detach_all(task, EndCause::JobEnded);
        }
        self.refresh(id);
        self.out.push(Effect::JobState { job: id, state: JobState::Committing });
        self.out.push(Effect::CommitJob { job: id });
    }

    /// The driver has promoted the output, or could not.
    pub(super) fn on_committed(&mut self, id: JobId, ok: bool) {
        match self.state.job(id) {
            Some(job) if job.state == JobState::Committing => {
                let end = if ok { JobState::Succeeded } else { job.ending.unwrap_or(JobState::Failed) };
                self.finish_job(id, end);
            }
            _ => self.reject(None, Rejection::NotCommitting(id)),
        }
    }

    /// The job is over and leaves the state.
    pub(super) fn finish_job(&mut self, id: JobId, end: JobState) {
        if end == JobState::Succeeded {
            self.count_faults(id);
        } else {
            self.out.push(Effect::AbortJob { job: id });
        }
        self.out.push(Effect::JobState { job: id, state: end });
        self.observe_waking(Change::JobOver { job: id, end });
        self.forget_short_failures(id);
        let now = self.state.now;
        let job = self.state.job(id).expect("only live jobs end");
        let summary = job.summary(end, now);
        let touched: Vec<u32> = job.touched.iter().collect();
        for worker in touched {
            let worker = &mut self.state.workers[worker as usize];
            if worker.state != WorkerState::Lost && !self.direct {
                worker.forget.push((id, false));
            }
        }
        let reserving = if self.reserves { self.state.workers.len() } else { 0 };
        for index in 0..reserving {
            for kind in TaskKind::ALL {
                let reserved = &mut self.state.workers[index].reserved[kind];
                if *reserved == Some(id) {
                    *reserved = None;
                    self.wake[kind] = true;
                }
            }
        }
        self.state.jobs.retire(id, summary);
    }

    /// Jobs that have given attempts to a worker, ascending.
    pub(super) fn jobs_that_used(&self, worker: WorkerId) -> Vec<JobId> {
        self.state.jobs().filter(|job| job.touched.contains(worker.0)).map(Job::id).collect()
    }
}
