//! How the swarm's worlds must end: every job is over, for a reason, and the output is the winners'.

use super::world::{World, WorldOutcome};
use crate::job::{JobId, JobState, TaskId, TaskKind};
use crate::time::Time;

impl World {
    pub(super) fn is_over(&self) -> bool {
        self.submitted.len() == self.plan.jobs.len() && self.open_jobs().is_empty() && !self.faults
    }

    pub(super) fn open_jobs(&self) -> Vec<String> {
        let state = self.master.as_ref().map(|master| master.tracker.state());
        let open = self.submitted.iter().filter(|job| {
            // The end itself may have been told to nobody: a crash came between.
            state.is_none_or(|state| state.ended_job(**job).is_none())
        });
        open.map(|job| match state.and_then(|state| state.job(*job)) {
            Some(live) => format!("job {} is {:?}", job.0, live.state()),
            None => format!("job {} is not known", job.0),
        })
        .collect()
    }

    pub(super) fn final_checks(&self) -> Result<WorldOutcome, String> {
        let Some(master) = &self.master else { return Err("there is no master".to_owned()) };
        let state = master.tracker.state();
        for (index, spec) in self.plan.jobs.iter().enumerate() {
            let job = JobId(index as u32 + 1);
            let end = state.ended_job(job).map(|summary| summary.state);
            match end {
                Some(JobState::Succeeded) => self.check_output(job, spec.n_maps, spec.n_reduces)?,
                Some(JobState::Killed) if self.kills_asked.contains(&job) => {}
                Some(JobState::Failed) if self.watch.took_workers_down(job) => {}
                Some(JobState::Failed)
                    if self.watch.may_have_failed(job, [spec.conf.max_map_attempts, spec.conf.max_reduce_attempts]) => {
                }
                other => return Err(format!("job {} ended as {other:?} for no reason", job.0)),
            }
        }
        Ok(WorldOutcome {
            lost_parts: self.lost_parts,
            kept_outputs: self.kept_outputs,
            withdrawn: self.withdrawn,
            changes: self.changes.n,
            simulated: self.now.since(Time::ZERO),
            inputs: self.inputs,
            master_crashes: self.crashes,
            worker_faults: self.worker_faults,
            jobs: self.plan.jobs.len() as u64,
            snapshots: self.n_snapshots,
            snapshots_at_work: self.n_at_work,
            requests: self.requests.n,
            black_holes: self.requests.black_holes,
            poison: self.requests.poison,
        })
    }

    /// All output is there, and it is the winners'.
    fn check_output(&self, job: JobId, n_maps: u32, n_reduces: u32) -> Result<(), String> {
        let (kind, n) = if n_reduces > 0 { (TaskKind::Reduce, n_reduces) } else { (TaskKind::Map, n_maps) };
        for index in 0..n {
            let task = TaskId { job, kind, index };
            let there = self.taken.get(&task).or_else(|| self.promoted.get(&task));
            let won = self.watch.winner.get(&task);
            if won.is_none() || won != there {
                return Err(format!("the output of {task:?} is {there:?}, but {won:?} won"));
            }
        }
        Ok(())
    }
}
