//! The interface of a rule for speculative execution, and the rule that never starts any.

use std::any::Any;

use crate::cluster::{AttemptRef, ClusterState, Job};
use crate::job::{TaskKind, WorkerId};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::schedulers::{Assignment, Change};
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

    /// What load and frequency do to tasks' times, where the rule knows.
    fn curves(&self) -> Option<(LoadCurve, FrequencyCurve)> {
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
