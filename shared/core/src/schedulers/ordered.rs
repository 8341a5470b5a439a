//! Policies that are an order of jobs, perhaps with a limit for each: FIFO, by deadline, Johnson's.
//!
//! A [`JobOrder`] says how a job ranks and how many of its tasks may run; [`Ordered`] does the rest: it keeps the jobs
//! that wait in that order, gives a free slot to the first that has a task for the worker, maps before reduces, and
//! takes tasks through the [`Offer`]. Jobs that are at their limits stand apart, so that thousands of them cost a
//! decision nothing. **Invariant: a job with something to offer stands, by kind, in exactly one of `waiting`, `held`.**

use std::collections::BTreeSet;

use super::params::{Params, Reader, SchedulerError, read};
use super::reason::{rivals, waiting_kind};
use super::{Actions, Assignment, Capabilities, Change, Offer, PerJob, Reason, Round, Scheduler, Waiting};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{JobId, TaskKind};
use crate::time::Time;

/// An order of jobs.
pub trait JobOrder: Clone + Send + 'static {
    /// A job's rank: smaller goes first, and among equals the job with the lower number.
    type Rank: Copy + Ord + Send;

    /// The policy's name in the registry.
    fn name(&self) -> &'static str;

    /// How a job ranks now. Asked when it is submitted, when its priority or deadline changes, and when `moved` names it.
    fn rank(&self, job: &Job, state: &ClusterState) -> Self::Rank;

    /// Whether [`limit`](JobOrder::limit) is ever below [`u32::MAX`].
    fn has_limits(&self) -> bool {
        false
    }

    /// Attempts of a kind that the job may have running. May change only for jobs that `moved` names.
    fn limit(&self, _job: &Job, _kind: TaskKind, _state: &ClusterState) -> u32 {
        u32::MAX
    }

    /// Whether slots that no job within its limit wants go to jobs at their limits, in order.
    fn gives_spare(&self) -> bool {
        false
    }

    /// Something changed; `moved` takes the jobs whose rank or limit is another now.
    fn observe(&mut self, _change: &Change, _state: &ClusterState, _moved: &mut Vec<JobId>) {}

    /// What it follows and reads: [`Ordered`] asks for its deadlines, profiles, and use for launches and ends of attempts.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// When `tick` has something to do.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Time has come.
    fn tick(&mut self, _now: Time, _state: &ClusterState, _moved: &mut Vec<JobId>) {}

    /// Forgets everything and begins with the jobs of `state`, before they are ranked.
    fn attach(&mut self, _state: &ClusterState) {}

    /// Whether it learns from jobs what no state holds, and so keeps it when only its parameters change.
    fn learns(&self) -> bool {
        false
    }

    /// The same order with other parameters, of what this one has learned; asked only where it [`learns`].
    ///
    /// # Errors
    /// Names the parameter and what was expected.
    ///
    /// [`learns`]: JobOrder::learns
    fn with_params(&self, _params: &mut Reader<'_>, _state: &ClusterState) -> Result<Self, SchedulerError> {
        Ok(self.clone())
    }

    /// Why a job that is at its limit waits; `None` for a plain sentence with the limit.
    fn explain_limit(&self, _job: &Job, _kind: TaskKind, _state: &ClusterState) -> Option<Reason> {
        None
    }

    /// What is to be known of a job beside why it waits: that its deadline cannot be met.
    fn note(&self, _job: &Job, _state: &ClusterState) -> Option<String> {
        None
    }
}

/// A policy over an order of jobs.
#[derive(Clone)]
pub struct Ordered<O: JobOrder> {
    order: O,
    offer: Offer,
    ranks: PerJob<O::Rank>,
    /// Jobs with something to offer that may run more.
    waiting: Waiting<O::Rank>,
    /// Jobs with something to offer that are at their limits.
    held: Waiting<O::Rank>,
    /// All live jobs; only kept for a rule that wants speculative attempts.
    live: BTreeSet<(O::Rank, JobId)>,
    moved: Vec<JobId>,
}

impl<O: JobOrder> Ordered<O> {
    /// The policy.
    pub fn new(order: O, offer: Offer) -> Ordered<O> {
        Ordered {
            order,
            offer,
            ranks: PerJob::default(),
            waiting: Waiting::default(),
            held: Waiting::default(),
            live: BTreeSet::new(),
            moved: Vec::new(),
        }
    }

    /// Takes all jobs in, under an order that knows them.
    fn begin(&mut self, order: O, offer: Offer, state: &ClusterState) {
        *self = Ordered::new(order, offer);
        self.offer.attach(state);
        for job in state.jobs() {
            self.enter(job, state);
            for kind in TaskKind::ALL {
                self.place(job, kind, state);
            }
        }
    }

    fn enter(&mut self, job: &Job, state: &ClusterState) {
        let rank = self.order.rank(job, state);
        self.ranks.insert(job.id(), rank);
        if self.offer.speculates() {
            self.live.insert((rank, job.id()));
        }
    }

    fn leave(&mut self, id: JobId) {
        let Some(rank) = self.ranks.remove(id) else { return };
        self.live.remove(&(rank, id));
        for kind in TaskKind::ALL {
            self.take_out(kind, rank, id);
        }
    }

    fn take_out(&mut self, kind: TaskKind, rank: O::Rank, id: JobId) {
        if !self.waiting.remove(kind, rank, id) && self.order.has_limits() {
            self.held.remove(kind, rank, id);
        }
    }

    fn at_limit(&self, job: &Job, kind: TaskKind, state: &ClusterState) -> bool {
        self.order.has_limits() && job.tasks(kind).n_attempts() >= self.order.limit(job, kind, state)
    }

    /// Puts a job where it belongs now.
    fn place(&mut self, job: &Job, kind: TaskKind, state: &ClusterState) {
        let Some(&rank) = self.ranks.get(job.id()) else { return };
        self.take_out(kind, rank, job.id());
        if job.offerable(kind) {
            let at_limit = self.at_limit(job, kind, state);
            let set = if at_limit { &mut self.held } else { &mut self.waiting };
            set.insert(kind, rank, job.id());
        }
    }

    /// Ranks a job anew.
    fn rank_again(&mut self, id: JobId, state: &ClusterState) {
        let Some(job) = state.job(id) else { return };
        if self.ranks.get(id).is_some() {
            self.leave(id);
            self.enter(job, state);
            for kind in TaskKind::ALL {
                self.place(job, kind, state);
            }
        }
    }

    fn move_all(&mut self, state: &ClusterState) {
        let mut moved = std::mem::take(&mut self.moved);
        for id in moved.drain(..) {
            self.rank_again(id, state);
        }
        self.moved = moved;
    }

    /// The first job's first task, as nearly always: the worker has a slot for it, and nobody has more to say. `None`
    /// says nothing.
    #[inline(always)]
    fn usual(&mut self, state: &ClusterState, worker: &Worker) -> Option<Assignment> {
        if self.offer.speculates() {
            return None;
        }
        let kind = match (worker.free(TaskKind::Map) > 0).then(|| self.waiting.first(TaskKind::Map)).flatten() {
            Some(_) => TaskKind::Map,
            None if self.order.gives_spare() => return None,
            None => TaskKind::Reduce,
        };
        let job = state.job(self.waiting.first(kind)?)?;
        if worker.free(kind) > 0 { self.offer.usual(job, kind, worker) } else { None }
    }

    #[inline(never)]
    fn maps_first(&mut self, state: &ClusterState, worker: &Worker, now: Time) -> Option<Assignment> {
        if let Some(found) = self.of_kind(state, TaskKind::Map, worker, now) {
            return Some(found);
        }
        self.of_kind(state, TaskKind::Reduce, worker, now)
    }

    /// The next task of a kind, if the worker has a free slot for it.
    fn of_kind(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker, now: Time) -> Option<Assignment> {
        if worker.free(kind) == 0 {
            None
        } else if self.offer.speculates() {
            self.with_second(state, kind, worker, now)
        } else {
            self.pending(state, kind, worker)
        }
    }

    /// A pending task of the first job that has one for the worker.
    fn pending(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        if let Some(job) = self.waiting.first(kind).and_then(|id| state.job(id))
            && let Some(found) = self.offer.pending(state, job, kind, worker)
        {
            return Some(found);
        }
        self.pending_beyond_first(state, kind, worker)
    }

    #[inline(never)]
    fn pending_beyond_first(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        let spare = self.order.gives_spare().then(|| self.held.iter(kind)).into_iter().flatten();
        for id in self.waiting.iter(kind).skip(1).chain(spare) {
            if let Some(found) = self.offer.pending(state, state.job(id)?, kind, worker) {
                return Some(found);
            }
        }
        None
    }

    /// With speculative attempts: job by job as Hadoop does, or only where nothing pending could be given. They count
    /// towards a job's limit, so that jobs at theirs have them of spare slots only.
    #[inline(never)]
    fn with_second(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker, now: Time) -> Option<Assignment> {
        let by_job = self.offer.second_before_next_job();
        if !by_job && let Some(found) = self.pending(state, kind, worker) {
            return Some(found);
        }
        for at_limit in [false, true] {
            if at_limit && !self.order.gives_spare() {
                break;
            }
            for &(_, id) in &self.live {
                let job = state.job(id)?;
                if self.at_limit(job, kind, state) != at_limit {
                    continue;
                }
                if by_job
                    && job.offerable(kind)
                    && let Some(found) = self.offer.pending(state, job, kind, worker)
                {
                    return Some(found);
                }
                if let Some(found) = self.offer.second(now, state, job, kind, worker) {
                    return Some(found);
                }
            }
        }
        None
    }
}

impl<O: JobOrder> Scheduler for Ordered<O> {
    fn name(&self) -> &'static str {
        self.order.name()
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        self.order.observe(change, state, &mut self.moved);
        match *change {
            Change::Submitted { job } => {
                if let Some(job) = state.job(job) {
                    self.enter(job, state);
                }
            }
            Change::JobOver { job, .. } => self.leave(job),
            Change::Priority { job, .. } | Change::Deadline { job } => self.rank_again(job, state),
            Change::Offerable { job, kind, .. } => {
                if let Some(job) = state.job(job) {
                    self.place(job, kind, state);
                }
            }
            Change::Launched { attempt, .. } | Change::Ended { attempt, .. } if self.order.has_limits() => {
                if let Some(job) = state.job(attempt.job).filter(|job| job.offerable(attempt.kind)) {
                    self.place(job, attempt.kind, state);
                }
            }
            _ => {}
        }
        if !self.moved.is_empty() {
            self.move_all(state);
        }
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(round.worker)?;
        match self.usual(state, worker) {
            Some(found) => Some(found),
            None => self.maps_first(state, worker, round.now),
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.order.next_deadline()
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        self.order.tick(now, state, &mut self.moved);
        if !self.moved.is_empty() {
            self.move_all(state);
            // A limit may have been lifted for workers that wait.
            actions.wake_parked();
        }
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        (self.order.has_limits() && matches!(change, Change::Ended { .. })) || self.offer.wakes_parked(change)
    }

    fn capabilities(&self) -> Capabilities {
        let (order, may_speculate) = (self.order.capabilities(), self.offer.speculates());
        let follows_attempts = self.order.has_limits() || order.follows_attempts || may_speculate;
        Capabilities { follows_attempts, may_speculate, refuses_jobs: false, ..order }
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(job), Some(kind), Some(&rank)) = (state.job(id), waiting_kind(id, state), self.ranks.get(id)) else {
            return Reason::Unknown;
        };
        if self.at_limit(job, kind, state) {
            let limit = self.order.limit(job, kind, state);
            return self.order.explain_limit(job, kind, state).unwrap_or(Reason::AtLimit { kind, limit });
        }
        let ahead = self.waiting.ahead(kind, rank, id, rivals(id, kind, state));
        let reason = self.offer.explain(Reason::in_order(kind, ahead, state), id, state);
        match self.order.note(job, state) {
            Some(note) => Reason::Noted { reason: Box::new(reason), note },
            None => reason,
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.order.attach(state);
        self.begin(self.order.clone(), self.offer.clone(), state);
    }

    /// Other parameters of an order that learns; one that does not is made anew.
    fn reconfigure(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        if !self.order.learns() {
            return Ok(false);
        }
        let (order, offer) = read(self.name(), params, |reader| {
            Ok((self.order.with_params(reader, state)?, Offer::from_params(reader)?))
        })?;
        let old = std::mem::take(&mut self.offer);
        self.begin(order, offer, state);
        self.offer.inherit(&old);
        Ok(true)
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
