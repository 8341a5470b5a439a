//! When workers send heartbeats: of all heartbeats of a replay only those that can change something happen.
//!
//! Worker `i` of `n` has its regular heartbeats at `(k + i/n) × interval`. The end of an attempt is reported at once
//! (out of band) or with the next regular one; a worker with free slots asks for work with the next regular one
//! after work appeared, and again after each that left something waiting. All other heartbeats would say nothing
//! and get nothing, so they are skipped, which makes 1,000 idle workers free. With an interval of zero every worker
//! sends a heartbeat at every instant at which it has something to say or could take work.
//!
//! Under a policy that may speculate every heartbeat has something to say, as the policy reads loads and progress:
//! while anything runs all of them happen. Workers with an interval of zero then have regular heartbeats too, by an
//! interval for reports.

use super::options::SimHeartbeat;
use crate::cluster::{Attempts, BitSet, ClusterState, WorkerState};
use crate::job::{PerKind, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::Finished;

/// The heartbeats to come.
#[derive(Clone, Debug)]
pub(super) struct HeartbeatSchedule {
    /// Between two regular heartbeats of a worker, in microseconds; of one with immediate heartbeats, between two
    /// reports.
    interval: u64,
    /// Whether heartbeats are immediate.
    instant: bool,
    out_of_band: bool,
    /// Whether every regular heartbeat happens while anything runs.
    reports: bool,
    /// Workers that are not silent.
    speaking: BitSet,
    /// Whether all slots belong to one worker with immediate heartbeats that was never silent, as in the slot-pool
    /// model.
    pool: bool,
    /// By worker: its first regular heartbeat, in microseconds.
    phases: Vec<u64>,
    /// The first regular heartbeat that nobody has looked at: how many intervals have passed, and whose it is. All
    /// before it have had their turn or had no use for one.
    round: u64,
    next: u32,
    /// By kind: live workers with a free slot.
    free: PerKind<BitSet>,
    /// Workers whose state the master changed.
    changed: Vec<WorkerId>,
    /// Workers that have a turn at this instant; for a pool its only worker, whether it has one or not.
    turns: Vec<WorkerId>,
    /// By worker: whether it has one, or is silent and gets none.
    has_turn: Vec<bool>,
    /// Whether the policy limits what one heartbeat gives, so that a worker that was given something sends another
    /// heartbeat at once if heartbeats take no time.
    repeats: bool,
    /// By worker, if so: whether this turn gave it anything.
    given: Vec<bool>,
    /// Workers with another turn at this instant.
    more: Vec<WorkerId>,
}

impl HeartbeatSchedule {
    /// For the workers that have registered.
    pub(super) fn new(heartbeat: SimHeartbeat, report_interval: Span, state: &ClusterState) -> HeartbeatSchedule {
        let n = state.workers().len();
        let instant = heartbeat.interval == Span::ZERO;
        let interval = if instant { report_interval } else { heartbeat.interval }.as_us().max(1);
        let phase = |index: usize| (u128::from(interval) * index as u128 / n as u128) as u64;
        let mut heartbeats = HeartbeatSchedule {
            interval,
            instant,
            out_of_band: heartbeat.out_of_band,
            reports: false,
            speaking: BitSet::full(n as u32),
            pool: instant && n == 1,
            phases: (0..n).map(phase).collect(),
            round: 0,
            next: 0,
            free: [BitSet::empty(n as u32), BitSet::empty(n as u32)],
            changed: Vec::new(),
            turns: Vec::new(),
            has_turn: vec![false; n],
            repeats: false,
            given: vec![false; n],
            more: Vec::new(),
        };
        if heartbeats.pool {
            heartbeats.turns.push(WorkerId(0));
        }
        (0..n as u32).for_each(|worker| heartbeats.look_at(WorkerId(worker), state));
        heartbeats
    }

    /// The same where everything up to `now` has happened already.
    pub(super) fn resume(heartbeat: SimHeartbeat, state: &ClusterState, now: Time) -> HeartbeatSchedule {
        let mut heartbeats = HeartbeatSchedule::new(heartbeat, Span::from_secs(3), state);
        heartbeats.catch_up(now + Span::from_us(1));
        heartbeats
    }

    /// When a worker's next heartbeat is due, from `at` on, that has nothing urgent to say.
    fn next_beat(&self, worker: WorkerId, at: Time) -> Time {
        if self.instant { at } else { self.next_regular(worker, at) }
    }

    /// The first regular heartbeat of a worker that is not before `at`.
    fn next_regular(&self, worker: WorkerId, at: Time) -> Time {
        let phase = self.phases[worker.0 as usize];
        let heartbeats = at.as_us().saturating_sub(phase).div_ceil(self.interval);
        self.beat(heartbeats, worker)
    }

    fn beat(&self, round: u64, worker: WorkerId) -> Time {
        let start = Time::ZERO + Span::from_us(round.saturating_mul(self.interval));
        start + Span::from_us(self.phases[worker.0 as usize])
    }

    /// When the master is notified of what happens on a worker at `at`.
    #[inline]
    pub(super) fn reported_at(&self, worker: WorkerId, at: Time) -> Time {
        if self.out_of_band || at == Time::MAX { at } else { self.next_beat(worker, at) }
    }

    /// Whether the master is notified of everything as it happens, and what a turn gave does not matter.
    pub(super) fn are_plain(&self) -> bool {
        (self.out_of_band || self.instant) && !self.repeats
    }

    /// Whether a worker that speaks has a turn at this instant.
    pub(super) fn is_answered(&self, worker: WorkerId) -> bool {
        self.has_turn[worker.0 as usize]
    }

    /// When an order to stop an attempt, given now, reaches it.
    pub(super) fn reached(&self, worker: WorkerId, now: Time) -> Time {
        if self.is_answered(worker) { now } else { self.next_beat(worker, now) }
    }

    /// When the master learns that an attempt was stopped that it orders to stop now, and whether the order wins over
    /// the attempt's own end if that is reported at the same instant.
    ///
    /// The order goes with the next answer to the worker, which may be at this instant; in band, the report after that
    /// answer tells of it, and whatever else that report tells came later than the order.
    pub(super) fn stopped(&self, worker: WorkerId, now: Time) -> (Time, bool) {
        let reached = self.reached(worker, now);
        if self.out_of_band || self.instant {
            (reached, false)
        } else {
            (self.next_beat(worker, reached + Span::from_us(1)), true)
        }
    }

    /// The next worker that has a use for its regular heartbeat, and in which round of heartbeats: one with a free slot
    /// of a kind that something waits for, or any one if it reports.
    fn next_asking(&self, state: &ClusterState) -> Option<(u64, WorkerId)> {
        if !self.has_regular() {
            return None;
        }
        let offered = state.totals().offerable_jobs;
        let all = self.reports && state.totals().running != [0, 0];
        let first = |from| {
            if all {
                return self.speaking.next_from(from).map(WorkerId);
            }
            let of_kind = |kind: usize| if offered[kind] > 0 { self.free[kind].next_from(from) } else { None };
            [of_kind(0), of_kind(1)].into_iter().flatten().min().map(WorkerId)
        };
        let this_round = first(self.next).map(|worker| (self.round, worker));
        this_round.or_else(|| first(0).map(|worker| (self.round + 1, worker)))
    }

    /// Whether workers have regular heartbeats.
    pub(super) fn has_regular(&self) -> bool {
        !self.instant || self.reports
    }

    /// When the next regular heartbeat happens; [`Time::MAX`] when none does.
    #[inline]
    pub(super) fn next_time(&self, state: &ClusterState) -> Time {
        if !self.has_regular() {
            return Time::MAX;
        }
        self.next_asking(state).map_or(Time::MAX, |(round, worker)| self.beat(round, worker))
    }

    /// Notes whether the policy, in charge from now on, limits what one heartbeat gives, and whether it reads reports.
    pub(super) fn set_policy(&mut self, limits_rounds: bool, reports: bool, now: Time) {
        self.repeats = limits_rounds && self.instant;
        self.reports = reports;
        if reports {
            self.leave_pool();
            self.catch_up(now);
        }
    }

    /// Whether every regular heartbeat brings a report.
    #[inline]
    pub(super) fn reports(&self) -> bool {
        self.reports
    }

    /// Notes that a worker was given an attempt.
    #[inline]
    pub(super) fn launched(&mut self, worker: WorkerId) {
        if self.repeats {
            self.given[worker.0 as usize] = true;
        }
    }

    /// Whether a worker's last turn gave it something and there may be more for it.
    #[inline]
    fn may_have_more(&mut self, id: WorkerId, state: &ClusterState) -> bool {
        if !self.repeats || !std::mem::take(&mut self.given[id.0 as usize]) {
            return false;
        }
        let offered = |kind: TaskKind| state.totals().offerable_jobs[kind] > 0;
        let free = |kind| state.worker(id).is_some_and(|worker| worker.free(kind) > 0);
        TaskKind::ALL.into_iter().any(|kind| offered(kind) && free(kind))
    }

    /// Gives a worker a turn at this instant.
    #[inline]
    pub(super) fn turn(&mut self, worker: WorkerId) {
        if !std::mem::replace(&mut self.has_turn[worker.0 as usize], true) && !self.pool {
            self.turns.push(worker);
        }
    }

    /// Gives the worker of an attempt that ends a turn at this instant.
    #[inline(always)]
    pub(super) fn turn_of(&mut self, end: Finished, attempts: &Attempts) {
        if self.pool {
            self.has_turn[0] = true;
        } else if let Some(attempt) = attempts.get(end.attempt) {
            self.turn(attempt.worker());
        }
    }

    /// Gives the workers of attempts that end a turn at this instant.
    #[inline(always)]
    pub(super) fn turns_of(&mut self, ends: &[Finished], attempts: &Attempts) {
        if self.pool {
            self.has_turn[0] |= !ends.is_empty();
            return;
        }
        ends.iter().for_each(|&end| self.turn_of(end, attempts));
    }

    /// The pool is an ordinary worker from now on.
    fn leave_pool(&mut self) {
        if std::mem::take(&mut self.pool) && !self.has_turn[0] {
            self.turns.clear();
        }
    }

    /// A worker has no more turns until it speaks again.
    pub(super) fn silence(&mut self, worker: WorkerId) {
        self.leave_pool();
        self.turns.retain(|&other| other != worker);
        self.has_turn[worker.0 as usize] = true;
        self.speaking.remove(worker.0);
        self.free.iter_mut().for_each(|free| {
            free.remove(worker.0);
        });
    }

    /// A worker that was silent has a turn at this instant.
    pub(super) fn speak(&mut self, worker: WorkerId) {
        self.has_turn[worker.0 as usize] = false;
        self.speaking.insert(worker.0);
        self.turn(worker);
    }

    /// The master changed a worker's state: it may be asked again, or no more.
    pub(super) fn change(&mut self, worker: WorkerId) {
        self.changed.push(worker);
    }

    /// The workers whose turn it is at `now`: those that were given one, then those whose heartbeat is due.
    #[inline(always)]
    pub(super) fn turns_at(&mut self, now: Time, state: &ClusterState) -> &[WorkerId] {
        if self.pool { &self.turns[..usize::from(self.has_turn[0])] } else { self.turns_of_all(now, state) }
    }

    #[inline(never)]
    fn turns_of_all(&mut self, now: Time, state: &ClusterState) -> &[WorkerId] {
        while let Some((round, worker)) = self.next_asking(state)
            && self.beat(round, worker) <= now
        {
            self.pass(round, worker);
            self.turn(worker);
        }
        &self.turns
    }

    /// For a pool, whether it has a turn at this instant; else `None`.
    #[inline(always)]
    pub(super) fn pool_turn(&self) -> Option<bool> {
        self.pool.then(|| self.has_turn[0])
    }

    /// One of the turns of this instant.
    #[inline]
    pub(super) fn turn_at(&self, index: usize) -> WorkerId {
        self.turns[index]
    }

    /// Moves on past a regular heartbeat.
    fn pass(&mut self, round: u64, worker: WorkerId) {
        (self.round, self.next) = (self.round, self.next).max((round, worker.0 + 1));
    }

    /// After the turns of `now`: notes who has free slots left. True if someone is to have a turn at this very
    /// instant, given the kinds of which new work appeared.
    #[inline(always)]
    pub(super) fn after_turns(&mut self, now: Time, woken: PerKind<bool>, state: &ClusterState) -> bool {
        if !self.pool {
            return self.after_turns_of_all(now, woken, state);
        }
        let mut again = woken != [false; 2];
        if again || self.repeats {
            again = [0, 1].iter().any(|&kind: &usize| woken[kind] && state.totals().offerable_jobs[kind] > 0);
            again |= self.may_have_more(WorkerId(0), state);
        }
        self.has_turn[0] = again;
        again
    }

    #[inline(never)]
    fn after_turns_of_all(&mut self, now: Time, woken: PerKind<bool>, state: &ClusterState) -> bool {
        let mut turns = std::mem::take(&mut self.turns);
        for worker in turns.drain(..) {
            self.has_turn[worker.0 as usize] = false;
            self.look_at(worker, state);
            if self.may_have_more(worker, state) {
                self.more.push(worker);
            }
            // What it left, it may take with its next heartbeat; at this instant it would only be refused again.
            if self.has_regular() && self.next_regular(worker, now) == now {
                let round = (now.as_us() - self.phases[worker.0 as usize]) / self.interval;
                self.pass(round, worker);
            }
        }
        self.turns = turns;
        let mut more = std::mem::take(&mut self.more);
        more.drain(..).for_each(|worker| self.turn(worker));
        self.more = more;
        while let Some(worker) = self.changed.pop() {
            self.look_at(worker, state);
        }
        if self.has_regular() {
            self.catch_up(now);
        }
        if !self.instant {
            return false;
        }
        let wanted = [0, 1].map(|kind| woken[kind] && state.totals().offerable_jobs[kind] > 0);
        for kind in [0, 1] {
            let mut from = 0;
            while wanted[kind]
                && let Some(worker) = self.free[kind].next_from(from)
            {
                self.turn(WorkerId(worker));
                from = worker + 1;
            }
        }
        !self.turns.is_empty()
    }

    /// Skips the regular heartbeats before `now`: nobody had a use for them.
    fn catch_up(&mut self, now: Time) {
        let (round, within) = (now.as_us() / self.interval, now.as_us() % self.interval);
        let next = self.phases.partition_point(|&phase| phase < within) as u32;
        (self.round, self.next) = (self.round, self.next).max((round, next));
    }

    /// Notes what a worker could take that has no turn now; a silent one takes nothing.
    fn look_at(&mut self, worker: WorkerId, state: &ClusterState) {
        let Some(known) = state.worker(worker) else { return };
        let speaks = !self.has_turn[worker.0 as usize];
        for kind in TaskKind::ALL {
            let free = &mut self.free[kind];
            if speaks && known.state() == WorkerState::Live && known.free(kind) > 0 {
                free.insert(worker.0);
            } else {
                free.remove(worker.0);
            }
        }
    }
}
