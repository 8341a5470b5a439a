//! Heartbeats that are held back until there is something to say.
//!
//! Workers stand in two queues, one per kind of free slot, in order of parking: work that appears is offered
//! to the longest parked first, and no input costs a look at every worker. The deadline is the heartbeat
//! interval at the time of parking. **Invariant: a worker is in `deadlines` exactly while it is parked, and
//! in a kind's queue exactly if it also had a free slot of the kind and wants work.**

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Parked, Worker};
use crate::job::{PerKind, WorkerId};
use crate::time::Time;

/// Who is parked.
#[derive(Clone, Debug, Default)]
pub(super) struct Parking {
    turn: u64,
    by_kind: PerKind<BTreeMap<u64, WorkerId>>,
    deadlines: BTreeSet<(Time, WorkerId)>,
}

impl Parking {
    /// With these workers parked as they say themselves, after so many turns.
    pub(super) fn restored(turn: u64, workers: &[Worker]) -> Parking {
        let mut parking = Parking { turn, ..Parking::default() };
        for worker in workers {
            if let Some(parked) = worker.parked {
                parking.queue(worker, parked);
            }
        }
        parking
    }

    /// Workers that were ever parked, one that was twice counted twice.
    pub(super) fn turns(&self) -> u64 {
        self.turn
    }

    /// Parks a worker.
    pub(super) fn enter(&mut self, worker: &mut Worker, deadline: Time) {
        debug_assert!(worker.parked.is_none());
        self.turn += 1;
        let parked = Parked { turn: self.turn, deadline };
        worker.parked = Some(parked);
        self.queue(worker, parked);
    }

    fn queue(&mut self, worker: &Worker, parked: Parked) {
        self.deadlines.insert((parked.deadline, worker.id));
        for kind in 0..2 {
            if worker.accepts && worker.free[kind] > 0 {
                self.by_kind[kind].insert(parked.turn, worker.id);
            }
        }
    }

    /// Releases a worker; false if it was not parked.
    pub(super) fn leave(&mut self, worker: &mut Worker) -> bool {
        let Some(parked) = worker.parked.take() else { return false };
        self.deadlines.remove(&(parked.deadline, worker.id));
        for queue in &mut self.by_kind {
            queue.remove(&parked.turn);
        }
        true
    }

    /// The first worker from turn `from` on with a free slot of one of the kinds asked for.
    pub(super) fn next(&self, from: u64, kinds: PerKind<bool>) -> Option<(u64, WorkerId)> {
        let first = |kind: usize| self.by_kind[kind].range(from..).next().filter(|_| kinds[kind]);
        let found = [first(0), first(1)].into_iter().flatten().min()?;
        Some((*found.0, *found.1))
    }

    /// Whose deadline comes first.
    pub(super) fn first_deadline(&self) -> Option<(Time, WorkerId)> {
        self.deadlines.first().copied()
    }

    /// Forgets everyone.
    pub(super) fn clear(&mut self) {
        self.deadlines.clear();
        self.by_kind.iter_mut().for_each(BTreeMap::clear);
    }

    /// Whether the queues are what the workers' own flags say.
    pub(super) fn check(&self, workers: &[Worker]) -> Result<(), String> {
        let mut n = 0;
        for worker in workers {
            let Some(parked) = worker.parked else { continue };
            n += 1;
            if !self.deadlines.contains(&(parked.deadline, worker.id)) {
                return Err(format!("worker {} is parked without a deadline", worker.name));
            }
            for kind in 0..2 {
                let queued = self.by_kind[kind].get(&parked.turn) == Some(&worker.id);
                if queued != (worker.accepts && worker.free[kind] > 0) {
                    return Err(format!("worker {} is parked and queued wrongly for kind {kind}", worker.name));
                }
            }
        }
        if n != self.deadlines.len() || self.by_kind.iter().any(|queue| queue.len() > n) {
            return Err(format!("{n} workers are parked, {} have deadlines", self.deadlines.len()));
        }
        Ok(())
    }
}
