//! Hadoop 0.20.2's Fair scheduler: jobs collect deficits while they run less than their share.
//!
//! At each update a job's deficit grows by (fair share − running) × time. Jobs that run less than their part of their
//! pool's minimum share go first, then those with the larger deficit; a heartbeat gets one map and one reduce, or only
//! one task at all. No waits for locality, no preemption, no maxima. An update looks at all jobs, as Hadoop's does;
//! between updates a decision costs the same with 10 and with 10,000 waiting jobs.
//! Source: `docs/hadoop.md#fair` and `docs/hadoop.md#tasks-and-attempts` (its own slow start).

mod updates;

use std::cmp::Reverse;

use super::admission::{accepts, held, pool_limit};
use super::allocations::Allocations;
use super::limits;
use super::limits::{Limits, place};
use super::pools::{PoolId, Pools, pool_name};
use super::settings::{Dialect, PoolProperty, Settings};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{JobId, JobSpec, PerKind, TaskKind};
use crate::schedulers::params::{Params, read};
use crate::schedulers::reason::{rivals, waiting_kind};
use crate::schedulers::{
    Actions, Assignment, Capabilities, Change, Offer, PerJob, QueueView, Queues, Reason, Round, Scheduler,
    SchedulerError, Waiting,
};
use crate::time::Time;

/// A job's rank: needy first (false), then the larger deficit, then the time of submission.
type Rank = (bool, Reverse<i64>, Time);

/// The policy.
#[derive(Clone)]
pub struct DeficitFair {
    settings: Settings,
    allocations: Allocations,
    offer: Offer,
    pools: Pools,
    jobs: PerJob<Account>,
    limits: Limits,
    waiting: Waiting<Rank>,
    /// Tasks that jobs run or need, by kind, as of the last update.
    runnable: PerKind<u32>,
    /// Updates happen at multiples of the interval from here.
    start: Time,
    last: Time,
    /// When jobs came that no update has seen: one comes at that instant, once for all of them.
    submitted: Option<Time>,
    /// The first change that no update has seen.
    changed: Option<Time>,
    /// The first change after which somebody may wait for an update.
    wanted: Option<Time>,
    turn: Option<Turn>,
    notes: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    round: Round,
    tried: PerKind<bool>,
    assigned: bool,
}

/// What a job has and is owed, for maps and reduces.
#[derive(Clone, Debug)]
struct Account {
    pool: PoolId,
    place: limits::Place,
    may_run: bool,
    kinds: PerKind<Kind>,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    /// Running attempts now.
    running: u32,
    /// Running attempts at the last update, and those launched since.
    counted: u32,
    /// Tasks that might start now.
    ready: u32,
    /// The same at the last update, without those launched since.
    needed: u32,
    weight: f64,
    /// Its part of the pool's minimum share.
    min: u32,
    share: f64,
    /// In slot-milliseconds.
    deficit: i64,
    rank: Option<Rank>,
}

impl Kind {
    fn runnable(&self) -> u32 {
        self.needed + self.counted
    }
}

impl DeficitFair {
    pub(super) fn new(settings: Settings, allocations: Allocations, offer: Offer) -> DeficitFair {
        DeficitFair {
            notes: allocations.warnings.clone(),
            settings,
            allocations,
            offer,
            pools: Pools::default(),
            jobs: PerJob::default(),
            limits: Limits::default(),
            waiting: Waiting::default(),
            runnable: [0; 2],
            start: Time::ZERO,
            last: Time::ZERO,
            submitted: None,
            changed: None,
            wanted: None,
            turn: None,
        }
    }

    /// A job is one of its pool's and its user's from here on; the pool, and whether it may run within their limits.
    fn join(&mut self, job: &Job, place: limits::Place, now: Time) -> (PoolId, bool) {
        let name = pool_name(job.spec(), &self.settings);
        let (pool, new) = self.pools.named(name, &self.allocations, now);
        if new {
            self.limits.new_pool(pool, pool_limit(name, &self.settings, &self.allocations));
        }
        let user = &job.spec().user;
        let user = self.limits.user(user, || self.allocations.user_limit(user));
        self.pools.get_mut(pool).jobs += 1;
        (pool, self.limits.enter(place, pool, user))
    }

    fn enter(&mut self, job: &Job, state: &ClusterState) {
        let (pool, may_run) = self.join(job, place(job), state.now());
        let kinds = Default::default();
        self.jobs.insert(job.id(), Account { pool, place: place(job), may_run, kinds });
        TaskKind::ALL.into_iter().for_each(|kind| self.touch(job.id(), kind, state));
    }

    fn leave(&mut self, id: JobId) {
        let Some(account) = self.jobs.remove(id) else { return };
        self.limits.leave(account.place);
        self.pools.get_mut(account.pool).jobs -= 1;
        for kind in TaskKind::ALL {
            if let Some(rank) = account.kinds[kind].rank {
                self.waiting.remove(kind, rank, id);
            }
        }
    }

    /// A job belongs to another pool, with what it runs and is owed.
    fn move_to_its_pool(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(account)) = (state.job(id), self.jobs.remove(id)) else { return };
        self.limits.leave(account.place);
        self.pools.get_mut(account.pool).jobs -= 1;
        let (pool, may_run) = self.join(job, account.place, state.now());
        self.jobs.insert(id, Account { pool, may_run, ..account });
        // The update of this instant says what that changes, as with a job that comes.
        self.submitted = Some(state.now());
    }

    /// Counts what a job runs and could start now, and puts it where it belongs.
    fn touch(&mut self, id: JobId, kind: TaskKind, state: &ClusterState) {
        let (Some(job), Some(account)) = (state.job(id), self.jobs.get_mut(id)) else { return };
        let entry = &mut account.kinds[kind];
        entry.running = job.tasks(kind).n_attempts();
        entry.ready = if job.offerable(kind) && slow_start(job, kind) { job.tasks(kind).pending().count() } else { 0 };
        self.changed.get_or_insert(state.now());
        if account.may_run && entry.ready > entry.needed {
            self.wanted.get_or_insert(state.now());
        }
        self.rank(id, kind);
    }

    /// Ranks a job as of now.
    fn rank(&mut self, id: JobId, kind: TaskKind) {
        let Some(account) = self.jobs.get_mut(id) else { return };
        let submitted = account.place.1;
        let entry = &mut account.kinds[kind];
        let waits = (entry.ready > 0 && entry.needed > 0) || (self.offer.speculates() && entry.running > 0);
        let rank = waits.then_some((entry.running >= entry.min, Reverse(entry.deficit), submitted));
        let before = std::mem::replace(&mut entry.rank, rank);
        if before != rank {
            before.map(|rank| self.waiting.remove(kind, rank, id));
            if let Some(rank) = rank {
                self.waiting.insert(kind, rank, id);
            }
        }
    }

    /// Whether a worker may run another task of a kind: as the others do, while there is less to do than slots.
    fn may_assign(&self, kind: TaskKind, worker: &Worker, state: &ClusterState) -> bool {
        let cap = self.settings.load_cap(self.runnable[kind], kind, worker, state);
        worker.free(kind) > 0 && (u32::from(worker.occupied(kind)) < cap || self.offer.speculates())
    }

    fn find(&mut self, now: Time, kind: TaskKind, worker: &Worker, state: &ClusterState) -> Option<Assignment> {
        let DeficitFair { waiting, offer, .. } = self;
        let (seconds, by_job) = (offer.speculates(), offer.second_before_next_job());
        for id in waiting.iter(kind) {
            let job = state.job(id)?;
            if let Some(found) = offer.pending(state, job, kind, worker) {
                return Some(found);
            }
            if seconds
                && by_job
                && let Some(found) = offer.second(now, state, job, kind, worker)
            {
                return Some(found);
            }
        }
        if !seconds || by_job {
            return None;
        }
        waiting.iter(kind).find_map(|id| offer.second(now, state, state.job(id)?, kind, worker))
    }
}

/// 0.20.2's own rule, beside the job's: at least one map and 5 % of them are done.
///
/// `Deviation:` a job without maps, or one that tolerates that all of them failed, could never run its reduces there.
fn slow_start(job: &Job, kind: TaskKind) -> bool {
    let maps = job.tasks(TaskKind::Map);
    kind == TaskKind::Map
        || maps.all_done()
        || (maps.n_succeeded() >= 1 && u64::from(maps.n_succeeded()) * 20 >= u64::from(maps.len()))
}

impl Queues for DeficitFair {
    fn accepts(&self, job: &JobSpec) -> Result<(), String> {
        accepts(job, &self.settings, &self.allocations)
    }

    fn pool_property(&self) -> Option<&str> {
        self.settings.pool_property.other()
    }

    fn list(&self, _state: &ClusterState) -> Vec<QueueView> {
        let mut views: Vec<QueueView> = self.pools.iter().map(|(_, pool)| pool.view()).collect();
        for (id, account) in self.jobs.iter() {
            let view = &mut views[account.pool.0 as usize];
            view.held_jobs += u32::from(self.limits.is_held(id));
            for (k, kind) in account.kinds.iter().enumerate() {
                view.running[k] += kind.running;
                view.demand[k] += kind.runnable();
                view.share[k] += kind.share;
            }
        }
        views.retain(|view| view.jobs > 0);
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }
}

impl Scheduler for DeficitFair {
    fn name(&self) -> &'static str {
        self.settings.name
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        let now = state.now();
        // What the clock should have seen before this instant, it saw without this change.
        let comes = matches!(change, Change::Submitted { .. } | Change::Offerable { .. });
        if now > self.last.max(self.submitted.unwrap_or(Time::ZERO)) || (!comes && self.submitted.is_some()) {
            self.catch_up(Time::from_us(now.as_us().saturating_sub(1)), state);
        }
        match *change {
            Change::Submitted { job } => {
                let Some(job) = state.job(job) else { return };
                self.enter(job, state);
                self.submitted = Some(now);
            }
            Change::JobOver { job, .. } => {
                self.leave(job);
                if self.limits.is_stale() {
                    self.wanted.get_or_insert(now);
                }
            }
            Change::Priority { job, .. } => {
                let (Some(job), Some(account)) = (state.job(job), self.jobs.get_mut(job)) else { return };
                let from = std::mem::replace(&mut account.place, place(job));
                self.limits.moved(from, place(job));
                self.wanted.get_or_insert(now);
            }
            Change::Queue { job } => self.move_to_its_pool(job, state),
            Change::Launched { attempt, .. } => {
                if let Some(account) = self.jobs.get_mut(attempt.job) {
                    let kind = &mut account.kinds[attempt.kind];
                    kind.counted += 1;
                    kind.needed = kind.needed.saturating_sub(1);
                }
                self.touch(attempt.job, attempt.kind, state);
            }
            Change::Ended { attempt, .. } => {
                self.touch(attempt.job, attempt.kind, state);
                if attempt.kind == TaskKind::Map {
                    self.touch(attempt.job, TaskKind::Reduce, state);
                }
            }
            Change::Offerable { job, kind, .. } => self.touch(job, kind, state),
            Change::Returned { task } => {
                self.touch(task.job, task.kind, state);
                // One whose output came back is done again, and that decides here whether reduces may start.
                if task.kind == TaskKind::Map
                    && state.job(task.job).is_some_and(|job| job.tasks(TaskKind::Map).winner(task.index).is_some())
                {
                    self.touch(task.job, TaskKind::Reduce, state);
                }
            }
            Change::Recovered => (self.start, self.last) = (now, now),
            Change::Worker { .. } | Change::Deadline { .. } | Change::Reported { .. } => {}
        }
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.catch_up(round.now, state);
        self.turn = Some(Turn { round: *round, tried: [false; 2], assigned: false });
    }

    fn assign(&mut self, _round: &Round, state: &ClusterState) -> Option<Assignment> {
        let mut turn = self.turn?;
        let worker = state.worker(turn.round.worker)?;
        for kind in TaskKind::ALL {
            if turn.tried[kind] || (turn.assigned && !self.settings.assign_multiple) {
                continue;
            }
            turn.tried[kind] = true;
            let found = if self.may_assign(kind, worker, state) {
                self.find(turn.round.now, kind, worker, state)
            } else {
                None
            };
            turn.assigned |= found.is_some();
            self.turn = Some(turn);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn next_deadline(&self) -> Option<Time> {
        self.wanted.map(|since| self.tick_after(since))
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        if self.submitted.is_some() {
            self.catch_up(now, state);
        }
        if self.next_deadline().is_some_and(|due| due <= now) {
            self.update(self.tick_before(now), state);
            actions.wake_parked();
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            reads_profiles: false,
            reads_queues: self.settings.pool_property == PoolProperty::Queue,
            limits_rounds: true,
            may_speculate: self.offer.speculates(),
            ..Capabilities::default()
        }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(job), Some(kind), Some(account)) = (state.job(id), waiting_kind(id, state), self.jobs.get(id)) else {
            return Reason::Unknown;
        };
        if let Some(reason) = held(&self.limits, account.place, job, &self.pools.get(account.pool).name) {
            return reason;
        }
        let Some(rank) = account.kinds[kind].rank else {
            let maps = job.tasks(TaskKind::Map);
            return if slow_start(job, kind) {
                Reason::Limit("It waits for the Fair scheduler's next update.".to_owned())
            } else {
                Reason::SlowStart { done: maps.n_succeeded(), needed: maps.len().div_ceil(20).max(1) }
            };
        };
        let ahead = self.waiting.ahead(kind, rank, id, rivals(id, kind, state));
        self.offer.explain(Reason::in_order(kind, ahead, state), id, state)
    }

    fn attach(&mut self, state: &ClusterState) {
        let notes = std::mem::take(&mut self.notes);
        *self = DeficitFair::new(self.settings.clone(), self.allocations.clone(), self.offer.clone());
        self.offer.attach(state);
        self.notes = notes;
        (self.start, self.last) = (state.now(), state.now());
        for job in state.jobs() {
            self.enter(job, state);
        }
        self.update(state.now(), state);
    }

    fn reconfigure(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        let name = self.settings.name;
        let (settings, allocations, offer) = read(name, params, |reader| Settings::from_params(name, reader))?;
        if settings.dialect != Dialect::Hadoop0202 {
            return Ok(false);
        }
        let mut new = DeficitFair::new(settings, allocations, offer);
        new.notes.splice(0..0, std::mem::take(&mut self.notes));
        new.attach(state);
        new.offer.inherit(&self.offer);
        for (id, account) in self.jobs.iter() {
            if let Some(entry) = new.jobs.get_mut(id) {
                (0..2).for_each(|k| entry.kinds[k].deficit = account.kinds[k].deficit);
            }
        }
        *self = new;
        self.update(state.now(), state);
        Ok(true)
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.append(&mut self.offer.take_notes());
        notes
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
