//! The step from reports to direct driving, which a fork of a live master takes before it is simulated.
//!
//! What was under way between master and workers keeps its meaning: a launch that no report has confirmed runs, as it is
//! on its way to a worker that will start it; an order to stop counts as sent; an attempt that asked to commit or was
//! granted it still runs; a parked worker is one with free slots that has been offered all there was. What only serves
//! the messages goes: expiries, failures that may make a black hole, answers to repeat, files to forget, attempts that only a
//! worker believes in. And no worker that is lost comes back with its map output: what a simulation does not know it does not
//! count on. **Invariant: which tasks wait, run and are done, and which slots are held, is the same before and after.**

use super::JobTracker;
use super::direct::directly;
use super::liveness::Liveness;
use crate::cluster::WorkerState;
use crate::job::{AttemptState, TaskKind};

impl JobTracker {
    /// The same master, driven by [`advance`](JobTracker::advance) from now on; meant for a [fork](JobTracker::fork). One
    /// that is driven so already stays as it is.
    #[must_use]
    pub fn into_direct(mut self) -> JobTracker {
        if self.direct {
            return self;
        }
        self.direct = true;
        self.config = directly(&self.config);
        self.launches.clear();
        self.parking.clear();
        self.liveness = Liveness::new();
        for failures in self.state.jobs.iter_mut().filter_map(|job| job.failures.get_mut()) {
            failures.left.clear();
        }
        let now = self.state.now;
        self.state.failing.clear();
        for worker in &mut self.state.workers {
            worker.parked = None;
            worker.news = false;
            worker.calling = 0;
            worker.forget.clear();
            worker.strays.clear();
            if worker.state == WorkerState::Lost {
                continue;
            }
            self.liveness.note_contact(worker.id, now);
            TaskKind::ALL.into_iter().for_each(|kind| worker.free_at_once(kind));
            for &slot in &worker.attempts {
                let attempt = self.state.attempts.at_mut(slot);
                attempt.kill_sent = attempt.kill.is_some();
                if attempt.state == AttemptState::Launching {
                    attempt.state = AttemptState::Running;
                }
            }
        }
        self
    }
}
