//! The queue of ends: which running attempt ends next.
//!
//! A binary heap by time over entries of 16 bytes; what ends is in a table beside it. Mostly one attempt ends and
//! another one is launched at the same instant, so the place that an end leaves at the top stays open until the next
//! one is planned, and the heap is put in order once instead of twice. An attempt that was stopped early leaves its
//! entry behind; the core ignores the end of an attempt that it no longer has.
//!
//! The heap fills whole levels: below its entries stand [`NEVER`]s. So an entry can sink through all levels without
//! the questions whether it has arrived and which child is smaller being branches: no processor foresees the answers,
//! and a wrong guess costs more than a level. Ends of one instant are put in order of launch when they are due.

use crate::time::Time;
use crate::tracker::Finished;

/// Bits of an order that name the place in the table; 16 million attempts run at a time.
const PLACE_BITS: u32 = 24;

/// One end to come.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    /// Launch and place, from the highest bit on.
    order: u64,
}

/// The entry after all others.
const NEVER: Entry = Entry { at: Time::MAX, order: u64::MAX };

/// All ends to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// No child is before its parent. The root is at 1, the children of `i` are at `2i` and `2i + 1`, and the length
    /// is a power of two.
    heap: Vec<Entry>,
    /// Entries that are not [`NEVER`], the one that is gone included.
    n: usize,
    /// Whether the first entry is gone already.
    open: bool,
    table: Vec<Finished>,
    free: Vec<u32>,
    /// Orders of the ends that are due.
    due: Vec<u64>,
}

fn place_of(order: u64) -> u32 {
    order as u32 & ((1 << PLACE_BITS) - 1)
}

impl Ends {
    /// When the next attempt ends; [`Time::MAX`] when none does.
    #[inline]
    pub(super) fn next_time(&self) -> Time {
        self.first().at
    }

    /// The first entry that is not gone. Below an open top stand the next ones, in its two children.
    #[inline]
    fn first(&self) -> Entry {
        let at = |index| self.heap.get(index).copied().unwrap_or(NEVER);
        match (self.open, at(2), at(3)) {
            (false, ..) => at(1),
            (true, left, right) => {
                if right.at < left.at {
                    right
                } else {
                    left
                }
            }
        }
    }

    /// Plans an end; one at [`Time::MAX`] never comes.
    ///
    /// # Panics
    /// With more than 16 million attempts at a time.
    #[inline(always)]
    pub(super) fn plan(&mut self, at: Time, launch: u64, end: Finished) {
        if at == Time::MAX {
            return;
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.table[place as usize] = end;
                place
            }
            None => self.new_place(end),
        };
        let entry = Entry { at, order: launch << PLACE_BITS | u64::from(place) };
        if std::mem::take(&mut self.open) {
            self.sink(entry);
        } else {
            self.push(entry);
        }
    }

    #[cold]
    fn new_place(&mut self, end: Finished) -> u32 {
        let place = self.table.len() as u32;
        assert!(place < 1 << PLACE_BITS, "at most 16 million attempts run at a time");
        self.table.push(end);
        place
    }

    /// Puts an entry in the place of the first one.
    #[inline(never)]
    fn sink(&mut self, mut entry: Entry) {
        let heap = self.heap.as_mut_slice();
        let mut at = 1;
        while 2 * at + 1 < heap.len() {
            let (left, right) = (heap[2 * at], heap[2 * at + 1]);
            let is_right = right.at < left.at;
            let child = if is_right { right } else { left };
            // Where the entry has found its place, the one that it met sinks on, to where it was.
            let stays = entry.at < child.at;
            heap[at] = if stays { entry } else { child };
            entry = if stays { child } else { entry };
            at = 2 * at + usize::from(is_right);
        }
        heap[at] = entry;
    }

    /// Adds an entry at the end and lets it rise.
    fn push(&mut self, entry: Entry) {
        self.n += 1;
        if self.n >= self.heap.len() {
            self.heap.resize((2 * self.heap.len()).max(2), NEVER);
        }
        let mut at = self.n;
        while at > 1 && entry.at < self.heap[at / 2].at {
            self.heap[at] = self.heap[at / 2];
            at /= 2;
        }
        self.heap[at] = entry;
    }

    /// Closes the open place with the last entry.
    fn close(&mut self) {
        let last = std::mem::replace(&mut self.heap[self.n], NEVER);
        self.n -= 1;
        if self.n > 0 {
            self.sink(last);
        }
    }

    /// Takes out the ends for which this holds; it looks at all of them.
    pub(super) fn forget(&mut self, mut gone: impl FnMut(&Finished) -> bool) {
        if std::mem::take(&mut self.open) {
            self.close();
        }
        let mut entries = std::mem::take(&mut self.heap);
        entries.truncate(self.n + 1);
        self.n = 0;
        for entry in entries.into_iter().skip(1) {
            let place = place_of(entry.order);
            if gone(&self.table[place as usize]) {
                self.free.push(place);
            } else {
                self.push(entry);
            }
        }
    }

    /// Takes out the ends that come at `now`, which is before [`Time::MAX`], in order of launch.
    #[inline]
    pub(super) fn take_at(&mut self, now: Time, mut each: impl FnMut(Finished)) {
        self.due.clear();
        loop {
            let first = self.first();
            if first.at != now {
                break;
            }
            if std::mem::replace(&mut self.open, true) {
                self.close();
            }
            self.due.push(first.order);
        }
        if self.due.len() > 1 {
            self.due.sort_unstable();
        }
        for &order in &self.due {
            let place = place_of(order);
            self.free.push(place);
            each(self.table[place as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{AttemptId, AttemptState, JobId, TaskKind, WorkerId};

    fn end(index: u32) -> Finished {
        let attempt = AttemptId { job: JobId(1), index, number: 0, kind: TaskKind::Map };
        Finished { attempt, worker: WorkerId(0), state: AttemptState::Succeeded }
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
            ends.take_at(now, |end| order.push(end.attempt.index));
            if order.ends_with(&[3]) {
                ends.plan(Time::from_us(25), 6, end(6));
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
            ends.take_at(now, |end| order.push(end.attempt.index * 37 % 100));
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
