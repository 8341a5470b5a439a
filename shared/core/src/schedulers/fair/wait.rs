//! How long one job has waited for a worker that holds its data, and how far from them it may run now.

use crate::cluster::Job;
use crate::job::Locality;
use crate::time::Span;

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
}

impl Wait {
    pub(super) fn new(job: &Job) -> Wait {
        let splits = &job.spec().split_hosts;
        let applies = job.locality().is_some() && splits.offsets.windows(2).all(|pair| pair[0] < pair[1]);
        Wait { applies, level: Locality::Node, waited: Span::ZERO, visited: false, launched: false }
    }

    /// How far from its data the job may run now, and how much longer that holds.
    pub(super) fn allowed(&self, [node, rack]: [Span; 2]) -> (Locality, Option<Span>) {
        let left = |until: Span| Some(Span::from_us(until.as_us() - self.waited.as_us()));
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
        Wait { applies: true, level, waited: Span::from_ms(waited_ms), visited: false, launched: false }
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
}
