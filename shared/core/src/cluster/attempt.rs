//! The running attempts of the cluster, in recycled slots.
//!
//! An attempt is here from its assignment until it is over; then it leaves as an effect, so that memory grows
//! with what runs, not with what ever ran. A reference names its attempt's launch as well as its slot, so that an old
//! reference never meets a new attempt.

use serde::{Deserialize, Serialize};

use crate::job::{AttemptId, AttemptState, JobId, Locality, Phase, Progress, TaskKind, WorkerId};
use crate::time::Time;

/// No slot: the end of a chain.
pub(crate) const NONE: u32 = u32::MAX;

/// Why an attempt ended or is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum EndCause {
    /// The worker's report says so: exit code, signal and messages are with the driver.
    Reported = 0,
    /// Another attempt of the task won.
    LostRace = 1,
    /// The job is over or being killed.
    JobEnded = 2,
    /// By request.
    Requested = 3,
    /// Its worker was lost.
    WorkerLost = 4,
    /// The worker never reported the launch.
    LaunchExpired = 5,
    /// Reduces could not fetch its output.
    TooManyFetchFailures = 6,
    /// The scheduler preempted it.
    Preempted = 7,
    /// The worker stopped reporting an attempt that it had reported before.
    Vanished = 8,
    /// The worker cannot see the job's files; another may.
    Unserved = 9,
    /// Nobody can fetch the map's output from its worker.
    Unreachable = 10,
    /// Nothing of its output was there when the job's was put in its place.
    OutputGone = 11,
    /// Its worker was lost, and so were those of earlier attempts of its task: the task gets no other one.
    TooManyWorkerLosses = 12,
}

/// A reference to a running attempt that notices when the attempt is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptRef {
    pub(crate) slot: u32,
    /// Launches before its own, of all attempts that ever were.
    pub(crate) launch: u64,
}

/// One running attempt.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    pub(crate) id: AttemptId,
    pub(crate) worker: WorkerId,
    pub(crate) started: Time,
    pub(crate) locality: Locality,
    pub(crate) state: AttemptState,
    pub(crate) phase: Phase,
    /// When a reduce was first reported to sort and to reduce; zero before that.
    pub(crate) phases_from: [Time; 2],
    pub(crate) progress: Progress,
    /// When its progress was reported; zero before that. It decides nothing, and no snapshot has it: forecasts learn it anew.
    pub(crate) reported: Time,
    pub(crate) speculative: bool,
    /// Why it is to be stopped, once it is.
    pub(crate) kill: Option<EndCause>,
    /// Whether an answer has carried that directive.
    pub(crate) kill_sent: bool,
    /// Whether being stopped counts as a failure of the task.
    pub(crate) kill_fails: bool,
    /// Whether it is its task's winner.
    pub(crate) commit: bool,
    /// Over for its job; it only fills its worker's slot until the worker has stopped it.
    pub(crate) detached: bool,
    /// Next running attempt of the same task.
    pub(crate) next: u32,
    /// Of its worker, that it holds.
    pub(crate) slots: u16,
    /// Index in the worker's list of attempts.
    pub(crate) position: u32,
    /// Number of the last report that listed it.
    pub(crate) seen: u32,
    /// Launches before its own.
    launch: u64,
    used: bool,
}

impl Attempt {
    /// The first of its task, on one slot, `Launching` or `Running`.
    #[inline(always)]
    pub(crate) fn new(
        id: AttemptId,
        worker: WorkerId,
        started: Time,
        locality: Locality,
        state: AttemptState,
    ) -> Attempt {
        Attempt {
            id,
            worker,
            started,
            locality,
            state,
            phase: Phase::Starting,
            phases_from: [Time::ZERO; 2],
            progress: Progress::ZERO,
            reported: Time::ZERO,
            speculative: false,
            kill: None,
            kill_sent: false,
            kill_fails: false,
            commit: false,
            detached: false,
            next: NONE,
            slots: 1,
            position: 0,
            seen: 0,
            launch: 0,
            used: true,
        }
    }

    /// Which attempt.
    pub fn id(&self) -> AttemptId {
        self.id
    }

    /// Where it runs.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// When it was assigned.
    pub fn started(&self) -> Time {
        self.started
    }

    /// `Launching`, `Running` or `CommitPending`.
    pub fn state(&self) -> AttemptState {
        self.state
    }

    /// What it did at the last report.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When the phase in which a reduce sorts or reduces began, as reports told; `None` of other phases.
    pub fn phase_from(&self) -> Option<Time> {
        let from = match self.phase {
            Phase::Sort => self.phases_from[0],
            Phase::Reduce => self.phases_from[1],
            Phase::Starting | Phase::Map | Phase::Shuffle => Time::ZERO,
        };
        (from > Time::ZERO).then_some(from)
    }

    /// Takes over the phase of a report. What a phase has begun once it has begun.
    pub(crate) fn enter(&mut self, phase: Phase, now: Time) {
        self.phase = phase;
        for (from, begun) in self.phases_from.iter_mut().zip([Phase::Sort, Phase::Reduce]) {
            if phase >= begun && *from == Time::ZERO {
                *from = now;
            }
        }
    }

    /// How far it was at the last report.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// When that report came; `None` before the first one.
    pub fn reported(&self) -> Option<Time> {
        (self.reported > Time::ZERO).then_some(self.reported)
    }

    /// How close to its data it runs.
    pub fn locality(&self) -> Locality {
        self.locality
    }

    /// Whether another attempt of the task ran when it was assigned.
    pub fn speculative(&self) -> bool {
        self.speculative
    }

    /// Slots of its worker that it holds, from 1.
    pub fn slots(&self) -> u16 {
        self.slots
    }

    /// Why it is being stopped, if it is.
    pub fn being_killed(&self) -> Option<EndCause> {
        self.kill
    }

    /// Whether its job is done with it: it only fills a slot until its worker has stopped it.
    pub fn detached(&self) -> bool {
        self.detached
    }
}

/// A reduce that succeeded, and when its last two phases had begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducePhases {
    /// The task's winner.
    pub attempt: AttemptId,
    /// When it was first reported to sort, or to be past that.
    pub sort_from: Time,
    /// When it was first reported to reduce.
    pub reduce_from: Time,
}

/// All running attempts.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    slots: Vec<Attempt>,
    free: Vec<u32>,
    /// Attempts that were ever launched.
    launched: u64,
}

impl Attempts {
    /// Attempts running now.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All running attempts, in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (AttemptRef, &Attempt)> {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, a)| a.used)
            .map(|(slot, a)| (AttemptRef { slot: slot as u32, launch: a.launch }, a))
    }

    /// The attempt, unless it is over.
    #[inline]
    pub fn get(&self, reference: AttemptRef) -> Option<&Attempt> {
        self.slots.get(reference.slot as usize).filter(|a| a.used && a.launch == reference.launch)
    }

    /// Puts an attempt into a free slot. Inlined, so that its fields go straight there: a copy of what was just written
    /// in narrower pieces stalls the processor.
    #[inline(always)]
    pub(crate) fn insert(&mut self, mut attempt: Attempt) -> AttemptRef {
        let launch = self.launched;
        self.launched += 1;
        attempt.launch = launch;
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = attempt;
                AttemptRef { slot, launch }
            }
            None => {
                self.slots.push(attempt);
                AttemptRef { slot: self.slots.len() as u32 - 1, launch }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: u32) {
        let attempt = &mut self.slots[slot as usize];
        debug_assert!(attempt.used, "slot {slot} is freed twice");
        attempt.used = false;
        self.free.push(slot);
    }

    /// How many were ever launched, and the free slots.
    pub(super) fn past(&self) -> (u64, &[u32]) {
        (self.launched, &self.free)
    }

    /// With these in their slots, each with its launch, and the others `free`.
    pub(super) fn of_slots(launched: u64, free: Vec<u32>, slots: Vec<Option<(u64, Attempt)>>) -> Attempts {
        let nobody = AttemptId { job: JobId(0), index: 0, number: 0, kind: TaskKind::Map };
        let nothing = || Attempt::new(nobody, WorkerId(0), Time::ZERO, Locality::Unknown, AttemptState::Launching);
        let slot = |place: Option<(u64, Attempt)>| match place {
            Some((launch, attempt)) => Attempt { launch, used: true, ..attempt },
            None => Attempt { used: false, ..nothing() },
        };
        Attempts { slots: slots.into_iter().map(slot).collect(), free, launched }
    }

    pub(crate) fn reference(&self, slot: u32) -> AttemptRef {
        AttemptRef { slot, launch: self.slots[slot as usize].launch }
    }

    #[inline]
    pub(crate) fn at(&self, slot: u32) -> &Attempt {
        &self.slots[slot as usize]
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut Attempt {
        &mut self.slots[slot as usize]
    }
}
