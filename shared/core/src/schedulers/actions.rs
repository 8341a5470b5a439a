//! What a policy may order besides assignments: preemption, reservations, and waking parked workers.

use crate::cluster::AttemptRef;
use crate::job::{JobId, TaskKind, WorkerId};

/// What a policy wants done besides assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    pub(crate) list: Vec<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Preempt(AttemptRef),
    Reserve { worker: WorkerId, kind: TaskKind, job: JobId },
    Release { worker: WorkerId, kind: TaskKind },
    Wake,
}

impl Actions {
    /// Stop this attempt; its task runs again later and the kill does not count as a failure.
    pub fn preempt(&mut self, attempt: AttemptRef) {
        self.list.push(Action::Preempt(attempt));
    }

    /// Keep a worker's free slots of a kind for one job; other jobs' assignments there are refused.
    pub fn reserve(&mut self, worker: WorkerId, kind: TaskKind, job: JobId) {
        self.list.push(Action::Reserve { worker, kind, job });
    }

    /// End a reservation.
    pub fn release(&mut self, worker: WorkerId, kind: TaskKind) {
        self.list.push(Action::Release { worker, kind });
    }

    /// Offer the parked workers again, longest parked first: a wait is over.
    pub fn wake_parked(&mut self) {
        self.list.push(Action::Wake);
    }
}
