//! Which tasks run, by job: what the rules look at, so that they need not look at tasks that do not.

use std::collections::BTreeSet;

use crate::cluster::{ClusterState, TaskState};
use crate::job::{JobId, PerKind, TaskId, TaskKind};
use crate::schedulers::{Change, PerJob};

/// Running tasks of every live job, ascending by index.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningTasks {
    jobs: PerJob<PerKind<BTreeSet<u32>>>,
}

impl RunningTasks {
    pub(super) fn observe(&mut self, change: &Change, state: &ClusterState) {
        match *change {
            Change::Launched { attempt, .. } => self.insert(attempt.task()),
            Change::Ended { attempt, .. } => {
                let tasks = state.job(attempt.job).map(|job| job.tasks(attempt.kind));
                let runs = tasks.and_then(|tasks| tasks.state(attempt.index)) == Some(TaskState::Running);
                // A task whose winner has ended may have a loser that is still being stopped.
                if let (false, Some(tasks)) = (runs, self.jobs.get_mut(attempt.job)) {
                    tasks[attempt.kind].remove(&attempt.index);
                }
            }
            Change::JobOver { job, .. } => drop(self.jobs.remove(job)),
            _ => {}
        }
    }

    pub(super) fn attach(&mut self, state: &ClusterState) {
        self.jobs.clear();
        for (_, attempt) in state.attempts().iter().filter(|(_, attempt)| !attempt.detached()) {
            self.insert(attempt.id().task());
        }
    }

    /// Running tasks of a job, ascending.
    pub(super) fn of(&self, job: JobId, kind: TaskKind) -> impl Iterator<Item = u32> + '_ {
        self.jobs.get(job).into_iter().flat_map(move |tasks| tasks[kind].iter().copied())
    }

    fn insert(&mut self, task: TaskId) {
        if self.jobs.get(task.job).is_none() {
            self.jobs.insert(task.job, Default::default());
        }
        if let Some(tasks) = self.jobs.get_mut(task.job) {
            tasks[task.kind].insert(task.index);
        }
    }
}
