//! Waiting for a condition, with a bound that is reached only when something hangs.

use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until `done` returns something; panics with `what` when it does not within `patience`.
#[track_caller]
pub(crate) fn wait_within<T>(patience: Duration, what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = done() {
            return found;
        }
        assert!(started.elapsed() < patience, "waited {} s in vain for {what}", patience.as_secs());
        std::thread::sleep(PAUSE);
    }
}
