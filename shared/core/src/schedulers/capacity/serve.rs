//! One heartbeat: which queue, which user, which job, and how far from its data.

use std::collections::BTreeSet;

use super::turn::Turn;
use super::{Capacity, Entry};
use crate::cluster::{ClusterState, Job, Worker, WorkerState};
use crate::job::{JobId, Locality, TaskKind};
use crate::schedulers::{Assignment, Offer};

/// Where to look for tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    /// Pending tasks.
    Pending,
    /// Speculative attempts.
    Second,
    /// Job by job, pending tasks, then speculative attempts.
    Both,
}

/// What a search ends with.
enum Found {
    Task {
        assignment: Assignment,
        /// Whether it counts as far from its data.
        far: bool,
    },
    /// The worker is kept for a job whose task needs more slots than are free.
    Reserved,
}

impl Capacity {
    pub(super) fn serve(&mut self, turn: &mut Turn, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(turn.round.worker)?;
        if turn.maps > 0 && worker.free(TaskKind::Map) > 0 {
            if let Some(Found::Task { assignment, far }) = self.find(TaskKind::Map, turn, state, worker) {
                turn.count_map(far);
                return Some(assignment);
            }
            turn.maps = 0;
        }
        if turn.reduces > 0 && worker.free(TaskKind::Reduce) > 0 {
            if let Some(Found::Task { assignment, .. }) = self.find(TaskKind::Reduce, turn, state, worker) {
                turn.reduces -= 1;
                return Some(assignment);
            }
            turn.reduces = 0;
        }
        None
    }

    fn find(&mut self, kind: TaskKind, turn: &mut Turn, state: &ClusterState, worker: &Worker) -> Option<Found> {
        if let Some(job) = worker.reserved(kind) {
            return self.find_for_reserved(job, kind, turn, state, worker);
        }
        if !self.offer.speculates() {
            return self.search(Search::Pending, kind, turn, state, worker);
        }
        if self.offer.second_before_next_job() {
            return self.search(Search::Both, kind, turn, state, worker);
        }
        let pending = self.search(Search::Pending, kind, turn, state, worker);
        pending.or_else(|| self.search(Search::Second, kind, turn, state, worker))
    }

    /// Goes through the queues, emptiest first.
    fn search(
        &mut self,
        search: Search,
        kind: TaskKind,
        turn: &mut Turn,
        state: &ClusterState,
        worker: &Worker,
    ) -> Option<Found> {
        self.sort(kind);
        let Capacity { queues, jobs, order, offer, hosts, reservations, .. } = self;
        for &number in &order[kind] {
            let queue = &queues[number as usize];
            let set = if search == Search::Pending { &queue.offers[kind] } else { &queue.live };
            if set.is_empty() || !queue.has_room(kind, 1) {
                continue;
            }
            // Tasks of several slots have limits of their own, which a user may keep though one of one slot would not.
            let all_plain = queue.high_memory == 0;
            let may = |user: u32| !all_plain || queue.user_may(kind, user, 1);
            let found = set.walk(may, |id, user| {
                let (job, entry) = (state.job(id)?, jobs.get_mut(id)?);
                let slots = entry.slots[kind];
                let within = all_plain || (queue.has_room(kind, slots) && queue.user_may(kind, user, slots));
                if !within {
                    return None;
                }
                if u32::from(worker.free(kind)) < slots {
                    let will_do = state.job_may_use(job, kind, worker) && reservations.wants(id, job, kind, worker);
                    return will_do.then_some(Found::Reserved);
                }
                obtain(&mut Asked { offer, entry, hosts, turn, search }, state, job, kind, worker)
            });
            match found {
                Some(Found::Reserved) => {
                    self.hold_reserved(kind);
                    return Some(Found::Reserved);
                }
                Some(found) => return Some(found),
                None => {}
            }
        }
        None
    }

    /// A worker that is kept for a job serves only that job, once enough slots are free.
    fn find_for_reserved(
        &mut self,
        id: JobId,
        kind: TaskKind,
        turn: &mut Turn,
        state: &ClusterState,
        worker: &Worker,
    ) -> Option<Found> {
        let (job, entry) = (state.job(id)?, self.jobs.get_mut(id)?);
        if u32::from(worker.free(kind)) < entry.slots[kind] {
            return Some(Found::Reserved);
        }
        // Its turn has come wherever its data are.
        entry.chances = u32::MAX;
        let Capacity { offer, hosts, .. } = self;
        let entry = self.jobs.get_mut(id)?;
        let search = if offer.speculates() { Search::Both } else { Search::Pending };
        let found = obtain(&mut Asked { offer, entry, hosts, turn, search }, state, job, kind, worker);
        self.release(worker.id(), kind);
        found
    }

    /// Puts the queues in order after slots were taken or given back.
    fn sort(&mut self, kind: TaskKind) {
        if !std::mem::take(&mut self.moved[kind]) {
            return;
        }
        let (queues, order) = (&self.queues, &mut self.order[kind]);
        let before = |a: u16, b: u16| {
            let (first, second) = (&queues[a as usize], &queues[b as usize]);
            first.emptier_than(second, kind) || (a < b && !second.emptier_than(first, kind))
        };
        // One queue has moved since the last time, as a rule.
        for end in 1..order.len() {
            let mut at = end;
            while at > 0 && before(order[at], order[at - 1]) {
                order.swap(at, at - 1);
                at -= 1;
            }
        }
    }
}

/// A job that is asked for a task.
struct Asked<'a> {
    offer: &'a mut Offer,
    entry: &'a mut Entry,
    hosts: &'a mut Option<u32>,
    turn: &'a mut Turn,
    search: Search,
}

/// A task of a job, near its data or, if that may be, far from it.
fn obtain(asked: &mut Asked<'_>, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> Option<Found> {
    let Asked { offer, entry, hosts, turn, search } = asked;
    if kind == TaskKind::Map {
        entry.chances = entry.chances.saturating_add(1);
    }
    if *search != Search::Second
        && let Some(assignment) = offer.pending(state, job, kind, worker)
    {
        let far = kind == TaskKind::Map && is_far(job, &assignment);
        if !far && kind == TaskKind::Map {
            entry.chances = 0;
        }
        if !far || may_go_far(entry, hosts, turn, state, job) {
            return Some(Found::Task { assignment, far });
        }
        turn.waits |= turn.off_switch > 0;
        return None;
    }
    if *search == Search::Pending || (kind == TaskKind::Map && !may_go_far(entry, hosts, turn, state, job)) {
        return None;
    }
    let assignment = offer.second(turn.round.now, state, job, kind, worker)?;
    Some(Found::Task { assignment, far: kind == TaskKind::Map })
}

/// Whether a map counts as off-switch: no data in the worker's rack, or none known, unless it ran before: those are
/// given wherever it is.
fn is_far(job: &Job, map: &Assignment) -> bool {
    map.locality > Locality::Rack && !job.tasks(TaskKind::Map).failed_first().any(|index| index == map.index)
}

/// Whether a job may run a map far from its data: if it missed more chances than the workers that it wants, or than
/// the part of the workers that its data lie on. Tasks of several slots do not wait.
fn may_go_far(entry: &Entry, hosts: &mut Option<u32>, turn: &Turn, state: &ClusterState, job: &Job) -> bool {
    if entry.slots[TaskKind::Map as usize] > 1 {
        return true;
    }
    if turn.off_switch == 0 {
        return false;
    }
    let (missed, wanted, of_hosts) = locality_wait(entry, hosts, state, job);
    wanted < u64::from(missed) * of_hosts
}

/// Chances missed, and chances wanted as a fraction.
pub(super) fn locality_wait(
    entry: &Entry,
    hosts: &mut Option<u32>,
    state: &ClusterState,
    job: &Job,
) -> (u32, u64, u64) {
    if entry.hosts == 0 {
        return (entry.chances, 0, 1);
    }
    let hosts = u64::from(*hosts.get_or_insert_with(|| count_hosts(state)).max(&mut 1));
    let wanted = u64::from(job.tasks(TaskKind::Map).n_left().min(state.totals().live));
    (entry.chances, wanted * u64::from(entry.hosts).min(hosts), hosts)
}

fn count_hosts(state: &ClusterState) -> u32 {
    let present = state.workers().iter().filter(|worker| worker.state() != WorkerState::Lost);
    present.map(Worker::host).collect::<BTreeSet<_>>().len() as u32
}
