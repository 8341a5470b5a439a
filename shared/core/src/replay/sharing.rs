//! The machines of a replay whose attempts slow each other down or say how far they are: which of them is next.
//!
//! The other replays plan an attempt's end when it is launched, which is cheaper and says the same where nothing that
//! happens later can change it. **Here an attempt's end is known when its machine's clock gets there.**

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::machine_model::{Event, MachineModel, Run};
use super::options::WorkersView;
use crate::cluster::Vitals;
use crate::job::{AttemptId, Phase, Progress, TaskKind, WorkerId};
use crate::time::Time;

/// All of them; none in the slot-pool model.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    /// Whether attempts work here from now on.
    active: bool,
    models: Vec<MachineModel>,
    /// When something next happens on each machine, as a tree: the parent of `i` is `i / 2` and has the earlier of its
    /// children's times; the leaves are the second half.
    tree: Vec<Time>,
    /// When orders to stop reach attempts, where that is before the master is notified.
    stops: BinaryHeap<Reverse<(Time, WorkerId, AttemptId)>>,
    /// Attempts from before, with the times of their launches and their planned ends.
    earlier: BTreeMap<AttemptId, (Time, Time)>,
}

impl Sharing {
    pub(super) fn new(view: &WorkersView) -> Sharing {
        let models: Vec<MachineModel> = view.workers.iter().map(|worker| MachineModel::new(worker, view)).collect();
        let plain = models.iter().zip(&view.workers).all(|(model, worker)| model.is_plain(worker));
        let tree = vec![Time::MAX; 2 * models.len().next_power_of_two()];
        Sharing { active: !plain, models, tree, ..Sharing::default() }
    }

    /// Whether there are no machines.
    pub(super) fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Whether attempts work here.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Attempts work here from now on. Those that do so already are given by their times.
    pub(super) fn activate(&mut self, earlier: impl Iterator<Item = (AttemptId, (Time, Time))>) {
        if !self.active {
            self.active = true;
            self.earlier = earlier.collect();
        }
    }

    /// When something next happens; [`Time::MAX`] when nothing does.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        if !self.active {
            return Time::MAX;
        }
        let stop = self.stops.peek().map_or(Time::MAX, |next| next.0.0);
        stop.min(self.tree[1])
    }

    /// An attempt begins to work.
    pub(super) fn begin(&mut self, worker: WorkerId, now: Time, run: Run) {
        self.models[worker.0 as usize].begin(now, run);
        self.put(worker);
    }

    /// An attempt stops, if it works.
    pub(super) fn stop(&mut self, worker: WorkerId, now: Time, attempt: AttemptId) {
        if self.models[worker.0 as usize].stop(now, attempt) {
            self.put(worker);
        }
        if !self.earlier.is_empty() {
            self.earlier.remove(&attempt);
        }
    }

    /// An attempt stops at an instant to come, unless it ends before.
    pub(super) fn stop_at(&mut self, worker: WorkerId, at: Time, attempt: AttemptId) {
        self.stops.push(Reverse((at, worker, attempt)));
    }

    /// A machine stops with all that works there.
    pub(super) fn stop_all(&mut self, worker: WorkerId, now: Time) {
        if let Some(model) = self.models.get_mut(worker.0 as usize) {
            model.stop_all(now);
            self.put(worker);
        }
    }

    /// All that happens at `now`, which is [`Sharing::next_time`] or earlier.
    pub(super) fn take_at(&mut self, now: Time, mut each: impl FnMut(WorkerId, Event)) {
        while self.tree[1] <= now {
            let worker = self.first();
            self.models[worker.0 as usize].take_at(now, |event| each(worker, event));
            self.put(worker);
        }
        while self.stops.peek().is_some_and(|next| next.0.0 <= now) {
            let Some(Reverse((_, worker, attempt))) = self.stops.pop() else { break };
            self.stop(worker, now, attempt);
        }
    }

    /// What an attempt does and how far it is; `None` if nobody knows.
    pub(super) fn progress(&self, worker: WorkerId, now: Time, attempt: AttemptId) -> Option<(Phase, Progress)> {
        let model = self.models.get(worker.0 as usize)?;
        model.progress(now, attempt).or_else(|| {
            let &(start, end) = self.earlier.get(&attempt)?;
            let share = |span: u64| u128::from(span) * u128::from(Progress::DONE.parts());
            let parts = share(now.since(start).as_us()) / u128::from(end.since(start).as_us().max(1));
            let parts = parts.min(u128::from(Progress::DONE.parts()) - 1) as u16;
            let thirds = [Phase::Shuffle, Phase::Sort, Phase::Reduce];
            let third = usize::from(parts) * 3 / usize::from(Progress::DONE.parts());
            let phase = if attempt.kind == TaskKind::Map { Phase::Map } else { thirds[third] };
            Some((phase, Progress::from_parts(parts)))
        })
    }

    /// What a worker measures.
    pub(super) fn vitals(&mut self, worker: WorkerId, now: Time) -> Vitals {
        self.models.get_mut(worker.0 as usize).map_or_else(Vitals::default, |model| model.vitals(now))
    }

    /// Notes when something next happens on a machine.
    fn put(&mut self, worker: WorkerId) {
        let mut at = self.tree.len() / 2 + worker.0 as usize;
        self.tree[at] = self.models[worker.0 as usize].next_time();
        while at > 1 {
            at /= 2;
            self.tree[at] = self.tree[2 * at].min(self.tree[2 * at + 1]);
        }
    }

    /// The first machine of those on which something happens next.
    fn first(&self) -> WorkerId {
        let mut at = 1;
        while at < self.tree.len() / 2 {
            at = if self.tree[2 * at] == self.tree[at] { 2 * at } else { 2 * at + 1 };
        }
        WorkerId((at - self.tree.len() / 2) as u32)
    }
}
