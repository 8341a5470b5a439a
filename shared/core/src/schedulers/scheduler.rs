//! The interface of a policy: three methods that every policy has, and those that it may have.

use super::params::Params;
use super::queues::NoQueues;
use super::{Actions, Assignment, Capabilities, Change, Offer, Queues, Reason, Round, SchedulerError};
use crate::cluster::ClusterState;
use crate::job::JobId;
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

    /// The next attempt to start on the round's worker, or nothing more.
    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment>;

    /// An independent copy.
    fn fork(&self) -> Box<dyn Scheduler>;

    /// A fresh one with the same parameters, of a policy that the [registry](super::registry) cannot make. This one is not
    /// asked any more, unless its successor cannot take over.
    fn renewed(&mut self) -> Option<Box<dyn Scheduler>> {
        None
    }

    /// What it does and reads.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Something changed; keep own indexes up to date.
    fn observe(&mut self, _change: &Change, _state: &ClusterState) {}

    /// Takes over a running cluster: forget everything and build the indexes from `state`.
    fn attach(&mut self, _state: &ClusterState) {}

    /// A worker's turn begins.
    fn begin_round(&mut self, _round: &Round, _state: &ClusterState) {}

    /// The worker's turn is over.
    fn end_round(&mut self, _state: &ClusterState, _actions: &mut Actions) {}

    /// When `tick` has something to do: delay waits, preemption timeouts, demotions.
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// Time has come.
    fn tick(&mut self, _now: Time, _state: &ClusterState, _actions: &mut Actions) {}

    /// Whether this change may let a parked worker have work that it was refused before. New work (a
    /// submission, a task that returned, slow start reached) always does and is not asked about; policies
    /// with limits answer true for [`Change::Ended`], those with limits on jobs for [`Change::JobOver`] too.
    fn wakes_parked(&self, _change: &Change) -> bool {
        false
    }

    /// Why a job is not running more than it is.
    fn explain(&self, job: JobId, state: &ClusterState) -> Reason {
        let waits = || Reason::Limit("It waits for its scheduler to choose it.".to_owned());
        Reason::common(job, state).unwrap_or_else(waits)
    }

    /// Its queues, pools or partitions.
    fn queues(&self) -> &dyn Queues {
        &NoQueues
    }

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
    fn reconfigure(&mut self, _params: &Params, _state: &ClusterState) -> Result<bool, SchedulerError> {
        Ok(false)
    }

    /// What it noted since this was last asked, oldest first, a sentence each: what its configuration is doubtful
    /// about, and what it did or would have done beside assignments. For logs.
    fn take_notes(&mut self) -> Vec<String> {
        self.offer().map(Offer::take_notes).unwrap_or_default()
    }
}
