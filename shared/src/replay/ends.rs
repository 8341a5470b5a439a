//! The queue of ends: which running attempt ends next.
//!
//! A heap by time over entries of 16 bytes; what ends is in a table beside it. Mostly one attempt ends and another one
//! is launched at the same instant, so the place that an end leaves at the top stays open until the next one is
//! planned, and the heap is put in order once instead of twice. An attempt that was stopped early leaves its entry
//! behind; the core ignores the end of an attempt that it no longer has.
//!
//! Four children to a parent, kept as whole families: beyond the last entry stand [`NEVER`]s. So an entry can sink to
//! the bottom without the questions which child is first and whether it has arrived being branches: no processor
//! foresees the answers, and a wrong guess costs more than a level. Ends of one instant are put in order of launch when
//! due.

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
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// Entry 0. No child is before its parent.
    first: Entry,
    /// The children of entry `i`, which are entries `4i + 1` to `4i + 4`; no family is without an entry.
    families: Vec<[Entry; 4]>,
    /// Entries that are not [`NEVER`], the one that is gone included.
    n: usize,
    /// Whether the first entry is gone already.
    open: bool,
    /// The time of the first entry that is not gone.
    next: Time,
    table: Vec<Finished>,
    free: Vec<u32>,
    /// Orders of the ends that are due.
    due: Vec<u64>,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends {
            first: NEVER,
            families: Vec::new(),
            n: 0,
            open: false,
            next: Time::MAX,
            table: Vec::new(),
            free: Vec::new(),
            due: Vec::new(),
        }
    }
}

impl Ends {
    /// When the next attempt ends; [`Time::MAX`] when none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next
    }

    /// What `next` is to be. Below an open top stand the next ones, in its children.
    #[inline(always)]
    fn find_next(&self) -> Time {
        match self.families.first() {
            _ if !self.open => self.first.at,
            Some([a, b, c, d]) => a.at.min(b.at).min(c.at.min(d.at)),
            None => Time::MAX,
        }
    }

    /// Plans an end of an attempt that is `Succeeded`, `Failed` or `Killed` then; one at [`Time::MAX`] never comes.
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
                // Not as a whole, which would wait for the fields to be together.
                let held = &mut self.table[place as usize];
                held.attempt = end.attempt;
                held.state = end.state;
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
        self.next = self.next.min(at);
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
    fn sink(&mut self, entry: Entry) {
        let Some(children) = self.families.first() else {
            self.first = entry;
            return;
        };
        let (child, mut of) = earliest(children);
        let (stays, mut entry) = in_order(entry, child);
        self.first = stays;
        let mut family = 0;
        while let Some(children) = self.families.get(4 * family + of + 1) {
            let (child, of_child) = earliest(children);
            let (stays, sinks) = in_order(entry, child);
            self.families[family][of] = stays;
            (entry, family, of) = (sinks, 4 * family + of + 1, of_child);
        }
        self.families[family][of] = entry;
    }

    /// Entry `at`.
    fn entry(&mut self, at: usize) -> &mut Entry {
        match at.checked_sub(1) {
            Some(below) => &mut self.families[below / 4][below % 4],
            None => &mut self.first,
        }
    }

    /// Adds an entry at the end and lets it rise.
    fn push(&mut self, entry: Entry) {
        let mut at = self.n;
        self.n += 1;
        if at % 4 == 1 {
            self.families.push([NEVER; 4]);
        }
        while at > 0 {
            let parent = *self.entry((at - 1) / 4);
            if entry.at >= parent.at {
                break;
            }
            *self.entry(at) = parent;
            at = (at - 1) / 4;
        }
        *self.entry(at) = entry;
    }

    /// Takes the first entry out; its place stays open.
    #[inline(always)]
    fn pop(&mut self) -> u64 {
        if std::mem::replace(&mut self.open, true) {
            self.close();
        }
        self.next = self.find_next();
        self.first.order
    }

    /// Closes the open place with the last entry.
    #[inline(never)]
    fn close(&mut self) {
        self.n -= 1;
        let last = std::mem::replace(self.entry(self.n), NEVER);
        if self.n % 4 == 1 {
            self.families.pop();
        }
        if self.n > 0 {
            self.sink(last);
        }
    }

    /// Gives an end's place in the table back.
    #[inline(always)]
    fn release(&mut self, order: u64) -> Finished {
        let place = order as u32 & ((1 << PLACE_BITS) - 1);
        self.free.push(place);
        self.table[place as usize]
    }

    /// All entries of ends to come, in no order.
    fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let all = std::iter::once(&self.first).chain(self.families.iter().flatten());
        all.take(self.n).skip(usize::from(self.open)).copied()
    }

    /// All ends to come, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, Finished)> + '_ {
        self.entries().map(|entry| (entry.at, self.table[entry.order as usize & ((1 << PLACE_BITS) - 1)]))
    }

    /// Takes out the ends for which this holds; it looks at all of them.
    pub(super) fn forget(&mut self, mut gone: impl FnMut(&Finished) -> bool) {
        let entries: Vec<Entry> = self.entries().collect();
        self.first = NEVER;
        self.families.clear();
        (self.n, self.open) = (0, false);
        for entry in entries {
            let end = self.release(entry.order);
            if !gone(&end) {
                self.free.pop();
                self.push(entry);
            }
        }
        self.next = self.find_next();
    }

    /// Takes out the ends that come at `now`, which is before [`Time::MAX`], in order of launch.
    #[inline(always)]
    pub(super) fn take_at(&mut self, now: Time, ends: &mut Vec<Finished>) {
        if self.next != now {
            return;
        }
        let first = self.pop();
        if self.next == now {
            self.take_tied(now, first, ends);
        } else {
            ends.push(self.release(first));
        }
    }

    #[inline(never)]
    fn take_tied(&mut self, now: Time, first: u64, ends: &mut Vec<Finished>) {
        let mut due = std::mem::take(&mut self.due);
        due.push(first);
        while self.next == now {
            due.push(self.pop());
        }
        due.sort_unstable();
        ends.extend(due.drain(..).map(|order| self.release(order)));
        self.due = due;
    }
}

/// The earliest of a family, and which it is.
#[inline(always)]
fn earliest(&[a, b, c, d]: &[Entry; 4]) -> (Entry, usize) {
    let (left, of_left) = if b.at < a.at { (b, 1) } else { (a, 0) };
    let (right, of_right) = if d.at < c.at { (d, 3) } else { (c, 2) };
    if right.at < left.at { (right, of_right) } else { (left, of_left) }
}

/// Who stays and who sinks on, where an entry meets the earliest below it. If it is the entry that stays, the other one
/// sinks to where it was.
#[inline(always)]
fn in_order(entry: Entry, child: Entry) -> (Entry, Entry) {
    if entry.at < child.at { (entry, child) } else { (child, entry) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::AttemptRef;
    use crate::job::AttemptState;

    fn end(slot: u32) -> Finished {
        Finished { attempt: AttemptRef { slot, generation: 0 }, state: AttemptState::Succeeded }
    }

    fn take_at(ends: &mut Ends, now: Time) -> Vec<u32> {
        let mut taken = Vec::new();
        ends.take_at(now, &mut taken);
        taken.iter().map(|end| end.attempt.slot).collect()
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
            order.extend(take_at(&mut ends, now));
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
            order.extend(take_at(&mut ends, now).iter().map(|slot| slot * 37 % 100));
            if now == Time::from_us(10) {
                // The place of what ended last is still open.
                ends.forget(|end| end.attempt.slot % 3 == 0);
            }
        }
        let kept = |at: &u32| *at <= 10 || (0..100).any(|index| index * 37 % 100 == *at && index % 3 != 0);
        assert_eq!(order, (0..100).filter(kept).collect::<Vec<_>>());
        assert_eq!(ends.free.len(), ends.table.len());
    }
}
