//! First in, first out as Hadoop's JobQueueTaskScheduler: a heartbeat gets its share of the load, not all it could run.
//!
//! A worker may run as large a part of its slots as the cluster has load for; each heartbeat gives at most one map
//! far from its data, which ends the heartbeat's maps, and one reduce. While nearly all slots are taken (*padding*),
//! it gives one map only, and a reduce of the first job only. Order: priority, start, number. The sums over all jobs
//! are kept up with each change, so that a round costs the same with 10 and with 10,000 jobs. Source:
//! `docs/hadoop.md#fifo`, MR1 JobQueueTaskScheduler of 1.2.1 and 0.20.2; doubles where it has them.
//!
//! The dialects differ in maps that ran before: in 1.2.1 they count as near their data wherever they run, in 0.20.2
//! only where they are. `Deviation:` 0.20.2 offers them first among the maps of their hosts only; here the task
//! choice is one for all. `Deviation:` a job starts when it is submitted, as nothing is initialised here.

use std::collections::BTreeSet;

use super::params::{Reader, SchedulerError};
use super::reason::{rivals, waiting_kind};
use super::{Assignment, Capabilities, Change, Offer, PerJob, Reason, Round, Scheduler, Waiting};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{JobId, Locality, PerKind, Priority, TaskKind};
use crate::time::Time;

/// `mapred.jobtracker.taskalloc.capacitypad`.
const PAD: f32 = 0.01;
/// Up to so many workers nothing is padded.
const TOO_FEW_TO_PAD: u32 = 3;

type Rank = (Priority, Time);

/// Which Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    V0202,
    V121,
}

/// The policy.
#[derive(Clone)]
pub struct JobQueue {
    dialect: Dialect,
    offer: Offer,
    waiting: Waiting<Rank>,
    jobs: PerJob<Entry>,
    /// All live jobs; only kept for a rule that wants speculative attempts.
    live: BTreeSet<(Rank, JobId)>,
    /// Live jobs with reduces: the only ones that padding looks at, also for maps.
    with_reduces: BTreeSet<(Rank, JobId)>,
    sums: Load,
    turn: Option<Turn>,
}

/// A live job, as it stands in the sums.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rank: Rank,
    load: Load,
}

/// Tasks by kind, each counted by the slots that it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Load {
    /// Not done yet; reduces only once they may start.
    remaining: PerKind<u64>,
    /// Not given up; of jobs with reduces only.
    desired: PerKind<u64>,
}

/// What a worker may still get in its present heartbeat.
#[derive(Clone, Copy, Debug)]
struct Turn {
    round: Round,
    maps: u32,
    reduces: u32,
    /// Whether nearly all slots of a kind are taken.
    padded: PerKind<bool>,
}

impl Load {
    fn of(job: &Job) -> Load {
        let count = |kind| {
            let (tasks, slots) = (job.tasks(kind), u64::from(job.slots(kind)));
            (u64::from(tasks.n_left()) * slots, u64::from(tasks.len() - tasks.n_failed()) * slots)
        };
        let (maps, desired_maps) = count(TaskKind::Map);
        let (reduces, desired_reduces) = count(TaskKind::Reduce);
        let reduces = if job.reduces_may_start() { reduces } else { 0 };
        let padded = job.spec().n_reduces > 0;
        let desired = if padded { [desired_maps, desired_reduces] } else { [0; 2] };
        Load { remaining: [maps, reduces], desired }
    }

    fn change(&mut self, old: Load, new: Load) {
        for kind in 0..2 {
            self.remaining[kind] = self.remaining[kind] + new.remaining[kind] - old.remaining[kind];
            self.desired[kind] = self.desired[kind] + new.desired[kind] - old.desired[kind];
        }
    }
}

impl JobQueue {
    /// Reads `speculation`; the dialect is one of the registry's `0.20.2` and `1.2.1`.
    pub(super) fn from_params(dialect: &str, params: &mut Reader<'_>) -> Result<JobQueue, SchedulerError> {
        let dialect = if dialect == "0.20.2" { Dialect::V0202 } else { Dialect::V121 };
        Ok(JobQueue::new(dialect, Offer::from_params(params)?))
    }

    fn new(dialect: Dialect, offer: Offer) -> JobQueue {
        JobQueue {
            dialect,
            offer,
            waiting: Waiting::default(),
            jobs: PerJob::default(),
            live: BTreeSet::new(),
            with_reduces: BTreeSet::new(),
            sums: Load::default(),
            turn: None,
        }
    }

    fn enter(&mut self, job: &Job) {
        let (id, rank, load) = (job.id(), (job.priority(), job.submitted()), Load::of(job));
        self.sums.change(Load::default(), load);
        self.jobs.insert(id, Entry { rank, load });
        if job.spec().n_reduces > 0 {
            self.with_reduces.insert((rank, id));
        }
        if self.offer.speculates() {
            self.live.insert((rank, id));
        }
        for kind in TaskKind::ALL.into_iter().filter(|&kind| job.offerable(kind)) {
            self.waiting.insert(kind, rank, id);
        }
    }

    fn leave(&mut self, id: JobId) {
        let Some(Entry { rank, load }) = self.jobs.remove(id) else { return };
        self.sums.change(load, Load::default());
        self.with_reduces.remove(&(rank, id));
        self.live.remove(&(rank, id));
        for kind in TaskKind::ALL {
            self.waiting.remove(kind, rank, id);
        }
    }

    /// Brings a job's part of the sums up to date.
    fn count(&mut self, id: JobId, state: &ClusterState) {
        if let (Some(entry), Some(job)) = (self.jobs.get_mut(id), state.job(id)) {
            let load = Load::of(job);
            self.sums.change(entry.load, load);
            entry.load = load;
        }
    }

    /// Tasks of a kind that a worker may run: its slots times the load of the cluster per slot, rounded up.
    fn cap(&self, kind: TaskKind, worker: &Worker, state: &ClusterState) -> u32 {
        let (slots, cluster) = (u32::from(worker.slots(kind)), state.totals().slots[kind]);
        if cluster == 0 {
            return 0;
        }
        let factor = self.sums.remaining[kind] as f64 / f64::from(cluster);
        ((factor * f64::from(slots)).ceil() as u32).min(slots)
    }

    /// Whether the slots that are left are only as many as are kept for failures and speculative attempts.
    ///
    /// Hadoop adds the jobs up one by one and looks after each; as padding grows with them, the last look decides.
    /// It looks at jobs with reduces only, even for maps, and not at all if there are none.
    fn is_padded(&self, kind: TaskKind, worker: &Worker, state: &ClusterState) -> bool {
        let totals = state.totals();
        let padding = if totals.live > TOO_FEW_TO_PAD {
            let needed = (self.sums.desired[kind] as f32 * PAD) as u32;
            needed.min(u32::from(worker.slots(kind)))
        } else {
            0
        };
        !self.with_reduces.is_empty() && totals.running[kind] + padding >= totals.slots[kind]
    }

    fn begin(&self, round: &Round, state: &ClusterState) -> Option<Turn> {
        let worker = state.worker(round.worker)?;
        let room = |kind| self.cap(kind, worker, state).saturating_sub(worker.occupied(kind).into());
        let (maps, reduces) = (room(TaskKind::Map), room(TaskKind::Reduce).min(1));
        let padded = |kind, room: u32| room > 0 && self.is_padded(kind, worker, state);
        let padded = [padded(TaskKind::Map, maps), padded(TaskKind::Reduce, reduces)];
        Some(Turn { round: *round, maps, reduces, padded })
    }

    /// A map of the first job that has one for the worker, and whether it is near its data.
    fn map(&mut self, turn: &Turn, state: &ClusterState, worker: &Worker) -> Option<(Assignment, bool)> {
        let map = if self.offer.speculates() {
            self.with_second(TaskKind::Map, turn, state, worker)?
        } else {
            let JobQueue { offer, waiting, .. } = self;
            let mut ask = |id| offer.pending(state, state.job(id)?, TaskKind::Map, worker);
            // The first job takes nearly every slot, and starting an iteration costs more than finding it.
            let first = waiting.first(TaskKind::Map)?;
            ask(first).or_else(|| waiting.iter(TaskKind::Map).skip(1).find_map(ask))?
        };
        // A speculative attempt counts as far.
        Some((map, !map.speculative && is_near(self.dialect, state.job(map.job)?, &map)))
    }

    /// A reduce of the first job that has one for the worker.
    fn reduce(&mut self, turn: &Turn, state: &ClusterState, worker: &Worker) -> Option<Assignment> {
        let JobQueue { offer, waiting, with_reduces, .. } = self;
        if turn.padded[TaskKind::Reduce as usize] {
            let job = state.job(with_reduces.first()?.1)?;
            let pending = offer.pending(state, job, TaskKind::Reduce, worker);
            return pending.or_else(|| match offer.speculates() {
                true => offer.second(turn.round.now, state, job, TaskKind::Reduce, worker),
                false => None,
            });
        }
        if offer.speculates() {
            return self.with_second(TaskKind::Reduce, turn, state, worker);
        }
        waiting.iter(TaskKind::Reduce).find_map(|id| offer.pending(state, state.job(id)?, TaskKind::Reduce, worker))
    }

    /// With speculative attempts: job by job as Hadoop does, or only where nothing pending could be given.
    fn with_second(
        &mut self,
        kind: TaskKind,
        turn: &Turn,
        state: &ClusterState,
        worker: &Worker,
    ) -> Option<Assignment> {
        let JobQueue { offer, waiting, live, .. } = self;
        let by_job = offer.second_before_next_job();
        if !by_job {
            let pending = waiting.iter(kind).find_map(|id| offer.pending(state, state.job(id)?, kind, worker));
            if pending.is_some() {
                return pending;
            }
        }
        live.iter().find_map(|&(_, id)| {
            let job = state.job(id)?;
            let pending = if by_job { offer.pending(state, job, kind, worker) } else { None };
            pending.or_else(|| offer.second(turn.round.now, state, job, kind, worker))
        })
    }
}

/// Whether a map counts as near its data. One without known place does not.
fn is_near(dialect: Dialect, job: &Job, map: &Assignment) -> bool {
    let ran_before = || job.tasks(TaskKind::Map).failed_first().any(|index| index == map.index);
    map.locality <= Locality::Rack || (dialect == Dialect::V121 && ran_before())
}

impl Scheduler for JobQueue {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        match *change {
            Change::Submitted { job } => state.job(job).into_iter().for_each(|job| self.enter(job)),
            Change::JobOver { job, .. } => self.leave(job),
            Change::Priority { job, .. } => {
                self.leave(job);
                state.job(job).into_iter().for_each(|job| self.enter(job));
            }
            Change::Offerable { job, kind, offerable } => {
                self.count(job, state);
                let Some(&Entry { rank, .. }) = self.jobs.get(job) else { return };
                if offerable {
                    self.waiting.insert(kind, rank, job);
                } else {
                    self.waiting.remove(kind, rank, job);
                }
            }
            Change::Ended { attempt, .. } => self.count(attempt.job, state),
            Change::Returned { task } => self.count(task.job, state),
            _ => {}
        }
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.turn = self.begin(round, state);
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let mut turn = self.turn?;
        let worker = state.worker(round.worker)?;
        if turn.maps > 0 && worker.free(TaskKind::Map) > 0 {
            let found = self.map(&turn, state, worker);
            let goes_on = found.is_some_and(|(_, near)| near) && !turn.padded[TaskKind::Map as usize];
            turn.maps = if goes_on { turn.maps - 1 } else { 0 };
            self.turn = Some(turn);
            if let Some((map, _)) = found {
                return Some(map);
            }
        }
        if turn.reduces > 0 && worker.free(TaskKind::Reduce) > 0 {
            turn.reduces = 0;
            self.turn = Some(turn);
            return self.reduce(&turn, state, worker);
        }
        None
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        // An end may lift the padding, or what the rule for speculative execution kept back.
        matches!(change, Change::Ended { .. })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            limits_rounds: true,
            reads_profiles: false,
            may_speculate: self.offer.speculates(),
            ..Capabilities::default()
        }
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(entry), Some(kind)) = (self.jobs.get(id), waiting_kind(id, state)) else { return Reason::Unknown };
        let ahead = self.waiting.ahead(kind, entry.rank, id, rivals(id, kind, state));
        let reason = self.offer.explain(Reason::in_order(kind, ahead, state), id, state);
        if reason != Reason::NextHeartbeat(kind) {
            return reason;
        }
        let (load, slots) = (self.sums.remaining[kind], state.totals().slots[kind]);
        let each = match kind {
            TaskKind::Map => "one map far from its data",
            TaskKind::Reduce => "one reduce",
        };
        Reason::Limit(format!(
            "It is next and {kind} slots are free: a heartbeat gives at most {each}, and a worker runs no larger part \
             of its slots than the load of {load} {kind}s is of the cluster's {slots}."
        ))
    }

    fn attach(&mut self, state: &ClusterState) {
        *self = JobQueue::new(self.dialect, self.offer.clone());
        self.offer.attach(state);
        state.jobs().for_each(|job| self.enter(job));
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
