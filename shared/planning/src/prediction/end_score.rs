//! How good published forecasts of jobs' ends were, in numbers that can be added up while jobs end.
//!
//! The interval that counts is the one that people were told, scaled as it was, not the one that was drawn.

use howdah_core::time::{Span, Time};

/// Forecasts of ends that came true or not, under one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndScore {
    /// Jobs that ended.
    pub jobs: u64,
    /// Forecasts of their ends; those of a long job thinned out.
    pub forecasts: u64,
    /// Those whose interval held the end.
    pub within_interval: u64,
    /// By how much the predicted ends were off, all together.
    pub error: Span,
}

impl EndScore {
    /// Share of forecasts whose interval held the end; `None` of none.
    pub fn coverage(&self) -> Option<f64> {
        (self.forecasts > 0).then(|| self.within_interval as f64 / self.forecasts as f64)
    }

    /// One forecast of an end, with its interval, and when the end came.
    pub(super) fn add(&mut self, finish: Time, interval: [Time; 2], actual: Time) {
        self.forecasts += 1;
        self.within_interval += u64::from(interval[0] <= actual && actual <= interval[1]);
        self.error = self.error + finish.since(actual).max(actual.since(finish));
    }
}
