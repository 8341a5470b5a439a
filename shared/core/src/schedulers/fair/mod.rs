//! Hadoop's Fair scheduler: pools share the slots by weight, and the jobs of a pool share what it has.
//!
//! This is dialect 1.2.1 and, as a setting of it with one pool and nothing else, the naive fair scheduler of the
//! online-prediction paper; dialect 0.20.2 is [`DeficitFair`]. Pools and jobs that wait stand in ordered sets, in which
//! only what changed moves, so a decision costs the same with 10 and with 10,000 waiting jobs. What Hadoop knows only
//! as of its last update (demands, who may run) is kept apart from what it sees at once (running tasks, priorities).
//! **Invariants: a pool's `running` and `wanted` are the sums over its live jobs; a job that may run and has something
//! to offer stands in its pool's `waiting`; a pool with such jobs and below its maximum stands in `order`.**
//! Source: `docs/hadoop.md#allocation-files` and `docs/hadoop.md#fair`.

mod admission;
mod ahead;
mod allocations;
mod clock;
mod deficits;
mod delay;
mod entries;
mod explain;
mod limits;
mod map_times;
mod member;
mod order;
mod pools;
mod preemption;
mod rounds;
mod settings;
mod shares;
mod starvation;
mod toml;
mod turn;
mod updates;
mod wait;
mod xml;

pub(super) use self::settings::{FAIR, LOAD_AWARE, NAIVE};
pub use allocations::{Allocations, PoolConf, PoolMode};
pub use deficits::DeficitFair;

use std::collections::BTreeSet;

use self::admission::{accepts, pool_limit};
use self::clock::Clock;
use self::delay::Delay;
use self::limits::{Limits, place};
use self::member::Member;
use self::order::{job_rank, job_weight, pool_rank};
use self::pools::{PoolId, PoolRank, Pools, pool_name};
use self::settings::{Dialect, PoolProperty, Preempting, Settings};
use self::starvation::Starvation;
use self::turn::Turn;
use self::wait::Wait;
use super::params::{Params, Reader};
use super::{
    Actions, Assignment, Capabilities, Change, Offer, PerJob, QueueView, Queues, Reason, Round, Scheduler,
    SchedulerError,
};
use crate::cluster::{ClusterState, Job};
use crate::job::{AttemptState, JobId, JobSpec, JobState, PerKind, TaskKind};
use crate::time::Time;

/// Notes that nobody has taken are forgotten beyond so many.
const MOST_NOTES: usize = 1_000;

/// The policy.
#[derive(Clone)]
pub struct Fair {
    settings: Settings,
    allocations: Allocations,
    offer: Offer,
    pools: Pools,
    jobs: PerJob<Member>,
    limits: Limits,
    /// Pools that have jobs for a free slot, by kind.
    order: PerKind<BTreeSet<(PoolRank, PoolId)>>,
    /// Sums over all pools.
    running: PerKind<u32>,
    demand: PerKind<u32>,
    clock: Clock,
    delay: Delay,
    /// Jobs whose weight falls when they are no longer new, by when.
    boosted: BTreeSet<(Time, JobId)>,
    turn: Option<Turn>,
    /// Attempts that pools were found to be owed, and those that were ordered to stop for them.
    preempted: (u64, u64),
    notes: Vec<String>,
}

/// Makes `fair`, in the dialect that the parameters name, or one of the policies that are settings of it.
pub(super) fn by_params(name: &'static str, params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    let (settings, allocations, offer) = Settings::from_params(name, params)?;
    Ok(match settings.dialect {
        Dialect::Hadoop0202 => Box::new(DeficitFair::new(settings, allocations, offer)),
        _ => Box::new(Fair::new(settings, allocations, offer)),
    })
}

impl Fair {
    fn new(settings: Settings, allocations: Allocations, offer: Offer) -> Fair {
        Fair {
            notes: allocations.warnings.clone(),
            clock: Clock::new(Time::ZERO, settings.update_interval),
            settings,
            allocations,
            offer,
            pools: Pools::default(),
            jobs: PerJob::default(),
            limits: Limits::default(),
            order: Default::default(),
            running: [0; 2],
            demand: [0; 2],
            delay: Delay::default(),
            boosted: BTreeSet::new(),
            turn: None,
            preempted: (0, 0),
        }
    }

    fn note(&mut self, text: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(text);
        }
    }

    /// A job comes.
    fn enter(&mut self, job: &Job, state: &ClusterState) {
        let name = pool_name(job.spec(), &self.settings);
        let (pool, new) = self.pools.named(name, &self.allocations, state.now());
        if new {
            self.limits.new_pool(pool, pool_limit(name, &self.settings, &self.allocations));
            if !self.pools.place(pool) {
                self.order_again();
            }
        }
        let user = &job.spec().user;
        let user = self.limits.user(user, || self.allocations.user_limit(user));
        let until = self.settings.boost.map(|(_, span)| job.submitted() + span).filter(|&until| until > state.now());
        self.boosted.extend(until.map(|until| (until, job.id())));
        self.pools.get_mut(pool).jobs += 1;
        let member = Member {
            pool,
            place: place(job),
            may_run: self.limits.enter(place(job), pool, user),
            boosted: until.is_some(),
            running: [0; 2],
            wants: [0; 2],
            demand: [0; 2],
            stale: false,
            rank: [None; 2],
            wait: Wait::new(job),
        };
        self.jobs.insert(job.id(), member);
        self.touch_both(job.id(), state);
    }

    /// A job is over. Hadoop, too, takes it out at once; what it still wanted goes with it.
    fn leave(&mut self, id: JobId, now: Time) {
        let Some(member) = self.jobs.remove(id) else { return };
        self.limits.leave(member.place);
        if self.limits.is_stale() {
            self.clock.changed(now, true);
        }
        if let Some((_, span)) = self.settings.boost {
            self.boosted.remove(&(member.place.1 + span, id));
        }
        let pool = self.pools.get_mut(member.pool);
        pool.jobs -= 1;
        for kind in TaskKind::ALL {
            pool.kinds[kind].running -= member.running[kind];
            self.running[kind] -= member.running[kind];
            if let Some(rank) = member.rank[kind] {
                pool.waiting.remove(kind, rank, id);
            }
        }
        for kind in TaskKind::ALL {
            self.set_wanted(member.pool, kind, |wanted| wanted - member.demand[kind]);
        }
    }

    /// A job belongs to another pool, with what it runs. How long it has waited for a worker near its data stays.
    fn move_to_its_pool(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(member)) = (state.job(id), self.jobs.get(id)) else { return };
        if pool_name(job.spec(), &self.settings) == self.pools.get(member.pool).name {
            return;
        }
        let wait = member.wait;
        self.leave(id, state.now());
        self.enter(job, state);
        if let Some(member) = self.jobs.get_mut(id) {
            member.wait = wait;
        }
        self.update(state.now(), state);
    }

    /// Sets what a pool's jobs want, and ranks it anew.
    fn set_wanted(&mut self, id: PoolId, kind: TaskKind, change: impl FnOnce(u32) -> u32) {
        let pool = self.pools.get_mut(id);
        let before = pool.demand(kind);
        pool.kinds[kind].wanted = change(pool.kinds[kind].wanted);
        self.demand[kind] = self.demand[kind] - before + pool.demand(kind);
        self.rank_pool(id, kind);
    }

    /// Puts a pool where it belongs now.
    fn rank_pool(&mut self, id: PoolId, kind: TaskKind) {
        let pool = self.pools.get_mut(id);
        let rank = (!pool.waiting.is_empty(kind) && !pool.is_full(kind)).then(|| pool_rank(pool, kind));
        let before = std::mem::replace(&mut pool.kinds[kind].rank, rank);
        if before != rank {
            before.map(|rank| self.order[kind].remove(&(rank, id)));
            rank.map(|rank| self.order[kind].insert((rank, id)));
        }
    }

    /// All pools have new places among the names.
    fn order_again(&mut self) {
        self.order.iter_mut().for_each(BTreeSet::clear);
        let all: Vec<PoolId> = self.pools.iter().map(|(id, _)| id).collect();
        for id in all {
            for kind in TaskKind::ALL {
                self.pools.get_mut(id).kinds[kind].rank = None;
                self.rank_pool(id, kind);
            }
        }
    }

    fn touch_both(&mut self, id: JobId, state: &ClusterState) {
        for kind in TaskKind::ALL {
            self.touch(id, kind, state);
        }
    }

    /// Something about a job changed: counts what it runs and wants now, and puts it and its pool where they belong.
    fn touch(&mut self, id: JobId, kind: TaskKind, state: &ClusterState) {
        let (Some(job), Some(member)) = (state.job(id), self.jobs.get_mut(id)) else { return };
        let pool = self.pools.get_mut(member.pool);
        let running = job.tasks(kind).n_attempts();
        pool.kinds[kind].running = pool.kinds[kind].running - member.running[kind] + running;
        self.running[kind] = self.running[kind] - member.running[kind] + running;
        member.running[kind] = running;
        member.wants[kind] = if member.may_run { wants(job, kind) } else { 0 };
        if member.wants[kind] != member.demand[kind] {
            self.clock.changed(state.now(), member.wants[kind] > member.demand[kind]);
            if !std::mem::replace(&mut member.stale, true) {
                self.clock.stale.push(id);
            }
        }
        let offers = member.may_run && (job.offerable(kind) || (self.offer.speculates() && running > 0));
        let mode = pool.conf.mode.unwrap_or_default();
        let rank = offers.then(|| {
            let weight = job_weight(&self.settings, job, member.demand[kind], member.boosted);
            job_rank(mode, job, running, weight)
        });
        let before = std::mem::replace(&mut member.rank[kind], rank);
        if before != rank {
            before.map(|rank| pool.waiting.remove(kind, rank, id));
            if let Some(rank) = rank {
                pool.waiting.insert(kind, rank, id);
            }
        }
        let pool = member.pool;
        self.rank_pool(pool, kind);
        if self.tracks() {
            self.clock.changed(state.now(), true);
        }
    }

    /// Whether it is of interest since when a pool gets too little.
    fn tracks(&self) -> bool {
        self.allocations.has_timeouts()
    }
}

/// Slots that a job would use: its running attempts and its tasks that wait, unless they wait for slow start.
///
/// `Deviation:` Hadoop adds one for each running task that could get a speculative attempt; here speculative attempts
/// are no demand, and are given although the demand is met.
fn wants(job: &Job, kind: TaskKind) -> u32 {
    let alive = job.ending().is_none() && matches!(job.state(), JobState::Prep | JobState::Running);
    if !alive || (kind == TaskKind::Reduce && !job.reduces_may_start()) {
        return 0;
    }
    let tasks = job.tasks(kind);
    tasks.n_attempts() + tasks.pending().count()
}

impl Queues for Fair {
    fn accepts(&self, job: &JobSpec) -> Result<(), String> {
        accepts(job, &self.settings, &self.allocations)
    }

    fn pool_property(&self) -> Option<&str> {
        self.settings.pool_property.other()
    }

    fn list(&self, state: &ClusterState) -> Vec<QueueView> {
        self.views(state)
    }
}

impl Scheduler for Fair {
    fn name(&self) -> &'static str {
        self.settings.name
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        let now = state.now();
        if self.clock.is_overdue(now) {
            self.update(self.clock.due_at(), state);
        }
        match *change {
            Change::Submitted { job } => {
                let Some(job) = state.job(job) else { return };
                self.enter(job, state);
                self.update(now, state);
            }
            Change::JobOver { job, .. } => self.leave(job, now),
            Change::Priority { job: id, .. } => {
                let (Some(job), Some(member)) = (state.job(id), self.jobs.get_mut(id)) else { return };
                let from = std::mem::replace(&mut member.place, place(job));
                self.limits.moved(from, place(job));
                if self.limits.is_stale() {
                    self.clock.changed(now, true);
                }
                self.touch_both(id, state);
            }
            Change::Queue { job } => self.move_to_its_pool(job, state),
            Change::Offerable { job, kind, .. } => self.touch(job, kind, state),
            Change::Launched { attempt, reference, .. } => {
                if attempt.kind == TaskKind::Map
                    && let Some(member) = self.jobs.get_mut(attempt.job)
                    && member.wait.applies
                    && let Some(attempt) = state.attempts().get(reference)
                {
                    Delay::launched(&mut member.wait, attempt.locality());
                }
                self.touch(attempt.job, attempt.kind, state);
            }
            Change::Ended { attempt, state: end, started, .. } => {
                if self.settings.looks_ahead
                    && (attempt.kind, end) == (TaskKind::Map, AttemptState::Succeeded)
                    && let Some(member) = self.jobs.get_mut(attempt.job)
                {
                    self.delay.succeeded(&mut member.wait, now.since(started));
                }
                self.touch(attempt.job, attempt.kind, state);
            }
            Change::Returned { task } => self.touch(task.job, task.kind, state),
            Change::Recovered => {
                self.delay.restart();
                self.pools.iter_mut().flat_map(|pool| &mut pool.kinds).for_each(|kind| {
                    kind.starvation = Starvation::new(now);
                });
                self.update(now, state);
            }
            Change::Worker { .. } | Change::Deadline { .. } | Change::Reported { .. } => {}
        }
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.begin(round, state);
    }

    fn assign(&mut self, _round: &Round, state: &ClusterState) -> Option<Assignment> {
        self.next_task(state)
    }

    fn end_round(&mut self, state: &ClusterState, _actions: &mut Actions) {
        let waits = delay::waits(&self.settings, state);
        self.delay.end_round(state.now(), waits, &mut self.jobs);
        self.turn = None;
    }

    fn next_deadline(&self) -> Option<Time> {
        let check = (self.settings.preempting != Preempting::Off && self.clock.starved).then(|| self.next_check());
        [self.clock.alarm(), self.delay.due(), check].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        let mut wake = self.delay.take_due(now);
        if self.clock.is_due(now) {
            wake |= self.update(now, state);
        }
        if self.settings.preempting != Preempting::Off && self.next_check() <= now {
            self.clock.checked = now;
            if self.clock.starved {
                self.preempt(now, state, actions);
            }
        }
        if wake {
            actions.wake_parked();
        }
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        // A pool below its maximum again may have something for a worker that got nothing from it, and a job in another.
        if let Change::Queue { .. } = change {
            return true;
        }
        let Change::Ended { attempt, .. } = change else { return false };
        if self.offer.wakes_parked(change) {
            return true;
        }
        let pool = self.jobs.get(attempt.job).map(|member| self.pools.get(member.pool));
        pool.is_some_and(|pool| pool.conf.max[attempt.kind].is_some())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            reads_profiles: false,
            reads_queues: self.settings.pool_property == PoolProperty::Queue,
            limits_rounds: !self.settings.assign_multiple || self.settings.assign_cap != [None; 2],
            may_speculate: self.offer.speculates(),
            ..Capabilities::default()
        }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        self.why(id, state)
    }

    fn attach(&mut self, state: &ClusterState) {
        self.rebuild(state);
    }

    fn reconfigure(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        self.reload(params, state)
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
