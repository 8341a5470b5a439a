//! Shortest job first: a free slot goes to the job with the fewest tasks left, equals in order of submission.
//!
//! The guide writes this policy from nothing (`docs/guide/schedulers/writing-a-policy.md`). Short jobs hardly wait; a
//! long one may wait for ever while short ones keep coming.

use super::{Change, JobOrder};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, TaskKind};

/// The order of [`Ordered`](super::Ordered) that is shortest job first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shortest;

impl JobOrder for Shortest {
    type Rank = u32;

    fn name(&self) -> &'static str {
        "shortest"
    }

    fn rank(&self, job: &Job, _state: &ClusterState) -> u32 {
        TaskKind::ALL.iter().map(|&kind| job.tasks(kind).n_left()).sum()
    }

    fn observe(&mut self, change: &Change, _state: &ClusterState, moved: &mut Vec<JobId>) {
        match *change {
            Change::Ended { attempt, .. } => moved.push(attempt.job),
            Change::Returned { task } => moved.push(task.job),
            _ => {}
        }
    }
}
