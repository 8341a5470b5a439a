//! The cluster as policies, pages and explanations read it.
//!
//! [`ClusterState`] is arenas of jobs, workers and running attempts, indexed by dense ids. Only the JobTracker
//! changes it; everything public reads. **Invariants: [`ClusterState::check`] holds after every batch.**

mod attempt;
mod bits;
mod check;
mod costs;
mod job;
mod jobs;
mod locality;
mod needs;
mod rare;
mod saved_attempts;
mod saved_jobs;
mod short_failures;
mod tasks;
mod topology;
mod worker;

pub use attempt::{Attempt, AttemptRef, Attempts, EndCause, ReducePhases};
pub use bits::BitSet;
pub use costs::SpeculationCosts;
pub use job::{Job, JobSummary};
pub use locality::LocalityIndex;
pub use tasks::{TaskState, Tasks};
pub use topology::{HostId, RackId, Topology};
pub use worker::{Vitals, Worker, WorkerState};

pub(crate) use attempt::NONE;
pub(crate) use jobs::Jobs;
pub(crate) use rare::Rare;
pub(crate) use saved_attempts::SavedAttempts;
pub(crate) use saved_jobs::SavedJob;
pub(crate) use short_failures::{MOST_KEPT, ShortFailure, ShortFailures};
pub(crate) use worker::{Faults, Parked};

use std::collections::BTreeMap;

use crate::job::{AttemptId, JobId, Locality, PerKind, Progress, TaskId, TaskKind, WorkerId};
use crate::time::Time;

/// Sums over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Workers that are not lost.
    pub present: u32,
    /// Workers in state `Live`.
    pub live: u32,
    /// Workers in state `Blacklisted`.
    pub blacklisted: u32,
    /// Map and reduce slots of live workers.
    pub slots: PerKind<u32>,
    /// Live workers with at least one map, reduce slot.
    pub with_slots: PerKind<u32>,
    /// Running map and reduce attempts, those being stopped included.
    pub running: PerKind<u32>,
    /// Jobs with pending maps, reduces that may start now.
    pub offerable_jobs: PerKind<u32>,
}

/// Everything that decisions read.
#[derive(Clone, Debug)]
pub struct ClusterState {
    pub(crate) now: Time,
    pub(crate) epoch: u32,
    pub(crate) jobs: Jobs,
    pub(crate) workers: Vec<Worker>,
    pub(crate) attempts: Attempts,
    pub(crate) topology: Topology,
    pub(crate) totals: Totals,
    pub(crate) costs: SpeculationCosts,
    pub(crate) names: BTreeMap<String, WorkerId>,
    /// Workers that nobody can fetch from, lost ones included.
    pub(crate) unreachable: u32,
    /// What workers failed soon after its start since they last succeeded at anything, of those that did; of a lost or a
    /// blacklisted one, nothing.
    pub(crate) failing: BTreeMap<WorkerId, ShortFailures>,
    /// Reduces that succeeded in the last batch and had been reported to reduce.
    pub(crate) reduced: Vec<ReducePhases>,
}

impl ClusterState {
    pub(crate) fn new() -> ClusterState {
        ClusterState {
            now: Time::ZERO,
            epoch: 0,
            jobs: Jobs::new(),
            workers: Vec::new(),
            attempts: Attempts::default(),
            topology: Topology::default(),
            totals: Totals::default(),
            costs: SpeculationCosts::default(),
            names: BTreeMap::new(),
            unreachable: 0,
            failing: BTreeMap::new(),
            reduced: Vec::new(),
        }
    }

    /// The time of the last batch.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The phases of a reduce that succeeded in the last batch, if a report had told of them.
    pub fn reduce_phases(&self, attempt: AttemptId) -> Option<ReducePhases> {
        self.reduced.iter().find(|phases| phases.attempt == attempt).copied()
    }

    /// Restarts of the master that this state has survived.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Sums over all workers.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Costs of speculative attempts, over all jobs that ever were.
    pub fn costs(&self) -> &SpeculationCosts {
        &self.costs
    }

    /// Number of the last job, 0 before the first.
    pub fn last_job(&self) -> u32 {
        self.jobs.last()
    }

    /// Jobs that are not over.
    pub fn n_jobs(&self) -> u32 {
        self.jobs.n_live
    }

    /// The job, unless it is over.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(id)
    }

    /// Jobs that are not over, in order of submission.
    pub fn jobs(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.jobs.iter()
    }

    /// What is remembered of a job that is over; the oldest ones are forgotten.
    pub fn ended_job(&self, id: JobId) -> Option<&JobSummary> {
        self.jobs.ended(id)
    }

    /// Jobs that are over, in order of submission; the oldest ones are forgotten.
    pub fn ended_jobs(&self) -> impl DoubleEndedIterator<Item = (JobId, &JobSummary)> {
        self.jobs.iter_ended()
    }

    /// The worker, lost ones included.
    pub fn worker(&self, id: WorkerId) -> Option<&Worker> {
        self.workers.get(id.0 as usize)
    }

    /// The worker of this name, lost ones included.
    pub fn worker_named(&self, name: &str) -> Option<&Worker> {
        self.names.get(name).and_then(|&id| self.worker(id))
    }

    /// All workers that ever registered, by number.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// All running attempts.
    pub fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// Hosts and racks.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Running attempts on a worker, those being stopped included; in no useful order.
    pub fn attempts_on(&self, worker: WorkerId) -> impl Iterator<Item = &Attempt> {
        let slots = self.worker(worker).map_or(&[][..], |w| w.attempts.as_slice());
        slots.iter().map(|&slot| self.attempts.at(slot))
    }

    /// Running attempts of a task, youngest first.
    pub fn attempts_of(&self, task: TaskId) -> impl Iterator<Item = &Attempt> {
        let mut slot = self.chain(task);
        std::iter::from_fn(move || {
            if slot == NONE {
                return None;
            }
            let attempt = self.attempts.at(slot);
            slot = attempt.next;
            Some(attempt)
        })
    }

    /// Whether the worker is of no use to the job, while another one is: it cannot see the job's files, or it would keep
    /// map output that nobody can fetch.
    pub fn is_useless(&self, job: &Job, kind: TaskKind, worker: WorkerId) -> bool {
        let none = self.unreachable == 0 && job.blind_workers().next().is_none();
        !none
            && self.worker(worker).is_some_and(|worker| Self::is_of_no_use(job, kind, worker))
            && self.another_is_useful(job, kind)
    }

    /// As [`ClusterState::is_useless`], whatever the others are.
    fn is_of_no_use(job: &Job, kind: TaskKind, worker: &Worker) -> bool {
        job.is_blind(worker.id) || (kind == TaskKind::Map && job.spec.n_reduces > 0 && worker.unreachable)
    }

    /// Whether a live worker sees the job's files, can be fetched from, and is large and good enough.
    pub(crate) fn another_is_useful(&self, job: &Job, kind: TaskKind) -> bool {
        self.workers.iter().any(|worker| {
            worker.state == WorkerState::Live
                && worker.slots[kind] >= job.slots(kind)
                && !Self::is_of_no_use(job, kind, worker)
                && (job.spec.conf.requires.is_empty() || self.meets_requirements(job, worker))
        })
    }

    /// Whether the job keeps away from the worker because it is of no use there, or because its attempts failed there too
    /// often.
    ///
    /// The latter only while such workers are fewer than a quarter of the cluster, so that a job cannot lock itself out.
    /// Source: `docs/hadoop.md#faulty-workers`. `Deviation:` Hadoop counts all workers; here only live ones with slots
    /// of the kind count, or blacklisted and slotless workers would make up the quarter and nobody be left.
    pub fn job_avoids(&self, job: &Job, kind: TaskKind, worker: WorkerId) -> bool {
        self.is_useless(job, kind, worker)
            || (job.n_flaky_workers() > 0
                && job.failures_on(worker) >= job.spec.conf.max_tracker_failures
                && u64::from(job.n_flaky_workers()) * 4 < u64::from(self.n_large_enough(job, kind)))
    }

    /// Whether the job may use the worker's slots of a kind: requirements and failures.
    pub fn job_may_use(&self, job: &Job, kind: TaskKind, worker: &Worker) -> bool {
        (job.spec.conf.requires.is_empty() || self.meets_requirements(job, worker))
            && !self.job_avoids(job, kind, worker.id)
    }

    /// Whether a task is kept away from a worker because it failed there and may still run elsewhere.
    ///
    /// `Deviation:` Hadoop compares hosts; here workers are compared, because several may share a host.
    pub fn task_avoids(&self, job: &Job, kind: TaskKind, index: u32, worker: WorkerId) -> bool {
        let failed = job.failed_on(kind, index);
        failed.contains(&worker) && self.another_may_run(job, kind, failed)
    }

    /// Live workers whose slots of a kind are enough for one task of the job.
    fn n_large_enough(&self, job: &Job, kind: TaskKind) -> u32 {
        match job.slots(kind) {
            1 => self.totals.with_slots[kind],
            slots => {
                let fits = |w: &&Worker| w.state == WorkerState::Live && w.slots[kind] >= slots;
                self.workers.iter().filter(fits).count() as u32
            }
        }
    }

    /// Whether a live worker outside `failed` may run the job's tasks of this kind.
    fn another_may_run(&self, job: &Job, kind: TaskKind, failed: &[WorkerId]) -> bool {
        let usable = |w: &Worker| w.state == WorkerState::Live && w.slots[kind] >= job.slots(kind);
        let simple = job.n_flaky_workers() == 0 && job.blind_workers().next().is_none() && self.unreachable == 0;
        if job.spec.conf.requires.is_empty() && simple {
            let tried = failed.iter().filter(|&&id| self.worker(id).is_some_and(usable)).count() as u32;
            return self.n_large_enough(job, kind) > tried;
        }
        self.workers.iter().any(|w| usable(w) && !failed.contains(&w.id) && self.job_may_use(job, kind, w))
    }

    /// How close a map's data is to a worker; `Unknown` for reduces and for splits without known place.
    pub fn locality(&self, job: &Job, kind: TaskKind, index: u32, worker: &Worker) -> Locality {
        match (&job.locality, kind) {
            (Some(places), TaskKind::Map) => places.locality(&job.spec, index, worker.host, worker.rack),
            _ => Locality::Unknown,
        }
    }

    /// First slot in the chain of a task's running attempts.
    pub(crate) fn chain(&self, task: TaskId) -> u32 {
        let tasks = self.job(task.job).map(|job| &job.tasks[task.kind]);
        tasks.and_then(|t| t.tasks.get(task.index as usize)).map_or(NONE, |t| t.head)
    }

    /// The slot of a running attempt that its job still waits for.
    pub(crate) fn find(&self, id: AttemptId) -> Option<u32> {
        let mut slot = self.chain(id.task());
        while slot != NONE {
            let attempt = self.attempts.at(slot);
            if attempt.id.number == id.number {
                return Some(slot);
            }
            slot = attempt.next;
        }
        None
    }

    /// The slot of a running attempt on a worker, detached ones included.
    pub(crate) fn find_on(&self, worker: WorkerId, id: AttemptId) -> Option<u32> {
        if let Some(slot) = self.find(id) {
            return (self.attempts.at(slot).worker == worker).then_some(slot);
        }
        let slots = &self.workers.get(worker.0 as usize)?.attempts;
        slots.iter().copied().find(|&slot| self.attempts.at(slot).id == id)
    }

    /// A reference to a running attempt on a worker, detached ones included.
    pub(crate) fn reference(&self, worker: WorkerId, id: AttemptId) -> Option<AttemptRef> {
        Some(self.attempts.reference(self.find_on(worker, id)?))
    }

    /// Takes an attempt out of its task's chain; the task's state is the caller's business if it was the last.
    pub(crate) fn unchain(&mut self, slot: u32) {
        let attempt = *self.attempts.at(slot);
        let id = attempt.id;
        // One without progress takes nothing from its task's best.
        let progressed = attempt.progress > Progress::ZERO;
        let before = if progressed { self.best_progress(id.task()) } else { 0 };
        let job = self.jobs.get_mut(id.job).expect("only live jobs have chains");
        let tasks = &mut job.tasks[id.kind];
        let task = &mut tasks.tasks[id.index as usize];
        if task.head == slot {
            task.head = attempt.next;
        } else {
            let mut previous = task.head;
            while self.attempts.at(previous).next != slot {
                previous = self.attempts.at(previous).next;
            }
            self.attempts.at_mut(previous).next = attempt.next;
        }
        tasks.attempt_stops(id.index);
        self.attempts.at_mut(slot).next = NONE;
        if progressed {
            self.progress_changed(id.task(), before);
        }
    }

    /// Frees the slots on the worker, which is returned, and the attempt's place in the arena.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, slot: u32) -> &mut Worker {
        let Attempt { id, worker, position, slots, .. } = *self.attempts.at(slot);
        let worker = &mut self.workers[worker.0 as usize];
        worker.attempts.swap_remove(position as usize);
        if let Some(&moved) = worker.attempts.get(position as usize) {
            self.attempts.at_mut(moved).position = position;
        }
        worker.occupied[id.kind] -= slots;
        self.totals.running[id.kind] -= 1;
        self.attempts.remove(slot);
        worker
    }

    /// Progress of a task's furthest running attempt, in ten-thousandths.
    pub(crate) fn best_progress(&self, task: TaskId) -> u64 {
        self.attempts_of(task).map(|a| u64::from(a.progress.parts())).max().unwrap_or(0)
    }

    /// Brings the job's sum up to date after a task's best progress changed from `before`.
    pub(crate) fn progress_changed(&mut self, task: TaskId, before: u64) {
        let after = self.best_progress(task);
        if let (true, Some(job)) = (after != before, self.jobs.get_mut(task.job)) {
            let sum = &mut job.tasks[task.kind].running_progress;
            *sum = *sum + after - before;
        }
    }

    /// Sets a worker's state from its flags; true if it changed.
    pub(crate) fn settle_worker(&mut self, id: WorkerId, lost: bool) -> bool {
        let worker = &mut self.workers[id.0 as usize];
        let next = match (lost, worker.draining, worker.blacklisted) {
            (true, ..) => WorkerState::Lost,
            (_, true, _) => WorkerState::Draining,
            (_, _, true) => WorkerState::Blacklisted,
            _ => WorkerState::Live,
        };
        if next == worker.state {
            return false;
        }
        self.totals.count(&self.workers[id.0 as usize], false);
        self.workers[id.0 as usize].state = next;
        self.totals.count(&self.workers[id.0 as usize], true);
        true
    }
}

/// Puts an attempt of a kind on its worker; its task's chain is the caller's business.
#[inline(always)]
pub(crate) fn link(
    attempts: &mut Attempts,
    totals: &mut Totals,
    worker: &mut Worker,
    kind: TaskKind,
    mut attempt: Attempt,
) -> AttemptRef {
    let slots = attempt.slots;
    attempt.position = worker.attempts.len() as u32;
    let reference = attempts.insert(attempt);
    worker.attempts.push(reference.slot);
    worker.occupied[kind] += slots;
    totals.running[kind] += 1;
    reference
}

impl Totals {
    /// Adds or subtracts what a worker's state and slots contribute.
    pub(crate) fn count(&mut self, worker: &Worker, add: bool) {
        let change = |sum: &mut u32, by: u32| *sum = if add { *sum + by } else { *sum - by };
        match worker.state {
            WorkerState::Lost => return,
            WorkerState::Blacklisted => change(&mut self.blacklisted, 1),
            WorkerState::Draining => {}
            WorkerState::Live => {
                change(&mut self.live, 1);
                for kind in 0..2 {
                    change(&mut self.slots[kind], u32::from(worker.slots[kind]));
                    change(&mut self.with_slots[kind], u32::from(worker.slots[kind] > 0));
                }
            }
        }
        change(&mut self.present, 1);
    }
}
