//! The queue of ends: which running attempt ends next.
//!
//! A heap by time over entries of 16 bytes that say all of an end: its time, and in one number whose end it is and
//! which. Mostly one attempt ends and another one is launched at the same instant, so the place that an end leaves at
//! the top stays open until the next one is planned, and the heap is put in order once instead of twice. An attempt
//! that was stopped early leaves its entry behind; the core ignores the end of an attempt that it no longer has.
//!
//! Four children to a parent, kept as whole families: beyond the last entry stand [`NEVER`]s. So an entry can sink to
//! the bottom without the questions which child is first and whether it has arrived being branches: no processor
//! foresees the answers, and a wrong guess costs more than a level. Ends of one instant are put in order of launch when
//! due.

use crate::cluster::AttemptRef;
use crate::job::AttemptState;
use crate::time::Time;
use crate::tracker::Finished;

/// Bits of an order, from the lowest on: the state; the attempt's slot, so that 16 million may run at a time; its
/// launch, so that there may be 68 thousand million. The two highest are its [`Among`].
const STATE_BITS: u32 = 2;
const SLOT_BITS: u32 = 24;
const LAUNCH_BITS: u32 = 36;

/// The states in which an attempt ends.
const STATES: [AttemptState; 4] =
    [AttemptState::Succeeded, AttemptState::Failed, AttemptState::Killed, AttemptState::Killed];

/// Where an end stands among the others of its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// Before those that come by launch.
    First = 0,
    /// By launch, as nearly all.
    ByLaunch = 1,
    /// After them.
    Last = 2,
}

/// One end to come.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    /// What [`order`] makes of the end.
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
    /// Orders of the ends that are due.
    due: Vec<u64>,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends { first: NEVER, families: Vec::new(), n: 0, open: false, next: Time::MAX, due: Vec::new() }
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
    /// With more than 16 million attempts at a time, or with the 68 thousand millionth of all.
    #[inline(always)]
    pub(super) fn plan(&mut self, at: Time, among: Among, end: Finished) {
        if at == Time::MAX {
            return;
        }
        let entry = Entry { at, order: order(among, end) };
        if std::mem::take(&mut self.open) {
            self.sink(entry);
        } else {
            self.push(entry);
        }
        self.next = self.next.min(at);
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

    /// All entries of ends to come, in no order.
    fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let all = std::iter::once(&self.first).chain(self.families.iter().flatten());
        all.take(self.n).skip(usize::from(self.open)).copied()
    }

    /// All ends to come, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, Finished)> + '_ {
        self.entries().map(|entry| (entry.at, end(entry.order)))
    }

    /// Takes out the ends for which this holds; it looks at all of them.
    pub(super) fn forget(&mut self, mut gone: impl FnMut(&Finished) -> bool) {
        let entries: Vec<Entry> = self.entries().filter(|entry| !gone(&end(entry.order))).collect();
        self.first = NEVER;
        self.families.clear();
        (self.n, self.open) = (0, false);
        entries.into_iter().for_each(|entry| self.push(entry));
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
            ends.push(end(first));
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
        ends.extend(due.drain(..).map(end));
        self.due = due;
    }
}

/// An end in one number: of two at one instant, the smaller comes first.
#[inline(always)]
fn order(among: Among, Finished { attempt: AttemptRef { slot, launch }, state }: Finished) -> u64 {
    assert!(slot < 1 << SLOT_BITS && launch < 1 << LAUNCH_BITS, "attempt {launch} in slot {slot}");
    let state = match state {
        AttemptState::Failed => 1,
        AttemptState::Killed => 2,
        _ => 0,
    };
    let launch = (among as u64) << LAUNCH_BITS | launch;
    (launch << SLOT_BITS | u64::from(slot)) << STATE_BITS | state
}

/// What [`order`] was made of.
#[inline(always)]
fn end(order: u64) -> Finished {
    let bits = |from: u32, n: u32| order >> from & ((1 << n) - 1);
    let slot = bits(STATE_BITS, SLOT_BITS) as u32;
    let attempt = AttemptRef { slot, launch: bits(STATE_BITS + SLOT_BITS, LAUNCH_BITS) };
    Finished { attempt, state: STATES[bits(0, STATE_BITS) as usize] }
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

    fn finished(launch: u64) -> Finished {
        // Slots in another order than launches.
        let slot = 1_000 - launch as u32;
        Finished { attempt: AttemptRef { slot, launch }, state: AttemptState::Succeeded }
    }

    fn take_at(ends: &mut Ends, now: Time) -> Vec<u64> {
        let mut taken = Vec::new();
        ends.take_at(now, &mut taken);
        taken.iter().map(|end| end.attempt.launch).collect()
    }

    #[test]
    fn ends_come_by_time_and_then_by_launch() {
        let mut ends = Ends::default();
        for (launch, at) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 30)] {
            ends.plan(Time::from_us(at), Among::ByLaunch, finished(launch));
        }
        ends.plan(Time::MAX, Among::ByLaunch, finished(5));
        let mut order = Vec::new();
        while ends.next_time() < Time::MAX {
            let now = ends.next_time();
            order.extend(take_at(&mut ends, now));
            if order.ends_with(&[3]) {
                ends.plan(Time::from_us(25), Among::ByLaunch, finished(6));
            }
        }
        assert_eq!(order, [1, 3, 2, 6, 0, 4]);
    }

    #[test]
    fn some_ends_come_before_or_after_all_others_of_their_instant() {
        let mut ends = Ends::default();
        for (launch, among) in [(0, Among::Last), (1, Among::ByLaunch), (2, Among::ByLaunch), (3, Among::First)] {
            ends.plan(Time::from_us(7), among, finished(launch));
        }
        assert_eq!(take_at(&mut ends, Time::from_us(7)), [3, 1, 2, 0]);
    }

    #[test]
    fn an_end_is_found_again_in_its_number() {
        let greatest = AttemptRef { slot: (1 << SLOT_BITS) - 1, launch: (1 << LAUNCH_BITS) - 1 };
        for state in [AttemptState::Succeeded, AttemptState::Failed, AttemptState::Killed] {
            for attempt in [AttemptRef { slot: 0, launch: 0 }, AttemptRef { slot: 5, launch: 9 }, greatest] {
                for among in [Among::First, Among::ByLaunch, Among::Last] {
                    let planned = Finished { attempt, state };
                    assert_eq!(end(order(among, planned)), planned);
                }
            }
        }
    }

    #[test]
    fn forgotten_ends_never_come() {
        let mut ends = Ends::default();
        for launch in 0..100 {
            ends.plan(Time::from_us(launch * 37 % 100), Among::ByLaunch, finished(launch));
        }
        let mut order = Vec::new();
        while ends.next_time() < Time::MAX {
            let now = ends.next_time();
            order.extend(take_at(&mut ends, now).iter().map(|launch| launch * 37 % 100));
            if now == Time::from_us(10) {
                // The place of what ended last is still open.
                ends.forget(|end| end.attempt.launch % 3 == 0);
            }
        }
        let kept = |at: &u64| *at <= 10 || (0..100).any(|launch| launch * 37 % 100 == *at && launch % 3 != 0);
        assert_eq!(order, (0..100).filter(kept).collect::<Vec<_>>());
    }
}
