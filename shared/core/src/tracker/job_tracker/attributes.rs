//! A worker's attributes change while it is registered.
//!
//! A report carries the whole set with the number of its change, until an answer confirms it: a lost report loses no
//! change, and a repeated or late one undoes none. What runs goes on, whatever its worker no longer has; only what
//! starts from now on is matched against the new set.

use super::JobTracker;
use crate::cluster::WorkerState;
use crate::job::WorkerId;
use crate::job::requirement::MAX_ATTRIBUTES;
use crate::schedulers::Change;
use crate::time::Time;
use crate::tracker::{AttributeSet, Rejection};

impl JobTracker {
    pub(super) fn on_attributes(&mut self, id: WorkerId, set: &AttributeSet) {
        if set.attributes.len() > MAX_ATTRIBUTES {
            return self.reject(Some(id), Rejection::MalformedReport(id));
        }
        let worker = &mut self.state.workers[id.0 as usize];
        if set.version <= worker.attributes_version {
            return;
        }
        worker.attributes_version = set.version;
        self.set_attributes(id, &set.attributes);
    }

    /// For a tracker that is [driven directly](JobTracker::direct): a worker that is not lost has these attributes from
    /// `now` on, which must not go back. Of more than [`MAX_ATTRIBUTES`] the first by name are taken.
    pub fn change_attributes(&mut self, now: Time, worker: WorkerId, attributes: &[(String, String)]) {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        self.state.now = self.state.now.max(now);
        let known = self.state.workers.get(worker.0 as usize);
        if known.is_some_and(|known| known.state != WorkerState::Lost) {
            self.set_attributes(worker, attributes);
        }
    }

    fn set_attributes(&mut self, id: WorkerId, attributes: &[(String, String)]) {
        let worker = &mut self.state.workers[id.0 as usize];
        let attributes = in_order(attributes);
        if attributes == worker.attributes {
            return;
        }
        worker.attributes = attributes;
        self.observe(Change::Worker { worker: id });
        // The worker has a round of its own now; what only it could run before may go to others that wait.
        if self.state.jobs().any(|job| !job.spec.conf.requires.is_empty()) {
            self.wake = [true; 2];
        }
    }
}

/// Ascending by name and each name once, at most as many as there may be.
pub(super) fn in_order(attributes: &[(String, String)]) -> Vec<(String, String)> {
    let mut attributes = attributes.to_vec();
    attributes.sort();
    attributes.dedup_by(|later, first| later.0 == first.0);
    attributes.truncate(MAX_ATTRIBUTES);
    attributes
}
