//! The worker's attributes, and what the master knows of them.
//!
//! A registration tells all of them. When they change later, the next report goes out at once and, like every other until
//! an answer to one of them arrives, carries the whole set: whichever of them gets lost, the master learns of the change.

use crate::tracker::AttributeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct ReportedAttributes {
    attributes: Vec<(String, String)>,
    /// Counts the changes.
    version: u32,
    /// The newest version that the master has, as far as we know.
    confirmed: u32,
    /// The first report that carried this version; 0 if none did, or that one was lost.
    carried_in: u32,
    /// The version that the registration under way tells.
    registering: u32,
}

impl ReportedAttributes {
    pub(super) fn all(&self) -> &[(String, String)] {
        &self.attributes
    }

    pub(super) fn change(&mut self, attributes: &[(String, String)]) {
        self.attributes = attributes.to_vec();
        self.version += 1;
        self.carried_in = 0;
    }

    /// Whether the master should be notified of a change before the next report is due.
    pub(super) fn is_news(&self) -> bool {
        self.version > self.confirmed && self.carried_in == 0
    }

    pub(super) fn to_report(&self) -> Option<AttributeSet> {
        let unconfirmed = self.version > self.confirmed;
        unconfirmed.then(|| AttributeSet { version: self.version, attributes: self.attributes.clone() })
    }

    pub(super) fn mark_reported(&mut self, seq: u32) {
        if self.is_news() {
            self.carried_in = seq;
        }
    }

    /// Report `seq` was lost.
    pub(super) fn forget_report(&mut self, seq: u32) {
        if self.carried_in == seq {
            self.carried_in = 0;
        }
    }

    /// Report `seq` reached the master.
    pub(super) fn on_answer(&mut self, seq: u32) {
        if self.carried_in != 0 && self.carried_in <= seq {
            self.confirmed = self.version;
        }
    }

    pub(super) fn mark_registering(&mut self) {
        self.registering = self.version;
    }

    pub(super) fn on_registered(&mut self) {
        self.confirmed = self.registering;
        self.carried_in = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::job::WorkerId;
    use crate::time::{Span, Time};
    use crate::tracker::task_tracker::{TaskTracker, TrackerConfig, TrackerEffect, TrackerInput};
    use crate::tracker::{AttributeSet, Vitals};

    fn gpu(value: &str) -> Vec<(String, String)> {
        vec![("gpu".to_owned(), value.to_owned())]
    }

    fn feed(tracker: &mut TaskTracker, ms: u64, input: TrackerInput) -> Vec<TrackerEffect> {
        let mut effects = Vec::new();
        tracker.apply(Time::from_ms(ms), &[input], &mut effects);
        tracker.check_invariants().expect("they hold");
        effects
    }

    fn reported(tracker: &TaskTracker) -> Option<AttributeSet> {
        tracker.report(Vitals::default(), true).attributes
    }

    fn answer(seq: u32, response_id: u32) -> TrackerInput {
        TrackerInput::Answer { seq, response_id, interval: Span::from_secs(3), directives: Vec::new() }
    }

    #[test]
    fn a_change_is_reported_at_once_and_until_one_of_its_reports_is_answered() {
        let mut tracker = TaskTracker::new(TrackerConfig::default());
        assert_eq!(
            feed(&mut tracker, 1_000, TrackerInput::Attributes(gpu("1"))),
            [TrackerEffect::Register { incarnation: 1 }]
        );
        assert_eq!(tracker.attributes(), gpu("1"), "the registration tells them");
        let registered = TrackerInput::Registered { worker: WorkerId(3), interval: Span::from_secs(3) };
        assert_eq!(feed(&mut tracker, 1_000, registered), [TrackerEffect::Report { seq: 1 }]);
        assert_eq!(reported(&tracker), None);

        let effects = feed(&mut tracker, 1_100, TrackerInput::Attributes(gpu("2")));
        assert_eq!(effects, [TrackerEffect::Report { seq: 2 }], "though report 1 waits at the master");
        assert_eq!(reported(&tracker), Some(AttributeSet { version: 2, attributes: gpu("2") }));
        assert_eq!(feed(&mut tracker, 1_200, answer(1, 1)), [], "an answer to a report before the change");
        assert_eq!(reported(&tracker), Some(AttributeSet { version: 2, attributes: gpu("2") }));

        assert_eq!(feed(&mut tracker, 1_300, TrackerInput::HeartbeatFailed { seq: 2 }), []);
        assert_eq!(feed(&mut tracker, 9_000, TrackerInput::Tick), [TrackerEffect::Report { seq: 3 }]);
        assert_eq!(reported(&tracker), Some(AttributeSet { version: 2, attributes: gpu("2") }), "report 2 was lost");
        feed(&mut tracker, 9_100, answer(3, 2));
        assert_eq!(reported(&tracker), None);
    }

    #[test]
    fn a_change_during_a_registration_is_reported_after_it() {
        let mut tracker = TaskTracker::new(TrackerConfig::default());
        feed(&mut tracker, 1_000, TrackerInput::Tick);
        assert_eq!(feed(&mut tracker, 1_001, TrackerInput::Attributes(gpu("1"))), []);
        let registered = TrackerInput::Registered { worker: WorkerId(3), interval: Span::from_secs(3) };
        assert_eq!(feed(&mut tracker, 1_002, registered), [TrackerEffect::Report { seq: 1 }]);
        assert_eq!(reported(&tracker), Some(AttributeSet { version: 1, attributes: gpu("1") }));
    }
}
