//! The smallest policy: a free slot goes to the job with the fewest running attempts, equals in order of submission.

use howdah_core::cluster::ClusterState;
use howdah_core::job::TaskKind;
use howdah_core::schedulers::{Assignment, Offer, Round, Scheduler};

/// It keeps nothing of its own but how it takes a task from a job.
#[derive(Clone, Default)]
pub(crate) struct FewestRunning(Offer);

impl Scheduler for FewestRunning {
    fn name(&self) -> &'static str {
        "fewest-running"
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(round.worker)?;
        TaskKind::ALL.into_iter().filter(|&kind| worker.free(kind) > 0).find_map(|kind| {
            let mut jobs: Vec<_> = state.jobs().filter(|job| job.offerable(kind)).collect();
            jobs.sort_by_key(|job| (job.tasks(kind).n_attempts(), job.id()));
            jobs.into_iter().find_map(|job| self.0.pending(state, job, kind, worker))
        })
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
