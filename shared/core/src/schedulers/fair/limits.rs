//! Which jobs may run: as many of each user and pool as the allocation file allows, in order of priority and time.
//!
//! Hadoop goes through all jobs at every update. Here a job that comes last is judged alone, and all are only gone
//! through again when a job leaves or moves while others are held back. **Invariant: `running` counts the jobs that
//! may run, by user and by pool.** Source: `docs/hadoop.md#fair` (runnability).

use std::collections::{BTreeMap, BTreeSet};

use super::pools::PoolId;
use crate::cluster::Job;
use crate::job::{JobId, Priority};
use crate::time::Time;

/// A job's place among all; smaller goes first.
pub(super) type Place = (Priority, Time, JobId);

/// A user's number, in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UserId(pub(super) u32);

/// Why a job may not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    ByUser { limit: u32 },
    ByPool { limit: u32 },
}

/// A user or pool: how many jobs may run, and how many do.
#[derive(Clone, Copy, Debug, Default)]
struct Quota {
    limit: Option<u32>,
    running: u32,
}

impl Quota {
    fn has_room(&self) -> bool {
        self.limit.is_none_or(|limit| self.running < limit)
    }
}

/// All live jobs by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    jobs: BTreeMap<Place, (PoolId, UserId)>,
    user_ids: BTreeMap<String, UserId>,
    users: Vec<Quota>,
    pools: Vec<Quota>,
    held: BTreeSet<JobId>,
    stale: bool,
}

pub(super) fn place(job: &Job) -> Place {
    (job.priority(), job.submitted(), job.id())
}

impl Limits {
    /// The number of a user, whose limit is asked for at the first time.
    pub(super) fn user(&mut self, name: &str, limit: impl FnOnce() -> Option<u32>) -> UserId {
        if let Some(&id) = self.user_ids.get(name) {
            return id;
        }
        let id = UserId(self.users.len() as u32);
        self.user_ids.insert(name.to_owned(), id);
        self.users.push(Quota { limit: limit(), running: 0 });
        id
    }

    /// Sets the limit of a new pool; pools come in the order of their numbers.
    pub(super) fn new_pool(&mut self, pool: PoolId, limit: Option<u32>) {
        debug_assert_eq!(pool.0 as usize, self.pools.len());
        self.pools.push(Quota { limit, running: 0 });
    }

    /// A job comes; true if it may run. If that has to wait for the next `settle`, it may not.
    pub(super) fn enter(&mut self, place: Place, pool: PoolId, user: UserId) -> bool {
        let last = self.jobs.last_key_value().is_none_or(|(&last, _)| last < place);
        self.jobs.insert(place, (pool, user));
        if !self.stale && (last || self.held.is_empty()) && self.has_room(pool, user) {
            self.count(pool, user);
            return true;
        }
        self.held.insert(place.2);
        // A job that comes last changes nothing for those before it.
        self.stale |= !last;
        false
    }

    /// A job is over.
    pub(super) fn leave(&mut self, place: Place) {
        let Some((pool, user)) = self.jobs.remove(&place) else { return };
        if !self.held.remove(&place.2) {
            self.users[user.0 as usize].running -= 1;
            self.pools[pool.0 as usize].running -= 1;
            self.stale |= !self.held.is_empty();
        }
    }

    /// A job's priority changed.
    pub(super) fn moved(&mut self, from: Place, to: Place) {
        if let Some(entry) = self.jobs.remove(&from) {
            self.jobs.insert(to, entry);
            self.stale |= !self.held.is_empty();
        }
    }

    /// Whether `settle` may change something.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Goes through all jobs in order if need be; the jobs for which the answer changed, in this order.
    pub(super) fn settle(&mut self) -> Vec<(JobId, bool)> {
        if !std::mem::take(&mut self.stale) {
            return Vec::new();
        }
        self.users.iter_mut().chain(&mut self.pools).for_each(|quota| quota.running = 0);
        let mut changes = Vec::new();
        for (&(_, _, id), &(pool, user)) in &self.jobs {
            let quotas = (&mut self.users[user.0 as usize], &mut self.pools[pool.0 as usize]);
            let may_run = quotas.0.has_room() && quotas.1.has_room();
            if may_run {
                quotas.0.running += 1;
                quotas.1.running += 1;
                if self.held.remove(&id) {
                    changes.push((id, true));
                }
            } else if self.held.insert(id) {
                changes.push((id, false));
            }
        }
        changes
    }

    /// Why a job is held back.
    pub(super) fn why_held(&self, place: Place) -> Option<Held> {
        let &(pool, user) = self.jobs.get(&place).filter(|_| self.held.contains(&place.2))?;
        let (user, pool) = (self.users[user.0 as usize], self.pools[pool.0 as usize]);
        match (user.limit, pool.limit) {
            (Some(limit), _) if !user.has_room() => Some(Held::ByUser { limit }),
            (_, Some(limit)) if !pool.has_room() => Some(Held::ByPool { limit }),
            _ => None,
        }
    }

    /// Whether a job is held back.
    pub(super) fn is_held(&self, job: JobId) -> bool {
        self.held.contains(&job)
    }

    fn has_room(&self, pool: PoolId, user: UserId) -> bool {
        self.users[user.0 as usize].has_room() && self.pools[pool.0 as usize].has_room()
    }

    fn count(&mut self, pool: PoolId, user: UserId) {
        self.users[user.0 as usize].running += 1;
        self.pools[pool.0 as usize].running += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(priority: u8, job: u32) -> Place {
        (Priority::ALL[priority as usize], Time::from_ms(u64::from(job)), JobId(job))
    }

    fn with_limits(pools: &[Option<u32>], users: &[Option<u32>]) -> Limits {
        let mut limits = Limits::default();
        for (pool, &limit) in (0..).zip(pools) {
            limits.new_pool(PoolId(pool), limit);
        }
        for (user, &limit) in users.iter().enumerate() {
            limits.user(&user.to_string(), || limit);
        }
        limits
    }

    // docs/hadoop.md#fair: jobs sorted FIFO; user and pool limits.
    #[test]
    fn a_job_of_higher_priority_takes_the_place_of_one_that_may_run() {
        let mut limits = with_limits(&[Some(1)], &[None]);
        assert!(limits.enter(at(2, 1), PoolId(0), UserId(0)));
        assert!(!limits.enter(at(2, 2), PoolId(0), UserId(0)));
        assert!(!limits.enter(at(0, 3), PoolId(0), UserId(0)), "only an update decides over others");
        assert_eq!(limits.settle(), [(JobId(3), true), (JobId(1), false)]);
        assert_eq!(limits.why_held(at(2, 1)), Some(Held::ByPool { limit: 1 }));
        limits.leave(at(0, 3));
        assert_eq!(limits.settle(), [(JobId(1), true)]);
        assert_eq!(limits.why_held(at(2, 1)), None);
    }

    proptest! {
        #[test]
        fn short_cuts_give_what_going_through_all_jobs_gives(
            caps in prop::collection::vec(prop::option::of(0u32..4), 6),
            steps in prop::collection::vec((0u8..4, 0u8..5, 0u32..3, 0u32..3), 1..80),
        ) {
            let mut limits = with_limits(&caps[..3], &caps[3..]);
            let mut live: Vec<(Place, u32, u32)> = Vec::new();
            let mut may_run = BTreeSet::new();
            for (n, &(what, priority, pool, user)) in (1..).zip(&steps) {
                match what {
                    0 if !live.is_empty() => {
                        let (place, ..) = live.remove(n % live.len());
                        limits.leave(place);
                        may_run.remove(&place.2);
                    }
                    1 if !live.is_empty() => {
                        let index = n % live.len();
                        let from = live[index].0;
                        live[index].0 = (Priority::ALL[priority as usize], from.1, from.2);
                        limits.moved(from, live[index].0);
                    }
                    _ => {
                        let place = at(priority, n as u32);
                        live.push((place, pool, user));
                        if limits.enter(place, PoolId(pool), UserId(user)) {
                            may_run.insert(place.2);
                        }
                    }
                }
                for (job, runs) in limits.settle() {
                    if runs { prop_assert!(may_run.insert(job)) } else { prop_assert!(may_run.remove(&job)) }
                }
                live.sort_unstable();
                let (mut pools, mut users, mut expected) = ([0; 3], [0; 3], BTreeSet::new());
                for &(place, pool, user) in &live {
                    let (p, u) = (pool as usize, user as usize);
                    if caps[p].is_none_or(|cap| pools[p] < cap) && caps[3 + u].is_none_or(|cap| users[u] < cap) {
                        pools[p] += 1;
                        users[u] += 1;
                        expected.insert(place.2);
                    }
                }
                prop_assert_eq!(&may_run, &expected);
            }
        }
    }
}
