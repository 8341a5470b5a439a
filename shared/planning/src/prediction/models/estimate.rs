//! What a model says of a task: a time, and the interval in which nine of ten such tasks are expected.

/// What 90 % of a normal distribution stay within, either way, in standard deviations.
pub(in super::super) const TWO_SIDED_90: f64 = 1.645;

/// A time with the interval in which 90 % of such tasks are expected, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The time.
    pub expected: f64,
    /// The interval's ends.
    pub low: f64,
    /// The interval's ends.
    pub high: f64,
}

impl Estimate {
    /// With a standard deviation.
    pub(super) fn within(expected: f64, deviation: f64) -> Estimate {
        let expected = expected.max(1.0);
        let half = TWO_SIDED_90 * deviation;
        Estimate { expected, low: (expected - half).max(0.0), high: expected + half }
    }

    /// With an interval of another width around the same time.
    pub(in super::super) fn scaled(self, by: f64) -> Estimate {
        let Estimate { expected, low, high } = self;
        Estimate { expected, low: (expected - by * (expected - low)).max(0.0), high: expected + by * (high - expected) }
    }

    /// Of a place where everything takes so many times as long.
    pub(in super::super) fn times(self, by: f64) -> Estimate {
        let Estimate { expected, low, high } = self;
        Estimate { expected: expected * by, low: low * by, high: high * by }
    }

    /// How far off it is from what a task took, in halves of the interval: 1 at its ends.
    pub(in super::super) fn error(&self, time: f64) -> f64 {
        let half = if time < self.expected { self.expected - self.low } else { self.high - self.expected };
        (time - self.expected).abs() / half.max(1.0)
    }

    /// Whether a task's time lies within.
    pub fn holds(&self, time: f64) -> bool {
        self.low <= time && time <= self.high
    }
}
