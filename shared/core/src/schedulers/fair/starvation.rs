//! Since when a pool has had too little: less than its minimum share, less than half of its fair share.

use crate::time::{Span, Time};

/// Since when a pool gets too little of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Starvation {
    /// When it last had its minimum share, half of its fair share.
    fed: [Time; 2],
    /// Whether it lacks them now.
    lacks: [bool; 2],
}

impl Starvation {
    pub(super) fn new(now: Time) -> Starvation {
        Starvation { fed: [now; 2], lacks: [false; 2] }
    }

    /// Notes what an update found; `before` is the update before it.
    pub(super) fn note(&mut self, lacks: [bool; 2], before: Time) {
        for (index, &lack) in lacks.iter().enumerate() {
            if lack && !self.lacks[index] {
                self.fed[index] = self.fed[index].max(before);
            }
        }
        self.lacks = lacks;
    }

    /// Whether it has lacked its minimum share, its fair share for longer than these.
    pub(super) fn past(&self, timeouts: [Option<Span>; 2], now: Time) -> [bool; 2] {
        [0, 1].map(|index: usize| {
            self.lacks[index] && timeouts[index].is_some_and(|timeout| now - self.fed[index] > timeout)
        })
    }
}
