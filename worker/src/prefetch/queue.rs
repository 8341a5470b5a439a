//! What the thread that reads ahead is still to do: it drops first, then reads what is needed first.
//!
//! Forecasts change while a slow disk reads, so that what waits can be put in another order and taken back, and what is being read
//! can be given up between two of its chunks. Nobody waits for the thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::range::Place;

/// Ranges that may wait to be read, or to be dropped.
const WAITING: usize = 256;

/// What is asked of the thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Read(Place),
    Drop(Place),
}

/// Shared with the thread.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// First needed first.
    reads: VecDeque<Place>,
    drops: VecDeque<Place>,
    /// What the thread reads now, for as long as somebody wants it.
    reading: Option<Place>,
    is_closed: bool,
}

impl Queue {
    /// Has a range read; false if too many wait. One that waits or is being read already is read once.
    pub(super) fn read(&self, place: &Place) -> bool {
        let mut state = self.state();
        if state.reads.contains(place) || state.reading.as_ref() == Some(place) {
            return true;
        }
        let has_room = state.reads.len() < WAITING;
        if has_room {
            state.reads.push_back(place.clone());
            self.changed.notify_one();
        }
        has_room
    }

    /// Puts what waits to be read in the order of these ranks.
    pub(super) fn order(&self, rank: impl Fn(&Place) -> usize) {
        self.state().reads.make_contiguous().sort_by_key(rank);
    }

    /// Takes a range back of which nothing was read yet; false if it does not wait.
    pub(super) fn take_back(&self, place: &Place) -> bool {
        let mut state = self.state();
        let at = state.reads.iter().position(|waiting| waiting == place);
        at.and_then(|at| state.reads.remove(at)).is_some()
    }

    /// Nobody will need a range again. If too many wait, it is left to the kernel.
    pub(super) fn drop_range(&self, place: &Place) {
        let mut state = self.state();
        state.reading.take_if(|reading| reading == place);
        if state.drops.len() < WAITING {
            state.drops.push_back(place.clone());
            self.changed.notify_one();
        }
    }

    /// Nothing more is asked.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_one();
    }

    /// The thread's: waits for what is to be done; `None` when the queue is closed.
    pub(super) fn next(&self) -> Option<Ask> {
        let mut state = self.state();
        while !state.is_closed {
            if let Some(ask) = state.take() {
                return Some(ask);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// All that is to be done now, as a thread takes it.
    #[cfg(test)]
    pub(super) fn take_all(&self) -> Vec<Ask> {
        std::iter::from_fn(|| self.state().take()).collect()
    }

    /// The thread's: whether what it reads is still wanted.
    pub(super) fn goes_on(&self) -> bool {
        let state = self.state();
        state.reading.is_some() && !state.is_closed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What comes next; what was being read is over.
    fn take(&mut self) -> Option<Ask> {
        self.reading = None;
        if let Some(place) = self.drops.pop_front() {
            return Some(Ask::Drop(place));
        }
        self.reading = self.reads.pop_front();
        self.reading.clone().map(Ask::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: u64) -> Place {
        Place { path: "/nowhere/input".to_owned(), offset, length: 10 }
    }

    #[test]
    fn what_is_needed_first_is_read_first_whenever_it_was_asked_for_and_drops_go_before() {
        let queue = Queue::default();
        for offset in [20, 0, 10, 0] {
            assert!(queue.read(&place(offset)));
        }
        queue.order(|place| place.offset as usize);
        queue.drop_range(&place(90));
        let asked = queue.take_all();
        let reads = [0, 10, 20].map(|offset| Ask::Read(place(offset)));
        assert_eq!(asked[0], Ask::Drop(place(90)));
        assert_eq!(asked[1..], reads);
        queue.close();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn what_waits_can_be_taken_back_and_what_is_being_read_given_up() {
        let queue = Queue::default();
        assert!(queue.read(&place(0)) && queue.read(&place(10)));
        assert_eq!(queue.next(), Some(Ask::Read(place(0))));
        assert!(queue.goes_on() && !queue.take_back(&place(0)), "it has begun");
        queue.drop_range(&place(10));
        assert!(queue.goes_on(), "another one was dropped");
        assert!(queue.take_back(&place(10)) && !queue.take_back(&place(10)));
        queue.drop_range(&place(0));
        assert!(!queue.goes_on());
        for _ in 0..2 * WAITING {
            queue.drop_range(&place(0));
        }
        let many = (0..).map(place).take_while(|place| queue.read(place)).count();
        assert_eq!((many, queue.state().drops.len()), (WAITING, WAITING));
    }
}
