//! What a size-based policy keeps of a job, and when that makes the job move on.

use super::service::Service;
use crate::time::Time;

/// Which service a queue's time limit is held against.
///
/// §IV-A defines the limit of queue k as "the total amount of service that jobs may receive while they are in queue
/// k"; §VI-E sets limits of 4,000, 10,000 and 36,000 seconds that are sizes of jobs, so there it counts from the start.
/// With two queues both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// Received in the queue.
    InQueue,
    /// Received since the job was submitted.
    InAll,
}

/// A live job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// From 0.
    pub(super) queue: usize,
    /// Its place in the queue's order, from a count of all arrivals in queues.
    pub(super) place: u64,
    pub(super) service: Service,
    /// What it is to have received when it moves on; `u64::MAX` in the last queue.
    pub(super) limit_us: u64,
    /// When it will have, as it stands in the list of demotions.
    pub(super) due: Option<Time>,
    /// Its size, as it was predicted when it came; 0 for policies that predict nothing.
    pub(super) predicted_us: u64,
}

impl Entry {
    /// When it is to be moved on, if nothing changes.
    pub(super) fn moves_on(&self) -> Option<Time> {
        if self.limit_us == u64::MAX { None } else { self.service.reaches(self.limit_us) }
    }
}

/// The time limits of all queues but the last.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) us: Vec<u64>,
    pub(super) counted: Counted,
}

impl Limits {
    /// What a job that has received `so_far` moves on from `queue` at. What it received beyond the limit of the queue
    /// before, because time is in whole microseconds, counts in this one.
    pub(super) fn of(&self, queue: usize, so_far_us: u64) -> u64 {
        match (self.us.get(queue), self.counted) {
            (None, _) => u64::MAX,
            (Some(&limit), Counted::InQueue) => so_far_us.saturating_add(limit),
            (Some(&limit), Counted::InAll) => limit,
        }
    }
}
