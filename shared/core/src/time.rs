//! Instants and spans of the core: integer microseconds, so that equal inputs give equal times everywhere.
//!
//! A live driver counts from the Unix epoch (wall clock anchored to the monotonic one), a simulation from
//! its own start. The core only compares and subtracts.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// An instant in microseconds since the driver's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

/// A length of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    /// The driver's origin.
    pub const ZERO: Time = Time(0);
    /// Later than any instant a driver hands in; used as "never".
    pub const MAX: Time = Time(u64::MAX);

    /// An instant `us` microseconds after the origin.
    pub const fn from_us(us: u64) -> Time {
        Time(us)
    }

    /// An instant `ms` milliseconds after the origin; "never" where that is further than microseconds count.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000))
    }

    /// Microseconds since the origin.
    pub const fn as_us(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the origin.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000
    }

    /// The span from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` before this one, not before the origin.
    pub const fn saturating_sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than anything; used as "no limit".
    pub const MAX: Span = Span(u64::MAX);

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us)
    }

    /// `ms` milliseconds; "no limit" where that is longer than microseconds count, as programs and files may say anything.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000))
    }

    /// `secs` seconds, in the same way.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs.saturating_mul(1_000_000))
    }

    /// Microseconds.
    pub const fn as_us(self) -> u64 {
        self.0
    }

    /// Whole milliseconds.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds with their fraction, for people and JSON; never for decisions.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates, so that "never" plus a span stays "never".
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl fmt::Display for Span {
    /// Seconds with millisecond precision, as in `12.345 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.as_secs_f64())
    }
}
