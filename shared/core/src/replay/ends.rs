//! The queue of ends: which running attempt ends next.
//!
//! A heap by time over numbers of 64 bits, each of which is a time and the slot of the attempt that ends then; all else
//! that is known of an end stands by slot. Mostly one attempt ends and another one is launched in its slot at the same
//! instant, so the place that an end leaves at the top stays open until the next one is planned, and the heap is put in
//! order once instead of twice. An attempt that was stopped early leaves its entry behind; the core ignores the end of
//! an attempt that it no longer has. What does not fit, as it is half a year ahead or its slot still has such an entry,
//! waits in a heap beside. Ends of one instant are put in order of launch when due.

mod heap;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::heap::{NEVER, OpenHeap};
use crate::cluster::AttemptRef;
use crate::job::AttemptState;
use crate::time::Time;
use crate::tracker::Finished;

/// Bits of an order, from the lowest on: the state; the attempt's slot, so that 16 million may run at a time; its
/// launch, so that there may be 68 thousand million. The two highest are its [`TieBreak`].
const STATE_BITS: u32 = 2;
const SLOT_BITS: u32 = 24;
const LAUNCH_BITS: u32 = 36;

/// The states in which an attempt ends.
const STATES: [AttemptState; 4] =
    [AttemptState::Succeeded, AttemptState::Failed, AttemptState::Killed, AttemptState::Killed];

/// Where an end stands among the others of its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TieBreak {
    /// Before those that come by launch.
    First = 0,
    /// By launch, as nearly all.
    ByLaunch = 1,
    /// After them.
    Last = 2,
}

/// Low bits of a key, which are the slot; the others are the time after the base, in microseconds.
const KEY_SLOT_BITS: u32 = 20;
/// High bits of a key.
const KEY_TIME_BITS: u32 = u64::BITS - KEY_SLOT_BITS;
/// The first time after the base that no key has, so that none is [`NEVER`].
const TOO_FAR: u64 = (1 << KEY_TIME_BITS) - 1;

/// The order of a slot without an end.
const NONE: u64 = u64::MAX;

/// All ends to come.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// Times and slots. The one that was taken last may stand in an open place.
    keys: OpenHeap,
    /// Where the keys' times begin.
    base: Time,
    /// What [`order`] makes of the end, by slot, of those that have a key; else [`NONE`].
    orders: Vec<u64>,
    /// Ends without a key, by time and order.
    beside: BinaryHeap<Reverse<(Time, u64)>>,
    /// The time of the first end that was not taken.
    next: Time,
    /// The time of the last one that was.
    last: Time,
    /// Orders of the ends that are due.
    due: Vec<u64>,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends {
            keys: OpenHeap::default(),
            base: Time::ZERO,
            orders: Vec::new(),
            beside: BinaryHeap::new(),
            next: Time::MAX,
            last: Time::ZERO,
            due: Vec::new(),
        }
    }
}

impl Ends {
    /// None, for ends from `now` on.
    pub(super) fn from(now: Time) -> Ends {
        Ends { base: now, last: now, ..Ends::default() }
    }

    /// When the next attempt ends; [`Time::MAX`] when none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next
    }

    /// Plans an end of an attempt that is `Succeeded`, `Failed` or `Killed` then; one at [`Time::MAX`] never comes.
    ///
    /// # Panics
    /// With more than 16 million attempts at a time, or with the 68 thousand millionth of all.
    #[inline(always)]
    pub(super) fn plan(&mut self, at: Time, tie_break: TieBreak, end: Finished) {
        self.plan_order(at, end.attempt.slot, order(tie_break, end));
    }

    #[inline(always)]
    fn plan_order(&mut self, at: Time, slot: u32, order: u64) {
        let ahead = at.as_us().wrapping_sub(self.base.as_us());
        match self.orders.get_mut(slot as usize) {
            Some(place @ &mut NONE) if ahead < TOO_FAR => *place = order,
            _ => return self.plan_rarely(at, slot, order),
        }
        self.keys.put(ahead << KEY_SLOT_BITS | u64::from(slot));
        self.next = self.next.min(at);
    }

    /// Plans the first end in a slot, or one that does not fit.
    #[inline(never)]
    fn plan_rarely(&mut self, at: Time, slot: u32, order: u64) {
        if at == Time::MAX {
            return;
        }
        if slot as usize >= self.orders.len() && slot >> KEY_SLOT_BITS == 0 {
            self.orders.resize((slot as usize + 1).next_power_of_two(), NONE);
            return self.plan_order(at, slot, order);
        }
        let passed = self.last.since(self.base).as_us();
        // Once in a while, as it looks at all keys.
        if passed >> (KEY_TIME_BITS - 2) > 0 {
            self.keys.close();
            self.keys.lower(passed << KEY_SLOT_BITS);
            self.base = self.last;
            return self.plan_order(at, slot, order);
        }
        self.beside.push(Reverse((at, order)));
        self.next = self.next.min(at);
    }

    #[inline(always)]
    fn time(&self, key: u64) -> Time {
        if key == NEVER { Time::MAX } else { Time::from_us(self.base.as_us() + (key >> KEY_SLOT_BITS)) }
    }

    /// When the first end comes that has no key.
    fn next_beside(&self) -> Time {
        self.beside.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    /// Takes the first end out.
    #[inline(always)]
    fn pop(&mut self) -> u64 {
        self.keys.close();
        if self.beside.is_empty() { self.pop_key() } else { self.pop_of_both() }
    }

    /// Takes the end with the first key out.
    #[inline(always)]
    fn pop_key(&mut self) -> u64 {
        let slot = slot_of(self.keys.open());
        self.next = self.time(self.keys.second());
        std::mem::replace(&mut self.orders[slot], NONE)
    }

    /// Takes the first end out, where some have no key.
    #[inline(never)]
    fn pop_of_both(&mut self) -> u64 {
        let keyed = self.time(self.keys.first());
        if keyed <= self.next_beside() {
            let order = self.pop_key();
            self.next = self.next.min(self.next_beside());
            return order;
        }
        let taken = self.beside.pop();
        self.next = keyed.min(self.next_beside());
        taken.map_or(NONE, |Reverse((_, order))| order)
    }

    /// Times and orders of all ends to come, in no order.
    fn orders(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        let keyed = self.keys.iter().map(|key| (self.time(key), self.orders[slot_of(key)]));
        keyed.chain(self.beside.iter().map(|end| end.0))
    }

    /// All ends to come, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, Finished)> + '_ {
        self.orders().map(|(at, order)| (at, end(order)))
    }

    /// Takes out the ends for which this holds; it looks at all of them.
    pub(super) fn forget(&mut self, mut gone: impl FnMut(&Finished) -> bool) {
        let kept: Vec<(Time, u64)> = self.orders().filter(|&(_, order)| !gone(&end(order))).collect();
        *self = Ends { base: self.base, last: self.last, ..Ends::default() };
        for (at, order) in kept {
            self.plan_order(at, end(order).attempt.slot, order);
        }
    }

    /// Takes out the ends that come at `now`, which is before [`Time::MAX`]: returns the only one, or puts several into
    /// `ends`, in order of launch.
    #[inline(always)]
    pub(super) fn take_at(&mut self, now: Time, ends: &mut Vec<Finished>) -> Option<Finished> {
        if self.next != now {
            return None;
        }
        self.last = now;
        let first = self.pop();
        if self.next != now {
            return Some(end(first));
        }
        self.take_tied(now, first, ends);
        None
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
fn order(tie_break: TieBreak, Finished { attempt: AttemptRef { slot, launch }, state }: Finished) -> u64 {
    assert!(slot >> SLOT_BITS == 0 && launch >> LAUNCH_BITS == 0, "attempt {launch} in slot {slot}");
    let state = match state {
        AttemptState::Failed => 1,
        AttemptState::Killed => 2,
        _ => 0,
    };
    let launch = (tie_break as u64) << LAUNCH_BITS | launch;
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

#[inline(always)]
fn slot_of(key: u64) -> usize {
    (key & ((1 << KEY_SLOT_BITS) - 1)) as usize
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
        let only = ends.take_at(now, &mut taken);
        taken.iter().chain(&only).map(|end| end.attempt.launch).collect()
    }

    #[test]
    fn ends_come_by_time_and_then_by_launch() {
        let mut ends = Ends::default();
        for (launch, at) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 30)] {
            ends.plan(Time::from_us(at), TieBreak::ByLaunch, finished(launch));
        }
        ends.plan(Time::MAX, TieBreak::ByLaunch, finished(5));
        let mut order = Vec::new();
        while ends.next_time() < Time::MAX {
            let now = ends.next_time();
            order.extend(take_at(&mut ends, now));
            if order.ends_with(&[3]) {
                ends.plan(Time::from_us(25), TieBreak::ByLaunch, finished(6));
            }
        }
        assert_eq!(order, [1, 3, 2, 6, 0, 4]);
    }

    #[test]
    fn some_ends_come_before_or_after_all_others_of_their_instant() {
        let mut ends = Ends::default();
        for (launch, tie_break) in
            [(0, TieBreak::Last), (1, TieBreak::ByLaunch), (2, TieBreak::ByLaunch), (3, TieBreak::First)]
        {
            ends.plan(Time::from_us(7), tie_break, finished(launch));
        }
        assert_eq!(take_at(&mut ends, Time::from_us(7)), [3, 1, 2, 0]);
    }

    #[test]
    fn an_end_is_found_again_in_its_number() {
        let greatest = AttemptRef { slot: (1 << SLOT_BITS) - 1, launch: (1 << LAUNCH_BITS) - 1 };
        for state in [AttemptState::Succeeded, AttemptState::Failed, AttemptState::Killed] {
            for attempt in [AttemptRef { slot: 0, launch: 0 }, AttemptRef { slot: 5, launch: 9 }, greatest] {
                for tie_break in [TieBreak::First, TieBreak::ByLaunch, TieBreak::Last] {
                    let planned = Finished { attempt, state };
                    assert_eq!(end(order(tie_break, planned)), planned);
                }
            }
        }
    }

    #[test]
    fn forgotten_ends_never_come() {
        let mut ends = Ends::default();
        for launch in 0..100 {
            ends.plan(Time::from_us(launch * 37 % 100), TieBreak::ByLaunch, finished(launch));
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

    // Slots are given again while ends of earlier attempts still wait in them; with long units, keys do not hold them.
    #[test]
    fn ends_come_as_from_a_sorted_list_whoever_has_a_slot_and_however_far_they_are() {
        for unit in [1, 1_000_000, 1 << 34, 1 << 40] {
            compare_with_a_list(unit);
        }
    }

    /// Against a list that is searched.
    fn compare_with_a_list(unit: u64) {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut ends, mut list) = (Ends::default(), Vec::new());
        let mut now = Time::ZERO;
        for launch in 0..20_000 {
            let slot = draw(1 + launch / 100) as u32;
            let end = Finished { attempt: AttemptRef { slot, launch }, state: AttemptState::Succeeded };
            let at = Time::from_us(now.as_us() + draw(30) * unit);
            ends.plan(at, TieBreak::ByLaunch, end);
            list.push((at, end));
            if launch % 1_000 == 999 {
                let gone = |end: &Finished| end.attempt.launch.is_multiple_of(7);
                ends.forget(gone);
                list.retain(|(_, end)| !gone(end));
            }
            while list.len() as u64 > draw(300) {
                now = ends.next_time();
                let mut taken = Vec::new();
                let only = ends.take_at(now, &mut taken);
                taken.extend(only);
                list.sort_by_key(|&(at, end)| (at, end.attempt.launch));
                let due = list.partition_point(|&(at, _)| at <= now);
                assert_eq!(taken, list.drain(..due).map(|(_, end)| end).collect::<Vec<_>>());
            }
            assert_eq!(ends.next_time(), list.iter().map(|&(at, _)| at).min().unwrap_or(Time::MAX));
            assert_eq!(ends.iter().count(), list.len());
        }
    }
}
