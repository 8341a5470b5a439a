//! Attempts in JSON, and where a job's time went.

use howdah_proto::v1::AttemptInfo;
use serde::Serialize;

use crate::listing::{given, reached, span_s};

/// An attempt as programs see it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Attempt {
    pub(crate) attempt: String,
    pub(crate) task: String,
    /// `map` or `reduce`.
    pub(crate) kind: &'static str,
    /// UNASSIGNED, RUNNING, COMMIT_PENDING, SUCCEEDED, FAILED or KILLED.
    pub(crate) state: String,
    pub(crate) worker: String,
    pub(crate) phase: Option<String>,
    /// 0 to 1.
    pub(crate) progress: f64,
    pub(crate) locality: Option<String>,
    pub(crate) speculative: bool,
    pub(crate) assigned_ms_epoch: Option<u64>,
    pub(crate) ended_ms_epoch: Option<u64>,
    pub(crate) cause: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) diagnostics: Option<String>,
    pub(crate) stderr_tail: Option<String>,
    pub(crate) cpu_s: Option<f64>,
    pub(crate) peak_memory_kib: Option<u64>,
    /// On the worker's clock.
    pub(crate) started_ms_epoch: Option<u64>,
    pub(crate) shuffle_done_ms_epoch: Option<u64>,
    pub(crate) sort_done_ms_epoch: Option<u64>,
    pub(crate) finished_ms_epoch: Option<u64>,
}

impl From<&AttemptInfo> for Attempt {
    fn from(a: &AttemptInfo) -> Attempt {
        let end = a.end.as_ref();
        let at = |pick: fn(&howdah_proto::v1::AttemptEnd) -> u64| end.and_then(|end| reached(pick(end)));
        Attempt {
            attempt: a.attempt.clone(),
            task: a.task.clone(),
            kind: if a.task.contains("_r_") { "reduce" } else { "map" },
            state: a.state.clone(),
            worker: a.worker.clone(),
            phase: given(&a.phase),
            progress: a.progress,
            locality: given(&a.locality),
            speculative: a.speculative,
            assigned_ms_epoch: reached(a.assigned_ms_epoch),
            ended_ms_epoch: reached(a.ended_ms_epoch),
            cause: given(&a.cause),
            message: given(&a.message),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal),
            diagnostics: end.and_then(|end| given(&end.diagnostics)),
            stderr_tail: end.and_then(|end| given(&end.stderr_tail)),
            cpu_s: end.map(|end| end.cpu_us as f64 / 1e6),
            peak_memory_kib: end.map(|end| end.peak_memory_kib),
            started_ms_epoch: at(|end| end.started_ms_epoch),
            shuffle_done_ms_epoch: at(|end| end.shuffle_done_ms_epoch),
            sort_done_ms_epoch: at(|end| end.sort_done_ms_epoch),
            finished_ms_epoch: at(|end| end.finished_ms_epoch),
        }
    }
}

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
    use howdah_proto::v1::AttemptEnd;

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
