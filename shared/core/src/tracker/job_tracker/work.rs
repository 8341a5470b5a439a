//! What a master at work remembers besides: its jobs, what runs, launches that no report has confirmed, and slots that the
//! policy keeps for a job.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::JobTracker;
use super::interval::SMALL_JOB_TASKS;
use super::jobs::MAX_TASKS;
use crate::cluster::{AttemptRef, ClusterState, JobSummary, SavedAttempts, SavedJob};
use crate::job::{JobId, PerKind, TaskKind, WorkerId};
use crate::time::Time;

/// Jobs, and what runs of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    /// Ascending.
    jobs: Vec<SavedJob>,
    rest: Rest,
}

/// All but the jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Rest {
    attempts: SavedAttempts,
    /// Launches that no report has confirmed, and some that one has: when each expires, its slot and which launch it is.
    launches: Vec<(Time, u32, u64)>,
    reserved: Vec<(WorkerId, TaskKind, JobId)>,
    /// Whether the policy ever reserved a worker.
    reserves: bool,
}

/// Launches by their expiry, and whether the policy ever reserved a worker.
type Restored = (VecDeque<(Time, AttemptRef)>, bool);

impl Work {
    pub(super) fn into_parts(self) -> (Vec<SavedJob>, Rest) {
        (self.jobs, self.rest)
    }

    pub(super) fn live_jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.jobs.iter().map(|job| job.id)
    }

    /// Whether it says what only the third form of snapshots has.
    pub(super) fn says_more(&self) -> bool {
        self.jobs.iter().any(SavedJob::counts_losses)
    }

    pub(super) fn running_copies(&self) -> u32 {
        self.rest.attempts.running_copies()
    }
}

impl Rest {
    /// Into a state that has the workers and the jobs.
    pub(super) fn restore(self, state: &mut ClusterState) -> Result<Restored, String> {
        state.restore_attempts(self.attempts)?;
        for (worker, kind, job) in self.reserved {
            let known = state.job(job).is_some();
            let Some(worker) = state.workers.get_mut(worker.0 as usize).filter(|_| known && self.reserves) else {
                return Err(format!("slots are kept for job {}, or on a worker, that there is not", job.0));
            };
            worker.reserved[kind] = Some(job);
        }
        let ascending = self.launches.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        if !ascending {
            return Err("its launches are not in order of their expiry".to_owned());
        }
        let launch = |(due, slot, launch)| (due, AttemptRef { slot, launch });
        Ok((self.launches.into_iter().map(launch).collect(), self.reserves))
    }
}

impl ClusterState {
    /// Puts the jobs into the table; workers are there already, attempts are not.
    pub(super) fn restore_jobs(
        &mut self,
        last: u32,
        ended: Vec<JobSummary>,
        saved: Vec<SavedJob>,
    ) -> Result<(), String> {
        let mut live = Vec::with_capacity(saved.len());
        for job in saved {
            let mut job = job.restored(self.now, self.workers.len(), MAX_TASKS, &mut self.topology)?;
            for kind in TaskKind::ALL {
                job.offerable[kind] = job.computes_offerable(kind);
                self.totals.offerable_jobs[kind] += u32::from(job.offerable[kind]);
            }
            live.push(job);
        }
        if self.jobs.restore(last, ended, live) {
            return Ok(());
        }
        Err(format!("its jobs are not numbered one by one up to {last}"))
    }
}

impl JobTracker {
    pub(super) fn work(&self) -> Work {
        let reserved = self.state.workers.iter().flat_map(|worker| {
            TaskKind::ALL.into_iter().filter_map(|kind| Some((worker.id, kind, worker.reserved[kind]?)))
        });
        Work {
            jobs: self.state.jobs().map(SavedJob::of).collect(),
            rest: Rest {
                attempts: SavedAttempts::of(&self.state.attempts),
                launches: self.launches.iter().map(|&(due, at)| (due, at.slot, at.launch)).collect(),
                reserved: reserved.collect(),
                reserves: self.reserves,
            },
        }
    }

    /// Small jobs with tasks that may start, counted anew.
    pub(super) fn counts_small_waiting(&self) -> PerKind<u32> {
        let small = |job: &&crate::cluster::Job| job.tasks[0].len() + job.tasks[1].len() <= SMALL_JOB_TASKS;
        TaskKind::ALL.map(|kind| self.state.jobs().filter(small).filter(|job| job.offerable[kind]).count() as u32)
    }
}
