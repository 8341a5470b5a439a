//! Jobs of one queue in order, so that all jobs of a user can be left out at once.
//!
//! A user at the limit may have thousands of jobs waiting; a walk in order must not pass them one by one. So each
//! user's jobs are a set of their own, and the queue orders only the users, by their first jobs. A walk merges the
//! sets. **Invariant: `fronts` holds the first job of each set that is not empty, and nothing else.**

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Bound::{Excluded, Unbounded};

use crate::job::{JobId, Priority};
use crate::time::Time;

/// A job's place in its queue; smaller goes first.
pub(super) type Place = (Priority, Time, JobId);

/// Jobs by user.
#[derive(Clone, Debug, Default)]
pub(super) struct ByUser {
    users: Vec<BTreeSet<Place>>,
    fronts: BTreeSet<(Place, u32)>,
    first: Option<(Place, u32)>,
}

impl ByUser {
    pub(super) fn insert(&mut self, user: u32, place: Place) {
        if self.users.len() <= user as usize {
            self.users.resize_with(user as usize + 1, BTreeSet::new);
        }
        let jobs = &mut self.users[user as usize];
        let before = jobs.first().copied();
        if jobs.insert(place) {
            self.moves(user, before);
        }
    }

    /// True if it was there.
    pub(super) fn remove(&mut self, user: u32, place: Place) -> bool {
        let Some(jobs) = self.users.get_mut(user as usize) else { return false };
        let before = jobs.first().copied();
        let was_there = jobs.remove(&place);
        if was_there {
            self.moves(user, before);
        }
        was_there
    }

    /// Notes a user's first job.
    fn moves(&mut self, user: u32, before: Option<Place>) {
        let after = self.users[user as usize].first().copied();
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.fronts.remove(&(before, user));
        }
        if let Some(after) = after {
            self.fronts.insert((after, user));
        }
        self.first = self.fronts.first().copied();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Users with a job here.
    pub(super) fn n_users(&self) -> u32 {
        self.fronts.len() as u32
    }

    /// Each user's first job, in order.
    pub(super) fn fronts(&self) -> impl Iterator<Item = (JobId, u32)> + '_ {
        self.fronts.iter().map(|&((_, _, job), user)| (job, user))
    }

    /// How many jobs that count stand before a place, and the first of them.
    pub(super) fn ahead(&self, place: Place, counts: impl Fn(JobId) -> bool) -> Option<(u32, JobId)> {
        let ahead = self.users.iter().flat_map(|jobs| jobs.range(..place)).filter(|(_, _, job)| counts(*job));
        let (n, first) =
            ahead.fold((0, None), |(n, first), &at| (n + 1, first.map_or(Some(at), |old| Some(at.min(old)))));
        first.map(|(_, _, job)| (n, job))
    }

    /// All jobs, user by user.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.users.iter().flatten().map(|&(_, _, job)| job)
    }

    /// Asks `visit` job by job in order until it has something. Users that `may` refuses are passed with all of
    /// their jobs.
    pub(super) fn walk<T>(
        &self,
        mut may: impl FnMut(u32) -> bool,
        mut visit: impl FnMut(JobId, u32) -> Option<T>,
    ) -> Option<T> {
        let (first, user) = self.first?;
        let first_may = may(user);
        if first_may && let Some(found) = visit(first.2, user) {
            return Some(found);
        }
        let mut fronts = self.fronts.iter().skip(1).copied().peekable();
        // Users whose jobs so far had nothing, by their next ones; usually empty, and then it costs nothing.
        let mut more = BinaryHeap::new();
        if first_may {
            more.extend(self.next_of(user, first));
        }
        loop {
            let old = match (fronts.peek(), more.peek()) {
                (None, None) => return None,
                (Some(front), Some(&Reverse(old))) => old < *front,
                (front, _) => front.is_none(),
            };
            let next = if old { more.pop().map(|Reverse(next)| next) } else { fronts.next() };
            let (place, user) = next?;
            if !old && !may(user) {
                continue;
            }
            if let Some(found) = visit(place.2, user) {
                return Some(found);
            }
            more.extend(self.next_of(user, place));
        }
    }

    fn next_of(&self, user: u32, place: Place) -> Option<Reverse<(Place, u32)>> {
        let next = self.users[user as usize].range((Excluded(place), Unbounded)).next();
        next.map(|&next| Reverse((next, user)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(job: u32) -> Place {
        (Priority::Normal, Time::ZERO, JobId(job))
    }

    fn of(jobs: &[(u32, u32)]) -> ByUser {
        let mut by_user = ByUser::default();
        jobs.iter().for_each(|&(user, job)| by_user.insert(user, place(job)));
        by_user
    }

    fn visited(by_user: &ByUser, refused: &[u32]) -> Vec<u32> {
        let mut seen = Vec::new();
        let found: Option<()> = by_user.walk(
            |user| !refused.contains(&user),
            |job, _| {
                seen.push(job.0);
                None
            },
        );
        assert_eq!(found, None);
        seen
    }

    #[test]
    fn a_walk_takes_all_users_jobs_in_one_order() {
        let by_user = of(&[(0, 1), (2, 2), (0, 3), (1, 4), (2, 5), (0, 6)]);
        assert_eq!(visited(&by_user, &[]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(visited(&by_user, &[0]), [2, 4, 5]);
        assert_eq!(visited(&by_user, &[2, 1]), [1, 3, 6]);
        assert_eq!(visited(&ByUser::default(), &[]), [0; 0]);
        assert_eq!(by_user.n_users(), 3);
        assert_eq!(by_user.ahead(place(5), |_| true), Some((4, JobId(1))));
        assert_eq!(by_user.ahead(place(5), |job| job.0 > 1), Some((3, JobId(2))));
        assert_eq!(by_user.ahead(place(1), |_| true), None);
    }

    #[test]
    fn jobs_come_and_go() {
        let mut by_user = of(&[(0, 1), (1, 2), (0, 3)]);
        assert!(by_user.remove(0, place(1)));
        assert!(!by_user.remove(0, place(1)));
        assert!(!by_user.remove(7, place(1)));
        assert_eq!(visited(&by_user, &[]), [2, 3]);
        by_user.insert(1, place(1));
        assert_eq!(visited(&by_user, &[0]), [1, 2]);
        for (user, job) in [(1, 1), (1, 2), (0, 3)] {
            assert!(by_user.remove(user, place(job)));
        }
        assert!(by_user.is_empty() && by_user.n_users() == 0);
    }
}
