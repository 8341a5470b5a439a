//! What comes of the core's effects: orders go to workers, jobs move on, what was lost is missed.

use std::cmp::Reverse;

use super::super::ends::TieBreak;
use super::{Order, Simulation};
use crate::job::{AttemptId, AttemptState, JobId, JobState, TaskKind, WorkerId};
use crate::tracker::{Driver, Effect, EndCause, Ended, Finished, Launched};

impl Simulation<'_> {
    /// Does what the core asks for.
    #[inline(never)]
    pub(super) fn follow(&mut self) {
        self.quiet = (0, self.stage.now);
        for index in 0..self.effects.len() {
            match self.effects[index] {
                Effect::Launch { worker, attempt, locality, speculative } => {
                    if let Some(reference) = self.tracker.state().reference(worker, attempt) {
                        self.stage.launched(worker, &Launched { attempt, reference, locality, speculative });
                    }
                }
                Effect::AttemptEnded { attempt, worker, state: AttemptState::Succeeded, started, .. } => {
                    self.stage.ended(Ended { attempt, worker, started });
                }
                Effect::AttemptEnded { attempt, worker, state, cause, started } => {
                    if cause == EndCause::WorkerLost && self.stage.sharing.is_active() {
                        // Its maps may have been done in the very instant in which its worker came back as another run.
                        self.stage.sharing.stop(worker, self.stage.now, attempt);
                    }
                    self.stage.on_ended(attempt, state, cause, started);
                }
                Effect::Kill { worker, attempt, cause } => {
                    if let Some(watch) = &mut self.stage.watch {
                        watch.observer.stopped(self.stage.now, attempt, worker, cause);
                    }
                    self.on_kill(worker, attempt);
                }
                Effect::JobState { job, state } => self.on_job_state(job, state),
                // Unless it has departed already, before a job that came at this instant.
                Effect::CommitJob { job } if self.tracker.state().job(job).is_some() => {
                    let at = self.stage.now + self.stage.jobs[job.0 as usize - 1].commit;
                    self.commits.push(Reverse((at, job)));
                    self.next_commit = self.next_commit.min(at);
                    self.next_fixed = self.next_fixed.min(at);
                }
                Effect::TaskFailed { task } if task.kind == TaskKind::Map && self.does_without(task.job) => {
                    self.stage.map_done(task.job);
                }
                Effect::MapOutputLost { attempt, .. } => {
                    self.on_output_lost(attempt.job.0 as usize - 1, attempt.index);
                }
                Effect::WorkerState { worker, .. } => self.stage.heartbeats.change(worker),
                _ => {}
            }
        }
        self.effects.clear();
    }

    /// Whether a job goes on although a task is out of attempts.
    fn does_without(&self, job: JobId) -> bool {
        self.tracker.state().job(job).is_some_and(|job| job.ending().is_none())
    }

    /// The worker stops the attempt when the directive reaches it.
    #[inline(never)]
    fn on_kill(&mut self, worker: WorkerId, attempt: AttemptId) {
        self.stage.digest.kill(self.stage.now, worker, &attempt);
        self.ordered = true;
        if !self.stage.machines.losses.is_down(worker) {
            if self.stage.sharing.is_active() {
                self.stop_when_reached(worker, attempt);
            }
            let (at, wins) = self.stage.heartbeats.stopped(worker, self.stage.now);
            let tie_break = if wins { TieBreak::First } else { TieBreak::Last };
            if let Some(attempt) = self.tracker.state().reference(worker, attempt) {
                self.stage.ends.plan(at, tie_break, Finished { attempt, state: AttemptState::Killed });
            }
            if at > self.stage.now && !wins {
                self.orders.push(Order { at, worker, attempt });
            }
        }
    }

    #[inline(never)]
    fn on_job_state(&mut self, id: JobId, state: JobState) {
        let outcome = &mut self.stage.jobs[id.0 as usize - 1].outcome;
        outcome.state = state;
        if state == JobState::Running {
            outcome.start = Some(self.stage.now);
        }
        if state.is_final() {
            outcome.finish = self.stage.now;
            outcome.costs = self.tracker.state().ended_job(id).map(|job| job.costs).unwrap_or_default();
            if let Some(watch) = &mut self.stage.watch {
                watch.observer.job(outcome);
            }
            let template = outcome.template;
            self.call_followers(template);
        }
    }
}
