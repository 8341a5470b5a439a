//! Black holes: workers that fail every task at once and so would get nearly all of them.
//!
//! The blacklist's faults count per job that succeeded, and a job avoids a worker only in larger clusters: both come too late
//! for a worker that fails ten tasks a second. Such a one is set aside by itself: attempts in a row failed there soon after their
//! start, nothing succeeded there meanwhile, and others do what it failed: at least two of these tasks have succeeded elsewhere
//! since, or run elsewhere twice as long as a short failure may take. A job that fails everywhere has no such tasks, so it lists
//! nobody. What it did counts as enough faults for the list, which are forgotten like all others. `Deviation:` Hadoop has no such rule.

use std::collections::BTreeSet;

use super::JobTracker;
use crate::cluster::{Attempt, MOST_KEPT, WorkerState};
use crate::job::{JobId, TaskId, WorkerId};
use crate::time::Span;

/// Different tasks that others do: one may have its own reasons.
const DONE_ELSEWHERE: usize = 2;
/// Who sets more faults than this for the list wants none.
const MOST_FAULTS: u32 = 1_000_000;

impl JobTracker {
    /// An attempt failed by its worker's own word. If that has ended its job, nobody else will do the task.
    pub(super) fn note_short_failure(&mut self, attempt: &Attempt) {
        if self.state.job(attempt.id.job).is_none() {
            return;
        }
        let worker = &self.state.workers[attempt.worker.0 as usize];
        let is_short = self.state.now.since(attempt.started) <= self.config.short_failure();
        let counts = self.config.blacklist.enforced && self.config.blacklist.short_failures > 0;
        if !counts || !is_short || worker.blacklisted || worker.state == WorkerState::Lost {
            return;
        }
        self.state.failing.entry(attempt.worker).or_default().add(attempt.id.task());
        self.set_aside(attempt.worker);
    }

    /// A worker has done a task: it is no black hole, and others that failed the task may be.
    pub(super) fn note_done(&mut self, task: TaskId, by: WorkerId) {
        if self.state.failing.is_empty() {
            return;
        }
        self.state.failing.remove(&by);
        let rows = self.state.failing.iter_mut();
        let news: Vec<WorkerId> = rows.filter_map(|(&id, row)| row.note_done(task).then_some(id)).collect();
        news.into_iter().for_each(|id| self.set_aside(id));
    }

    /// A job is over: nobody else will do what is left of it.
    pub(super) fn forget_short_failures(&mut self, job: JobId) {
        self.state.failing.retain(|_, row| {
            row.forget_job(job);
            !row.is_empty()
        });
    }

    /// Lists a worker if it is a black hole.
    fn set_aside(&mut self, id: WorkerId) {
        let enough = (self.config.blacklist.short_failures as usize).min(MOST_KEPT);
        if self.state.failing.get(&id).is_none_or(|row| row.len() < enough)
            || !self.others_do(id)
            || !self.may_be_listed(id)
        {
            return;
        }
        let now = self.state.now;
        let worker = &mut self.state.workers[id.0 as usize];
        let missing = self.config.blacklist.max_faults.min(MOST_FAULTS).saturating_sub(worker.n_faults());
        self.config.blacklist.memory.add(&mut worker.faults, missing.max(1), now);
        (worker.blacklisted, worker.black_hole) = (true, true);
        self.state.failing.remove(&id);
        self.settle_worker(id);
        self.next_forgiving = self.first_forgiving();
    }

    /// Whether others do what the worker failed.
    fn others_do(&self, id: WorkerId) -> bool {
        let long = Span::from_us(self.config.short_failure().as_us().saturating_mul(2));
        let runs = |task| {
            let mut attempts = self.state.attempts_of(task);
            attempts.any(|attempt| attempt.worker != id && self.state.now.since(attempt.started) > long)
        };
        let row = self.state.failing.get(&id).into_iter().flat_map(|row| row.iter());
        let done: BTreeSet<TaskId> = row.filter(|one| one.done || runs(one.task)).map(|one| one.task).collect();
        done.len() >= DONE_ELSEWHERE
    }
}
