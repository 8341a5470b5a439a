//! The three phases by which SimMR compares runs, and the durations that a template gives them.
//!
//! A template's list may be shorter than its number of tasks: one entry can stand for thousands of equal tasks, and
//! imported traces use that. A replay starts over after the last entry, so a sample of durations does the same;
//! otherwise a job of a thousand maps would weigh as little as a job of one.

use howdah_core::job::profile::{JobTemplate, Trace};

/// A part of tasks' time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Map,
    /// First and typical shuffles together: SimMR's Table I has one column for them.
    Shuffle,
    /// Reduces after their shuffle.
    Reduce,
}

impl Phase {
    /// In the order of SimMR's Table I.
    pub const ALL: [Phase; 3] = [Phase::Map, Phase::Shuffle, Phase::Reduce];

    /// As printed and typed.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Map => "map",
            Phase::Shuffle => "shuffle",
            Phase::Reduce => "reduce",
        }
    }

    /// Durations of a job's tasks in milliseconds. Where shuffles are fewer than reduces, the typical ones stand for
    /// the rest (the first ones where no other is known).
    pub fn of_job(self, job: &JobTemplate) -> impl Iterator<Item = f64> + '_ {
        let (maps, reduces) = (job.n_maps as usize, job.n_reduces as usize);
        let (once, cycled, count): (&[u64], &[u64], usize) = match self {
            Phase::Map => (&[], &job.map_ms, maps),
            Phase::Reduce => (&[], &job.reduce_ms, reduces),
            Phase::Shuffle if job.typical_shuffle_ms.is_empty() => (&[], &job.first_shuffle_ms, reduces),
            Phase::Shuffle => {
                let first = &job.first_shuffle_ms;
                (first, &job.typical_shuffle_ms, reduces.saturating_sub(first.len()))
            }
        };
        // What was recorded counts even where it is more than the tasks.
        let rest = cycled.iter().cycle().take(if cycled.is_empty() { 0 } else { count.max(cycled.len()) });
        once.iter().chain(rest).map(|ms| *ms as f64)
    }

    /// Durations of all tasks of a trace in milliseconds.
    pub fn of_trace(self, trace: &Trace) -> Vec<f64> {
        trace.jobs.iter().flat_map(|job| self.of_job(job)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffles(first: &[u64], typical: &[u64], n_reduces: u32) -> Vec<f64> {
        let job = JobTemplate {
            n_reduces,
            first_shuffle_ms: first.to_vec(),
            typical_shuffle_ms: typical.to_vec(),
            ..JobTemplate::default()
        };
        Phase::Shuffle.of_job(&job).collect()
    }

    #[test]
    fn one_entry_stands_for_all_tasks() {
        let job = JobTemplate { n_maps: 3, n_reduces: 5, map_ms: vec![7], reduce_ms: vec![1, 2], ..Default::default() };
        assert_eq!(Phase::Map.of_job(&job).collect::<Vec<_>>(), [7.0, 7.0, 7.0]);
        assert_eq!(Phase::Reduce.of_job(&job).collect::<Vec<_>>(), [1.0, 2.0, 1.0, 2.0, 1.0]);
        assert_eq!(Phase::Shuffle.of_job(&job).count(), 0);
    }

    #[test]
    fn both_kinds_of_shuffle_count_and_typical_ones_stand_for_the_rest() {
        assert_eq!(shuffles(&[1, 2], &[9], 4), [1.0, 2.0, 9.0, 9.0]);
        assert_eq!(shuffles(&[1, 2], &[], 3), [1.0, 2.0, 1.0]);
        assert_eq!(shuffles(&[1, 2], &[8, 9], 2), [1.0, 2.0, 8.0, 9.0]);
    }
}
