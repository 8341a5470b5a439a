//! How long a pool's jobs took.

use howdah_core::time::Span;

/// How long a pool's jobs took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Until the last job ended.
    pub makespan: Span,
    /// Of all jobs from the start to their ends, added up in microseconds.
    pub delays_us: u64,
}
