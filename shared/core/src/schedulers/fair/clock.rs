//! When Fair's updates happen: at multiples of an interval, and only after something changed.

use crate::job::JobId;
use crate::time::{Span, Time};

/// When updates happen.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Updates happen at multiples of the interval from here.
    pub(super) start: Time,
    pub(super) interval: Span,
    /// The first change that no update has seen.
    pub(super) since: Option<Time>,
    /// Whether someone may wait for the update.
    pub(super) wanted: bool,
    /// Jobs that want something else than at the last update.
    pub(super) stale: Vec<JobId>,
    /// The last update that did not come with the clock.
    pub(super) last: Time,
    /// Whether a pool gets too little and has a timeout for it.
    pub(super) starved: bool,
    /// When it was last looked whether to preempt.
    pub(super) checked: Time,
}

impl Clock {
    pub(super) fn new(start: Time, interval: Span) -> Clock {
        Clock {
            start,
            interval,
            since: None,
            wanted: false,
            stale: Vec::new(),
            last: start,
            starved: false,
            checked: start,
        }
    }

    /// Something changed; `wanted` if a worker that got nothing might get something after the update.
    pub(super) fn changed(&mut self, now: Time, wanted: bool) {
        self.since.get_or_insert(now);
        self.wanted |= wanted;
    }

    /// When the update comes that sees the changes; [`Time::MAX`] when there are none.
    pub(super) fn due_at(&self) -> Time {
        self.since.map_or(Time::MAX, |since| self.at_or_after(since, self.interval))
    }

    /// Whether it should have come before this instant.
    pub(super) fn is_overdue(&self, now: Time) -> bool {
        self.due_at() < now
    }

    /// Whether it comes at this instant or should have come.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.since.is_some() && self.due_at() <= now
    }

    /// When someone has to see to it that it comes.
    pub(super) fn alarm(&self) -> Option<Time> {
        self.wanted.then(|| self.due_at())
    }

    /// The first multiple of a span from the start that is not before `at`.
    fn at_or_after(&self, at: Time, span: Span) -> Time {
        let (passed, span) = ((at - self.start).as_us(), span.as_us().max(1));
        self.start + Span::from_us(passed.div_ceil(span).saturating_mul(span))
    }

    /// The last update before one at `now`: by the clock, or between.
    pub(super) fn before(&self, now: Time) -> Time {
        let span = self.interval.as_us().max(1);
        let passed = (now - self.start).as_us();
        let by_clock = self.start + Span::from_us(passed.saturating_sub(1) / span * span);
        by_clock.max(self.last)
    }
}
