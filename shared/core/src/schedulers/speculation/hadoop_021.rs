//! The rule of Hadoop 0.21 and 0.22, which its code calls LATE: rates and workers are slow by standard deviations.
//!
//! - A task's *progress rate* is its furthest attempt's progress over the time since that attempt was assigned, as of
//!   the last report; a finished task keeps its last one, so that the statistics are over all tasks of the job and kind
//!   that were ever started. A task that starts again counts once more, with 0.
//! - A running task qualifies when its only attempt is at least `age` old, does not just wait for its commit, and its
//!   rate now is more than `slow-task-deviations` standard deviations below the mean.
//! - A worker is slow for a job, and gets none, when the mean time of the job's tasks that it finished is more than
//!   `slow-node-deviations` standard deviations above the mean over the workers' means, of maps or of reduces.
//! - One more may start while the job has fewer than 10 of the kind, fewer than 1 % of the cluster's slots of the kind,
//!   or fewer than `running-cap` of the job's running tasks of the kind.
//! - Of those that qualify the one with the smallest `rate ÷ (1 − progress)` is taken, and of equals the lowest index.
//!
//! Asked, as `hadoop`, for each job before the next job. Source: `docs/hadoop.md#speculative-execution`, MR1 0.21
//! `JobInProgress.findSpeculativeTask`, `isSlowTracker`, `atSpeculativeCap`. `Deviation:` rates are whole numbers,
//! ten-thousandths of a task in 10,000 s, where Hadoop has doubles; of equals Hadoop takes one in hash order.

use std::any::Any;
use std::collections::BTreeMap;

use super::candidate::wanted;
use super::statistics::Statistics;
use super::{Speculation, SpeculativeAttempts};
use crate::cluster::{Attempt, ClusterState, Job};
use crate::job::{AttemptState, JobId, PerKind, Progress, TaskId, TaskKind, WorkerId};
use crate::schedulers::params::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change, PerJob};
use crate::time::{Span, Time};

/// `MIN_SPEC_CAP` and `MIN_SLOTS_CAP`: as many as one slow worker may need.
const FEW: u64 = 10;
const PER_SLOTS: u64 = 100;
const RATE_SCALE: u128 = 10_000_000_000;

/// The rule.
#[derive(Clone, Debug)]
pub(super) struct Hadoop021 {
    speculative: SpeculativeAttempts,
    age: Span,
    /// In thousandths.
    slow_task: u32,
    slow_node: u32,
    /// Of running tasks, in ten-thousandths.
    running_cap: u16,
    jobs: PerJob<PerKind<Known>>,
}

/// Of one job and kind.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By task that was ever started: its last rate.
    rates: BTreeMap<u32, u64>,
    all_rates: Statistics,
    /// By worker: tasks that it finished, and their time in µs.
    workers: BTreeMap<WorkerId, (u64, u64)>,
    /// Of the workers' means.
    means: Statistics,
}

impl Known {
    fn set_rate(&mut self, index: u32, rate: u64) {
        if let Some(old) = self.rates.get_mut(&index) {
            self.all_rates.replace(*old, rate);
            *old = rate;
        }
    }

    fn finished(&mut self, worker: WorkerId, us: u64) {
        match self.workers.get_mut(&worker) {
            None => {
                self.workers.insert(worker, (1, us));
                self.means.add(us);
            }
            Some((n, sum)) => {
                let old = *sum / *n;
                (*n, *sum) = (*n + 1, *sum + us);
                self.means.replace(old, *sum / *n);
            }
        }
    }

    fn is_slow(&self, worker: WorkerId, deviations_milli: u32) -> bool {
        let done = self.workers.get(&worker);
        done.is_some_and(|(n, sum)| self.means.is_far_above(sum / n, deviations_milli))
    }
}

/// An attempt's rate.
fn rate(progress: Progress, started: Time, now: Time) -> u64 {
    let us = now.since(started).as_us().max(1_000);
    (u128::from(progress.parts()) * RATE_SCALE / u128::from(us)) as u64
}

/// Smaller for a task that has longer to go.
fn rank(attempt: &Attempt, rate: u64) -> u64 {
    let left = u128::from(Progress::DONE.parts() - attempt.progress().parts()).max(1);
    (u128::from(rate) * 1_000_000 / left).min(u64::MAX.into()) as u64
}

impl Hadoop021 {
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Hadoop021, SchedulerError> {
        Ok(Hadoop021 {
            speculative: SpeculativeAttempts::from_params(params, 0)?,
            age: params.span("speculation.age", Span::from_secs(60))?,
            slow_task: deviations(params, "speculation.slow-task-deviations")?,
            slow_node: deviations(params, "speculation.slow-node-deviations")?,
            running_cap: params.parts("speculation.running-cap", 1_000)?,
            jobs: PerJob::default(),
        })
    }

    /// Whether one more of the job and kind may start.
    fn below_cap(&self, state: &ClusterState, job: &Job, kind: TaskKind) -> bool {
        let (running, of) = (self.speculative.n_of(job.id(), kind), u64::from(job.tasks(kind).n_running()));
        let slots = u64::from(state.totals().slots[kind]);
        of > 0 && (running < FEW || running * PER_SLOTS < slots || running * 10_000 < of * u64::from(self.running_cap))
    }

    fn is_slow(&self, job: JobId, worker: WorkerId) -> bool {
        self.jobs.get(job).is_some_and(|kinds| kinds.iter().any(|known| known.is_slow(worker, self.slow_node)))
    }

    fn known(&mut self, job: JobId, kind: TaskKind) -> &mut Known {
        if self.jobs.get(job).is_none() {
            self.jobs.insert(job, Default::default());
        }
        &mut self.jobs.get_mut(job).expect("it was made")[kind]
    }

    /// A task starts, or starts again.
    fn start(&mut self, task: TaskId) {
        let known = self.known(task.job, task.kind);
        known.all_rates.add(0);
        known.rates.entry(task.index).or_insert(0);
    }

    /// A task's rate is that of its furthest attempt that runs.
    fn look(&mut self, task: TaskId, state: &ClusterState) {
        let running = state.attempts_of(task).filter(|attempt| attempt.state() == AttemptState::Running);
        let best = running.map(|attempt| rate(attempt.progress(), attempt.started(), state.now())).max();
        self.known(task.job, task.kind).set_rate(task.index, best.unwrap_or(0));
    }
}

/// A number of standard deviations in thousandths, by default 1.
fn deviations(params: &mut Reader<'_>, key: &'static str) -> Result<u32, SchedulerError> {
    let Some(text) = params.text(key) else { return Ok(1_000) };
    let milli = crate::schedulers::numbers::thousandths(text.trim()).filter(|&milli| milli <= 1_000_000);
    let milli = milli.and_then(|milli| u32::try_from(milli).ok());
    milli.ok_or_else(|| params.wrong(key, text, "a number of standard deviations from 0 to 1000"))
}

impl Speculation for Hadoop021 {
    fn pick(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Assignment> {
        let may = wanted(job, kind) && self.speculative.allowed(state) && self.below_cap(state, job, kind);
        if !may || self.is_slow(job.id(), worker) {
            return None;
        }
        let statistics = &self.jobs.get(job.id())?[kind].all_rates;
        let mut longest: Option<(u64, u32)> = None;
        for index in self.speculative.tasks(job.id(), kind) {
            let Some(attempt) = self.speculative.only_attempt(state, job, kind, index, worker) else { continue };
            // One that has not reported that it runs has no rate.
            let runs = attempt.state() == AttemptState::Running;
            let rate = if runs { rate(attempt.progress(), attempt.started(), now) } else { 0 };
            let old = now.since(attempt.started()) >= self.age;
            if !old || !statistics.is_far_below(rate, self.slow_task) {
                continue;
            }
            let rank = rank(attempt, rate);
            if longest.is_none_or(|(least, _)| rank < least) {
                longest = Some((rank, index));
            }
        }
        let (_, index) = longest?;
        self.speculative.start(state, job, kind, index, worker)
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.speculative.observe(change, state);
        match *change {
            Change::Launched { attempt, speculative: false, .. } => self.start(attempt.task()),
            Change::Reported { worker } => {
                for attempt in state.attempts_on(worker).filter(|attempt| !attempt.detached()) {
                    self.look(attempt.id().task(), state);
                }
            }
            Change::Ended { attempt, worker, state: end, started, .. } if self.jobs.get(attempt.job).is_some() => {
                if end == AttemptState::Succeeded {
                    let now = state.now();
                    let known = self.known(attempt.job, attempt.kind);
                    known.set_rate(attempt.index, rate(Progress::DONE, started, now));
                    known.finished(worker, now.since(started).as_us());
                } else if state
                    .job(attempt.job)
                    .is_some_and(|job| job.tasks(attempt.kind).winner(attempt.index).is_none())
                {
                    self.look(attempt.task(), state);
                }
            }
            Change::JobOver { job, .. } => drop(self.jobs.remove(job)),
            _ => {}
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.speculative.attach(state);
        self.jobs.clear();
        // What finished before is not in the state.
        let running: Vec<TaskId> =
            state.attempts().iter().filter(|(_, a)| !a.detached()).map(|(_, a)| a.id().task()).collect();
        for task in running {
            if !self.known(task.job, task.kind).rates.contains_key(&task.index) {
                self.start(task);
                self.look(task, state);
            }
        }
    }

    fn learned(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn inherit(&mut self, old: &dyn Speculation) {
        let Some(old) = old.learned().and_then(|learned| learned.downcast_ref::<Hadoop021>()) else { return };
        self.speculative.inherit(&old.speculative);
        self.jobs = old.jobs.clone();
    }

    fn before_next_job(&self) -> bool {
        true
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.speculative.take_notes()
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(self.clone())
    }
}
