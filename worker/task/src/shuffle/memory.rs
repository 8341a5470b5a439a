//! How many bytes fetched segments may hold, shared by the fetchers and the merger.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts bytes; who wants more than are free waits.
pub(crate) struct Budget {
    limit: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    used: usize,
    waiting: usize,
    closed: bool,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Budget {
        Budget { limit, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Whether a segment of this size belongs into memory at all: not one that takes more than a quarter of it.
    pub(crate) fn suits(&self, bytes: u64) -> bool {
        bytes <= self.limit as u64 / 4
    }

    /// Takes bytes that [`Budget::suits`], waiting until they are free; `on_wait` is called before waiting. `false`
    /// when the budget was closed.
    pub(crate) fn take(&self, bytes: usize, on_wait: impl Fn()) -> bool {
        let mut state = self.lock();
        while state.used + bytes > self.limit && !state.closed {
            state.waiting += 1;
            on_wait();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.used += bytes;
        !state.closed
    }

    /// Gives bytes back.
    pub(crate) fn release(&self, bytes: usize) {
        self.lock().used -= bytes;
        self.changed.notify_all();
    }

    /// Whether it is time to make room: two thirds are taken, or somebody waits.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.lock();
        state.waiting > 0 || state.used > self.limit / 3 * 2
    }

    /// Wakes all who wait, for nothing.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
