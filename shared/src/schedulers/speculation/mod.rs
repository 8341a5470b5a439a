//! When a running task gets a second attempt.
//!
//! A policy asks its rule once no pending task could be given; a rule implements [`Speculation`] and fits under any
//! job order. They all read `speculation.cap`: how many second attempts may run at a time.

mod candidate;
mod cap;
mod hadoop;
mod late;
mod running;

use self::cap::Cap;
use self::hadoop::Hadoop;
use self::late::Late;
use super::registry::{Reader, SchedulerError};
use super::{Assignment, Change};
use crate::cluster::{ClusterState, Job};
use crate::job::{TaskKind, WorkerId};
use crate::time::Time;

/// A rule for second attempts.
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

    /// Whether a job's second attempts go before the pending tasks of the jobs behind it, as in Hadoop, where one
    /// job after the other is asked for anything at all; otherwise only slots that no pending task can use get them.
    fn before_next_job(&self) -> bool {
        false
    }

    /// Something changed.
    fn observe(&mut self, _change: &Change, _state: &ClusterState) {}

    /// Takes over a running cluster.
    fn attach(&mut self, _state: &ClusterState) {}

    /// An independent copy.
    fn fork(&self) -> Box<dyn Speculation>;
}

/// The rule that `speculation` names: `none`, `hadoop` or `late`.
pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    Ok(match params.word("speculation", &["none", "hadoop", "late"])? {
        "hadoop" => Box::new(Hadoop::from_params(params)?),
        "late" => Box::new(Late::from_params(params)?),
        _ => Box::new(NoSpeculation),
    })
}

/// No second attempts.
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
