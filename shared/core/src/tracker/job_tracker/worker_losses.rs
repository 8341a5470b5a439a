//! Poison tasks: tasks that take their workers down each time they run.
//!
//! An attempt on a lost worker counts as killed, so such a task would go from worker to worker for ever. Therefore workers that
//! were lost while they ran a task are counted for it, and at its job's limit the task counts as failed. What ran beside it is
//! counted as well, as nobody can tell; so one loss fails at most one task: the one with most losses, of these the one that was
//! started last. A worker that was asked to go (it said goodbye, it was drained, somebody removed it) counts for nothing. Nor
//! does one that fell silent together with most others, as in a power cut: **a loss counts only if at least half of the other
//! workers were heard of since, more than two heartbeats after it.** `Deviation:` Hadoop has no such rule.

use super::{JobTracker, interval};
use crate::cluster::{EndCause, Job, Worker, WorkerState};
use crate::job::{AttemptId, WorkerId};
use crate::time::{Span, Time};

/// Of silence between two workers that fell silent together: a report may be as old as a heartbeat, and as long held back.
const HEARTBEATS: u64 = 2;

impl JobTracker {
    /// Counts the loss of a worker that was not asked to go for what it ran; returns the attempt whose task has had enough.
    pub(super) fn charge_tasks(&mut self, id: WorkerId) -> Option<AttemptId> {
        let limits = |job: &Job| job.spec.conf.max_worker_losses.is_some_and(|limit| limit > 0);
        if self.config.max_worker_losses == 0 && !self.state.jobs().any(limits) {
            return None;
        }
        let at = self.state.workers[id.0 as usize].last_contact;
        self.state.workers[id.0 as usize].fell_silent = Some(at);
        if !self.others_went_on(id, at) {
            return None;
        }
        // That a worker cannot be fetched from is often seen before it is lost.
        let is_of_the_loss = |cause| cause == EndCause::Unreachable;
        let ran: Vec<(Time, AttemptId)> = self
            .state
            .attempts_on(id)
            .filter(|attempt| !attempt.detached && attempt.kill.is_none_or(is_of_the_loss))
            .map(|attempt| (attempt.started, attempt.id))
            .collect();
        let mut worst = None;
        for (started, attempt) in ran {
            let is_alone = self.state.attempts_of(attempt.task()).count() == 1;
            let Some(job) = self.state.jobs.get_mut(attempt.job).filter(|job| job.ending.is_none()) else { continue };
            let limit = job.spec.conf.max_worker_losses.unwrap_or(self.config.max_worker_losses);
            if limit == 0 {
                continue;
            }
            let losses = job.failures.make().of_losses.entry((attempt.kind, attempt.index)).or_default();
            *losses = losses.saturating_add(1);
            if *losses >= limit && is_alone {
                worst = worst.max(Some((*losses, started, attempt)));
            }
        }
        worst.map(|(_, _, attempt)| attempt)
    }

    /// Whether at least half of the other workers were heard of well after a worker's last word. Those that fell silent
    /// with it and are lost, or back, did not go on.
    fn others_went_on(&self, id: WorkerId, at: Time) -> bool {
        let longest = interval::longest_ms(&self.config.heartbeat, self.state.totals.present);
        let silence = Span::from_ms(longest.saturating_mul(HEARTBEATS));
        let with_it = |worker: &&Worker| worker.fell_silent.is_some_and(|fell| fell + silence >= at);
        let others = || self.state.workers.iter().filter(|worker| worker.id != id);
        let present = |worker: &&Worker| worker.state != WorkerState::Lost;
        let concerned = others().filter(|worker| present(worker) || with_it(worker)).count();
        let goes_on = |worker: &&Worker| present(worker) && !with_it(worker) && worker.last_contact > at + silence;
        let went_on = others().filter(goes_on).count();
        went_on > 0 && went_on * 2 >= concerned
    }
}
