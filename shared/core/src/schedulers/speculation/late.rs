//! LATE, as its paper states it: the task with the longest time left gets a speculative attempt, on a worker that is
//! fast.
//!
//! - at most `cap` speculative attempts run at a time (SpeculativeCap, 10 % of the slots);
//! - none starts on a worker whose progress is below the 25th percentile of all workers' (SlowNodeThreshold): the sum
//!   of the progress of all tasks that it did or does;
//! - of the job's running tasks that have one attempt and are at least a minute old, those count whose progress rate
//!   is below the 25th percentile of rates (SlowTaskThreshold); the one with the longest estimated time left,
//!   `(1 − progress) ÷ rate`, is taken.
//!
//! Source: `docs/hadoop.md#speculative-execution` (paper LATE). The paper does not say over which tasks the percentile
//! of rates is taken: here over all of the job and kind that run or have finished, as Hadoop 0.21's statistics are.
//! Over the running ones alone a quarter of them would always count as slow, and with fewer than four of them none ever
//! would, so that the last slow task of a job got nothing. Speculative attempts come once no pending task could be
//! given.

use std::any::Any;

use super::candidate::wanted;
use super::{Speculation, SpeculativeAttempts};
use crate::cluster::{Attempt, ClusterState, Job, WorkerState};
use crate::job::{AttemptState, PerKind, Progress, TaskId, TaskKind, WorkerId};
use crate::schedulers::params::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change, PerJob};
use crate::time::{Span, Time};

pub(super) const CAP_PERCENT: u16 = 10;
const PERCENTILE: u8 = 25;

/// A number of a hundred.
fn percentile(params: &mut Reader<'_>, key: &'static str) -> Result<usize, SchedulerError> {
    let expected = "a percentile from 0 to 100";
    let percentile = params.value(key, PERCENTILE, expected)?;
    if percentile > 100 { Err(params.wrong(key, &percentile.to_string(), expected)) } else { Ok(percentile.into()) }
}

/// The rule.
#[derive(Clone, Debug)]
pub(super) struct Late {
    speculative: SpeculativeAttempts,
    age: Span,
    /// Percentiles.
    slow_task: usize,
    slow_node: usize,
    /// By worker: tasks that it has finished.
    done: Vec<u64>,
    /// By job and kind: the rates of finished tasks, ascending.
    finished: PerJob<PerKind<Vec<u64>>>,
    /// Kept for its memory.
    rates: Vec<u64>,
}

impl Late {
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Late, SchedulerError> {
        Ok(Late {
            speculative: SpeculativeAttempts::from_params(params, CAP_PERCENT)?,
            age: params.span("speculation.age", Span::from_secs(60))?,
            slow_task: percentile(params, "speculation.slow-task-percentile")?,
            slow_node: percentile(params, "speculation.slow-node-percentile")?,
            done: Vec::new(),
            finished: PerJob::default(),
            rates: Vec::new(),
        })
    }

    /// A worker's progress, in ten-thousandths of a task.
    fn progress_of(&self, worker: WorkerId, state: &ClusterState) -> u64 {
        let done = self.done.get(worker.0 as usize).copied().unwrap_or(0) * u64::from(Progress::DONE.parts());
        done + state.attempts_on(worker).map(|attempt| u64::from(attempt.progress().parts())).sum::<u64>()
    }

    /// Whether a smaller part of the live workers than the percentile is slower.
    fn is_slow(&self, worker: WorkerId, state: &ClusterState) -> bool {
        let own = self.progress_of(worker, state);
        let (mut live, mut slower, mut all_alike) = (0, 0, true);
        for other in state.workers().iter().filter(|other| other.state() == WorkerState::Live) {
            let progress = self.progress_of(other.id(), state);
            live += 1;
            slower += usize::from(progress < own);
            all_alike &= progress == own;
        }
        !all_alike && slower * 100 < self.slow_node * live
    }
}

/// The n-th smallest, from 0, of two ascending lists.
fn nth(first: &[u64], second: &[u64], n: usize) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    loop {
        let take_first = match (first.get(i), second.get(j)) {
            (Some(a), Some(b)) => a <= b,
            (a, b) if a.is_none() && b.is_none() => return None,
            (a, _) => a.is_some(),
        };
        if i + j == n {
            return if take_first { first.get(i).copied() } else { second.get(j).copied() };
        }
        if take_first { i += 1 } else { j += 1 }
    }
}

/// Progress per second, in millionths of ten-thousandths, so that rates compare as whole numbers.
fn rate(progress: Progress, started: Time, now: Time) -> u64 {
    let us = now.since(started).as_us().max(1);
    (u128::from(progress.parts()) * 1_000_000_000_000 / u128::from(us)) as u64
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
        if !wanted(job, kind) || !self.speculative.allowed(state) {
            return None;
        }
        self.rates.clear();
        for index in self.speculative.tasks(job.id(), kind) {
            let task = TaskId { job: job.id(), kind, index };
            let rates = state
                .attempts_of(task)
                .filter(|a| a.state() == AttemptState::Running)
                .map(|a| rate(a.progress(), a.started(), now));
            self.rates.extend(rates.max());
        }
        self.rates.sort_unstable();
        let finished = self.finished.get(job.id()).map_or(&[][..], |kinds| &kinds[kind]);
        // The rate below which a quarter of the tasks are; no limit for all of them.
        let below = (self.rates.len() + finished.len()) * self.slow_task / 100;
        let threshold = nth(&self.rates, finished, below).unwrap_or(u64::MAX);
        let mut longest: Option<(u64, u32)> = None;
        for index in self.speculative.tasks(job.id(), kind) {
            let Some(attempt) = self.speculative.only_attempt(state, job, kind, index, worker) else { continue };
            let rate = rate(attempt.progress(), attempt.started(), now);
            let old = now.since(attempt.started()) >= self.age;
            if old && rate < threshold {
                let left = time_left(attempt, rate);
                if longest.is_none_or(|(most, _)| left > most) {
                    longest = Some((left, index));
                }
            }
        }
        let (_, index) = longest?;
        // Last, as it looks at every worker.
        if self.is_slow(worker, state) {
            return None;
        }
        self.speculative.start(state, job, kind, index, worker)
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.speculative.observe(change, state);
        match *change {
            Change::Ended { attempt, worker, state: AttemptState::Succeeded, started, .. } => {
                let worker = worker.0 as usize;
                self.done.resize(self.done.len().max(worker + 1), 0);
                self.done[worker] += 1;
                let rate = rate(Progress::DONE, started, state.now());
                if self.finished.get(attempt.job).is_none() {
                    self.finished.insert(attempt.job, Default::default());
                }
                if let Some(kinds) = self.finished.get_mut(attempt.job) {
                    let rates = &mut kinds[attempt.kind];
                    rates.insert(rates.partition_point(|&other| other < rate), rate);
                }
            }
            Change::JobOver { job, .. } => drop(self.finished.remove(job)),
            _ => {}
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.speculative.attach(state);
        self.done.clear();
        self.finished.clear();
    }

    fn learned(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn inherit(&mut self, old: &dyn Speculation) {
        let Some(old) = old.learned().and_then(|learned| learned.downcast_ref::<Late>()) else { return };
        self.speculative.inherit(&old.speculative);
        (self.done, self.finished) = (old.done.clone(), old.finished.clone());
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.speculative.take_notes()
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_of_two_lists_is_that_of_one() {
        let (first, second) = ([1, 4, 4, 9], [0, 4, 7]);
        let all: Vec<Option<u64>> = (0..8).map(|n| nth(&first, &second, n)).collect();
        assert_eq!(all, [Some(0), Some(1), Some(4), Some(4), Some(4), Some(7), Some(9), None]);
        assert_eq!(nth(&[], &[], 0), None);
    }
}
