//! Hadoop's rule, the same in 0.20.2 and 1.2.1: a task far behind its job's average gets a speculative attempt.
//!
//! A running task qualifies when its progress is at least `gap` below the mean over all of the job's tasks of its kind
//! (finished ones 1, unstarted ones 0), at least `age` has passed since the job came, and it has one attempt only.
//! The lowest index goes first, not the slowest task. A job is asked for speculative attempts once it has no pending
//! task for the worker, before the next job is asked for anything. Source: `docs/hadoop.md#speculative-execution`.
//! `Deviation:` the age counts from the job's submission; in Hadoop from its initialisation, which is not modelled.

use std::any::Any;

use super::candidate::wanted;
use super::{Speculation, SpeculativeAttempts};
use crate::cluster::{ClusterState, Job};
use crate::job::{TaskKind, WorkerId};
use crate::schedulers::params::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change};
use crate::time::{Span, Time};

/// The rule.
#[derive(Clone, Debug)]
pub(super) struct Hadoop {
    speculative: SpeculativeAttempts,
    /// In ten-thousandths of a task.
    gap: u16,
    age: Span,
}

impl Hadoop {
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Hadoop, SchedulerError> {
        Ok(Hadoop {
            speculative: SpeculativeAttempts::from_params(params, 0)?,
            gap: params.parts("speculation.gap", 2_000)?,
            age: params.span("speculation.age", Span::from_secs(60))?,
        })
    }
}

impl Speculation for Hadoop {
    fn pick(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Assignment> {
        let average = job.tasks(kind).progress().parts();
        // Without the gap no progress is far enough behind.
        let young = now.since(job.submitted()) < self.age;
        if average < self.gap || young || !wanted(job, kind) || !self.speculative.allowed(state) {
            return None;
        }
        let behind = |index: &u32| {
            let attempt = self.speculative.only_attempt(state, job, kind, *index, worker);
            attempt.is_some_and(|attempt| attempt.progress().parts() + self.gap <= average)
        };
        let index = self.speculative.tasks(job.id(), kind).find(behind)?;
        self.speculative.start(state, job, kind, index, worker)
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.speculative.observe(change, state);
    }

    fn attach(&mut self, state: &ClusterState) {
        self.speculative.attach(state);
    }

    fn learned(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn inherit(&mut self, old: &dyn Speculation) {
        if let Some(old) = old.learned().and_then(|learned| learned.downcast_ref::<Hadoop>()) {
            self.speculative.inherit(&old.speculative);
        }
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.speculative.take_notes()
    }

    fn before_next_job(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(self.clone())
    }
}
