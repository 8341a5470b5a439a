//! How a policy takes tasks from a job: a task choice and a speculation rule, under any order of jobs.
//!
//! Every policy takes its tasks through an [`Offer`], so that the three parts of a policy stay apart: which job, which
//! of its tasks, and when a second attempt.

use super::registry::{Reader, SchedulerError};
use super::{Assignment, Change, Choice, NearestFirst, NoSpeculation, Speculation, TaskChoice, speculation};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::TaskKind;
use crate::time::Time;

/// A task choice and a speculation rule.
pub struct Offer {
    /// `None` is [`NearestFirst`], which nearly every policy has, without a call through a table.
    choice: Option<Box<dyn TaskChoice>>,
    speculation: Box<dyn Speculation>,
    /// Whether that rule ever picks anything.
    speculates: bool,
}

impl Default for Offer {
    fn default() -> Offer {
        Offer { choice: None, speculation: Box::new(NoSpeculation), speculates: false }
    }
}

impl Clone for Offer {
    fn clone(&self) -> Offer {
        Offer {
            choice: self.choice.as_ref().map(|choice| choice.fork()),
            speculation: self.speculation.fork(),
            speculates: self.speculates,
        }
    }
}

impl Offer {
    /// Reads `speculation` and the rule's own parameters.
    ///
    /// # Errors
    /// When there is no such rule, or a parameter of it does not read.
    pub fn from_params(params: &mut Reader<'_>) -> Result<Offer, SchedulerError> {
        let speculation = speculation::from_params(params)?;
        Ok(Offer { choice: None, speculates: !speculation.is_none(), speculation })
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

    /// Whether there are second attempts at all.
    #[inline]
    pub fn speculates(&self) -> bool {
        self.speculates
    }

    /// Whether a job's second attempts go before the next job's pending tasks.
    pub fn second_before_next_job(&self) -> bool {
        self.speculation.before_next_job()
    }

    /// A pending task of a job for a worker.
    #[inline(always)]
    pub fn pending(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        let choice = match &mut self.choice {
            None => NearestFirst.choose(state, job, kind, worker),
            Some(choice) => choice.choose(state, job, kind, worker),
        };
        let Choice { index, locality } = choice.ok()?;
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
        self.speculation.pick(now, state, job, kind, worker.id())
    }
}
