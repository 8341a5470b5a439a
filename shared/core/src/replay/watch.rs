//! What an observer learns about attempts. Kept only while someone observes, as it costs more than the replay.

use std::collections::BTreeMap;

use super::report::{AttemptRecord, Observer};
use crate::job::{AttemptId, AttemptState, Locality, WorkerId};
use crate::time::Time;
use crate::tracker::EndCause;

/// An observer and the attempts that it has not been notified of yet.
pub(super) struct Watch<'t> {
    pub(super) observer: Box<dyn Observer + 't>,
    running: BTreeMap<AttemptId, AttemptRecord>,
}

impl<'t> Watch<'t> {
    pub(super) fn new(observer: Box<dyn Observer + 't>) -> Watch<'t> {
        Watch { observer, running: BTreeMap::new() }
    }

    pub(super) fn launched(
        &mut self,
        attempt: AttemptId,
        worker: WorkerId,
        start: Time,
        locality: Locality,
        speculative: bool,
    ) {
        let record = AttemptRecord {
            attempt,
            worker,
            state: AttemptState::Running,
            cause: EndCause::Reported,
            start,
            maps_done: None,
            sorted: None,
            end: start,
            locality,
            speculative,
        };
        self.running.insert(attempt, record);
        self.observer.launched(start, attempt, worker, locality, speculative);
    }

    /// A reduce's own shuffle begins now and will be over at `sorted`, if that is known.
    pub(super) fn shuffles(&mut self, attempt: AttemptId, now: Time, sorted: Time) {
        if let Some(record) = self.running.get_mut(&attempt) {
            (record.maps_done, record.sorted) = (Some(now), Some(sorted));
        }
    }

    /// A reduce has shuffled and sorted.
    pub(super) fn sorted(&mut self, attempt: AttemptId, now: Time) {
        if let Some(record) = self.running.get_mut(&attempt) {
            record.sorted = Some(now);
        }
    }

    /// A reduce that shuffles has to wait for maps again.
    pub(super) fn waits(&mut self, attempt: AttemptId) {
        if let Some(record) = self.running.get_mut(&attempt) {
            (record.maps_done, record.sorted) = (None, None);
        }
    }

    pub(super) fn ended(&mut self, attempt: AttemptId, now: Time, state: AttemptState, cause: EndCause) {
        let Some(mut record) = self.running.remove(&attempt) else { return };
        (record.end, record.state, record.cause) = (now, state, cause);
        record.sorted = record.sorted.filter(|&sorted| sorted <= now);
        self.observer.attempt(&record);
    }
}
