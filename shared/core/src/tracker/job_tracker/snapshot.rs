//! A master as plain data, and a master made of it.
//!
//! At rest no job is left and no attempt runs. What a master has to remember then is small: its workers with what was
//! held against them, who waits, the last job's number, how the last jobs ended. At work it remembers its jobs and attempts
//! besides (`work.rs`). A policy's books are not among it: [`Input::Snapshot`](crate::tracker::Input::Snapshot) replaces the
//! policy by a fresh one, live as in every later reading, so that no policy needs a stored form. **Invariant: the live master
//! itself becomes what its snapshot says, so one that is made of the snapshot later decides alike.**

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::JobTracker;
use super::interval::Pace;
use super::liveness::Liveness;
use super::parking::Parking;
use super::work::Work;
use crate::cluster::{
    ClusterState, JobSummary, MOST_KEPT, Parked, ShortFailure, ShortFailures, SpeculationCosts, Topology, Vitals,
    Worker, WorkerState,
};
use crate::job::requirement::MAX_ATTRIBUTES;
use crate::job::{AttemptId, JobId, PerKind, TaskId, TaskKind, WorkerId};
use crate::schedulers::{Scheduler, registry};
use crate::time::Time;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{ClusterConfig, Rejection, SchedulerChoice};

/// Of the form of a master at rest.
const AT_REST: u32 = 1;
/// Of the form of a master at work.
const AT_WORK: u32 = 2;
/// Of either, where it says of failing workers and lost ones what earlier readers would not see; readers know all up to it.
const VERSION: u32 = 3;
/// No cluster had so many jobs; a number beyond it is no number of a job.
const MOST_JOBS: u32 = u32::MAX / 2;
/// Nor did so many reports wait for their answers.
const MOST_TURNS: u64 = u64::MAX / 2;
/// Sums with later times and spans stay within their bounds.
const LAST_TIME: Time = Time::from_us(u64::MAX / 4);

/// What a master remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    now: Time,
    /// Starts of a master after the first one.
    epoch: u32,
    report: u32,
    last_job: u32,
    /// How the last of them ended, in order up to `last_job`, those aside that are not over.
    ended: Vec<JobSummary>,
    costs: SpeculationCosts,
    /// By number.
    workers: Vec<SavedWorker>,
    topology: Topology,
    /// Who was heard of when, ascending by time; neither lost nor parked ones.
    heard: Vec<(WorkerId, Time)>,
    /// Turns of parking so far.
    turn: u64,
    pace: Pace,
    next_forgiving: Option<Time>,
    /// Of a master at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work: Option<Work>,
}

/// A worker without attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedWorker {
    name: String,
    host: String,
    rack: String,
    incarnation: u64,
    attributes: Vec<(String, String)>,
    attributes_version: u32,
    state: WorkerState,
    draining: bool,
    blacklisted: bool,
    unreachable: bool,
    slots: PerKind<u16>,
    free: PerKind<u16>,
    accepts: bool,
    last_contact: Time,
    vitals: Vitals,
    response_id: u32,
    parked: Option<Parked>,
    news: bool,
    may_park: bool,
    /// Jobs whose files it is to forget.
    forget: Vec<(JobId, bool)>,
    /// Attempts that only it believes in, and in which report.
    strays: Vec<(JobId, TaskKind, u32, u16, u32)>,
    /// When, and how many.
    faults: Vec<(Time, u32)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    black_hole: bool,
    /// What it failed soon after the start, and whether another worker has done it since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    short_failures: Vec<(JobId, TaskKind, u32, bool)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fell_silent: Option<Time>,
}

/// A snapshot that no master can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Its form is a later one.
    #[error("snapshot of the master: version {0}, expected at most {VERSION}")]
    Version(u32),
    /// It contradicts itself.
    #[error("snapshot of the master: {0}")]
    Broken(String),
}

impl Snapshot {
    /// When it was taken.
    pub fn time(&self) -> Time {
        self.now
    }

    /// Number of the last job, 0 if there was none.
    pub fn last_job(&self) -> u32 {
        self.last_job
    }

    /// Starts of a master before it, without the first one.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Jobs that were not over, ascending.
    pub fn live_jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.work.iter().flat_map(Work::live_jobs)
    }

    /// The version of the form that has all it says.
    fn form(&self) -> u32 {
        let says_more =
            self.workers.iter().any(SavedWorker::says_more) || self.work.as_ref().is_some_and(Work::says_more);
        match &self.work {
            _ if says_more => VERSION,
            Some(_) => AT_WORK,
            None => AT_REST,
        }
    }
}

impl SavedWorker {
    fn of(worker: &Worker, failed: Option<&ShortFailures>) -> SavedWorker {
        let stray =
            |&(AttemptId { job, kind, index, number }, report): &(AttemptId, u32)| (job, kind, index, number, report);
        let forgives = planted(Fault::SnapshotForgives);
        SavedWorker {
            name: worker.name.clone(),
            host: worker.host_name.clone(),
            rack: worker.rack_name.clone(),
            incarnation: worker.incarnation,
            attributes: worker.attributes.clone(),
            attributes_version: worker.attributes_version,
            state: worker.state,
            draining: worker.draining && !forgives,
            blacklisted: worker.blacklisted && !forgives,
            unreachable: worker.unreachable,
            slots: worker.slots,
            free: worker.free,
            accepts: worker.accepts,
            last_contact: worker.last_contact,
            vitals: worker.vitals,
            response_id: worker.response_id,
            parked: worker.parked,
            news: worker.news,
            may_park: worker.may_park,
            forget: worker.forget.to_vec(),
            strays: worker.strays.iter().map(stray).collect(),
            faults: worker.faults.to_vec(),
            black_hole: worker.black_hole && !forgives,
            short_failures: failed
                .into_iter()
                .flat_map(ShortFailures::iter)
                .map(|&ShortFailure { task: TaskId { job, kind, index }, done }| (job, kind, index, done))
                .collect(),
            fell_silent: worker.fell_silent,
        }
    }

    /// Whether it says what only the third form has.
    fn says_more(&self) -> bool {
        self.black_hole || !self.short_failures.is_empty() || self.fell_silent.is_some()
    }

    fn restored(self, id: WorkerId, topology: &mut Topology) -> Worker {
        let stray = |(job, kind, index, number, report)| (AttemptId { job, kind, index, number }, report);
        Worker {
            id,
            host: topology.intern_host(&self.host),
            rack: topology.intern_rack(&self.rack),
            name: self.name,
            host_name: self.host,
            rack_name: self.rack,
            incarnation: self.incarnation,
            attributes: self.attributes,
            attributes_version: self.attributes_version,
            state: self.state,
            draining: self.draining,
            blacklisted: self.blacklisted,
            black_hole: self.black_hole,
            fell_silent: self.fell_silent,
            unreachable: self.unreachable,
            slots: self.slots,
            occupied: [0; 2],
            free: self.free,
            accepts: self.accepts,
            attempts: Vec::new(),
            last_contact: self.last_contact,
            vitals: self.vitals,
            response_id: self.response_id,
            parked: self.parked,
            news: self.news,
            calling: 0,
            may_park: self.may_park,
            forget: SmallVec::from_vec(self.forget),
            strays: self.strays.into_iter().map(stray).collect(),
            faults: SmallVec::from_vec(self.faults),
            reserved: [None; 2],
        }
    }

    fn check(&self, now: Time) -> Result<(), SnapshotError> {
        let ascending = self.attributes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let fits = self.free.iter().zip(&self.slots).all(|(free, slots)| free <= slots);
        let present = self.state != WorkerState::Lost || self.parked.is_none();
        let faults: u64 = self.faults.iter().map(|&(_, n)| u64::from(n)).sum();
        let past = self.last_contact.max(self.fell_silent.unwrap_or(Time::ZERO)) <= now
            && self.faults.iter().all(|&(at, _)| at <= now);
        if ascending
            && fits
            && present
            && past
            && faults <= u64::from(MOST_JOBS)
            && self.attributes.len() <= MAX_ATTRIBUTES
            && self.short_failures.len() <= MOST_KEPT
        {
            return Ok(());
        }
        Err(broken(format!("what it says of worker `{}` cannot be", self.name)))
    }
}

impl JobTracker {
    /// Whether no job is left, no attempt runs and nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        let served = |worker: &Worker| worker.calling == 0 && worker.attempts.is_empty();
        !self.direct
            && self.state.jobs.n_live == 0
            && self.state.attempts.is_empty()
            && self.callers.is_empty()
            && self.releases.is_empty()
            && self.state.workers.iter().all(served)
    }

    /// Whether nothing is under way that a snapshot does not hold: no report of a batch waits for its answer, no work for an
    /// offer.
    fn is_settled(&self) -> bool {
        !self.direct
            && self.callers.is_empty()
            && self.releases.is_empty()
            && self.wake == [false; 2]
            && !self.wake_all
            && self.state.workers.iter().all(|worker| worker.calling == 0)
    }

    /// What it remembers; `None` in the middle of a batch.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let at_rest = self.is_at_rest();
        if !at_rest && !self.is_settled() {
            return None;
        }
        let forgets = planted(Fault::SnapshotWithoutLastJob);
        let snapshot = Snapshot {
            version: 0,
            now: self.state.now,
            epoch: self.state.epoch,
            report: self.report,
            last_job: if forgets { 0 } else { self.state.last_job() },
            ended: self.state.ended_jobs().map(|(_, summary)| *summary).filter(|_| !forgets).collect(),
            costs: self.state.costs,
            workers: self
                .state
                .workers
                .iter()
                .map(|worker| SavedWorker::of(worker, self.state.failing.get(&worker.id)))
                .collect(),
            topology: self.state.topology.clone(),
            heard: self.liveness.in_order().collect(),
            turn: self.parking.turns(),
            pace: self.pace,
            next_forgiving: self.next_forgiving,
            work: (!at_rest).then(|| self.work()),
        };
        Some(Snapshot { version: snapshot.form(), ..snapshot })
    }

    /// A master that goes on from a snapshot, under a fresh policy.
    ///
    /// # Errors
    /// When the snapshot is of a later version, or no master's.
    pub fn from_snapshot(
        config: ClusterConfig,
        scheduler: Box<dyn Scheduler>,
        snapshot: Snapshot,
    ) -> Result<JobTracker, SnapshotError> {
        check(&snapshot)?;
        let mut state = ClusterState::new();
        (state.now, state.epoch, state.costs) = (snapshot.now, snapshot.epoch, snapshot.costs);
        state.topology = snapshot.topology;
        for (number, mut saved) in snapshot.workers.into_iter().enumerate() {
            let id = WorkerId(number as u32);
            if !saved.short_failures.is_empty() {
                let failed = std::mem::take(&mut saved.short_failures).into_iter();
                let failed =
                    failed.map(|(job, kind, index, done)| ShortFailure { task: TaskId { job, kind, index }, done });
                state.failing.insert(id, failed.collect());
            }
            let worker = saved.restored(id, &mut state.topology);
            state.totals.count(&worker, true);
            state.unreachable += u32::from(worker.unreachable);
            state.names.insert(worker.name.clone(), worker.id);
            state.workers.push(worker);
        }
        let (jobs, rest) = snapshot.work.map_or_else(Default::default, Work::into_parts);
        state.restore_jobs(snapshot.last_job, snapshot.ended, jobs).map_err(broken)?;
        if planted(Fault::SnapshotAsSubmitted) {
            state.jobs.iter_mut().for_each(|job| job.priority = job.spec.priority);
        }
        let (launches, reserves) = rest.restore(&mut state).map_err(broken)?;
        let mut liveness = Liveness::new();
        snapshot.heard.iter().for_each(|&(worker, contact)| liveness.note_contact(worker, contact));
        let parking = Parking::restored(snapshot.turn, &state.workers);
        let mut tracker = JobTracker::with_state(config, state, scheduler);
        (tracker.liveness, tracker.parking) = (liveness, parking);
        (tracker.launches, tracker.reserves) = (launches, reserves);
        tracker.small_waiting = tracker.counts_small_waiting();
        (tracker.report, tracker.pace, tracker.next_forgiving) =
            (snapshot.report, snapshot.pace, snapshot.next_forgiving);
        tracker.check_invariants().map_err(broken)?;
        Ok(tracker)
    }

    /// Becomes what its snapshot says, under a fresh policy; refused in the middle of a batch, and if the policy cannot be made.
    pub(super) fn on_snapshot(&mut self, choice: &SchedulerChoice) {
        // Nothing of the batch may come after it: who is made of the snapshot meets the policy as it is now.
        self.answer_overdue();
        let policy = match registry::by_name(&choice.name, &choice.params) {
            Ok(policy) => Some(policy),
            Err(_) if self.scheduler.name() == choice.name => self.scheduler.renewed(),
            Err(_) => None,
        };
        let (Some(snapshot), Some(mut policy)) = (self.snapshot(), policy) else {
            return self.reject(None, Rejection::NotAtRest);
        };
        // What it says of its parameters was said when they were chosen.
        policy.take_notes();
        let restored = JobTracker::from_snapshot(self.config.clone(), policy, snapshot);
        match restored {
            Ok(restored) => {
                let (out, recorded) = (std::mem::take(&mut self.out), self.recorded.take());
                *self = JobTracker { out, recorded, ..restored };
            }
            Err(_) => self.reject(None, Rejection::NotAtRest),
        }
    }
}

/// What the rest of this file and the invariants take for granted.
fn check(snapshot: &Snapshot) -> Result<(), SnapshotError> {
    let Snapshot { version, epoch, turn, pace, costs, last_job, ended, workers, heard, now, topology, .. } = snapshot;
    let expected = snapshot.form();
    if *version == 0 || *version > VERSION {
        return Err(SnapshotError::Version(*version));
    }
    if *version != expected {
        return Err(broken(format!("version {version} of its form, expected {expected} of what it says")));
    }
    if snapshot.report > MOST_JOBS {
        return Err(broken(format!("{} reports", snapshot.report)));
    }
    if *epoch > MOST_JOBS || *turn > MOST_TURNS || *now > LAST_TIME {
        return Err(broken(format!("{epoch} starts and {turn} parked reports by {} us", now.as_us())));
    }
    let counts = |costs: &SpeculationCosts| costs.won.checked_add(costs.lost) == Some(costs.launched);
    // What runs has not been counted out yet.
    let in_all = |costs: &SpeculationCosts| {
        let over = costs.won.checked_add(costs.lost);
        over.and_then(|over| over.checked_add(snapshot.work.as_ref().map_or(0, Work::running_copies)))
            == Some(costs.launched)
    };
    if !in_all(costs) || !ended.iter().all(|job| counts(&job.costs)) || !pace.check(*now) {
        return Err(broken("its counts contradict each other".to_owned()));
    }
    if *last_job > MOST_JOBS || ended.len() > *last_job as usize {
        return Err(broken(format!("{} ended jobs up to number {last_job}", ended.len())));
    }
    if !topology.check() {
        return Err(broken("its hosts and racks are not numbered one by one".to_owned()));
    }
    workers.iter().try_for_each(|worker| worker.check(*now))?;
    if workers.iter().any(|worker| worker.parked.is_some_and(|parked| parked.turn > *turn)) {
        return Err(broken(format!("a report parked after the last turn, {turn}")));
    }
    let mut turns: Vec<u64> = workers.iter().filter_map(|worker| Some(worker.parked?.turn)).collect();
    turns.sort_unstable();
    if turns.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(broken("two reports parked in one turn".to_owned()));
    }
    let mut names: Vec<&str> = workers.iter().map(|worker| worker.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(broken(format!("two workers are named `{}`", pair[0])));
    }
    let in_order = heard.windows(2).all(|pair| pair[0].1 <= pair[1].1);
    let known = heard.iter().all(|&(worker, at)| (worker.0 as usize) < workers.len() && at <= *now);
    if !in_order || !known {
        return Err(broken("its list of who was heard of is no list of its workers in order of time".to_owned()));
    }
    Ok(())
}

fn broken(problem: String) -> SnapshotError {
    SnapshotError::Broken(problem)
}
