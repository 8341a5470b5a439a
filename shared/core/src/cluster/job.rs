//! A job while it is alive, and what remains of it afterwards.
//!
//! A finished job leaves only a [`JobSummary`]; its tables go. **Invariants: `offerable` says whether the job has a
//! pending task of the kind that may start now, `plain` what `computes_plain` finds.**

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::bits::BitSet;
use super::costs::SpeculationCosts;
use super::locality::LocalityIndex;
use super::rare::Rare;
use super::tasks::Tasks;
use crate::job::{AttemptId, JobId, JobSpec, JobState, Locality, PerKind, Priority, Progress, TaskKind, WorkerId};
use crate::time::{Span, Time};

/// What went wrong with a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobFailures {
    /// Failed attempts by worker.
    pub(crate) by_worker: BTreeMap<WorkerId, u16>,
    /// Workers with at least `max_tracker_failures` of them.
    pub(crate) flaky: u32,
    /// Workers on which a task failed.
    pub(crate) of_task: BTreeMap<(TaskKind, u32), SmallVec<[WorkerId; 4]>>,
    /// Workers that cannot see its files.
    pub(crate) blind: BTreeSet<WorkerId>,
    /// Notifications by map whose present output could not be fetched.
    pub(crate) of_fetches: BTreeMap<u32, u32>,
    /// Where the output of a map was that went with its worker, and of which attempt it was: it may come back with the worker.
    /// Of maps that are not done.
    pub(crate) left: BTreeMap<u32, (WorkerId, u16)>,
    /// Workers that were lost while they ran a task.
    pub(crate) of_losses: BTreeMap<(TaskKind, u32), u16>,
}

/// A job that is not over.
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) id: JobId,
    pub(crate) spec: Arc<JobSpec>,
    pub(crate) state: JobState,
    /// The final state it is heading for, once a failure or a request has decided it.
    pub(crate) ending: Option<JobState>,
    pub(crate) priority: Priority,
    pub(crate) submitted: Time,
    pub(crate) launched: Option<Time>,
    pub(crate) maps_done: Option<Time>,
    pub(crate) tasks: PerKind<Tasks>,
    pub(crate) costs: SpeculationCosts,
    pub(crate) offerable: PerKind<bool>,
    /// By kind: what [`Job::is_plain`] says.
    pub(crate) plain: PerKind<bool>,
    /// Of one task.
    pub(crate) slots: PerKind<u16>,
    /// Finished or failed maps from which on reduces may start.
    pub(crate) slowstart: u32,
    pub(crate) locality: Option<Box<LocalityIndex>>,
    /// Launched maps by locality.
    pub(crate) launched_at: [u32; 4],
    pub(crate) failures: Rare<JobFailures>,
    /// Workers that were given attempts.
    pub(crate) touched: BitSet,
    /// The last of them, which mostly is the next one too.
    pub(crate) touched_last: Option<WorkerId>,
}

impl Job {
    pub(crate) fn new(id: JobId, spec: Arc<JobSpec>, submitted: Time) -> Job {
        let needed = u64::from(spec.n_maps) * u64::from(spec.conf.slowstart_ppm.min(1_000_000));
        let mut job = Job {
            id,
            state: JobState::Prep,
            ending: None,
            priority: spec.priority,
            submitted,
            launched: None,
            maps_done: None,
            tasks: [Tasks::new(spec.n_maps), Tasks::new(spec.n_reduces)],
            costs: SpeculationCosts::default(),
            offerable: [false; 2],
            plain: [false; 2],
            slots: [spec.conf.slots_per_map.max(1), spec.conf.slots_per_reduce.max(1)],
            slowstart: needed.div_ceil(1_000_000) as u32,
            locality: None,
            launched_at: [0; 4],
            failures: Rare::default(),
            touched: BitSet::default(),
            touched_last: None,
            spec,
        };
        job.note_plain();
        job
    }

    /// Its serial number.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// As submitted.
    pub fn spec(&self) -> &Arc<JobSpec> {
        &self.spec
    }

    /// `Prep`, `Running` or `Committing`.
    pub fn state(&self) -> JobState {
        self.state
    }

    /// `Failed` or `Killed` once that is decided and its last attempts are being stopped.
    pub fn ending(&self) -> Option<JobState> {
        self.ending
    }

    /// The present priority.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// When it was submitted.
    pub fn submitted(&self) -> Time {
        self.submitted
    }

    /// When its first attempt was assigned.
    pub fn launched(&self) -> Option<Time> {
        self.launched
    }

    /// When its last map finished; reset while lost map output is made again.
    pub fn maps_done(&self) -> Option<Time> {
        self.maps_done
    }

    /// When it is to be done, if it has a deadline.
    pub fn deadline(&self) -> Option<Time> {
        self.spec.conf.deadline.map(|span: Span| self.submitted + span)
    }

    /// Its tasks of one kind.
    pub fn tasks(&self, kind: TaskKind) -> &Tasks {
        &self.tasks[kind]
    }

    /// Costs of its speculative attempts.
    pub fn costs(&self) -> &SpeculationCosts {
        &self.costs
    }

    /// Whether it has a pending task of this kind that may start now: it is not ending, and for reduces
    /// enough maps have finished.
    pub fn offerable(&self, kind: TaskKind) -> bool {
        self.offerable[kind]
    }

    /// Slots of a worker that one task of this kind takes, from 1.
    #[inline]
    pub fn slots(&self, kind: TaskKind) -> u16 {
        self.slots[kind]
    }

    /// Finished or failed maps from which on reduces may start: `ceil(slow start × maps)`.
    pub fn slowstart_maps(&self) -> u32 {
        self.slowstart
    }

    /// Whether enough maps have finished for reduces to start.
    pub fn reduces_may_start(&self) -> bool {
        let maps = &self.tasks[0];
        maps.n_succeeded + maps.n_failed >= self.slowstart
    }

    /// Where its splits lie, when known.
    pub fn locality(&self) -> Option<&LocalityIndex> {
        self.locality.as_deref()
    }

    /// Maps launched so far at this locality, repeated and speculative attempts included.
    pub fn launched_at(&self, locality: Locality) -> u32 {
        self.launched_at[locality as usize]
    }

    /// Whether any worker is as good as any other for its tasks of a kind, and any pending task as good as the
    /// first: no requirements, no known places, no failures, one slot for each.
    #[inline]
    pub fn is_plain(&self, kind: TaskKind) -> bool {
        self.plain[kind]
    }

    /// A worker was given an attempt.
    #[inline(never)]
    pub(crate) fn touch(&mut self, worker: WorkerId) {
        self.touched.grow(worker.0 + 1);
        self.touched.insert(worker.0);
        self.touched_last = Some(worker);
    }

    /// Brings `plain` up to date.
    pub(crate) fn note_plain(&mut self) {
        self.plain = TaskKind::ALL.map(|kind| self.computes_plain(kind));
    }

    /// What `plain` should be.
    pub(crate) fn computes_plain(&self, kind: TaskKind) -> bool {
        self.failures
            .get()
            .is_none_or(|failures| failures.of_task.is_empty() && failures.flaky == 0 && failures.blind.is_empty())
            && self.slots[kind] == 1
            && (kind == TaskKind::Reduce || self.locality.is_none())
            && self.tasks[kind].failed_first().next().is_none()
            && self.spec.conf.requires.is_empty()
    }

    /// Failed attempts of this job on a worker.
    pub fn failures_on(&self, worker: WorkerId) -> u16 {
        self.failures.get().and_then(|failures| failures.by_worker.get(&worker)).copied().unwrap_or(0)
    }

    /// Failed attempts of this job by worker, ascending by worker; only those with failures.
    pub fn worker_failures(&self) -> impl Iterator<Item = (WorkerId, u16)> + '_ {
        self.failures.get().into_iter().flat_map(|failures| &failures.by_worker).map(|(&worker, &n)| (worker, n))
    }

    /// Workers with so many failures that the job would avoid them.
    pub fn n_flaky_workers(&self) -> u32 {
        self.failures.get().map_or(0, |failures| failures.flaky)
    }

    /// Workers that cannot see the job's files, ascending; usually none.
    pub fn blind_workers(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.failures.get().into_iter().flat_map(|failures| failures.blind.iter().copied())
    }

    /// Whether a worker cannot see the job's files.
    pub fn is_blind(&self, worker: WorkerId) -> bool {
        self.failures.get().is_some_and(|failures| failures.blind.contains(&worker))
    }

    /// Workers on which this task failed; usually empty.
    pub fn failed_on(&self, kind: TaskKind, index: u32) -> &[WorkerId] {
        self.failures
            .get()
            .and_then(|failures| failures.of_task.get(&(kind, index)))
            .map_or(&[], |list| list.as_slice())
    }

    /// Workers that were lost while they ran this task, as far as that counts.
    pub fn worker_losses(&self, kind: TaskKind, index: u32) -> u16 {
        self.failures.get().and_then(|failures| failures.of_losses.get(&(kind, index))).copied().unwrap_or(0)
    }

    /// Notifications that the present output of a map could not be fetched.
    pub fn fetch_failures(&self, map: u32) -> u32 {
        self.failures.get().and_then(|failures| failures.of_fetches.get(&map)).copied().unwrap_or(0)
    }

    /// A task's first success; true if it was the last one of its kind that the job waited for.
    pub(crate) fn succeed(&mut self, id: AttemptId, worker: WorkerId, now: Time) -> bool {
        let all_done = self.tasks[id.kind].succeed(id.index, worker, id.number);
        self.note_done(id.kind, all_done, now)
    }

    /// The first success of a task whose only attempt it was, so far by its last report. `None`, and nothing done, if it
    /// was not the only one.
    #[inline(always)]
    pub(crate) fn succeed_alone(
        &mut self,
        id: AttemptId,
        worker: WorkerId,
        so_far: Progress,
        now: Time,
    ) -> Option<bool> {
        let all_done = self.tasks[id.kind].succeed_alone(id.index, worker, id.number, so_far)?;
        Some(self.note_done(id.kind, all_done, now))
    }

    /// Keeps when the maps were done; `all_done` as it came.
    #[inline(always)]
    fn note_done(&mut self, kind: TaskKind, all_done: bool, now: Time) -> bool {
        if all_done && kind == TaskKind::Map {
            self.maps_done = Some(now);
        }
        all_done
    }

    /// What `offerable` should be.
    #[inline]
    pub(crate) fn computes_offerable(&self, kind: TaskKind) -> bool {
        self.ending.is_none()
            && matches!(self.state, JobState::Prep | JobState::Running)
            && self.tasks[kind].pending.count() > 0
            && (kind == TaskKind::Map || self.reduces_may_start())
    }

    /// Whether nothing is left to run: all reduces are done or, without reduces, all maps.
    ///
    /// `Deviation:` Hadoop also waits for maps that run again although every reduce already has their output.
    pub(crate) fn all_done(&self) -> bool {
        let [maps, reduces] = &self.tasks;
        if reduces.is_empty() { maps.all_done() } else { reduces.all_done() }
    }

    pub(crate) fn summary(&self, state: JobState, finished: Time) -> JobSummary {
        let [maps, reduces] = &self.tasks;
        JobSummary {
            state,
            submitted: self.submitted,
            launched: self.launched,
            finished,
            n_maps: maps.len(),
            n_reduces: reduces.len(),
            failed_attempts: maps.attempts_failed + reduces.attempts_failed,
            killed_attempts: maps.attempts_killed + reduces.attempts_killed,
            costs: self.costs,
        }
    }
}

/// What the core remembers of a job that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSummary {
    /// `Succeeded`, `Failed` or `Killed`.
    pub state: JobState,
    /// When it was submitted.
    pub submitted: Time,
    /// When its first attempt was assigned.
    pub launched: Option<Time>,
    /// When it ended.
    pub finished: Time,
    /// Its map tasks.
    pub n_maps: u32,
    /// Its reduce tasks.
    pub n_reduces: u32,
    /// Attempts that failed, of both kinds.
    pub failed_attempts: u32,
    /// Attempts that were killed or lost, of both kinds.
    pub killed_attempts: u32,
    /// Costs of speculative attempts, of both kinds.
    pub costs: SpeculationCosts,
}
