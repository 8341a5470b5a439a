//! Who complained of late that it cannot fetch from whom.

use std::collections::BTreeMap;

use howdah_core::job::WorkerId;
use howdah_core::time::{Span, Time};

/// As many distinct workers have to complain.
pub(super) const WITNESSES: usize = 2;

/// Within this time.
pub(super) const WINDOW: Span = Span::from_secs(600);

/// Who complained of whom, and when last. As large as the square of the workers at most, in practice a handful.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    pub(super) of: BTreeMap<WorkerId, BTreeMap<WorkerId, Time>>,
}

impl Complaints {
    /// Notes one, and returns who complained of late; they are enough from [`WITNESSES`] on.
    pub(super) fn note(&mut self, of: WorkerId, by: WorkerId, now: Time) -> Vec<WorkerId> {
        let witnesses = self.of.entry(of).or_default();
        witnesses.insert(by, now);
        witnesses.retain(|_, at| now.since(*at) <= WINDOW);
        witnesses.keys().copied().collect()
    }

    /// The worker begins anew.
    pub(super) fn forget(&mut self, of: WorkerId) {
        self.of.remove(&of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: WorkerId = WorkerId(0);

    #[test]
    fn one_worker_may_complain_as_often_as_it_likes() {
        let mut complaints = Complaints::default();
        for second in 0..100 {
            assert_eq!(complaints.note(OF, WorkerId(1), Time::from_ms(second * 1_000)), [WorkerId(1)]);
        }
    }

    #[test]
    fn two_workers_within_minutes_are_enough_and_two_in_an_hour_are_not() {
        let mut complaints = Complaints::default();
        assert_eq!(complaints.note(OF, WorkerId(1), Time::from_ms(1)), [WorkerId(1)]);
        assert_eq!(complaints.note(OF, WorkerId(2), Time::from_ms(3_600_000)), [WorkerId(2)]);
        let of_another = complaints.note(WorkerId(3), WorkerId(1), Time::from_ms(3_600_001));
        assert_eq!(of_another, [WorkerId(1)]);
        let both = complaints.note(OF, WorkerId(1), Time::from_ms(3_700_000));
        assert_eq!(both, [WorkerId(1), WorkerId(2)]);
        assert!(both.len() >= WITNESSES && of_another.len() < WITNESSES);
        complaints.forget(OF);
        assert_eq!(complaints.note(OF, WorkerId(1), Time::from_ms(3_700_001)), [WorkerId(1)]);
    }
}
