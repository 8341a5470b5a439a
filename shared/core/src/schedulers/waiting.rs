//! Jobs that have something to offer, in a policy's order, by kind of task.
//!
//! A job enters when it has pending tasks that may start and leaves when it has none, so that a decision costs the
//! same with 10 and with 10,000 waiting jobs. The first job of each kind is kept apart: it takes nearly every slot,
//! and starting an iteration costs more than finding it.

use std::collections::BTreeSet;

use crate::job::{JobId, PerKind, TaskKind};

/// An ordered index of waiting jobs. `R` is the rank that the policy gives them; smaller goes first, and among
/// equals the lower number.
#[derive(Clone, Debug)]
pub struct Waiting<R> {
    sets: PerKind<BTreeSet<(R, JobId)>>,
    first: PerKind<Option<JobId>>,
}

impl<R> Default for Waiting<R> {
    fn default() -> Waiting<R> {
        Waiting { sets: [BTreeSet::new(), BTreeSet::new()], first: [None; 2] }
    }
}

impl<R: Copy + Ord> Waiting<R> {
    /// Puts a job in.
    pub fn insert(&mut self, kind: TaskKind, rank: R, job: JobId) {
        self.sets[kind].insert((rank, job));
        self.find_first(kind);
    }

    /// Takes a job out; true if it was there with this rank.
    pub fn remove(&mut self, kind: TaskKind, rank: R, job: JobId) -> bool {
        let was_there = self.sets[kind].remove(&(rank, job));
        if self.first[kind] == Some(job) {
            self.find_first(kind);
        }
        was_there
    }

    /// The first job.
    #[inline]
    pub fn first(&self, kind: TaskKind) -> Option<JobId> {
        self.first[kind]
    }

    /// Whether no job waits.
    pub fn is_empty(&self, kind: TaskKind) -> bool {
        self.first[kind].is_none()
    }

    /// Jobs that wait.
    pub fn len(&self, kind: TaskKind) -> usize {
        self.sets[kind].len()
    }

    /// All jobs in order.
    pub fn iter(&self, kind: TaskKind) -> impl Iterator<Item = JobId> + '_ {
        self.sets[kind].iter().map(|&(_, job)| job)
    }

    /// How many jobs that count stand before this place, and the first of them. Looks at each: to explain, not to
    /// decide.
    pub fn ahead(&self, kind: TaskKind, rank: R, job: JobId, counts: impl Fn(JobId) -> bool) -> Option<(u32, JobId)> {
        tally(self.before(kind, rank, job).filter(|&job| counts(job)))
    }

    /// The jobs before this place, in order.
    pub fn before(&self, kind: TaskKind, rank: R, job: JobId) -> impl Iterator<Item = JobId> + '_ {
        self.sets[kind].range(..(rank, job)).map(|&(_, job)| job)
    }

    fn find_first(&mut self, kind: TaskKind) {
        self.first[kind] = self.sets[kind].first().map(|&(_, job)| job);
    }
}

/// How many jobs these are, and the first of them.
pub(super) fn tally(mut jobs: impl Iterator<Item = JobId>) -> Option<(u32, JobId)> {
    let first = jobs.next()?;
    Some((1 + jobs.count() as u32, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_follows_what_comes_and_goes() {
        let mut waiting = Waiting::default();
        for (rank, job) in [(5, 1), (3, 2), (3, 3), (9, 4)] {
            waiting.insert(TaskKind::Map, rank, JobId(job));
        }
        assert_eq!(waiting.first(TaskKind::Map), Some(JobId(2)));
        assert!(waiting.is_empty(TaskKind::Reduce));
        assert_eq!(waiting.ahead(TaskKind::Map, 9, JobId(4), |_| true), Some((3, JobId(2))));
        assert_eq!(waiting.ahead(TaskKind::Map, 9, JobId(4), |job| job.0 % 2 == 1), Some((2, JobId(3))));
        assert_eq!(waiting.ahead(TaskKind::Map, 9, JobId(4), |_| false), None);
        assert!(waiting.remove(TaskKind::Map, 3, JobId(2)));
        assert!(!waiting.remove(TaskKind::Map, 4, JobId(3)), "another rank is another place");
        assert_eq!(waiting.iter(TaskKind::Map).map(|job| job.0).collect::<Vec<_>>(), [3, 1, 4]);
        assert_eq!(waiting.first(TaskKind::Map), Some(JobId(3)));
    }
}
