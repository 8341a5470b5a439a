//! Workers of which nobody knows whether they are still there.
//!
//! From its last heartbeat to its expiry a lost worker looks as if it worked. A forecast made in between would be certain of
//! ends that never come; so a worker that has missed several heartbeats is in doubt, and half of the simulations go on without
//! it.

use howdah_core::cluster::{Worker, WorkerState};
use howdah_core::job::WorkerId;
use howdah_core::time::Span;
use howdah_core::tracker::JobTracker;

/// Heartbeats that may be missing.
const MISSED: u32 = 3;
/// No worker is in doubt sooner.
const SOONEST: Span = Span::from_secs(10);

/// Those that should have spoken. Of a tracker that is driven directly nobody is expected to.
pub(super) fn silent(tracker: &JobTracker) -> Vec<WorkerId> {
    if tracker.is_direct() {
        return Vec::new();
    }
    let state = tracker.state();
    let most = SOONEST.max(Span::from_ms(u64::from(tracker.interval_ms()) * u64::from(MISSED)));
    let late = |worker: &&Worker| {
        worker.state() != WorkerState::Lost && !worker.is_parked() && state.now().since(worker.last_contact()) > most
    };
    state.workers().iter().filter(late).map(Worker::id).collect()
}
