//! How a policy takes tasks from a job: a task choice and a speculation rule, under any order of jobs.
//!
//! Every policy takes its tasks through an [`Offer`], so that the three parts of a policy stay apart: which job, which
//! of its tasks, and when a speculative attempt.

use super::params::{Reader, SchedulerError};
use super::reason::waiting_kind;
use super::{Assignment, Change, Choice, NearestFirst, NoSpeculation, Reason, Speculation, TaskChoice, speculation};
use crate::cluster::{AttemptRef, ClusterState, Job, Worker};
use crate::job::{JobId, TaskKind};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::time::Time;

/// A task choice and a speculation rule.
pub struct Offer {
    /// `None` is [`NearestFirst`], which nearly every policy has, without a call through a table.
    choice: Option<Box<dyn TaskChoice>>,
    speculation: Box<dyn Speculation>,
    /// Whether that rule ever picks anything.
    speculates: bool,
    /// Whether it may keep pending tasks from workers.
    declines: bool,
}

impl Default for Offer {
    fn default() -> Offer {
        Offer { choice: None, speculation: Box::new(NoSpeculation), speculates: false, declines: false }
    }
}

impl Clone for Offer {
    fn clone(&self) -> Offer {
        Offer {
            choice: self.choice.as_ref().map(|choice| choice.fork()),
            speculation: self.speculation.fork(),
            speculates: self.speculates,
            declines: self.declines,
        }
    }
}

impl Offer {
    /// Reads `speculation` and the rule's own parameters.
    ///
    /// # Errors
    /// When there is no such rule, or a parameter of it does not read.
    pub fn from_params(params: &mut Reader<'_>) -> Result<Offer, SchedulerError> {
        Ok(Offer::with(speculation::from_params(params)?))
    }

    /// The same with Load-Aware as the only rule, for the policy of that name.
    ///
    /// # Errors
    /// When another rule is asked for, or a parameter does not read.
    pub fn load_aware(params: &mut Reader<'_>) -> Result<Offer, SchedulerError> {
        Ok(Offer::with(speculation::load_aware(params)?))
    }

    fn with(speculation: Box<dyn Speculation>) -> Offer {
        let (speculates, declines) = (!speculation.is_none(), speculation.declines());
        Offer { choice: None, speculation, speculates, declines }
    }

    /// Something changed; whoever holds an offer passes on every change.
    #[inline]
    pub fn observe(&mut self, change: &Change, state: &ClusterState) {
        if self.speculates() {
            self.speculation.observe(change, state);
        }
    }

    /// Takes over a running cluster.
    pub fn attach(&mut self, state: &ClusterState) {
        self.speculation.attach(state);
    }

    /// Goes on with what the rule of another offer has learned, where it is of the same kind; after [`Offer::attach`].
    pub fn inherit(&mut self, old: &Offer) {
        self.speculation.inherit(&*old.speculation);
    }

    /// Whether there are speculative attempts at all.
    #[inline]
    pub fn speculates(&self) -> bool {
        self.speculates
    }

    /// Whether a job's speculative attempts go before the next job's pending tasks.
    pub fn second_before_next_job(&self) -> bool {
        self.speculation.before_next_job()
    }

    /// A pending task of a job for a worker with a free slot for it, if neither has anything special about it.
    #[inline(always)]
    pub(super) fn usual(&self, job: &Job, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        if self.choice.is_some() || self.declines {
            return None;
        }
        let Choice { index, locality } = NearestFirst::usual(job, kind, worker)?;
        Some(Assignment { job: job.id(), kind, index, locality, speculative: false })
    }

    /// A pending task of a job for a worker.
    #[inline(always)]
    pub fn pending(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        let choice = match &mut self.choice {
            None => NearestFirst.choose(state, job, kind, worker),
            Some(choice) => choice.choose(state, job, kind, worker),
        };
        let Choice { index, locality } = choice.ok()?;
        if self.declines && !self.speculation.admits(state, job, kind, worker.id()) {
            return None;
        }
        Some(Assignment { job: job.id(), kind, index, locality, speculative: false })
    }

    /// A running task of a job that deserves another attempt on a worker now.
    pub fn second(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: &Worker,
    ) -> Option<Assignment> {
        // What `launch` would refuse ends the worker's turn, so it is not even picked.
        let fits = worker.free(kind) >= job.slots(kind) && worker.reserved(kind).is_none_or(|id| id == job.id());
        if !fits || !state.job_may_use(job, kind, worker) {
            return None;
        }
        self.speculation.pick(now, state, job, kind, worker.id())
    }

    /// Whether the rule lets a pending task of a job start on a worker, for a policy that chose the task itself.
    pub fn admits(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> bool {
        !self.declines || self.speculation.admits(state, job, kind, worker.id())
    }

    /// Whether a parked worker may have a task after this change that the rule kept from it.
    pub fn wakes_parked(&self, change: &Change) -> bool {
        self.declines && self.speculation.wakes_parked(change)
    }

    /// A job's reason to wait, and what the rule has to say beside it.
    pub fn explain(&self, reason: Reason, id: JobId, state: &ClusterState) -> Reason {
        let asked = if self.declines { state.job(id).zip(waiting_kind(id, state)) } else { None };
        match asked.and_then(|(job, kind)| self.speculation.explain(state, job, kind)) {
            // It would not start with the next heartbeat.
            Some(note) if matches!(reason, Reason::NextHeartbeat(_)) => Reason::Limit(note),
            Some(note) => Reason::Noted { reason: Box::new(reason), note },
            None => reason,
        }
    }

    /// When a running attempt ends by what the rule estimates; `None` where nothing tells, or it estimates nothing.
    pub fn expected_end(&self, state: &ClusterState, attempt: AttemptRef) -> Option<Time> {
        self.speculation.expected_end(state, attempt)
    }

    /// What load and frequency do to tasks' times, where the rule knows.
    pub fn curves(&self) -> Option<(LoadCurve, FrequencyCurve)> {
        self.speculation.curves()
    }

    /// What the rule would have done in a dry run since this was last asked, a sentence each.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.speculation.take_notes()
    }
}
