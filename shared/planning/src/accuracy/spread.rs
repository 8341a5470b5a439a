//! How much real repeats of one workload differ among themselves.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::moments::{median, sorted};

use super::pair::succeeded;

/// The spread of one job's completion times.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpread {
    pub name: String,
    /// Completion times in seconds, in the order of the runs; a run that lacks the job is missing.
    pub completion_s: Vec<f64>,
    /// See [`spread_of`].
    pub spread: f64,
}

/// The spread of several runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Of the runs' makespans.
    pub makespan: f64,
    /// In the order of the first run.
    pub jobs: Vec<JobSpread>,
}

impl Spread {
    /// Mean over the jobs; 0 without jobs.
    pub fn mean(&self) -> f64 {
        super::Summary::of(self.jobs.iter().map(|job| job.spread)).mean_error
    }

    /// Largest over the jobs; 0 without jobs.
    pub fn max(&self) -> f64 {
        super::Summary::of(self.jobs.iter().map(|job| job.spread)).max_error
    }
}

/// Largest minus smallest, over the median (of an even number, the mean of the two in the middle); 0 for fewer than
/// two values or a median of 0.
pub fn spread_of(values: &[f64]) -> f64 {
    let sorted = sorted(values.iter().copied());
    match (&sorted[..], median(&sorted)) {
        ([least, .., most], Some(median)) if median > 0.0 => (most - least) / median,
        _ => 0.0,
    }
}

/// Of several runs of one workload on equal clusters.
pub fn spread(runs: &[&Trace]) -> Spread {
    let makespans: Vec<f64> = runs.iter().map(|run| measured_makespan_s(run)).collect();
    let mut jobs: Vec<JobSpread> = Vec::new();
    let mut places = BTreeMap::new();
    for run in runs {
        let mut taken: BTreeMap<_, usize> = BTreeMap::new();
        for job in run.jobs.iter().filter(|job| succeeded(job)) {
            let Some(completion_ms) = job.completion_ms() else { continue };
            let key = (job.name.clone(), job.n_maps, job.n_reduces);
            let nth = taken.entry(key.clone()).or_default();
            let place = *places.entry((key, *nth)).or_insert_with(|| {
                jobs.push(JobSpread { name: job.name.clone(), completion_s: Vec::new(), spread: 0.0 });
                jobs.len() - 1
            });
            *nth += 1;
            jobs[place].completion_s.push(completion_ms as f64 / 1e3);
        }
    }
    for job in &mut jobs {
        job.spread = spread_of(&job.completion_s);
    }
    Spread { runs: runs.len(), makespan: spread_of(&makespans), jobs }
}

/// From the first submission to the last end, over the jobs that succeeded; 0 without any.
pub fn measured_makespan_s(trace: &Trace) -> f64 {
    makespan_of(trace, succeeded)
}

/// As [`measured_makespan_s`], over the jobs that are counted.
pub(super) fn makespan_of(trace: &Trace, counted: impl Fn(&JobTemplate) -> bool) -> f64 {
    let jobs = || trace.jobs.iter().filter(|job| counted(job));
    let first = jobs().map(|job| job.submit_ms).min();
    let last = jobs().filter_map(|job| job.measured.as_ref()).map(|measured| measured.finish_ms).max();
    first.zip(last).map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::Measured;

    #[test]
    fn spread_is_largest_minus_smallest_over_the_median() {
        assert_eq!(spread_of(&[10.0, 12.0, 11.0]), 2.0 / 11.0);
        assert_eq!(spread_of(&[10.0, 12.0]), 2.0 / 11.0);
        assert_eq!(spread_of(&[10.0]), 0.0);
        assert_eq!(spread_of(&[]), 0.0);
        assert_eq!(spread_of(&[0.0, 0.0]), 0.0);
    }

    #[test]
    fn repeats_are_compared_job_by_job_and_as_a_whole() {
        let run = |ends: [u64; 2]| Trace {
            jobs: ends
                .iter()
                .enumerate()
                .map(|(n, &finish_ms)| JobTemplate {
                    name: "sort".to_owned(),
                    submit_ms: 1_000 * n as u64,
                    outcome: "SUCCEEDED".to_owned(),
                    measured: Some(Measured { finish_ms, ..Measured::default() }),
                    ..JobTemplate::default()
                })
                .collect(),
            ..Trace::default()
        };
        let (a, b) = (run([1_000, 4_000]), run([1_100, 4_000]));
        let found = spread(&[&a, &b]);
        assert_eq!(found.runs, 2);
        assert_eq!(found.makespan, 0.0);
        assert_eq!(found.jobs.iter().map(|job| job.completion_s.clone()).collect::<Vec<_>>(), [[1.0, 1.1], [3.0, 3.0]]);
        assert!((found.max() - 0.1 / 1.05).abs() < 1e-12 && (found.mean() - 0.05 / 1.05).abs() < 1e-12);
    }
}
