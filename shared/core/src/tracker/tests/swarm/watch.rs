//! What an onlooker knows from the effects that left the master, and what may never be among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::job::{AttemptId, AttemptState, JobId, JobState, TaskId, TaskKind, WorkerId};
use crate::tracker::{Effect, EndCause, Input, WorkerState};

/// The history of a world as its durable batches tell it.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    launched: BTreeSet<AttemptId>,
    ended: BTreeMap<AttemptId, AttemptState>,
    pub(super) winner: BTreeMap<TaskId, AttemptId>,
    granted: BTreeMap<TaskId, AttemptId>,
    pub(super) failures: BTreeMap<TaskId, u32>,
    /// Map outputs that reduces may fetch, and where they are.
    pub(super) outputs: BTreeMap<AttemptId, WorkerId>,
    pub(super) over: BTreeMap<JobId, JobState>,
    /// Workers that tasks may take down, 0 for any number, and lost ones by what ran there.
    max_losses: u16,
    losses: BTreeMap<TaskId, u16>,
    poison: BTreeSet<TaskId>,
}

impl Watch {
    pub(super) fn new(max_losses: u16) -> Watch {
        Watch { max_losses, ..Watch::default() }
    }

    pub(super) fn was_launched(&self, attempt: AttemptId) -> bool {
        self.launched.contains(&attempt)
    }

    /// Whether a task of the job failed for the workers that it took down.
    pub(super) fn took_workers_down(&self, job: JobId) -> bool {
        self.poison.iter().any(|task| task.job == job)
    }

    /// One batch; the sentence says what may not be. `needs` are the jobs with reduces that may still fetch.
    pub(super) fn see(&mut self, effects: &[Effect], needs: impl Fn(JobId) -> bool) -> Result<(), String> {
        for effect in effects {
            self.effect(effect)?;
        }
        let kept: BTreeSet<AttemptId> = effects.iter().filter_map(kept_output).collect();
        for effect in effects {
            let gone = |(id, at): &(&AttemptId, &WorkerId), of| **at == of && needs(id.job) && !kept.contains(id);
            if let Effect::WorkerState { worker, state: WorkerState::Lost } = *effect
                && let Some((output, _)) = self.outputs.iter().find(|output| gone(output, worker))
            {
                return Err(format!("{output:?} counts as there although worker {} is lost", worker.0));
            }
        }
        Ok(())
    }

    fn effect(&mut self, effect: &Effect) -> Result<(), String> {
        match *effect {
            Effect::Launch { attempt, .. } => {
                if self.over.contains_key(&attempt.job) || self.ended.contains_key(&attempt) {
                    return Err(format!("{attempt:?} is launched after its end"));
                }
                self.launched.insert(attempt);
            }
            Effect::Commit { attempt, .. } => {
                let other = self.granted.insert(attempt.task(), attempt).filter(|other| *other != attempt);
                if let Some(other) = other.filter(|other| !self.ended.contains_key(other)) {
                    return Err(format!("{other:?} and {attempt:?} may both commit"));
                }
            }
            Effect::AttemptEnded { attempt, state, cause, .. } => self.end(attempt, state, cause)?,
            Effect::MapOutputReady { attempt, worker } => drop(self.outputs.insert(attempt, worker)),
            Effect::OutputKept { attempt, worker } => {
                let had_succeeded = self.ended.get(&attempt) == Some(&AttemptState::Succeeded);
                let winner = *self.winner.entry(attempt.task()).or_insert(attempt);
                if winner != attempt || !had_succeeded || self.over.contains_key(&attempt.job) {
                    return Err(format!("the output of {attempt:?} is kept, and it did not win"));
                }
                self.outputs.insert(attempt, worker);
            }
            Effect::MapOutputLost { attempt, .. } => {
                if self.outputs.remove(&attempt).is_none() || self.winner.remove(&attempt.task()) != Some(attempt) {
                    return Err(format!("the output of {attempt:?} is lost, but was never there"));
                }
                if let Effect::MapOutputLost { cause: EndCause::TooManyFetchFailures, .. } = effect {
                    *self.failures.entry(attempt.task()).or_default() += 1;
                }
            }
            Effect::OutputGone { attempt, .. } => {
                if self.winner.remove(&attempt.task()) != Some(attempt) {
                    return Err(format!("the output of {attempt:?} is gone, but it was no winner"));
                }
                *self.failures.entry(attempt.task()).or_default() += 1;
            }
            Effect::JobState { job, state } => {
                if let Some(end) = self.over.get(&job) {
                    return Err(format!("{job:?} is {state:?} after it was {end:?}"));
                }
                if state.is_final() {
                    self.over.insert(job, state);
                    self.outputs.retain(|attempt, _| attempt.job != job);
                    if let Some(open) = self.launched.iter().find(|a| a.job == job && !self.ended.contains_key(a)) {
                        return Err(format!("{job:?} is over before {open:?}"));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, attempt: AttemptId, state: AttemptState, cause: EndCause) -> Result<(), String> {
        if self.over.contains_key(&attempt.job) {
            return Err(format!("{attempt:?} ends after its job"));
        }
        if let Some(before) = self.ended.insert(attempt, state) {
            return Err(format!("{attempt:?} ends {state:?} after it ended {before:?}"));
        }
        if matches!(cause, EndCause::WorkerLost | EndCause::TooManyWorkerLosses) {
            let losses = self.losses.entry(attempt.task()).or_default();
            *losses += 1;
            if cause == EndCause::TooManyWorkerLosses {
                if self.max_losses == 0 || *losses < self.max_losses {
                    return Err(format!("{attempt:?} is said to have taken too many workers down, after {losses}"));
                }
                self.poison.insert(attempt.task());
            }
        }
        match state {
            AttemptState::Succeeded => {
                if let Some(other) = self.winner.insert(attempt.task(), attempt) {
                    return Err(format!("{attempt:?} wins after {other:?} has"));
                }
            }
            AttemptState::Failed => *self.failures.entry(attempt.task()).or_default() += 1,
            _ if cause == EndCause::Vanished => return Err(format!("{attempt:?} vanished from a worker that ran on")),
            _ => {}
        }
        Ok(())
    }

    /// Whether a task of the job failed as often as it may.
    pub(super) fn may_have_failed(&self, job: JobId, max: [u16; 2]) -> bool {
        self.failures.iter().any(|(task, &n)| task.job == job && n >= u32::from(max[task.kind]))
    }

    /// A task that failed more often than it may.
    pub(super) fn tried_too_often(&self, max: impl Fn(JobId, TaskKind) -> u16) -> Option<TaskId> {
        let mut tasks = self.failures.iter();
        tasks.find(|(task, n)| **n > u32::from(max(task.job, task.kind))).map(|(task, _)| *task)
    }
}

fn kept_output(effect: &Effect) -> Option<AttemptId> {
    match *effect {
        Effect::OutputKept { attempt, .. } => Some(attempt),
        _ => None,
    }
}

/// A worker's map output counts if it says so when it registers, and what it says it has is not lost then.
pub(super) fn outputs_are_kept_as_named(inputs: &[Input], effects: &[Effect]) -> Result<(), String> {
    let named = |id: WorkerId, output: AttemptId| {
        inputs.iter().any(|input| match input {
            Input::Register(hello) => hello.worker == id && hello.kept.contains(&output),
            _ => false,
        })
    };
    for effect in effects {
        match *effect {
            Effect::OutputKept { attempt, worker } if !named(worker, attempt) => {
                return Err(format!("the output of {attempt:?} is kept, which worker {} did not say", worker.0));
            }
            Effect::MapOutputLost { attempt, worker, cause: EndCause::WorkerLost } if named(worker, attempt) => {
                return Err(format!("the output of {attempt:?} is lost, which worker {} has", worker.0));
            }
            _ => {}
        }
    }
    Ok(())
}
