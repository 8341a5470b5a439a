//! The queue of ends: which running attempt ends next.
//!
//! A binary heap by time, then by order of launch, over keys of 16 bytes; what ends is in a table beside it. Mostly
//! one attempt ends and another one is launched at the same instant, so the place that an end leaves at the top
//! stays open until the next one is planned, and the heap is put in order once instead of twice. An attempt that
//! was stopped early leaves its entry behind; the core ignores the end of an attempt that it no longer has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::job::{AttemptId, AttemptState, JobId, TaskKind, WorkerId};
use crate::time::Time;
use crate::tracker::Finished;

/// Bits of a key that name the place in the table; 16 million attempts run at a time.
const PLACE_BITS: u32 = 24;

/// All ends to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// Time, launch and place, from the highest bit on.
    heap: BinaryHeap<Reverse<u128>>,
    /// Whether the first key of the heap is gone already.
    open: bool,
    table: Vec<Finished>,
    free: Vec<u32>,
}

/// What stands in a free place of the table.
const NOBODY: Finished = Finished {
    attempt: AttemptId { job: JobId(0), index: 0, number: 0, kind: TaskKind::Map },
    worker: WorkerId(0),
    state: AttemptState::Killed,
};

fn time_of(key: u128) -> Time {
    Time::from_us((key >> 64) as u64)
}

fn place_of(key: u128) -> u32 {
    key as u32 & ((1 << PLACE_BITS) - 1)
}

impl Ends {
    /// When the next attempt ends; [`Time::MAX`] when none does.
    pub(super) fn next_time(&self) -> Time {
        self.first().map_or(Time::MAX, time_of)
    }

    /// The smallest key that is not gone. Below an open top stand the next ones, in its two children.
    fn first(&self) -> Option<u128> {
        let keys = self.heap.as_slice();
        if !self.open {
            return keys.first().map(|key| key.0);
        }
        match (keys.get(1), keys.get(2)) {
            (Some(left), Some(right)) => Some(left.0.min(right.0)),
            (left, _) => left.map(|key| key.0),
        }
    }

    /// Plans an end; one at [`Time::MAX`] never comes.
    ///
    /// # Panics
    /// With more than 16 million attempts at a time.
    pub(super) fn plan(&mut self, at: Time, launch: u64, end: Finished) {
        if at == Time::MAX {
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.push(NOBODY);
            self.table.len() as u32 - 1
        });
        assert!(place < 1 << PLACE_BITS, "at most 16 million attempts run at a time");
        self.table[place as usize] = end;
        let order = u128::from(launch << PLACE_BITS | u64::from(place));
        let key = Reverse(u128::from(at.as_us()) << 64 | order);
        if std::mem::take(&mut self.open) {
            *self.heap.peek_mut().expect("the open place is in it") = key;
        } else {
            self.heap.push(key);
        }
    }

    /// Takes out the ends for which this holds; it looks at all of them.
    pub(super) fn forget(&mut self, mut gone: impl FnMut(&Finished) -> bool) {
        if std::mem::take(&mut self.open) {
            self.heap.pop();
        }
        let (table, free) = (&self.table, &mut self.free);
        self.heap.retain(|&Reverse(key)| {
            let place = place_of(key);
            let gone = gone(&table[place as usize]);
            if gone {
                free.push(place);
            }
            !gone
        });
    }

    /// The next end, if it comes at `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Finished> {
        let key = self.first().filter(|&key| time_of(key) == now)?;
        if std::mem::replace(&mut self.open, true) {
            self.heap.pop();
        }
        let place = place_of(key);
        self.free.push(place);
        Some(self.table[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(index: u32) -> Finished {
        Finished { attempt: AttemptId { index, ..NOBODY.attempt }, ..NOBODY }
    }

    #[test]
    fn ends_come_by_time_and_then_by_launch() {
        let mut ends = Ends::default();
        for (launch, at) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 30)] {
            ends.plan(Time::from_us(at), launch, end(launch as u32));
        }
        ends.plan(Time::MAX, 5, end(5));
        let mut order = Vec::new();
        while ends.next_time() < Time::MAX {
            let now = ends.next_time();
            while let Some(end) = ends.pop_at(now) {
                order.push(end.attempt.index);
                if end.attempt.index == 3 {
                    ends.plan(Time::from_us(25), 6, self::end(6));
                }
            }
        }
        assert_eq!(order, [1, 3, 2, 6, 0, 4]);
    }

    #[test]
    fn forgotten_ends_never_come_and_their_places_are_used_again() {
        let mut ends = Ends::default();
        for index in 0..100 {
            ends.plan(Time::from_us(u64::from(index * 37 % 100)), u64::from(index), end(index));
        }
        let mut order = Vec::new();
        while ends.next_time() < Time::MAX {
            let now = ends.next_time();
            order.extend(std::iter::from_fn(|| ends.pop_at(now)).map(|end| end.attempt.index * 37 % 100));
            if now == Time::from_us(10) {
                // The place of what ended last is still open.
                ends.forget(|end| end.attempt.index % 3 == 0);
            }
        }
        let kept = |at: &u32| *at <= 10 || (0..100).any(|index| index * 37 % 100 == *at && index % 3 != 0);
        assert_eq!(order, (0..100).filter(kept).collect::<Vec<_>>());
        assert_eq!(ends.free.len(), ends.table.len());
    }
}
