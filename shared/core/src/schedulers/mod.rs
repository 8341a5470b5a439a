//! Policies: which job's task runs next, on which worker.
//!
//! A policy sees the cluster, is notified of changes, and is asked once per *round*: one worker's turn, with its
//! free map and reduce slots. Hadoop's rules (one off-rack map, map and reduce in turn, padding) are per
//! round, so a policy that saw single slots could not express them. Waits, preemption and demotion come as
//! the policy's own deadlines and [`Actions`].
//!
//! A policy composes from three parts: an order of jobs, a [`TaskChoice`] within a job, and [`Speculation`]; the
//! latter two come together as an [`Offer`]. A new policy is one file, mostly a [`JobOrder`] for [`Ordered`], and one
//! line in [`registry`]. **No policy sees who drives it, and none may let
//! the order of a hash map decide.**

mod balanced_pools;
mod capacity;
pub mod fair;
mod fifo;
pub mod hadoop_xml;
mod job_queue;
mod johnson;
pub mod mapred_site;
mod max_edf;
mod min_edf;
pub mod nearest;
mod numbers;
mod offer;
mod ordered;
mod per_job;
mod queues;
mod reason;
pub mod registry;
mod shortest;
pub mod size_based;
mod speculation;
mod task_choice;
mod unmet;
mod waiting;

pub use balanced_pools::BalancedPools;
pub use capacity::Capacity;
pub use fifo::Fifo;
pub use job_queue::JobQueue;
pub use johnson::Johnson;
pub use max_edf::MaxEdf;
pub use min_edf::MinEdf;
pub use offer::Offer;
pub use ordered::{JobOrder, Ordered};
pub use per_job::PerJob;
pub use queues::QueueView;
pub use reason::Reason;
pub use registry::{SchedulerError, by_name, names};
pub use shortest::Shortest;
pub use speculation::{NoSpeculation, SecondAttemptRule, Speculation, second_attempt_rule};
pub use task_choice::{Choice, Decline, NearestFirst, TaskChoice};
pub use unmet::{Missing, Unmet};
pub use waiting::Waiting;

use crate::cluster::{AttemptRef, ClusterState, EndCause};
use crate::job::{AttemptId, AttemptState, JobId, JobSpec, JobState, Locality, Priority, TaskId, TaskKind, WorkerId};
use crate::time::Time;

/// A policy.
///
/// The JobTracker calls `observe` after each change, with the state as it is after it; then, for each round,
/// `begin_round`, `assign` until it returns `None` or no slot is free, and `end_round`. An assignment takes
/// effect before the next call. An invalid assignment (no such pending task, no free slot, a
/// worker that the task avoids) is dropped and ends the round.
pub trait Scheduler: Send {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Something changed; keep own indexes up to date.
    fn observe(&mut self, change: &Change, state: &ClusterState);

    /// A worker's turn begins.
    fn begin_round(&mut self, round: &Round, state: &ClusterState);

    /// The next attempt to start on the round's worker, or nothing more.
    fn assign(&mut self, state: &ClusterState) -> Option<Assignment>;

    /// The worker's turn is over.
    fn end_round(&mut self, _state: &ClusterState, _actions: &mut Actions) {}

    /// When `tick` has something to do: delay waits, preemption timeouts, demotions.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Whether `next_deadline` ever names one; it is not asked otherwise. Changes only with its parameters.
    fn has_deadlines(&self) -> bool {
        true
    }

    /// Time has come.
    fn tick(&mut self, _now: Time, _state: &ClusterState, _actions: &mut Actions) {}

    /// Whether this change may let a parked worker have work that it was refused before. New work (a
    /// submission, a task that returned, slow start reached) always does and is not asked about; policies
    /// with limits answer true for [`Change::Ended`], those with limits on jobs for [`Change::JobOver`] too.
    fn wakes_parked(&self, _change: &Change) -> bool {
        false
    }

    /// Whether `observe` has a use for [`Change::Launched`] and [`Change::Ended`], which are nearly all changes. One
    /// that has none is notified of neither, nor asked by `wakes_parked` about ends. Changes only with its parameters.
    fn follows_attempts(&self) -> bool {
        true
    }

    /// Whether it may assign speculative attempts of tasks that run. One that never does is not asked when no task
    /// waits for a free slot of its kind. Changes only with its parameters.
    fn may_speculate(&self) -> bool {
        true
    }

    /// Whether it gives a worker less in one round than there is for it, as rules per heartbeat do. Then a worker
    /// whose heartbeats take no time (a replay's slots) has further rounds at the same instant, until one gives
    /// nothing.
    fn limits_rounds(&self) -> bool {
        false
    }

    /// Whether it reads what jobs say of their durations ([`JobSpec::profile`], [`JobConf::size`]). If not, a replay
    /// leaves out what it would have to find from each job's durations.
    ///
    /// [`JobConf::size`]: crate::job::JobConf::size
    fn reads_profiles(&self) -> bool {
        true
    }

    /// Whether a job may be submitted now; drivers ask before they accept it.
    ///
    /// # Errors
    /// A sentence: the queue that does not exist, or the limit that is reached.
    fn accepts(&self, _job: &JobSpec) -> Result<(), String> {
        Ok(())
    }

    /// Whether [`accepts`](Scheduler::accepts) ever refuses one; it need not be asked otherwise.
    fn refuses(&self) -> bool {
        true
    }

    /// Whether the queue that a job names means anything to it.
    fn reads_queues(&self) -> bool {
        false
    }

    /// The property of a job that names its pool, where that is one that [`JobSpec`] does not keep: who accepts a job
    /// gives the property's value as [`JobConf::pool`](crate::job::JobConf::pool), unless the job names a pool itself.
    fn pool_property(&self) -> Option<&str> {
        None
    }

    /// Whether the slots that it was told to give to queues or pools are there, of so many map and reduce slots. Who
    /// knows the cluster beforehand, as a replay does, asks before anything starts; a live one, whose workers come and
    /// go, warns.
    ///
    /// # Errors
    /// Names the parameter, or the file and its keys, and what was expected.
    fn validate_capacity(&self, _slots: [u32; 2]) -> Result<(), SchedulerError> {
        Ok(())
    }

    /// Why a job is not running more than it is.
    fn explain(&self, job: JobId, state: &ClusterState) -> Reason;

    /// Takes over a running cluster: forget everything and build the indexes from `state`.
    fn attach(&mut self, state: &ClusterState);

    /// How it takes tasks from jobs, for what that has learned to go on under another policy or other parameters;
    /// `None` for a policy that has no [`Offer`].
    fn offer(&mut self) -> Option<&mut Offer> {
        None
    }

    /// Takes over other parameters while it goes on with what it knows: an allocation file that was read again. False
    /// if it cannot, and is to be made anew instead.
    ///
    /// # Errors
    /// Names the parameter, or the place in its text, and what was expected; then nothing changed.
    fn reconfigure(&mut self, _params: &registry::Params, _state: &ClusterState) -> Result<bool, SchedulerError> {
        Ok(false)
    }

    /// Its queues or pools, by name; empty for a policy that has none.
    fn queues(&self, _state: &ClusterState) -> Vec<QueueView> {
        Vec::new()
    }

    /// Whether it divides the slots into partitions, each for the jobs that are in it.
    fn divides_slots(&self) -> bool {
        false
    }

    /// The partition that a live job's next attempts get their slots from; `None` where slots are not divided.
    fn partition(&self, _job: JobId) -> Option<Partition> {
        None
    }

    /// What it noted since this was last asked, oldest first, a sentence each: what its configuration is doubtful
    /// about, and what it did or would have done beside assignments. For logs.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// An independent copy.
    fn fork(&self) -> Box<dyn Scheduler>;
}

/// A part of the slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// For people; one name is one partition.
    pub name: String,
    /// Its map and reduce slots now; `None` for a kind that is not divided.
    pub slots: [Option<u32>; 2],
}

/// What changed. `state` already shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A job was accepted.
    Submitted {
        /// Which.
        job: JobId,
    },
    /// A job is over and leaves the state after this call.
    JobOver {
        /// Which.
        job: JobId,
        /// How it ended.
        end: JobState,
    },
    /// Someone changed a job's priority.
    Priority {
        /// Which.
        job: JobId,
        /// The priority before.
        from: Priority,
    },
    /// A job now has, or has no longer, pending tasks of a kind that may start.
    Offerable {
        /// Which.
        job: JobId,
        /// Map or reduce.
        kind: TaskKind,
        /// Whether it has.
        offerable: bool,
    },
    /// An attempt was assigned.
    Launched {
        /// Which.
        attempt: AttemptId,
        /// Finds it in the state while it runs.
        reference: AttemptRef,
        /// Where.
        worker: WorkerId,
        /// Whether another attempt of the task runs.
        speculative: bool,
    },
    /// An attempt is over for its job.
    Ended {
        /// Which.
        attempt: AttemptId,
        /// Where it ran.
        worker: WorkerId,
        /// `Succeeded`, `Failed` or `Killed`.
        state: AttemptState,
        /// Why, unless it succeeded.
        cause: EndCause,
        /// When it was assigned.
        started: Time,
    },
    /// A task that had run waits again, after a failure, a kill or the loss of its output.
    Returned {
        /// Which.
        task: TaskId,
    },
    /// A worker registered, was lost, or changed its state, slots or attributes.
    Worker {
        /// Which.
        worker: WorkerId,
    },
    /// A worker reported; its vitals and its attempts' progress are new.
    Reported {
        /// Which.
        worker: WorkerId,
    },
    /// The master recovered: waits and timeouts start again.
    Recovered,
}

/// One worker's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Now.
    pub now: Time,
    /// Whose turn.
    pub worker: WorkerId,
    /// Free map slots.
    pub free_maps: u16,
    /// Free reduce slots.
    pub free_reduces: u16,
    /// Whether its heartbeat was parked and new work, not a report, gives it this turn.
    pub parked: bool,
}

/// What a policy wants started on the round's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The job.
    pub job: JobId,
    /// Map or reduce.
    pub kind: TaskKind,
    /// The task's index.
    pub index: u32,
    /// How close to its data; `Unknown` for reduces.
    pub locality: Locality,
    /// Whether the task is running already and this is to be another attempt of it.
    pub speculative: bool,
}

/// What a policy wants done besides assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    pub(crate) list: Vec<Action>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Preempt(AttemptRef),
    Reserve { worker: WorkerId, kind: TaskKind, job: JobId },
    Release { worker: WorkerId, kind: TaskKind },
    Wake,
}

impl Actions {
    /// Stop this attempt; its task runs again later and the kill does not count as a failure.
    pub fn preempt(&mut self, attempt: AttemptRef) {
        self.list.push(Action::Preempt(attempt));
    }

    /// Keep a worker's free slots of a kind for one job; other jobs' assignments there are refused.
    pub fn reserve(&mut self, worker: WorkerId, kind: TaskKind, job: JobId) {
        self.list.push(Action::Reserve { worker, kind, job });
    }

    /// End a reservation.
    pub fn release(&mut self, worker: WorkerId, kind: TaskKind) {
        self.list.push(Action::Release { worker, kind });
    }

    /// Offer the parked workers again, longest parked first: a wait is over.
    pub fn wake_parked(&mut self) {
        self.list.push(Action::Wake);
    }
}
