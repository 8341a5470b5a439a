//! One queue: what it and its users hold, what they may, and which of its jobs wait.
//!
//! **Invariant: `occupied` is the sum over the queue's users, and a user's the sum over that user's initialised and
//! uninitialised jobs of running attempts and reserved workers, in slots.** Source: `docs/hadoop.md#capacity`, MR1
//! CapacitySchedulerQueue.

use std::collections::BTreeMap;

use super::by_user::ByUser;
use super::config::{ONE, QueueConf, Settings, Share, WHOLE};
use crate::job::{PerKind, TaskKind};

/// How many jobs a queue and one of its users may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobLimits {
    /// Initialised jobs of the queue.
    pub(super) initialised: u64,
    /// Initialised jobs of one user.
    pub(super) initialised_per_user: u64,
    /// Accepted jobs of the queue.
    pub(super) accepted: u64,
    /// Accepted jobs of one user.
    pub(super) accepted_per_user: u64,
}

impl JobLimits {
    /// `ceil(maximum-system-jobs × capacity)`, for one user × `minimum-user-limit-percent`; accepted are
    /// `init-accept-jobs-factor` times as many. A queue of slots may have all of the system's jobs.
    ///
    /// `Deviation:` a queue without capacity may have one job, so that it can use what others leave; in Hadoop none.
    fn new(system_jobs: u32, conf: &QueueConf) -> JobLimits {
        let share = match conf.share {
            Share::Percent { capacity, .. } => capacity,
            Share::Slots(_) => WHOLE,
        };
        let of_queue = u128::from(system_jobs) * u128::from(share);
        let initialised = (of_queue.div_ceil(u128::from(WHOLE)) as u64).max(1);
        let of_user = of_queue * u128::from(conf.user_percent);
        let initialised_per_user = (of_user.div_ceil(u128::from(WHOLE) * 100) as u64).max(1);
        JobLimits {
            initialised,
            initialised_per_user,
            accepted: initialised * conf.accept_factor,
            accepted_per_user: initialised_per_user * conf.accept_factor,
        }
    }
}

/// What one user has in one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct User {
    pub(super) name: String,
    /// Slots of each kind.
    pub(super) occupied: PerKind<u32>,
    pub(super) jobs: u64,
    pub(super) initialised: u64,
    /// Tasks of the initialised jobs.
    pub(super) active_tasks: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) name: String,
    pub(super) conf: QueueConf,
    pub(super) limits: JobLimits,
    /// Slots of each kind that are its own.
    pub(super) capacity: PerKind<u32>,
    /// Slots of each kind that it never exceeds.
    pub(super) maximum: PerKind<u32>,
    /// Slots of each kind that one user never exceeds with tasks of one slot.
    user_maximum: PerKind<u64>,
    pub(super) occupied: PerKind<u32>,
    pub(super) jobs: u64,
    pub(super) initialised: u64,
    pub(super) active_tasks: u64,
    /// Jobs whose tasks take several slots.
    pub(super) high_memory: u32,
    pub(super) users: Vec<User>,
    user_numbers: BTreeMap<String, u32>,
    /// Jobs that are not initialised yet.
    pub(super) uninitialised: ByUser,
    /// Initialised jobs with something to offer, by kind.
    pub(super) offers: PerKind<ByUser>,
    /// All initialised jobs; only kept for a rule that wants speculative attempts.
    pub(super) live: ByUser,
}

impl Queue {
    pub(super) fn new(name: &str, settings: &Settings) -> Queue {
        let conf = settings.queues[name].clone();
        Queue {
            name: name.to_owned(),
            limits: JobLimits::new(settings.system_jobs, &conf),
            conf,
            capacity: [0; 2],
            maximum: [u32::MAX; 2],
            user_maximum: [0; 2],
            occupied: [0; 2],
            jobs: 0,
            initialised: 0,
            active_tasks: 0,
            high_memory: 0,
            users: Vec::new(),
            user_numbers: BTreeMap::new(),
            uninitialised: ByUser::default(),
            offers: Default::default(),
            live: ByUser::default(),
        }
    }

    /// The number of a user, who may be new.
    pub(super) fn user(&mut self, name: &str) -> u32 {
        if let Some(&user) = self.user_numbers.get(name) {
            return user;
        }
        let user = self.users.len() as u32;
        self.users.push(User { name: name.to_owned(), ..User::default() });
        self.user_numbers.insert(name.to_owned(), user);
        user
    }

    pub(super) fn known_user(&self, name: &str) -> Option<&User> {
        self.user_numbers.get(name).map(|&user| &self.users[user as usize])
    }

    /// Its slots on a cluster of so many.
    ///
    /// `Deviation:` Hadoop takes a maximum that comes to less than one slot as no maximum at all; here it is one
    /// slot, so that limits hold on small clusters.
    pub(super) fn resize(&mut self, cluster: PerKind<u32>) {
        let part = |share: u64, slots: u32| (u64::from(slots) * share / WHOLE) as u32;
        match self.conf.share {
            Share::Percent { capacity, maximum } => {
                self.capacity = cluster.map(|slots| part(capacity, slots));
                self.maximum = cluster.map(|slots| maximum.map_or(u32::MAX, |maximum| part(maximum, slots).max(1)));
            }
            Share::Slots(slots) => (self.capacity, self.maximum) = (slots, slots),
        }
        self.user_maximum = self.capacity.map(|capacity| self.times_factor(capacity.max(1)));
    }

    /// Slots more or less for a user.
    pub(super) fn hold(&mut self, kind: TaskKind, user: u32, slots: u32) {
        self.occupied[kind] += slots;
        self.users[user as usize].occupied[kind] += slots;
    }

    pub(super) fn give_back(&mut self, kind: TaskKind, user: u32, slots: u32) {
        self.occupied[kind] -= slots;
        self.users[user as usize].occupied[kind] -= slots;
    }

    /// Whether the queue may hold so many slots more.
    pub(super) fn has_room(&self, kind: TaskKind, slots: u32) -> bool {
        self.occupied[kind].saturating_add(slots) <= self.maximum[kind]
    }

    /// Slots that one user may hold, if the next task takes so many.
    ///
    /// The users with something to offer share what the queue has, at least `minimum-user-limit-percent` each, and
    /// nobody has more than the queue's own capacity times `user-limit-factor`.
    pub(super) fn user_limit(&self, kind: TaskKind, slots: u32) -> u64 {
        // A queue of less than one slot makes progress.
        let capacity = self.capacity[kind].max(slots);
        let wanted = u64::from(self.occupied[kind]) + u64::from(slots);
        let current = wanted.max(capacity.into());
        let users = u64::from(self.offers[kind].n_users().max(1));
        let equal = current.div_ceil(users);
        let least = (current * u64::from(self.conf.user_percent)).div_ceil(100);
        let most = if slots == 1 { self.user_maximum[kind] } else { self.times_factor(capacity) };
        equal.max(least).min(most)
    }

    fn times_factor(&self, capacity: u32) -> u64 {
        (u128::from(capacity) * u128::from(self.conf.user_factor) / u128::from(ONE)) as u64
    }

    /// Whether a user may hold so many slots more.
    pub(super) fn user_may(&self, kind: TaskKind, user: u32, slots: u32) -> bool {
        let held = u64::from(self.users[user as usize].occupied[kind]);
        held + u64::from(slots) <= self.user_limit(kind, slots)
    }

    /// How full it is: smaller is served first. A queue without capacity counts as full.
    pub(super) fn emptier_than(&self, other: &Queue, kind: TaskKind) -> bool {
        let ratio = |queue: &Queue| match queue.capacity[kind] {
            0 => (1, 1),
            capacity => (u64::from(queue.occupied[kind]), u64::from(capacity)),
        };
        let ((ours, of_ours), (theirs, of_theirs)) = (ratio(self), ratio(other));
        ours * of_theirs < theirs * of_ours
    }

    /// Whether another job of so many tasks may be initialised now.
    pub(super) fn may_initialise(&self, tasks: u64) -> bool {
        self.initialised < self.limits.initialised && self.active_tasks + tasks <= self.conf.active_tasks
    }

    /// Whether a user's one may.
    pub(super) fn may_initialise_for(&self, user: u32, tasks: u64) -> bool {
        let user = &self.users[user as usize];
        user.initialised < self.limits.initialised_per_user
            && user.active_tasks + tasks <= self.conf.active_tasks_per_user
    }

    /// Why a job is not accepted.
    ///
    /// # Errors
    /// Names the limit.
    pub(super) fn accepts(&self, user: &str, tasks: u64) -> Result<(), String> {
        let name = &self.name;
        let most = self.conf.active_tasks_per_user;
        if tasks > most {
            return Err(format!(
                "the job has {tasks} tasks; queue `{name}` initialises at most {most} tasks of one user \
                 (`maximum-initialized-active-tasks-per-user`)"
            ));
        }
        if self.jobs >= self.limits.accepted {
            let Queue { jobs, .. } = self;
            let most = self.limits.accepted;
            return Err(format!(
                "queue `{name}` has {jobs} jobs and accepts at most {most} (`maximum-system-jobs` × its capacity × \
                 `init-accept-jobs-factor`)"
            ));
        }
        let (jobs, most) = (self.known_user(user).map_or(0, |user| user.jobs), self.limits.accepted_per_user);
        if jobs >= most {
            return Err(format!(
                "user `{user}` has {jobs} jobs in queue `{name}`, which accepts at most {most} of one user \
                 (`maximum-system-jobs` × its capacity × `minimum-user-limit-percent` × `init-accept-jobs-factor`)"
            ));
        }
        Ok(())
    }

    /// How many more jobs of a user are accepted.
    pub(super) fn room(&self, user: &str) -> u64 {
        let of_user = self.known_user(user).map_or(0, |user| user.jobs);
        let of_user = self.limits.accepted_per_user.saturating_sub(of_user);
        self.limits.accepted.saturating_sub(self.jobs).min(of_user)
    }
}
