//! A job whose output was to be put in its place, and of which a part is not there any more.
//!
//! Its task had succeeded, and the driver found nothing of it: a file system lost it, or somebody removed it. The winner has
//! failed after all, so the task runs again as after any failure, at most as often as it may, and the job is promoted once more
//! when all is there. Deviation: Hadoop's commit takes what it finds, and the job succeeds without the part.

use super::JobTracker;
use crate::cluster::{EndCause, TaskState, WorkerState};
use crate::job::{AttemptId, JobId, JobState, TaskKind};
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, Rejection};

impl JobTracker {
    /// Of these winners of a job that is being committed nothing was there.
    pub(super) fn on_output_gone(&mut self, id: JobId, gone: &[AttemptId]) {
        let Some(job) = self.state.jobs.get_mut(id).filter(|job| job.state == JobState::Committing) else {
            return self.reject(None, Rejection::NotCommitting(id));
        };
        if planted(Fault::DoWithoutPart) {
            return self.finish_job(id, JobState::Succeeded);
        }
        let last = if job.tasks[1].is_empty() { TaskKind::Map } else { TaskKind::Reduce };
        let tasks = &job.tasks[last];
        let is_winner = |attempt: &&AttemptId| {
            let its = attempt.job == id && attempt.kind == last && attempt.index < tasks.len();
            its && tasks.winner(attempt.index).is_some_and(|(_, number)| number == attempt.number)
        };
        let winners: Vec<AttemptId> = gone.iter().filter(is_winner).copied().collect();
        if job.ending.is_some() || winners.is_empty() {
            // It was killed meanwhile; or nobody knows what is missing.
            let end = job.ending.unwrap_or(JobState::Failed);
            return self.finish_job(id, end);
        }
        job.state = JobState::Running;
        self.out.push(Effect::JobState { job: id, state: JobState::Running });
        for winner in winners {
            self.lose_winner(winner);
        }
        self.lose_outputs_of_the_lost(id);
        self.refresh(id);
        self.check_job(id);
    }

    fn lose_winner(&mut self, attempt: AttemptId) {
        let AttemptId { job, kind, index, number } = attempt;
        let Some(live) = self.state.jobs.get_mut(job) else { return };
        // It may be named twice.
        let Some((worker, _)) = live.tasks[kind].winner(index).filter(|&(_, winner)| winner == number) else { return };
        let tasks = &mut live.tasks[kind];
        tasks.n_succeeded -= 1;
        // As after its last attempt's end.
        tasks.tasks[index as usize].state = TaskState::Running;
        if kind == TaskKind::Map {
            live.maps_done = None;
        }
        self.out.push(Effect::OutputGone { attempt, worker });
        // The worker had done its part: whoever removes files must not have it blacklisted.
        self.charge_task(attempt.task());
        self.after_failure(attempt.task());
    }

    /// While nothing of the job was left to do, nobody missed map output that went with its worker.
    fn lose_outputs_of_the_lost(&mut self, id: JobId) {
        let Some(job) = self.state.job(id).filter(|job| job.ending.is_none() && !job.tasks[1].is_empty()) else {
            return;
        };
        let maps = &job.tasks[0];
        let is_lost = |&map: &u32| {
            let winner = maps.winner(map);
            winner.is_some_and(|(worker, _)| self.state.workers[worker.0 as usize].state == WorkerState::Lost)
        };
        let lost: Vec<u32> = (0..maps.len()).filter(is_lost).collect();
        lost.into_iter().for_each(|map| self.lose_output(id, map, EndCause::WorkerLost));
    }
}
