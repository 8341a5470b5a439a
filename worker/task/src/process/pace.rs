//! Looks at the clock seldom in fast loops and often in slow ones.

use std::time::{Duration, Instant};

/// Most steps between two looks.
const MOST_BETWEEN: u32 = 32;
/// Steps take so long that each gets a look.
const SLOW: Duration = Duration::from_millis(10);

/// Counts steps of a loop.
pub(crate) struct Pace {
    between: u32,
    left: u32,
    last: Instant,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        Pace { between: 1, left: 1, last: Instant::now() }
    }

    /// One step; the time, when it is time to look at it.
    #[inline]
    pub(crate) fn step(&mut self) -> Option<Instant> {
        self.left -= 1;
        if self.left > 0 {
            return None;
        }
        let now = Instant::now();
        self.between = if now - self.last > SLOW { 1 } else { (self.between * 2).min(MOST_BETWEEN) };
        (self.left, self.last) = (self.between, now);
        Some(now)
    }
}
