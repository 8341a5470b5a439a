//! A worker's turn: one task after another, of the kind of which it runs fewer, from the pool and job that come first.
//!
//! A kind is over for the turn at its cap, when all that is wanted runs, when the worker has its share of the load,
//! or when nobody has a task for it. Source: `docs/hadoop.md#fair` (assign loop, LoadManager, delay).

use super::delay::Delay;
use super::member::Member;
use super::preemption::is_starved;
use super::turn::Turn;
use super::{Fair, ahead, delay};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{JobId, Locality, TaskKind};
use crate::schedulers::{Assignment, Choice, NearestFirst, PerJob, Round};
use crate::time::{Span, Time};

impl Fair {
    pub(super) fn begin(&mut self, round: &Round, state: &ClusterState) {
        if self.clock.is_due(round.now) {
            self.update(round.now, state);
        }
        self.end_boosts(round.now, state);
        if round.free_maps > 0 {
            self.delay.begin_round(round.now, &mut self.jobs);
        }
        let waits = delay::waits(&self.settings, state);
        self.turn = Some(Turn { round: *round, assigned: [0; 2], rejected: [false; 2], waits });
    }

    pub(super) fn next_task(&mut self, state: &ClusterState) -> Option<Assignment> {
        let mut turn = self.turn?;
        let worker = state.worker(turn.round.worker)?;
        loop {
            for kind in TaskKind::ALL {
                turn.rejected[kind] = turn.rejected[kind] || !self.may_assign(&turn, kind, worker, state);
            }
            if turn.rejected == [true; 2] || (!self.settings.assign_multiple && turn.assigned != [0; 2]) {
                self.turn = Some(turn);
                return None;
            }
            let kind = match turn.rejected {
                [true, _] => TaskKind::Reduce,
                [_, true] => TaskKind::Map,
                _ if worker.occupied(TaskKind::Map) <= worker.occupied(TaskKind::Reduce) => TaskKind::Map,
                _ => TaskKind::Reduce,
            };
            if let Some(found) = self.find(&turn, kind, worker, state) {
                turn.assigned[kind] += 1;
                self.turn = Some(turn);
                return Some(found);
            }
            turn.rejected[kind] = true;
        }
    }

    /// Whether the worker may get another task of a kind.
    fn may_assign(&self, turn: &Turn, kind: TaskKind, worker: &Worker, state: &ClusterState) -> bool {
        let free = [turn.round.free_maps, turn.round.free_reduces][kind];
        let cap = match self.settings.assign_multiple {
            true => self.settings.assign_cap[kind].unwrap_or(u32::MAX).min(u32::from(free)),
            false => u32::from(free).min(1),
        };
        if turn.assigned[kind] >= cap || worker.free(kind) == 0 {
            return false;
        }
        if self.offer.speculates() {
            return true;
        }
        self.running[kind] != self.demand[kind]
            && u32::from(worker.occupied(kind)) < self.settings.load_cap(self.demand[kind], kind, worker, state)
    }

    /// The first task in the order of pools and jobs.
    fn find(&mut self, turn: &Turn, kind: TaskKind, worker: &Worker, state: &ClusterState) -> Option<Assignment> {
        let now = turn.round.now;
        let (tracks, delays) = (self.tracks(), kind == TaskKind::Map && turn.waits != [Span::ZERO; 2]);
        let Fair { order, pools, jobs, offer, delay, allocations, settings, .. } = self;
        let by_job = offer.speculates() && offer.second_before_next_job();
        for &(_, id) in &order[kind] {
            let pool = pools.get(id);
            let delays = delays && !(tracks && is_starved(pool, allocations, kind, now));
            for id in pool.waiting.iter(kind) {
                let job = state.job(id)?;
                if delays && settings.looks_ahead {
                    look_ahead(state, job, worker, jobs, delay, turn);
                }
                let found = match level(delays, id, turn, delay, jobs) {
                    Locality::Unknown => offer.pending(state, job, kind, worker),
                    nearer => {
                        within(state, job, kind, worker, nearer).filter(|_| offer.admits(state, job, kind, worker))
                    }
                };
                if found.is_some() {
                    return found;
                }
                if by_job && let Some(found) = offer.second(now, state, job, kind, worker) {
                    return Some(found);
                }
            }
        }
        if offer.speculates() && !by_job { self.second(now, kind, worker, state) } else { None }
    }

    /// A speculative attempt, once no pending task could be given.
    fn second(&mut self, now: Time, kind: TaskKind, worker: &Worker, state: &ClusterState) -> Option<Assignment> {
        let Fair { pools, offer, order, .. } = self;
        let pools = order[kind].iter().map(|&(_, id)| pools.get(id));
        for id in pools.flat_map(|pool| pool.waiting.iter(kind)) {
            if let Some(found) = offer.second(now, state, state.job(id)?, kind, worker) {
                return Some(found);
            }
        }
        None
    }
}

/// Notes what a job that is visited for a map may expect of the slots beside its data.
fn look_ahead(state: &ClusterState, job: &Job, worker: &Worker, jobs: &mut PerJob<Member>, delay: &Delay, turn: &Turn) {
    let seen = ahead::look(state, job, worker, jobs, &delay.maps, turn.waits[0]);
    if let Some(member) = jobs.get_mut(job.id()) {
        member.wait.ahead = seen;
    }
}

/// How far from its data a job's next map may run; `Unknown` anywhere.
fn level(delays: bool, id: JobId, turn: &Turn, delay: &mut Delay, jobs: &mut PerJob<Member>) -> Locality {
    match jobs.get_mut(id).filter(|_| delays) {
        Some(member) if member.wait.applies => delay.visit(id, &mut member.wait, turn.waits),
        _ => Locality::Unknown,
    }
}

fn within(state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker, level: Locality) -> Option<Assignment> {
    let Choice { index, locality } = NearestFirst::within(state, job, kind, worker, level).ok()?;
    Some(Assignment { job: job.id(), kind, index, locality, speculative: false })
}
