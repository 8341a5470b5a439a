//! What every rule of Hadoop's family asks of a task before it compares anything.

use crate::cluster::{Attempt, ClusterState, Job};
use crate::job::{AttemptState, Locality, TaskId, TaskKind, WorkerId};
use crate::schedulers::Assignment;

/// Whether the job wants speculative attempts of this kind at all.
/// (`mapred.map.tasks.speculative.execution` and its like.)
pub(super) fn wanted(job: &Job, kind: TaskKind) -> bool {
    let conf = &job.spec().conf;
    job.ending().is_none() && if kind == TaskKind::Map { conf.map_speculative } else { conf.reduce_speculative }
}

/// The only attempt of a running task that may get a second one on `worker`: it does not wait for its commit, is not
/// being stopped, and the task neither runs nor failed on the worker's host. Workers that share a host in a test cluster
/// never speculate for each other then, as in Hadoop.
pub(super) fn only_attempt<'s>(
    state: &'s ClusterState,
    job: &Job,
    kind: TaskKind,
    index: u32,
    worker: WorkerId,
) -> Option<&'s Attempt> {
    let mut attempts = state.attempts_of(TaskId { job: job.id(), kind, index });
    let attempt = attempts.next()?;
    let host = state.worker(worker)?.host();
    let elsewhere = |id: WorkerId| state.worker(id).is_none_or(|other| other.host() != host);
    let fits = attempts.next().is_none()
        && attempt.state() != AttemptState::CommitPending
        && attempt.being_killed().is_none()
        && attempt.worker() != worker
        && elsewhere(attempt.worker())
        && job.failed_on(kind, index).iter().all(|&failed| elsewhere(failed));
    fits.then_some(attempt)
}

/// The speculative attempt.
pub(super) fn second(state: &ClusterState, job: &Job, kind: TaskKind, index: u32, worker: WorkerId) -> Assignment {
    let place = state.worker(worker);
    let locality = place.map_or(Locality::Unknown, |worker| state.locality(job, kind, index, worker));
    Assignment { job: job.id(), kind, index, locality, speculative: true }
}
