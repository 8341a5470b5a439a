//! Where a job's time went.

use howdah_json::{Attempt, span_s};
use serde::Serialize;

/// Slot seconds of a job by what they were spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct TimeSpent {
    /// Reading, mapping, sorting and spilling.
    pub(crate) map_s: f64,
    /// Fetching map output, waiting for maps included.
    pub(crate) shuffle_s: f64,
    /// Merging in reduces.
    pub(crate) sort_s: f64,
    /// The reduce function and writing.
    pub(crate) reduce_s: f64,
    /// Slots held while no process ran: launching, reporting, committing.
    pub(crate) overhead_s: f64,
    /// Of all processes.
    pub(crate) cpu_s: f64,
    /// Largest of any attempt.
    pub(crate) peak_memory_kib: u64,
}

impl TimeSpent {
    /// Sums attempts that have ended.
    pub(crate) fn of(attempts: &[Attempt]) -> TimeSpent {
        let mut spent = TimeSpent::default();
        for attempt in attempts {
            let (Some(start), Some(finish)) = (attempt.started_ms_epoch, attempt.finished_ms_epoch) else { continue };
            let between = |from, to| span_s(from, to).unwrap_or(0.0).max(0.0);
            if attempt.kind == "map" {
                spent.map_s += between(start, finish);
            } else {
                // A reduce that failed early has not seen its later phases.
                let shuffled = attempt.shuffle_done_ms_epoch.unwrap_or(finish);
                let sorted = attempt.sort_done_ms_epoch.unwrap_or(finish);
                spent.shuffle_s += between(start, shuffled);
                spent.sort_s += between(shuffled, sorted);
                spent.reduce_s += between(sorted, finish);
            }
            if let (Some(assigned), Some(ended)) = (attempt.assigned_ms_epoch, attempt.ended_ms_epoch) {
                spent.overhead_s += (between(assigned, ended) - between(start, finish)).max(0.0);
            }
            spent.cpu_s += attempt.cpu_s.unwrap_or(0.0);
            spent.peak_memory_kib = spent.peak_memory_kib.max(attempt.peak_memory_kib.unwrap_or(0));
        }
        spent
    }

    /// The parts that add up to the slots' time, with their names.
    pub(crate) fn parts(&self) -> [(&'static str, f64); 5] {
        [
            ("map", self.map_s),
            ("shuffle", self.shuffle_s),
            ("sort", self.sort_s),
            ("reduce", self.reduce_s),
            ("overhead", self.overhead_s),
        ]
    }

    /// Sum of the parts.
    pub(crate) fn total_s(&self) -> f64 {
        self.parts().iter().map(|(_, s)| s).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_proto::v1::{AttemptEnd, AttemptInfo};

    #[test]
    fn a_reduces_time_is_split_at_the_ends_of_its_phases() {
        let end = AttemptEnd {
            cpu_us: 1_500_000,
            peak_memory_kib: 77,
            started_ms_epoch: 1_010,
            shuffle_done_ms_epoch: 2_010,
            sort_done_ms_epoch: 2_510,
            finished_ms_epoch: 3_010,
            ..AttemptEnd::default()
        };
        let info = AttemptInfo {
            task: "task_1_0001_r_000000".to_owned(),
            assigned_ms_epoch: 1_000,
            ended_ms_epoch: 3_040,
            end: Some(end),
            ..AttemptInfo::default()
        };
        let spent = TimeSpent::of(&[Attempt::from(&info)]);
        assert_eq!((spent.shuffle_s, spent.sort_s, spent.reduce_s), (1.0, 0.5, 0.5));
        assert!((spent.overhead_s - 0.04).abs() < 1e-9);
        assert_eq!((spent.map_s, spent.cpu_s, spent.peak_memory_kib), (0.0, 1.5, 77));
    }
}
