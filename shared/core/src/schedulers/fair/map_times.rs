//! What maps that succeeded have taken, of one job or of all: what delay scheduling that looks ahead expects of others.

use crate::time::Span;

/// What maps that succeeded have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MapTimes {
    n: u32,
    us: u128,
}

impl MapTimes {
    pub(super) fn add(&mut self, time: Span) {
        self.n += 1;
        self.us += u128::from(time.as_us());
    }

    /// `None` before the first.
    pub(super) fn mean(&self) -> Option<Span> {
        let mean = self.us.checked_div(u128::from(self.n))?;
        Some(Span::from_us(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}
