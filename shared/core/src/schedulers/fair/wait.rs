//! How long one job has waited for a worker that holds its data, and how far from them it may run now.

use super::map_times::MapTimes;
use crate::cluster::Job;
use crate::job::Locality;
use crate::time::Span;

/// What a job may expect that has no map beside its data for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Each of its maps gets a slot beside its data; to be looked at again after so long.
    InTime(Span),
    /// One of them does not.
    Late,
}

/// One job's wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// Whether all of its maps have a known place; others never wait.
    pub(super) applies: bool,
    /// Of its last map.
    pub(super) level: Locality,
    pub(super) waited: Span,
    /// In this round.
    pub(super) visited: bool,
    pub(super) launched: bool,
    /// What its maps have taken, where it is looked ahead.
    pub(super) maps: MapTimes,
    /// What was seen ahead when it was visited last.
    pub(super) ahead: Option<Ahead>,
}

impl Wait {
    pub(super) fn new(job: &Job) -> Wait {
        let splits = &job.spec().split_hosts;
        let applies = job.locality().is_some() && splits.offsets.windows(2).all(|pair| pair[0] < pair[1]);
        Wait {
            applies,
            level: Locality::Node,
            waited: Span::ZERO,
            visited: false,
            launched: false,
            maps: MapTimes::default(),
            ahead: None,
        }
    }

    /// How far from its data the job may run now, and how much longer that holds.
    pub(super) fn allowed(&self, [node, rack]: [Span; 2]) -> (Locality, Option<Span>) {
        let left = |until: Span| Some(Span::from_us(until.as_us() - self.waited.as_us()));
        // Whoever looks ahead waits for a rack as given, after a wait for its hosts or none.
        match self.ahead {
            None => {}
            Some(Ahead::InTime(again)) if self.waited < node => return (Locality::Node, left(node).min(Some(again))),
            Some(Ahead::InTime(_)) if self.waited < node + rack => return (Locality::Rack, left(node + rack)),
            Some(Ahead::Late) if self.waited < rack => return (Locality::Rack, left(rack)),
            Some(_) => return (Locality::Unknown, None),
        }
        match self.level {
            Locality::Node if self.waited < node => (Locality::Node, left(node)),
            Locality::Node if self.waited < node + rack => (Locality::Rack, left(node + rack)),
            Locality::Rack if self.waited < rack => (Locality::Rack, left(rack)),
            _ => (Locality::Unknown, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(level: Locality, waited_ms: u64) -> Wait {
        Wait {
            applies: true,
            level,
            waited: Span::from_ms(waited_ms),
            visited: false,
            launched: false,
            maps: MapTimes::default(),
            ahead: None,
        }
    }

    // docs/hadoop.md#fair: levels from the last map's level; node wait, then rack wait.
    #[test]
    fn a_job_goes_further_away_as_it_waits() {
        let waits = [Span::from_ms(100), Span::from_ms(50)];
        let allowed = |level, waited| wait(level, waited).allowed(waits).0;
        use Locality::{Node, OffRack, Rack, Unknown};
        assert_eq!([0, 99, 100, 149, 150].map(|ms| allowed(Node, ms)), [Node, Node, Rack, Rack, Unknown]);
        assert_eq!([0, 49, 50].map(|ms| allowed(Rack, ms)), [Rack, Rack, Unknown]);
        assert_eq!([OffRack, Unknown].map(|level| allowed(level, 0)), [Unknown; 2]);
        assert_eq!(wait(Node, 30).allowed(waits).1, Some(Span::from_ms(70)));
        assert_eq!(wait(Node, 110).allowed(waits).1, Some(Span::from_ms(40)));
    }

    #[test]
    fn a_job_that_looks_ahead_waits_for_its_rack_alone_once_its_slot_comes_too_late_or_it_has_waited_long_enough() {
        let waits = [Span::from_ms(100), Span::from_ms(50)];
        let allowed = |ahead, waited| Wait { ahead: Some(ahead), ..wait(Locality::OffRack, waited) }.allowed(waits);
        let soon = Ahead::InTime(Span::from_ms(40));
        assert_eq!(allowed(soon, 0), (Locality::Node, Some(Span::from_ms(40))), "wherever its last map ran");
        assert_eq!(allowed(soon, 70), (Locality::Node, Some(Span::from_ms(30))));
        assert_eq!(allowed(soon, 100), (Locality::Rack, Some(Span::from_ms(50))));
        assert_eq!(allowed(soon, 150), (Locality::Unknown, None));
        assert_eq!(allowed(Ahead::Late, 0), (Locality::Rack, Some(Span::from_ms(50))));
        assert_eq!(allowed(Ahead::Late, 50), (Locality::Unknown, None));
    }
}
