//! Which worker sent the last message when, as a list in order of time, so that the next expiry is at its head.
//!
//! All workers have the same expiry, so hearing of one moves it to the tail; nothing is searched or sorted.
//! Parked and lost workers are not in the list. **Invariant: times ascend along the list.**

use crate::job::WorkerId;
use crate::time::Time;

const NONE: u32 = u32::MAX;

/// One worker's links.
#[derive(Clone, Copy, Debug)]
struct Link {
    contact: Time,
    previous: u32,
    next: u32,
    listed: bool,
}

/// The list.
#[derive(Clone, Debug)]
pub(super) struct Liveness {
    links: Vec<Link>,
    head: u32,
    tail: u32,
}

impl Liveness {
    pub(super) fn new() -> Liveness {
        Liveness { links: Vec::new(), head: NONE, tail: NONE }
    }

    /// The worker that has been silent longest, and since when.
    pub(super) fn longest_silent(&self) -> Option<(WorkerId, Time)> {
        let link = self.links.get(self.head as usize)?;
        Some((WorkerId(self.head), link.contact))
    }

    /// Notes that a worker sent a message now; `now` never goes back.
    pub(super) fn note_contact(&mut self, worker: WorkerId, now: Time) {
        self.remove(worker);
        while self.links.len() <= worker.0 as usize {
            self.links.push(Link { contact: now, previous: NONE, next: NONE, listed: false });
        }
        self.links[worker.0 as usize] = Link { contact: now, previous: self.tail, next: NONE, listed: true };
        match self.links.get_mut(self.tail as usize) {
            Some(tail) => tail.next = worker.0,
            None => self.head = worker.0,
        }
        self.tail = worker.0;
    }

    /// Stops watching a worker.
    pub(super) fn remove(&mut self, worker: WorkerId) {
        let Some(link) = self.links.get_mut(worker.0 as usize).filter(|link| link.listed) else { return };
        link.listed = false;
        let Link { previous, next, .. } = *link;
        match self.links.get_mut(previous as usize) {
            Some(link) => link.next = next,
            None => self.head = next,
        }
        match self.links.get_mut(next as usize) {
            Some(link) => link.previous = previous,
            None => self.tail = previous,
        }
    }

    /// Starts everyone's clock again.
    pub(super) fn restart(&mut self, now: Time) {
        for link in &mut self.links {
            link.contact = now;
        }
    }

    /// All that are watched and when each was heard of, longest silent first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (WorkerId, Time)> + '_ {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let (worker, link) = (at, self.links.get(at as usize)?);
            at = link.next;
            Some((WorkerId(worker), link.contact))
        })
    }

    pub(super) fn watches(&self, worker: WorkerId) -> bool {
        self.links.get(worker.0 as usize).is_some_and(|link| link.listed)
    }

    /// Whether the list is whole and in order.
    pub(super) fn check(&self) -> bool {
        let (mut at, mut previous, mut n, mut last) = (self.head, NONE, 0, Time::ZERO);
        while let Some(link) = self.links.get(at as usize) {
            if !link.listed || link.previous != previous || link.contact < last {
                return false;
            }
            (previous, last, n) = (at, link.contact, n + 1);
            at = link.next;
        }
        previous == self.tail && n == self.links.iter().filter(|link| link.listed).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_the_longest_silent() {
        let mut list = Liveness::new();
        for i in 0..4 {
            list.note_contact(WorkerId(i), Time::from_us(u64::from(i)));
        }
        list.note_contact(WorkerId(0), Time::from_us(10));
        list.remove(WorkerId(2));
        list.remove(WorkerId(2));
        let mut order = Vec::new();
        while let Some((worker, _)) = list.longest_silent() {
            assert!(list.check());
            order.push(worker.0);
            list.remove(worker);
        }
        assert_eq!(order, [1, 3, 0]);
        assert!(list.check());
    }
}
