//! What simulated workers say of themselves, and when they begin to say something else.
//!
//! A worker registers with what holds at the start. Each later step reaches the core at its instant, as a live worker
//! reports a change at once; one that is down says it when it registers again.

use super::options::{SimWorker, WorkersView};
use crate::job::WorkerId;
use crate::time::Time;

/// Names and values.
pub(super) type Attributes = Vec<(String, String)>;

/// All changes after the start.
#[derive(Clone, Debug, Default)]
pub(super) struct AttributeSteps {
    /// By time, then by worker.
    steps: Vec<(Time, WorkerId, Attributes)>,
    /// Those before have happened.
    next: usize,
}

impl AttributeSteps {
    pub(super) fn new(view: &WorkersView) -> AttributeSteps {
        let mut steps = Vec::new();
        for (worker, index) in view.workers.iter().zip(0..) {
            let later = worker.attributes.iter().filter(|(at, _)| *at > Time::ZERO);
            steps.extend(later.map(|(at, attributes)| (*at, WorkerId(index), attributes.clone())));
        }
        steps.sort_by_key(|&(at, worker, _)| (at, worker));
        AttributeSteps { steps, next: 0 }
    }

    /// When the next change happens; [`Time::MAX`] when none does.
    pub(super) fn next_time(&self) -> Time {
        self.steps.get(self.next).map_or(Time::MAX, |step| step.0)
    }

    /// The changes that are due, oldest first.
    pub(super) fn take_at(&mut self, now: Time) -> &[(Time, WorkerId, Attributes)] {
        let first = self.next;
        self.next += self.steps[first..].partition_point(|step| step.0 <= now);
        &self.steps[first..self.next]
    }
}

impl SimWorker {
    /// What it says when it registers at the start.
    pub(super) fn first_attributes(&self) -> Attributes {
        let passed = self.attributes.partition_point(|(at, _)| *at == Time::ZERO);
        passed.checked_sub(1).map_or_else(Vec::new, |last| self.attributes[last].1.clone())
    }
}
