//! From a program's choice to an assignment, or to what is wrong with it.
//!
//! What the program could have known (a job that is not there, a task that does not wait, a slot that is not free) is
//! a mistake; what only the core knows (a worker that a job keeps away from) is not, and the program may choose again.

use howdah_core::cluster::{ClusterState, TaskState};
use howdah_core::job::{JobId, TaskId, TaskKind, WorkerId};
use howdah_core::schedulers::{Assignment, Choice, Decline, NearestFirst};

use super::protocol::Wish;

/// Why a choice is not taken.
pub(super) enum Refused {
    /// The worker may not run it, of which the program cannot know.
    Declined(String),
    /// The program knew better, or should have.
    Impossible(String),
}

/// The assignment that a choice means.
pub(super) fn choose(wish: &Wish, worker_id: WorkerId, state: &ClusterState) -> Result<Assignment, Refused> {
    let impossible = |what: String| Err(Refused::Impossible(what));
    let (id, kind) = (JobId(wish.job), TaskKind::from(wish.kind));
    let Some(worker) = state.worker(worker_id) else { return impossible("the worker is gone".to_owned()) };
    let Some(job) = state.job(id) else { return impossible(format!("there is no job {}", id.0)) };
    if worker.free(kind) == 0 {
        return impossible(format!("job {}: worker `{}` has no free {kind} slot", id.0, worker.name()));
    }
    let refused = |why: &str| Err(Refused::Declined(why.to_owned()));
    if let Some(index) = wish.task {
        let waits = job.offerable(kind) && job.tasks(kind).pending().contains(index);
        if wish.speculative && job.tasks(kind).state(index) != Some(TaskState::Running) {
            return impossible(format!("job {}: {kind} {index} does not run", id.0));
        }
        if !wish.speculative && !waits {
            return impossible(format!("job {}: {kind} {index} does not wait", id.0));
        }
        let elsewhere = worker.reserved(kind).is_some_and(|reserved| reserved != id);
        if elsewhere || !state.job_may_use(job, kind, worker) || state.task_avoids(job, kind, index, worker_id) {
            return refused("the worker's slots are kept from it");
        }
        if worker.free(kind) < job.slots(kind) {
            return refused(&Decline::TooLarge.to_string());
        }
        let task = TaskId { job: id, kind, index };
        if wish.speculative && state.attempts_of(task).any(|attempt| attempt.worker() == worker_id) {
            return refused("an attempt of the task runs there");
        }
        let locality = state.locality(job, kind, index, worker);
        if locality > wish.within.into() {
            return refused("its data is farther away");
        }
        return Ok(Assignment { job: id, kind, index, locality, speculative: wish.speculative });
    }
    if wish.speculative {
        return impossible(format!("job {}: a speculative attempt of no task in particular", id.0));
    }
    if !job.offerable(kind) {
        return impossible(format!("job {} has no {kind} that may start", id.0));
    }
    match NearestFirst::within(state, job, kind, worker, wish.within.into()) {
        Ok(Choice { index, locality }) => Ok(Assignment { job: id, kind, index, locality, speculative: false }),
        Err(decline) => refused(&decline.to_string()),
    }
}
