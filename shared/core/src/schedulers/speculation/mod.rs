//! When a running task gets a speculative attempt.
//!
//! A policy asks its rule once no pending task could be given; a rule implements [`Speculation`] and fits under any
//! job order. They all read `speculation.cap`: how many speculative attempts may run at a time, and
//! `speculation.dry-run`: whether they are only noted. A rule may also keep a pending task from a worker
//! ([`Speculation::admits`]).

mod candidate;
mod cap;
mod hadoop;
mod hadoop_021;
mod in_force;
mod late;
mod load_aware;
mod running;
mod speculative_attempts;
mod statistics;

use std::any::Any;

use self::hadoop::Hadoop;
use self::hadoop_021::Hadoop021;
pub use self::in_force::{SecondAttemptRule, second_attempt_rule};
use self::late::Late;
use self::load_aware::LoadAware;
use self::speculative_attempts::SpeculativeAttempts;
use super::registry::{Params, Reader, SchedulerError};
use super::{Assignment, Change};
use crate::cluster::{AttemptRef, ClusterState, Job};
use crate::job::{TaskKind, WorkerId};
use crate::time::Time;

/// A rule for speculative execution.
pub trait Speculation: Send {
    /// A running task of `job` that deserves another attempt on `worker` now.
    fn pick(
        &mut self,
        now: Time,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Assignment>;

    /// Whether the rule never picks anything, so that it need not be asked.
    fn is_none(&self) -> bool {
        false
    }

    /// Whether a job's speculative attempts go before the pending tasks of the jobs behind it, as in Hadoop, where one
    /// job after the other is asked for anything at all; otherwise only slots that no pending task can use get them.
    fn before_next_job(&self) -> bool {
        false
    }

    /// Whether the rule may keep a pending task from a worker; only then is it asked [`admits`](Speculation::admits).
    fn declines(&self) -> bool {
        false
    }

    /// Whether a pending task of `job` may start on `worker` now. A worker that is declined may have another job's
    /// task, and is asked about again with its next heartbeat.
    fn admits(&mut self, _state: &ClusterState, _job: &Job, _kind: TaskKind, _worker: WorkerId) -> bool {
        true
    }

    /// Whether a worker that waits and was declined may have a task after this change.
    fn wakes_parked(&self, _change: &Change) -> bool {
        false
    }

    /// What keeps a job's pending tasks from workers: a sentence.
    fn explain(&self, _state: &ClusterState, _job: &Job, _kind: TaskKind) -> Option<String> {
        None
    }

    /// When a running attempt ends by what the rule estimates; `None` where nothing tells, or it estimates nothing.
    fn expected_end(&self, _state: &ClusterState, _attempt: AttemptRef) -> Option<Time> {
        None
    }

    /// What it would have done in a dry run since this was last asked, a sentence each.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Something changed.
    fn observe(&mut self, _change: &Change, _state: &ClusterState) {}

    /// Takes over a running cluster.
    fn attach(&mut self, _state: &ClusterState) {}

    /// What [`inherit`](Speculation::inherit) of a rule of the same kind may read.
    fn learned(&self) -> Option<&dyn Any> {
        None
    }

    /// After [`attach`](Speculation::attach), where this rule takes another one's place with other parameters: what that
    /// one learned of the jobs that run and is not in the state.
    fn inherit(&mut self, _old: &dyn Speculation) {}

    /// An independent copy.
    fn fork(&self) -> Box<dyn Speculation>;
}

/// The names of all rules; the first is the default.
const RULES: [&str; 5] = ["none", "hadoop", "hadoop-0.21", "late", "load-aware"];

/// The rule that `speculation` names.
pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    let rule = params.word("speculation", &RULES)?;
    named(rule, params)
}

fn named(rule: &str, params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    Ok(match rule {
        "hadoop" => Box::new(Hadoop::from_params(params)?),
        "hadoop-0.21" => Box::new(Hadoop021::from_params(params)?),
        "late" => Box::new(Late::from_params(params)?),
        "load-aware" => Box::new(LoadAware::from_params(params)?),
        _ => Box::new(NoSpeculation),
    })
}

/// The rules that have a parameter of this name.
pub(super) fn rules_that_read(key: &str) -> Vec<&'static str> {
    let params = Params::new();
    let reads = |rule: &&str| {
        let mut reader = Reader::of(&params);
        named(rule, &mut reader).is_ok() && reader.knows(key)
    };
    RULES.into_iter().filter(reads).collect()
}

/// Load-Aware, for a policy that has no other rule.
pub(super) fn load_aware(params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    params.word("speculation", &["load-aware"])?;
    Ok(Box::new(LoadAware::from_params(params)?))
}

/// No speculative attempts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSpeculation;

impl Speculation for NoSpeculation {
    fn pick(&mut self, _: Time, _: &ClusterState, _: &Job, _: TaskKind, _: WorkerId) -> Option<Assignment> {
        None
    }

    fn is_none(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Speculation> {
        Box::new(*self)
    }
}
