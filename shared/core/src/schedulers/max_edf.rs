//! MaxEDF: the job with the earliest deadline takes all slots that it can use.
//!
//! Apart from the order, "the resource allocation per job is the same as under the FIFO policy" (SimMR §V-A, §III-C).
//! Nothing is preempted for a job that comes with an earlier deadline. The paper's jobs all have deadlines; here those
//! without one come after those with one, in FIFO's order, and so do jobs of equal deadlines among themselves.

use super::{Capabilities, JobOrder};
use crate::cluster::{ClusterState, Job};
use crate::job::Priority;
use crate::time::Time;

/// A place in the order of deadlines: the instant, or [`Time::MAX`] without one, then FIFO's rank.
pub(super) type DeadlineRank = (Time, Priority, Time);

/// Where a job stands by its deadline.
pub(super) fn by_deadline(job: &Job) -> DeadlineRank {
    (job.deadline().unwrap_or(Time::MAX), job.priority(), job.submitted())
}

/// The order of [`Ordered`](super::Ordered) that is MaxEDF.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaxEdf;

impl JobOrder for MaxEdf {
    type Rank = DeadlineRank;

    fn name(&self) -> &'static str {
        "maxedf"
    }

    fn rank(&self, job: &Job, _state: &ClusterState) -> DeadlineRank {
        by_deadline(job)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { follows_attempts: false, has_deadlines: false, reads_profiles: false, ..Capabilities::default() }
    }
}
