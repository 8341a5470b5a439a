//! Load-Aware: no attempt where it would not make its job end earlier, as far as estimates from loads can tell.
//!
//! Algorithm 1 is [`Speculation::observe`]: heartbeats keep each worker's [load over time](strain), the progress of
//! running attempts, and finished tasks as [references](jobs). Algorithm 2 is the rest, for one job and one worker:
//!
//! - a speculative attempt goes to a task that Hadoop's unchanged threshold lets through (progress so far below the
//!   job's mean, the job so old), and only if it would end strictly before the original, and so before the job, whose
//!   finish is no earlier than any original's; of several, to the one whose original ends last;
//! - a pending task starts unless it would end later than the job without it. With equal ends it starts: a tie makes
//!   the job no later, and its own slots may go to others.
//!
//! **A job always makes progress**: everything is admitted while no task of the job and kind has finished, and while
//! none of its attempts runs, however slow the worker. A worker that was declined is asked about again in its next
//! round: with its next heartbeat, and as soon as an attempt ends anywhere. Requirements and failures are looked at
//! before anything else, where tasks are chosen.
//!
//! Source: Load-Aware thesis, Algorithms 1 and 2, §3.3. `Deviation:` the thesis says nothing of the job's finish but
//! that it is estimated; see [`finish`].

mod finish;
mod formula;
mod jobs;
mod strain;

use std::any::Any;

use self::formula::Formula;
use self::jobs::Jobs;
use self::strain::Strains;
use super::candidate::wanted;
use super::{Speculation, SpeculativeAttempts};
use crate::cluster::{AttemptRef, ClusterState, Job};
use crate::job::{AttemptState, TaskKind, WorkerId};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::schedulers::params::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change};
use crate::time::{Span, Time};

/// Which end of what a rounded progress may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Earliest,
    Latest,
}

/// The rule.
#[derive(Clone, Debug)]
pub(super) struct LoadAware {
    speculative: SpeculativeAttempts,
    /// In ten-thousandths of a task.
    gap: u16,
    age: Span,
    formula: Formula,
    /// Whether pending tasks are kept from workers where they would be late.
    guards_pending: bool,
    strains: Strains,
    jobs: Jobs,
    /// Whether a worker was declined since an attempt last ended.
    declined: bool,
}

impl LoadAware {
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<LoadAware, SchedulerError> {
        let speculative = SpeculativeAttempts::from_params(params, 0)?;
        let guards_pending = params.word("load-aware.pending", &["estimated", "all"])? == "estimated";
        Ok(LoadAware {
            gap: params.parts("speculation.gap", 2_000)?,
            age: params.span("speculation.age", Span::from_secs(60))?,
            formula: Formula::from_params(params)?,
            // A dry run changes nothing.
            guards_pending: guards_pending && !speculative.is_dry(),
            speculative,
            strains: Strains::default(),
            jobs: Jobs::default(),
            declined: false,
        })
    }
}

impl Speculation for LoadAware {
    fn pick(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Assignment> {
        let average = job.tasks(kind).progress().parts();
        let young = now.since(job.submitted()) < self.age;
        if average < self.gap || young || !wanted(job, kind) || !self.speculative.allowed(state) {
            return None;
        }
        let known = self.jobs.get(job.id(), kind)?;
        let end = now + self.time_on(known, state.worker(worker)?, state)?;
        let mut latest: Option<(Time, u32)> = None;
        for index in self.speculative.tasks(job.id(), kind) {
            let Some(attempt) = self.speculative.only_attempt(state, job, kind, index, worker) else { continue };
            let behind = attempt.progress().parts() + self.gap <= average;
            let run = known.runs.get(&(index, attempt.id().number)).filter(|_| behind);
            let Some(original) = run.and_then(|run| self.end_of(known, run, state, End::Earliest)) else { continue };
            if end < original && latest.is_none_or(|(last, _)| original > last) {
                latest = Some((original, index));
            }
        }
        let (_, index) = latest?;
        self.speculative.start(state, job, kind, index, worker)
    }

    fn declines(&self) -> bool {
        self.guards_pending
    }

    fn admits(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: WorkerId) -> bool {
        if !self.objects(state, job, kind, worker) {
            return true;
        }
        if let Some(known) = self.jobs.get_mut(job.id(), kind) {
            known.declined = Some(worker);
        }
        self.declined = true;
        false
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        self.declined && matches!(change, Change::Ended { .. })
    }

    fn before_next_job(&self) -> bool {
        true
    }

    fn explain(&self, state: &ClusterState, job: &Job, kind: TaskKind) -> Option<String> {
        let worker = state.worker(self.jobs.get(job.id(), kind)?.declined?)?;
        let objection = self.objection(state, job, kind, worker.id())?;
        let until = |time: Time| time.since(state.now());
        let slots = if objection.slots == 1 { "own slot".to_owned() } else { format!("own {} slots", objection.slots) };
        Some(format!(
            "Load-Aware declined worker `{}`: a {kind} would end there in {}; the job's {slots} will have done all of \
             it, the {} that {} included, in {}.",
            worker.name(),
            until(objection.end),
            objection.pending,
            if objection.pending == 1 { "waits" } else { "wait" },
            until(objection.finish),
        ))
    }

    fn expected_end(&self, state: &ClusterState, attempt: AttemptRef) -> Option<Time> {
        let id = state.attempts().get(attempt)?.id();
        let known = self.jobs.get(id.job, id.kind)?;
        self.end_of(known, known.runs.get(&(id.index, id.number))?, state, End::Latest)
    }

    fn curves(&self) -> Option<(LoadCurve, FrequencyCurve)> {
        self.formula.curves()
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.speculative.observe(change, state);
        match *change {
            Change::Launched { reference, worker, .. } => {
                self.strains.look(worker, state, self.formula);
                if let Some(attempt) = state.attempts().get(reference) {
                    self.jobs.begin(reference, attempt, state.now(), &self.strains);
                }
            }
            Change::Ended { attempt, worker, state: end, .. } => {
                self.strains.look(worker, state, self.formula);
                self.jobs.end(attempt, state.now(), end == AttemptState::Succeeded, &self.strains);
                self.declined = false;
            }
            Change::Reported { worker } => {
                self.strains.look(worker, state, self.formula);
                self.jobs.reported(worker, state, &self.strains);
            }
            Change::Worker { worker } => self.strains.look(worker, state, self.formula),
            Change::JobOver { job, .. } => self.jobs.leave(job),
            _ => {}
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.speculative.attach(state);
        self.strains.attach(state, self.formula);
        self.jobs.attach(state, &self.strains);
        self.declined = false;
    }

    fn learned(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn inherit(&mut self, old: &dyn Speculation) {
        let Some(old) = old.learned().and_then(|learned| learned.downcast_ref::<LoadAware>()) else { return };
        self.speculative.inherit(&old.speculative);
        if old.formula == self.formula {
            (self.strains, self.jobs) = (old.strains.clone(), old.jobs.clone());
            return;
        }
        let (strains, formula) = (&self.strains, self.formula);
        self.jobs.recall(&old.jobs, |reference| match strains.get(reference.worker) {
            Some(strain) => reference.under(formula, strain.place()),
            None => *reference,
        });
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.speculative.take_notes()
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(self.clone())
    }
}
