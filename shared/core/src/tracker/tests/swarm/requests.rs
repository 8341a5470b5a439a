//! What people do to workers and attempts in the swarm, and what workers do of themselves: drains, kills of attempts, goodbyes,
//! registrations that come twice, full disks, and workers that fail every task at once.
//!
//! What is held against workers is after a start, and after a snapshot, what it was. Whether and what happens is drawn apart, so
//! that the worlds of before are as they were but for it. In calm everybody takes tasks again but who is blacklisted.

use super::plan::{Dice, Plan};
use super::world::{Event, World};
use crate::job::{AttemptId, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{Effect, Input, JobTracker, WorkerState};

/// How long a closed connection may take to come back.
const COMES_BACK: Span = Span::from_secs(3);

/// What is drawn for them.
pub(super) struct Requests {
    dice: Dice,
    /// In this world they happen.
    happen: bool,
    /// A node that fails every attempt at once while faults go on.
    black_hole: Option<usize>,
    /// Until when each node's disk is too full for tasks.
    full_until: Vec<Time>,
    /// After so many entries of the journal, what was held against workers.
    noted: (usize, Held),
    /// That were taken.
    pub(super) n: u64,
    /// Workers that were listed as black holes.
    pub(super) black_holes: u64,
    /// Tasks that failed for the workers that they took down.
    pub(super) poison: u64,
}

/// Of each worker: drained, blacklisted, a black hole, its faults, its short failures, when it fell silent; and of each job's
/// tasks the losses.
type Held = (Vec<(bool, bool, bool, u32, usize, Option<Time>)>, Vec<((TaskKind, u32), u16)>);

pub(super) fn held(tracker: &JobTracker) -> Held {
    let state = tracker.state();
    let of = |worker: &crate::cluster::Worker| {
        let (short, silent) = (state.failing.get(&worker.id()).map_or(0, |row| row.len()), worker.fell_silent);
        (worker.draining, worker.blacklisted, worker.black_hole, worker.n_faults(), short, silent)
    };
    let losses = state.jobs().filter_map(|job| job.failures.get());
    let losses = losses.flat_map(|failures| failures.of_losses.iter().map(|(&task, &n)| (task, n)));
    (state.workers().iter().map(of).collect(), losses.collect())
}

impl Requests {
    /// Draws them, and which of the rules that they test the cluster has.
    pub(super) fn new(seed: u64, plan: &mut Plan) -> Requests {
        let mut dice = Dice::new(seed.rotate_left(13) ^ 0x6969);
        let happen = dice.one_in(2);
        if happen {
            plan.config.blacklist.short_failures = dice.pick(&[0, 3, 4]);
            plan.config.max_worker_losses = dice.pick(&[0, 1, 2, 4]);
        }
        let black_hole = (happen && dice.one_in(3)).then(|| dice.below(plan.slots.len() as u64) as usize);
        let full_until = vec![Time::ZERO; plan.slots.len()];
        Requests { dice, happen, black_hole, full_until, noted: Default::default(), n: 0, black_holes: 0, poison: 0 }
    }
}

/// What such a world may not do with a worker that takes no tasks.
pub(super) fn only_takers_get_tasks(
    tracker: &JobTracker,
    effects: &[Effect],
    is_new: impl Fn(AttemptId) -> bool,
) -> Result<(), String> {
    for effect in effects {
        if let Effect::Launch { worker, attempt, .. } = *effect
            && is_new(attempt)
            && let Some(taker) = tracker.state().worker(worker)
            && !(taker.state() == WorkerState::Live && taker.accepts)
        {
            return Err(format!("{attempt:?} is given to worker {}, which takes no tasks", worker.0));
        }
    }
    Ok(())
}

impl World {
    /// So many entries were removed from the beginning of the journal.
    pub(super) fn entries_are_gone(&mut self, n: usize) {
        self.requests.noted.0 = self.requests.noted.0.saturating_sub(n);
    }

    pub(super) fn begin_requests(&mut self) {
        if self.requests.happen {
            self.next_request();
        }
    }

    fn next_request(&mut self) {
        let after = Span::from_ms(500 + self.requests.dice.below(8_000));
        self.later(after, Event::Ask);
    }

    /// One of them.
    pub(super) fn ask(&mut self) {
        if !self.faults {
            return;
        }
        self.next_request();
        let node = self.requests.dice.below(self.nodes.len() as u64) as usize;
        let kind = self.requests.dice.below(6);
        if kind == 0 {
            let full = Span::from_ms(1_000 + self.requests.dice.below(20_000));
            self.requests.full_until[node] = self.now + full;
            return;
        }
        let Some(master) = &self.master else { return };
        let state = master.tracker.state();
        let Some(worker) = state.worker_named(&format!("w{node}")) else { return };
        let (id, incarnation) = (worker.id(), worker.incarnation());
        let input = match kind {
            1 => Input::Drain { worker: id, drain: true },
            2 => Input::Drain { worker: id, drain: false },
            3 => Input::Enable { worker: id },
            4 => {
                let nth = self.requests.dice.below(state.attempts().len() as u64) as usize;
                let Some((_, attempt)) = state.attempts().iter().nth(nth) else { return };
                Input::KillAttempt { attempt: attempt.id(), fail: self.requests.dice.one_in(4) }
            }
            _ => {
                // Its process ends in order, and nothing is left on its disk.
                if !self.stop_node(node) {
                    return;
                }
                Input::Goodbye { worker: id, incarnation }
            }
        };
        self.requests.n += u64::from(self.master(vec![input]));
    }

    /// The connections of a worker that crashed close; nobody but the master sees it.
    pub(super) fn connections_close(&mut self, node: usize) {
        if !self.requests.happen {
            return;
        }
        let worker = self.master.as_ref().and_then(|master| master.tracker.state().worker_named(&format!("w{node}")));
        if let Some((worker, incarnation)) = worker.map(|worker| (worker.id(), worker.incarnation())) {
            self.later(COMES_BACK, Event::Gone { worker, incarnation });
        }
    }

    /// A registration may come twice, and late; nobody waits for the second answer.
    pub(super) fn register_again(&mut self, node: usize, incarnation: u64, kept: &[AttemptId]) {
        if self.faults && self.requests.happen && self.requests.dice.one_in(8) {
            let after = Span::from_ms(1 + self.requests.dice.below(10_000));
            self.later(after, Event::RegisterAgain { node, incarnation, kept: kept.to_vec() });
        }
    }

    pub(super) fn on_registered_again(&mut self, node: usize, incarnation: u64, kept: Vec<AttemptId>) {
        let state = self.master.as_ref().map(|master| master.tracker.state());
        let Some(worker) = state.and_then(|state| state.worker_named(&format!("w{node}"))) else { return };
        let hello = self.plan.registration(node, worker.id(), incarnation, kept);
        self.requests.n += u64::from(self.master(vec![Input::Register(Box::new(hello))]));
    }

    pub(super) fn on_gone(&mut self, worker: WorkerId, incarnation: u64) {
        self.master(vec![Input::Gone { worker, incarnation }]);
    }

    /// Whether the node's disk has room for tasks.
    pub(super) fn has_room(&self, node: usize) -> bool {
        !self.faults || self.now >= self.requests.full_until[node]
    }

    pub(super) fn fails_all(&self, node: usize) -> bool {
        self.faults && self.requests.black_hole == Some(node)
    }

    /// No fault from now on: whoever was drained is taken back.
    pub(super) fn take_back_drained(&mut self) {
        let drained = |master: &super::master::Master| {
            let workers = master.tracker.state().workers().iter();
            workers.filter(|worker| worker.draining).map(|worker| worker.id()).collect::<Vec<_>>()
        };
        for worker in self.master.as_ref().map(drained).unwrap_or_default() {
            self.master(vec![Input::Drain { worker, drain: false }]);
        }
    }

    /// After a batch that is on disk.
    pub(super) fn note_held(&mut self, effects: &[Effect]) {
        let Some(master) = &self.master else { return };
        let state = master.tracker.state();
        self.requests.noted = (self.journal.len(), held(&master.tracker));
        for effect in effects {
            match *effect {
                Effect::WorkerState { worker, state: WorkerState::Blacklisted } => {
                    let is_hole = state.worker(worker).is_some_and(|worker| worker.is_black_hole());
                    self.requests.black_holes += u64::from(is_hole);
                }
                Effect::AttemptEnded { cause: crate::tracker::EndCause::TooManyWorkerLosses, .. } => {
                    self.requests.poison += 1;
                }
                _ => {}
            }
        }
    }

    /// A start that goes on where the last batch ended has all that was held against workers then.
    pub(super) fn nothing_held_is_forgotten(&self, tracker: &JobTracker) -> Result<(), String> {
        let (at, noted) = &self.requests.noted;
        let held = held(tracker);
        if *at == self.journal.len() && held != *noted {
            return Err(format!("{noted:?} was held against workers and tasks, and after the start {held:?}"));
        }
        Ok(())
    }
}
