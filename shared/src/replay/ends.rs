//! The queue of ends: which running attempt ends next.
//!
//! A binary heap by time, then by order of launch. An attempt that was stopped early leaves its entry behind; the
//! core ignores the end of an attempt that it no longer has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::{AttemptId, AttemptState, WorkerId};
use crate::time::Time;
use crate::tracker::Finished;

/// The end of an attempt, to come. Ordered by time, then by order of launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: Time,
    launch: u64,
    attempt: AttemptId,
    worker: WorkerId,
    state: AttemptState,
}

/// All ends to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    heap: BinaryHeap<Reverse<End>>,
}

impl Ends {
    /// When the next attempt ends.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|end| end.0.at)
    }

    /// Plans an end; one at [`Time::MAX`] never comes.
    pub(super) fn plan(&mut self, at: Time, launch: u64, end: Finished) {
        if at < Time::MAX {
            let Finished { attempt, worker, state } = end;
            self.heap.push(Reverse(End { at, launch, attempt, worker, state }));
        }
    }

    /// The next end, if it comes at `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Finished> {
        let next = self.heap.peek_mut().filter(|end| end.0.at == now)?;
        let Reverse(End { attempt, worker, state, .. }) = std::collections::binary_heap::PeekMut::pop(next);
        Some(Finished { attempt, worker, state })
    }
}
