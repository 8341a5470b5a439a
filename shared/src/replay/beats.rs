//! When workers are heard: the heartbeats of a replay, of which only those that can change something happen.
//!
//! Worker `i` of `n` has its regular heartbeats at `(k + i/n) × interval`. The end of an attempt is told at once
//! (out of band) or with the next regular one; a worker with free slots asks for work with the next regular one
//! after work appeared, and again after each that left something waiting. All other heartbeats would say nothing
//! and get nothing, so they are skipped, which makes 1,000 idle workers free. With an interval of zero every worker
//! is heard at every instant at which it has something to say or could take work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::options::SimHeartbeat;
use crate::cluster::{ClusterState, WorkerState};
use crate::job::{TaskKind, WorkerId};
use crate::time::{Span, Time};

/// The heartbeats to come.
#[derive(Clone, Debug)]
pub(super) struct Beats {
    interval: u64,
    out_of_band: bool,
    n_workers: u64,
    /// Regular heartbeats that will ask for work.
    planned: BinaryHeap<Reverse<(Time, WorkerId)>>,
    is_planned: Vec<bool>,
    /// Workers that have a turn at this instant.
    turns: Vec<WorkerId>,
    /// By worker: whether it has one, or is silent and gets none.
    has_turn: Vec<bool>,
}

impl Beats {
    pub(super) fn new(heartbeat: SimHeartbeat, n_workers: usize) -> Beats {
        Beats {
            interval: heartbeat.interval.as_us(),
            out_of_band: heartbeat.out_of_band,
            n_workers: n_workers.max(1) as u64,
            planned: BinaryHeap::new(),
            is_planned: vec![false; n_workers],
            turns: Vec::new(),
            has_turn: vec![false; n_workers],
        }
    }

    fn instant(&self) -> bool {
        self.interval == 0
    }

    /// The first regular heartbeat of a worker that is not before `at`.
    fn next_beat(&self, worker: WorkerId, at: Time) -> Time {
        if self.instant() {
            return at;
        }
        let phase = (u128::from(self.interval) * u128::from(worker.0) / u128::from(self.n_workers)) as u64;
        let beats = at.as_us().saturating_sub(phase).div_ceil(self.interval);
        Time::ZERO + Span::from_us(beats.saturating_mul(self.interval).saturating_add(phase))
    }

    /// When the master hears of what happens on a worker at `at`.
    pub(super) fn told(&self, worker: WorkerId, at: Time) -> Time {
        if self.out_of_band || at == Time::MAX { at } else { self.next_beat(worker, at) }
    }

    /// When a directive that is ready now reaches a worker.
    pub(super) fn reaches(&self, worker: WorkerId, now: Time) -> Time {
        self.next_beat(worker, now)
    }

    /// When the next worker asks for work; [`Time::MAX`] when none does.
    pub(super) fn next_time(&self) -> Time {
        self.planned.peek().map_or(Time::MAX, |beat| beat.0.0)
    }

    /// Gives a worker a turn at this instant.
    pub(super) fn turn(&mut self, worker: WorkerId) {
        if !std::mem::replace(&mut self.has_turn[worker.0 as usize], true) {
            self.turns.push(worker);
        }
    }

    /// A worker has no more turns until it speaks again.
    pub(super) fn silence(&mut self, worker: WorkerId) {
        self.turns.retain(|&other| other != worker);
        self.has_turn[worker.0 as usize] = true;
    }

    /// A worker that was silent has a turn at this instant.
    pub(super) fn speak(&mut self, worker: WorkerId) {
        self.has_turn[worker.0 as usize] = false;
        self.turn(worker);
    }

    /// The workers whose turn it is at `now`: those that were given one, then those whose heartbeat is due.
    pub(super) fn turns_at(&mut self, now: Time) -> &[WorkerId] {
        while let Some(&Reverse((at, worker))) = self.planned.peek()
            && at <= now
        {
            self.planned.pop();
            self.is_planned[worker.0 as usize] = false;
            self.turn(worker);
        }
        &self.turns
    }

    /// After the turns of `now`: who is to be heard again, given the kinds of which new work appeared. True if
    /// someone is to have a turn at this very instant.
    pub(super) fn after_turns(&mut self, now: Time, woken: [bool; 2], state: &ClusterState) -> bool {
        for worker in &self.turns {
            self.has_turn[worker.0 as usize] = false;
        }
        if self.instant() && woken == [false; 2] {
            self.turns.clear();
            return false;
        }
        let left = [0, 1].map(|kind| state.totals().offerable_jobs[kind] > 0);
        let mut turns = std::mem::take(&mut self.turns);
        for &worker in &turns {
            // What it left, it may take with its next heartbeat; at this instant it would only be refused again.
            if !self.instant() && could_take(state, worker, left) {
                self.plan(worker, now + Span::from_us(1));
            }
        }
        turns.clear();
        self.turns = turns;
        let wanted = [0, 1].map(|kind| woken[kind] && left[kind]);
        if wanted == [false; 2] {
            return false;
        }
        for worker in state.workers().iter().map(|worker| worker.id()) {
            if !could_take(state, worker, wanted) {
                continue;
            }
            if self.instant() {
                self.turn(worker);
            } else {
                self.plan(worker, now);
            }
        }
        !self.turns.is_empty()
    }

    /// Makes a worker ask for work with its first regular heartbeat that is not before `at`.
    fn plan(&mut self, worker: WorkerId, at: Time) {
        if !std::mem::replace(&mut self.is_planned[worker.0 as usize], true) {
            self.planned.push(Reverse((self.next_beat(worker, at), worker)));
        }
    }
}

/// Whether a worker has a free slot of a kind that is wanted.
fn could_take(state: &ClusterState, worker: WorkerId, wanted: [bool; 2]) -> bool {
    state.worker(worker).is_some_and(|worker| {
        worker.state() == WorkerState::Live
            && TaskKind::ALL.into_iter().any(|kind| wanted[kind as usize] && worker.free(kind) > 0)
    })
}
