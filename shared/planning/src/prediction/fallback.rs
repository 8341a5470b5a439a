//! What is said of a task that nothing like it has finished before: a stated time with a wide interval.

use super::models::Estimate;
use howdah_core::time::Span;

/// What a task takes that nothing is remembered of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Whatever the input.
    pub start: Span,
    /// For each MiB of it.
    pub per_mib: Span,
    /// In the place of both where the size of the input is not known.
    pub unknown: Span,
}

impl Default for Fallback {
    /// A second and 10 MiB a second; 10 s for input of unknown size.
    fn default() -> Fallback {
        Fallback { start: Span::from_secs(1), per_mib: Span::from_ms(100), unknown: Span::from_secs(10) }
    }
}

/// An unseen task may take this many times less, or more.
pub(super) const UNSEEN: f64 = 10.0;

impl Fallback {
    pub(super) fn estimate(&self, bytes: Option<u64>) -> Estimate {
        let us = |span: Span| span.as_us() as f64;
        let expected = match bytes {
            None => us(self.unknown),
            Some(bytes) => us(self.start) + us(self.per_mib) * bytes as f64 / f64::from(1 << 20),
        };
        Estimate { expected, low: expected / UNSEEN, high: expected * UNSEEN }
    }
}
