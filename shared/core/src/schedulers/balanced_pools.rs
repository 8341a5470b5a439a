//! Pools with fixed slots, each with its jobs in Johnson's order: what BalancedPools decides, carried out.
//!
//! The optimiser finds pools by simulation (`howdah optimize`), which the core cannot do; this policy holds them. A
//! job's queue is its pool. Pools come from the parameter `pools`, or with their jobs: a queue named
//! `pool-1:3+3` is a pool of three map and three reduce slots from its first job's submission to its last job's end,
//! so that a batch brings its own pools to a live cluster. Jobs of other queues share what no pool has claimed. A later
//! batch that is planned with what is left of an earlier one gives the earlier jobs their new pools by the parameter
//! `moved` (balanced-pools §6).
//!
//! Limits are hard, as in balanced-pools §4.3, unless `spare=lend`. Where the cluster has fewer slots than its pools,
//! the one with the smallest part of its own goes first, so that none starves. The capacity scheduler with fixed
//! slots per queue does the same with jobs in order of submission.
//! **Invariants: `running` counts the attempts of a pool's live jobs; a job with something to offer is in its pool's
//! `waiting`.**

mod names;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use self::names::{Moved, PoolNames, slots_in};
use super::johnson::{Place, Rule};
use super::params::{Reader, SchedulerError};
use super::reason::{rivals, waiting_kind};
use super::{
    Assignment, Capabilities, Change, Offer, Partition, PerJob, QueueView, Queues, Reason, Round, Scheduler, Waiting,
};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{JobId, PerKind, Priority, TaskKind};

/// A job's place in its pool: by Johnson's rule or, where that is not asked for, by submission, which the numbers of
/// jobs follow.
type Rank = (Priority, Option<Place>);

/// Where a job is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pool: usize,
    rank: Rank,
    /// Its part of the pool's `running`.
    running: PerKind<u32>,
}

#[derive(Clone, Debug, Default)]
struct Pool {
    name: String,
    /// Map and reduce slots; `None` for the one that takes what is left.
    slots: Option<PerKind<u32>>,
    /// Whether it stays without jobs.
    fixed: bool,
    jobs: u32,
    running: PerKind<u32>,
    waiting: Waiting<Rank>,
    /// All its live jobs; only kept for a rule that wants speculative attempts.
    live: BTreeSet<(Rank, JobId)>,
}

/// The policy.
#[derive(Clone)]
pub struct BalancedPools {
    offer: Offer,
    /// `None`: in order of submission.
    rule: Option<Rule>,
    lends: bool,
    given: PoolNames,
    moved: Moved,
    /// The first takes what is left. A pool that came with its jobs leaves its place to the next such.
    pools: Vec<Pool>,
    by_queue: BTreeMap<String, usize>,
    jobs: PerJob<Entry>,
    /// Of live workers.
    totals: PerKind<u32>,
    /// By pool: whether it had nothing for the worker in the present search. Kept for its memory.
    tried: Vec<bool>,
}

/// What jobs are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Pending tasks.
    Pending,
    /// Speculative attempts.
    Second,
    /// Job by job, pending tasks, then speculative attempts.
    Both,
}

/// The pool for all jobs that no other one takes.
const REST: usize = 0;

impl BalancedPools {
    /// The map and reduce slots of the pool that a queue's own name brings, such as `pool-1:3+3`; `None` of any other.
    pub fn slots_in(queue: &str) -> Option<PerKind<u32>> {
        slots_in(queue)
    }

    /// Reads `pools` (NAME:MAPS+REDUCES, …), `moved` (NUMBER=QUEUE; …), `order` (johnson, reverse or submitted), `bound`
    /// (average, low or upper), `stages` (usable or printed), `spare` (keep or lend) and `speculation`.
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<BalancedPools, SchedulerError> {
        let given = params.value("pools", PoolNames::default(), PoolNames::EXPECTED)?;
        let moved = params.value("moved", Moved::default(), Moved::EXPECTED)?;
        let order = params.word("order", &["johnson", "reverse", "submitted"])?;
        let rule = Rule::from_params(params)?;
        let lends = params.word("spare", &["keep", "lend"])? == "lend";
        let mut policy = BalancedPools {
            offer: Offer::from_params(params)?,
            rule: (order != "submitted").then_some(Rule { reverse: order == "reverse", ..rule }),
            lends,
            given,
            moved,
            pools: Vec::new(),
            by_queue: BTreeMap::new(),
            jobs: PerJob::default(),
            totals: [0; 2],
            tried: Vec::new(),
        };
        policy.clear();
        Ok(policy)
    }

    /// Forgets all but the given pools.
    fn clear(&mut self) {
        self.jobs.clear();
        self.by_queue.clear();
        self.pools = vec![Pool { name: "the rest".to_owned(), fixed: true, ..Pool::default() }];
        for (name, slots) in self.given.clone().0 {
            self.by_queue.insert(name.clone(), self.pools.len());
            self.pools.push(Pool { name, slots: Some(slots), fixed: true, ..Pool::default() });
        }
    }

    /// The pool of a queue, made if the queue brings one.
    fn pool_of(&mut self, queue: &str) -> usize {
        if let Some(&pool) = self.by_queue.get(queue) {
            return pool;
        }
        let Some(slots) = slots_in(queue) else { return REST };
        let pool = Pool { name: queue.to_owned(), slots: Some(slots), ..Pool::default() };
        let place = self.pools.iter().position(|pool| !pool.fixed && pool.jobs == 0).unwrap_or(self.pools.len());
        match self.pools.get_mut(place) {
            Some(free) => *free = pool,
            None => self.pools.push(pool),
        }
        self.by_queue.insert(queue.to_owned(), place);
        place
    }

    /// Attempts of a kind that a pool may have running.
    fn limit(&self, pool: usize, kind: TaskKind) -> u32 {
        match self.pools[pool].slots {
            Some(slots) => slots[kind],
            None => {
                let claimed: u32 = self.pools.iter().filter_map(|pool| pool.slots).map(|slots| slots[kind]).sum();
                self.totals[kind].saturating_sub(claimed)
            }
        }
    }

    fn rank(&self, job: &Job, pool: usize) -> Rank {
        let slots = self.pools[pool].slots.unwrap_or(self.totals);
        (job.priority(), self.rule.map(|rule| rule.place(job, slots)))
    }

    fn enter(&mut self, job: &Job) {
        let moved = self.moved.0.get(&job.id().0).cloned();
        let pool = self.pool_of(moved.as_deref().unwrap_or(&job.spec().queue));
        let rank = self.rank(job, pool);
        let running = TaskKind::ALL.map(|kind| job.tasks(kind).n_attempts());
        self.jobs.insert(job.id(), Entry { pool, rank, running });
        self.pools[pool].jobs += 1;
        for (all, own) in self.pools[pool].running.iter_mut().zip(running) {
            *all += own;
        }
        self.place(job);
    }

    /// A job is over. One that fails is told to be before the end of the attempt that made it fail, so that its pool
    /// gets back what the job itself counts.
    fn leave(&mut self, id: JobId) {
        let Some(Entry { pool, rank, running }) = self.jobs.remove(id) else { return };
        let pool = &mut self.pools[pool];
        pool.jobs -= 1;
        pool.live.remove(&(rank, id));
        for kind in TaskKind::ALL {
            pool.waiting.remove(kind, rank, id);
            pool.running[kind] -= running[kind];
        }
        if pool.jobs == 0 && !pool.fixed {
            pool.slots = Some([0; 2]);
            let name = std::mem::take(&mut pool.name);
            self.by_queue.remove(&name);
        }
    }

    /// Puts a job into its pool's order, for what it has to offer.
    fn place(&mut self, job: &Job) {
        let Some(&Entry { pool, rank, .. }) = self.jobs.get(job.id()) else { return };
        let pool = &mut self.pools[pool];
        for kind in TaskKind::ALL {
            if job.offerable(kind) {
                pool.waiting.insert(kind, rank, job.id());
            } else {
                pool.waiting.remove(kind, rank, job.id());
            }
        }
        if self.offer.speculates() {
            pool.live.insert((rank, job.id()));
        }
    }

    /// Gives a job its place anew.
    fn rank_again(&mut self, job: &Job) {
        let Some(&Entry { pool, rank, running }) = self.jobs.get(job.id()) else { return };
        let old = &mut self.pools[pool];
        old.live.remove(&(rank, job.id()));
        for kind in TaskKind::ALL {
            old.waiting.remove(kind, rank, job.id());
        }
        let rank = self.rank(job, pool);
        self.jobs.insert(job.id(), Entry { pool, rank, running });
        self.place(job);
    }

    /// The pool to serve next of those that may have something and were not tried: the one with the smallest part of
    /// its slots, then the first.
    fn next(&self, asked: Asked, kind: TaskKind, lend: bool) -> Option<usize> {
        let mut best: Option<(usize, (u64, u64))> = None;
        for (place, pool) in self.pools.iter().enumerate() {
            let none = if asked == Asked::Pending { pool.waiting.is_empty(kind) } else { pool.live.is_empty() };
            let (running, limit) = (pool.running[kind], self.limit(place, kind));
            if none || (running >= limit && !lend) || self.tried.get(place) == Some(&true) {
                continue;
            }
            let (running, limit) = (u64::from(running), u64::from(limit.max(1)));
            if best.is_none_or(|(_, (least, of))| running * of < least * limit) {
                best = Some((place, (running, limit)));
            }
        }
        best.map(|(place, _)| place)
    }

    /// A task for the worker from one pool.
    fn task_of(
        &mut self,
        asked: Asked,
        place: usize,
        state: &ClusterState,
        kind: TaskKind,
        worker: &Worker,
    ) -> Option<Assignment> {
        let (pool, offer, now) = (&self.pools[place], &mut self.offer, state.now());
        if asked == Asked::Pending {
            return pool.waiting.iter(kind).find_map(|id| offer.pending(state, state.job(id)?, kind, worker));
        }
        pool.live.iter().find_map(|&(_, id)| {
            let job = state.job(id)?;
            let pending = if asked == Asked::Both { offer.pending(state, job, kind, worker) } else { None };
            pending.or_else(|| offer.second(now, state, job, kind, worker))
        })
    }

    /// Asks pool after pool: within their limits, then, where they lend, beyond.
    fn search(&mut self, asked: Asked, state: &ClusterState, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        for lend in [false, true] {
            if lend && !self.lends {
                break;
            }
            self.tried.clear();
            while let Some(place) = self.next(asked, kind, lend) {
                let found = self.task_of(asked, place, state, kind, worker);
                if found.is_some() {
                    return found;
                }
                // Nothing of it suits this worker.
                self.tried.resize(self.pools.len(), false);
                self.tried[place] = true;
            }
        }
        None
    }

    fn assign_kind(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        if self.offer.speculates() && self.offer.second_before_next_job() {
            return self.search(Asked::Both, state, kind, worker);
        }
        let pending = self.search(Asked::Pending, state, kind, worker);
        if pending.is_none() && self.offer.speculates() {
            return self.search(Asked::Second, state, kind, worker);
        }
        pending
    }
}

impl Queues for BalancedPools {
    /// Pools that jobs bring come and go with them, and have what is there.
    fn validate_capacity(&self, slots: PerKind<u32>) -> Result<(), SchedulerError> {
        let [maps, reduces] = self.given.slots();
        if maps <= slots[0] && reduces <= slots[1] {
            return Ok(());
        }
        Err(SchedulerError::BadParameter {
            scheduler: "balanced-pools".to_owned(),
            key: "pools".to_owned(),
            value: self.given.to_string(),
            expected: format!(
                "a list of pools within the cluster's {} map and {} reduce slots: together they have {maps} and {reduces}",
                slots[0], slots[1]
            ),
        })
    }

    fn list(&self, state: &ClusterState) -> Vec<QueueView> {
        self.views(state)
    }

    fn partition(&self, job: JobId) -> Option<Partition> {
        self.partition_of(job)
    }
}

impl Scheduler for BalancedPools {
    fn name(&self) -> &'static str {
        "balanced-pools"
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        match *change {
            Change::Submitted { job } => {
                if let Some(job) = state.job(job) {
                    self.enter(job);
                }
            }
            Change::JobOver { job, .. } => self.leave(job),
            Change::Priority { job, .. } => {
                if let Some(job) = state.job(job) {
                    self.rank_again(job);
                }
            }
            Change::Queue { job } => {
                if let Some(job) = state.job(job) {
                    self.leave(job.id());
                    self.enter(job);
                }
            }
            Change::Offerable { job, .. } => {
                if let Some(job) = state.job(job) {
                    self.place(job);
                }
            }
            Change::Launched { attempt, .. } => {
                if let Some(entry) = self.jobs.get_mut(attempt.job) {
                    entry.running[attempt.kind] += 1;
                    self.pools[entry.pool].running[attempt.kind] += 1;
                }
            }
            Change::Ended { attempt, .. } => {
                if let Some(entry) = self.jobs.get_mut(attempt.job) {
                    entry.running[attempt.kind] -= 1;
                    self.pools[entry.pool].running[attempt.kind] -= 1;
                }
            }
            Change::Worker { .. } if self.totals != state.totals().slots => {
                self.totals = state.totals().slots;
                // Only the pool that takes what is left has other slots now.
                for job in state.jobs() {
                    if self.jobs.get(job.id()).is_some_and(|entry| entry.pool == REST) {
                        self.rank_again(job);
                    }
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(round.worker)?;
        let mut kinds = TaskKind::ALL.into_iter().filter(|&kind| worker.free(kind) > 0);
        kinds.find_map(|kind| self.assign_kind(state, kind, worker))
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        matches!(change, Change::Ended { .. } | Change::JobOver { .. } | Change::Queue { .. })
    }

    fn capabilities(&self) -> Capabilities {
        let may_speculate = self.offer.speculates();
        Capabilities { may_speculate, reads_queues: true, divides_slots: true, ..Capabilities::default() }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(kind), Some(entry)) = (waiting_kind(id, state), self.jobs.get(id)) else { return Reason::Unknown };
        let (pool, limit) = (&self.pools[entry.pool], self.limit(entry.pool, kind));
        let ahead = pool.waiting.ahead(kind, entry.rank, id, rivals(id, kind, state));
        if ahead.is_none() && !self.lends && pool.running[kind] >= limit {
            let slots = if limit == 1 { format!("1 {kind} slot") } else { format!("{limit} {kind} slots") };
            let of = if entry.pool == REST {
                "what the pools leave".to_owned()
            } else {
                format!("its pool `{}`", pool.name)
            };
            return Reason::Limit(format!("It is next, but {of} has {slots} and all are taken."));
        }
        self.offer.explain(Reason::in_order(kind, ahead, state), id, state)
    }

    fn attach(&mut self, state: &ClusterState) {
        self.clear();
        self.offer.attach(state);
        self.totals = state.totals().slots;
        for job in state.jobs() {
            self.enter(job);
        }
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
