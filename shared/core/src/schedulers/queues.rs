//! What a policy with queues, pools or partitions has beside its decisions: admission of jobs, and listings.

use super::SchedulerError;
use crate::cluster::ClusterState;
use crate::job::{JobId, JobSpec, PerKind};

/// The queues, pools or partitions of a policy; [`Scheduler::queues`](super::Scheduler::queues) gives them.
pub trait Queues {
    /// Whether a job may be submitted now; drivers ask before they accept it.
    ///
    /// # Errors
    /// A sentence: the queue that does not exist, or the limit that is reached.
    fn accepts(&self, _job: &JobSpec) -> Result<(), String> {
        Ok(())
    }

    /// How many jobs of this job's queue and user may be submitted now, where there is a bound: who accepts several jobs at
    /// a time asks for it.
    fn room(&self, _job: &JobSpec) -> Option<u64> {
        None
    }

    /// The property of a job that names its pool, where that is one that [`JobSpec`] does not keep: who accepts a job
    /// gives the property's value as [`JobConf::pool`](crate::job::JobConf::pool), unless the job names a pool itself.
    fn pool_property(&self) -> Option<&str> {
        None
    }

    /// Whether the slots that it was told to give to queues or pools are there, of so many map and reduce slots. Who
    /// knows the cluster beforehand, as a replay does, asks before anything starts; a live one, whose workers come and
    /// go, warns.
    ///
    /// # Errors
    /// Names the parameter, or the file and its keys, and what was expected.
    fn validate_capacity(&self, _slots: PerKind<u32>) -> Result<(), SchedulerError> {
        Ok(())
    }

    /// What is to be listed of them, by name.
    fn list(&self, _state: &ClusterState) -> Vec<QueueView> {
        Vec::new()
    }

    /// The partition that a live job's next attempts get their slots from; `None` where slots are not divided.
    fn partition(&self, _job: JobId) -> Option<Partition> {
        None
    }
}

/// A policy without queues, which accepts all jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoQueues;

impl Queues for NoQueues {}

/// A part of the slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// For people; one name is one partition.
    pub name: String,
    /// Its map and reduce slots now; `None` for a kind that is not divided.
    pub slots: PerKind<Option<u32>>,
}

/// One queue or pool of a policy. Pairs are maps and reduces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueView {
    /// Its name.
    pub name: String,
    /// Live jobs.
    pub jobs: u32,
    /// Jobs that may not run yet because of a limit.
    pub held_jobs: u32,
    /// Running attempts.
    pub running: PerKind<u32>,
    /// Slots that its jobs would use.
    pub demand: PerKind<u32>,
    /// Slots that it is to have before others get more.
    pub min: PerKind<u32>,
    /// Slots that it may have; `None` without such a limit.
    pub max: PerKind<Option<u32>>,
    /// Slots that it is due.
    pub share: PerKind<f64>,
    /// Its weight against the others.
    pub weight: f64,
}
