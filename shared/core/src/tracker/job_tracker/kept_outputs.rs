//! Map output that outlives its worker's process: it lies on a disk, and whoever starts there can go on serving it.
//!
//! A worker that registers names what it has whole. Wanted is what won: output of a worker that was never lost does not go with
//! its earlier run then, and output of one that was lost meanwhile counts again unless its map was done anew. The map then
//! waits or runs no longer. What a worker does not name is lost as before, and so is all of one that names nothing.
//! `Deviation:` in Hadoop a TaskTracker begins with nothing, and its maps run again (`docs/hadoop.md`).
//! **Invariant: only a worker's own word makes its output count, and only of the attempt that had succeeded on it.**

use std::collections::BTreeSet;

use super::JobTracker;
use crate::cluster::{EndCause, TaskState};
use crate::job::{AttemptId, JobState, TaskId, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, Registration};

impl JobTracker {
    /// The maps whose output a worker that was not lost still has.
    pub(super) fn kept_of(&self, registration: &Registration) -> BTreeSet<TaskId> {
        let id = registration.worker;
        if planted(Fault::KeepUnnamed) {
            let on = |job| self.outputs_on(job, id).into_iter().map(move |index| (job, index));
            let all = self.jobs_that_used(id).into_iter().flat_map(on);
            return all.map(|(job, index)| TaskId { job, kind: TaskKind::Map, index }).collect();
        }
        let named = registration.kept.iter().filter(|&&output| self.is_winner(id, output));
        named.map(|output| output.task()).collect()
    }

    /// Takes what a worker that has just registered named, as far as it is wanted.
    pub(super) fn keep_outputs(&mut self, registration: &Registration) {
        let id = registration.worker;
        let named: BTreeSet<AttemptId> = registration.kept.iter().copied().collect();
        for output in named {
            if self.is_winner(id, output) {
                if let Some(failures) = self.state.jobs.get_mut(output.job).and_then(|job| job.failures.get_mut()) {
                    // Nobody could fetch it while its worker was away.
                    failures.of_fetches.remove(&output.index);
                }
                self.out.push(Effect::OutputKept { attempt: output, worker: id });
            } else if self.may_come_back(id, output) {
                self.take_back_output(id, output);
            }
        }
    }

    /// Whether the output is its map's, and lies on the worker as far as is known.
    fn is_winner(&self, id: WorkerId, output: AttemptId) -> bool {
        let Some(job) = self.state.job(output.job).filter(|_| output.kind == TaskKind::Map) else { return false };
        let winner = job.tasks[0].winner(output.index);
        let is_its = winner == Some((id, output.number)) || planted(Fault::KeepAny);
        is_its && job.ending.is_none() && !job.tasks[1].is_empty()
    }

    /// Whether the output went with the worker, and its map is not done.
    fn may_come_back(&self, id: WorkerId, output: AttemptId) -> bool {
        let Some(job) = self.state.job(output.job).filter(|_| output.kind == TaskKind::Map) else { return false };
        let left = job.failures.get().and_then(|failures| failures.left.get(&output.index));
        let state = job.tasks[0].task(output.index).state;
        left == Some(&(id, output.number))
            && job.state == JobState::Running
            && job.ending.is_none()
            && !job.tasks[1].all_done()
            && matches!(state, TaskState::Pending | TaskState::Running)
    }

    /// The output of a map that is to be done anew is there again.
    fn take_back_output(&mut self, id: WorkerId, output: AttemptId) {
        let now = self.state.now;
        let AttemptId { job, index, .. } = output;
        let Some(live) = self.state.jobs.get_mut(job) else { return };
        let maps = &mut live.tasks[0];
        if maps.task(index).state == TaskState::Pending {
            maps.take_pending(index);
            if let Some(places) = &mut live.locality {
                places.taken(&live.spec, index, &live.tasks[0].pending, &self.state.topology);
            }
        }
        // It was counted as killed.
        live.tasks[0].attempts_killed = live.tasks[0].attempts_killed.saturating_sub(1);
        if let Some(failures) = live.failures.get_mut() {
            failures.left.remove(&index);
        }
        live.succeed(output, id, now);
        live.note_plain();
        self.out.push(Effect::OutputKept { attempt: output, worker: id });
        self.observe(Change::Returned { task: output.task() });
        self.refresh(job);
        self.detach_all(output.task(), EndCause::LostRace);
        self.check_job(job);
    }
}
