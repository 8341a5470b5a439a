//! The master's clock: wall time anchored to the monotonic clock.
//!
//! It reads the wall clock once, when it is made, and counts from there with the monotonic clock, so that a
//! correction of the wall clock cannot make time jump. Batches get strictly increasing times.

use std::time::{Duration, Instant, UNIX_EPOCH};

use howdah_core::time::Time;
use howdah_guards::clock;

/// Milliseconds since the epoch on the wall clock.
pub(crate) fn now_ms_epoch() -> u64 {
    clock::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as u64
}

/// Gives each batch its time.
#[derive(Debug)]
pub(crate) struct Clock {
    anchor_us: u64,
    anchor: Instant,
    last: Time,
}

impl Clock {
    /// Anchored now.
    pub(crate) fn new() -> Clock {
        let since_epoch = clock::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Clock { anchor_us: since_epoch.as_micros() as u64, anchor: Instant::now(), last: Time::ZERO }
    }

    /// Anchored now, but never at or before `last`: a wall clock that was set back while the master was away must not
    /// take time back.
    pub(crate) fn after(last: Time) -> Clock {
        let mut clock = Clock::new();
        clock.anchor_us = clock.anchor_us.max(last.as_us() + 1);
        clock.last = last;
        clock
    }

    /// Now, without promising anything about other readings.
    pub(crate) fn read(&self) -> Time {
        Time::from_us(self.anchor_us + self.anchor.elapsed().as_micros() as u64)
    }

    /// Now, at least a microsecond after the previous stamp.
    pub(crate) fn stamp(&mut self) -> Time {
        let next = Time::from_us(self.last.as_us() + 1);
        self.last = self.read().max(next);
        self.last
    }

    /// How long until `deadline`; zero when it has passed.
    pub(crate) fn until(&self, deadline: Time) -> Duration {
        Duration::from_micros(deadline.since(self.read()).as_us())
    }
}
