//! LATE, as its paper states it: the task with the longest time left gets a second attempt, on a worker that is fast.
//!
//! - at most `cap` second attempts run at a time (SpeculativeCap, 10 % of the slots);
//! - none starts on a worker whose progress is below the 25th percentile of all workers' (SlowNodeThreshold): the sum
//!   of the progress of all tasks that it did or does;
//! - of the job's running tasks that have one attempt and are at least a minute old, those count whose progress rate
//!   is below the 25th percentile of rates (SlowTaskThreshold); the one with the longest estimated time left,
//!   `(1 − progress) ÷ rate`, is taken.
//!
//! Source: `hadoop-semantics` §4.7 (paper LATE). The paper does not say over which tasks the percentile of rates is
//! taken: here over the running tasks of the job and kind. Second attempts come once no pending task could be given.

use super::candidate::wanted;
use super::{SecondAttempts, Speculation};
use crate::cluster::{Attempt, ClusterState, Job, WorkerState};
use crate::job::{AttemptState, Progress, TaskId, TaskKind, WorkerId};
use crate::schedulers::registry::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change};
use crate::time::{Span, Time};

const CAP_PERCENT: u16 = 10;
const PERCENTILE: usize = 25;

/// The rule.
#[derive(Clone, Debug)]
pub(super) struct Late {
    seconds: SecondAttempts,
    age: Span,
    /// By worker: tasks that it has finished.
    done: Vec<u64>,
    /// Kept for its memory.
    rates: Vec<u64>,
}

impl Late {
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Late, SchedulerError> {
        Ok(Late {
            seconds: SecondAttempts::from_params(params, CAP_PERCENT)?,
            age: params.span("speculation.age", Span::from_secs(60))?,
            done: Vec::new(),
            rates: Vec::new(),
        })
    }

    /// A worker's progress, in ten-thousandths of a task.
    fn progress_of(&self, worker: WorkerId, state: &ClusterState) -> u64 {
        let done = self.done.get(worker.0 as usize).copied().unwrap_or(0) * u64::from(Progress::DONE.parts());
        done + state.attempts_on(worker).map(|attempt| u64::from(attempt.progress().parts())).sum::<u64>()
    }

    /// Whether fewer than a quarter of the live workers are slower.
    fn is_slow(&self, worker: WorkerId, state: &ClusterState) -> bool {
        let own = self.progress_of(worker, state);
        let live = || state.workers().iter().filter(|other| other.state() == WorkerState::Live);
        let slower = live().filter(|other| self.progress_of(other.id(), state) < own).count();
        let all_alike = live().all(|other| self.progress_of(other.id(), state) == own);
        !all_alike && slower * 100 < PERCENTILE * live().count()
    }
}

/// Progress per second, in millionths of ten-thousandths, so that rates compare as whole numbers.
fn rate(attempt: &Attempt, now: Time) -> u64 {
    let us = now.since(attempt.started()).as_us().max(1);
    (u128::from(attempt.progress().parts()) * 1_000_000_000_000 / u128::from(us)) as u64
}

/// Microseconds until it is done at this rate.
fn time_left(attempt: &Attempt, rate: u64) -> u64 {
    let left = u128::from(Progress::DONE.parts() - attempt.progress().parts()) * 1_000_000_000_000;
    left.checked_div(u128::from(rate)).map_or(u64::MAX, |us| u64::try_from(us).unwrap_or(u64::MAX))
}

impl Speculation for Late {
    fn pick(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Assignment> {
        if !wanted(job, kind) || !self.seconds.allowed(state) || self.is_slow(worker, state) {
            return None;
        }
        self.rates.clear();
        for index in self.seconds.tasks(job.id(), kind) {
            let task = TaskId { job: job.id(), kind, index };
            let rates = state.attempts_of(task).filter(|a| a.state() == AttemptState::Running).map(|a| rate(a, now));
            self.rates.extend(rates.max());
        }
        self.rates.sort_unstable();
        // The rate below which a quarter of the tasks are.
        let threshold = *self.rates.get(self.rates.len() * PERCENTILE / 100)?;
        let mut longest: Option<(u64, u32)> = None;
        for index in self.seconds.tasks(job.id(), kind) {
            let Some(attempt) = self.seconds.only_attempt(state, job, kind, index, worker) else { continue };
            let (rate, old) = (rate(attempt, now), now.since(attempt.started()) >= self.age);
            if old && rate < threshold {
                let left = time_left(attempt, rate);
                if longest.is_none_or(|(most, _)| left > most) {
                    longest = Some((left, index));
                }
            }
        }
        let (_, index) = longest?;
        self.seconds.start(state, job, kind, index, worker)
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.seconds.observe(change, state);
        if let Change::Ended { worker, state: AttemptState::Succeeded, .. } = *change {
            let worker = worker.0 as usize;
            self.done.resize(self.done.len().max(worker + 1), 0);
            self.done[worker] += 1;
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.seconds.attach(state);
        self.done.clear();
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.seconds.take_notes()
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(self.clone())
    }
}
