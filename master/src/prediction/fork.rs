//! A copy of the cluster's state, taken between two batches on the core's thread, and how far ahead to look from it.

use std::time::{Duration, Instant};

use howdah_core::tracker::JobTracker;
use howdah_planning::prediction::ForecastOptions;

use super::applications::Applications;
use crate::engine::View;

/// With more tasks than this, fewer simulations give the intervals.
const MANY_TASKS: u64 = 20_000;

/// The copy, with what its jobs run.
pub(crate) struct Forked {
    pub(crate) tracker: JobTracker,
    pub(crate) applications: Applications,
    /// Whether any worker has memory to prefetch into.
    pub(crate) prefetches: bool,
    /// How long the core's thread stood still for it.
    pub(crate) took: Duration,
}

impl Forked {
    /// Of the present state.
    pub(crate) fn of(view: &View<'_>) -> Forked {
        let started = Instant::now();
        let tracker = view.tracker.fork();
        let applications = Applications::of(view.tables, view.tracker.state());
        let prefetches = view.tables.workers.iter().any(crate::tables::WorkerRow::prefetches);
        Forked { tracker, applications, prefetches, took: started.elapsed() }
    }

    /// As usual, with as many simulations as a state of this size allows.
    pub(crate) fn options(&self) -> ForecastOptions {
        let defaults = ForecastOptions::default();
        let tasks = |job: &howdah_core::cluster::Job| u64::from(job.spec().n_maps) + u64::from(job.spec().n_reduces);
        let many = self.tracker.state().jobs().map(tasks).sum::<u64>() > MANY_TASKS;
        ForecastOptions { draws: if many { defaults.draws / 2 } else { defaults.draws }, ..defaults }
    }
}
