//! The 50 jobs of Table II as `sleep` jobs, a fraction as long, and the policies with their limits shortened alike.

use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::summary::size;
use howdah_core::replay::{Arrivals, submit_times};
use howdah_core::schedulers::size_based::Points;

use crate::live::{Policy, Shape, Submission};
use howdah_planning::workloads::{Choices, find};

/// 10 nodes of 6 map and 2 reduce slots (§V-A).
pub(super) const SHAPE: Shape = Shape::even(10, 6, 2);
const ALL_SLOTS: u32 = 80;
/// The load of the validation (§V-B), in millionths.
const LOAD_PPM: u32 = 700_000;
/// Input of a map that reads nothing, as the policies take it.
const BLOCK: u64 = 128 << 20;

/// The workload with times divided by `shrink`; `count` jobs, or all 50.
pub(super) fn trace(seed: u64, shrink: u64, count: Option<usize>) -> Result<Trace> {
    let recipe = find("slowdown-table2").context("find workload `slowdown-table2`")?;
    let mut trace = recipe.generate(&Choices { jobs: count, seed, ..Choices::default() })?;
    let shrunk = |times: &mut Vec<u64>| times.iter_mut().for_each(|ms| *ms = (*ms / shrink).max(1));
    for (n, job) in trace.jobs.iter_mut().enumerate() {
        shrunk(&mut job.map_ms);
        shrunk(&mut job.reduce_ms);
        job.name = format!("{}-{}", kind(job), n + 1);
    }
    Ok(trace)
}

/// Application and maps, as a row of Table II.
pub(super) fn kind(job: &JobTemplate) -> String {
    format!("{}-{}", job.name.split('-').next().unwrap_or_default(), job.n_maps)
}

/// Each kind of job once, in order of size, one after the other.
pub(super) fn one_of_each(trace: &Trace) -> Vec<JobTemplate> {
    let mut kinds: Vec<JobTemplate> = Vec::new();
    for job in &trace.jobs {
        if kinds.iter().all(|known| kind(known) != kind(job)) {
            kinds.push(job.clone());
        }
    }
    kinds.sort_by_key(size);
    kinds
}

/// Poisson arrivals at the load.
pub(super) fn submissions(trace: &Trace, seed: u64) -> Result<Vec<Submission>> {
    let times = submit_times(trace, &Arrivals::Load { rho_ppm: LOAD_PPM }, ALL_SLOTS, seed)?;
    let one = |(job, at): (&JobTemplate, &howdah_core::time::Time)| submission(job, Duration::from_micros(at.as_us()));
    let mut all: Vec<Submission> = trace.jobs.iter().zip(&times).map(one).collect();
    all.sort_by_key(|submission| submission.at);
    Ok(all)
}

/// One `howdah submit sleep`.
pub(super) fn submission(job: &JobTemplate, at: Duration) -> Submission {
    let times = |times: &[u64], n: u32| {
        let one = |index: usize| times.get(index % times.len().max(1)).copied().unwrap_or(0).to_string();
        (0..n as usize).map(one).collect::<Vec<_>>().join(",")
    };
    let mut words = vec!["sleep".to_owned(), "--map-times".to_owned(), times(&job.map_ms, job.n_maps)];
    words.extend(["--reduce-times".to_owned(), times(&job.reduce_ms, job.n_reduces)]);
    Submission { name: job.name.clone(), words, at }
}

/// The four policies with two queues, partition 1 of 30 %, and the limits of §V-B: 120 s for TAGS, 160 s for SITA and
/// FBQ. SITA and COMP know the line through the workload's own jobs.
pub(super) fn policies(trace: &Trace, shrink: u64) -> Vec<Policy> {
    let mut points = Points::default();
    trace.jobs.iter().for_each(|job| points.add(u64::from(job.n_maps) * BLOCK, size(job).as_us()));
    let line = points.line().unwrap_or_default();
    let fit = format!("{:.3}s,{:.3}s", line.slope.max(0.0), line.offset.max(0.0));
    let limit = |seconds: u64| format!("{}ms", seconds * 1_000 / shrink);
    let policy = |name: &str, params: &[(&str, String)]| Policy {
        name: name.to_owned(),
        params: params.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
    };
    let share = || ("partitions", "30%".to_owned());
    vec![
        policy("fbq", &[("limits", limit(160))]),
        policy("tags", &[("limits", limit(120)), share()]),
        policy("sita", &[("limits", limit(160)), share(), ("fit", fit.clone())]),
        policy("comp", &[("queues", "2".to_owned()), ("fit", fit)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifty_jobs_sleep_a_fraction_of_their_times() {
        let whole = trace(3, 1, None).expect("made");
        let short = trace(3, 20, None).expect("made");
        assert_eq!((whole.jobs.len(), one_of_each(&whole).len()), (50, 8));
        let sum = |trace: &Trace| trace.jobs.iter().map(|job| size(job).as_secs_f64()).sum::<f64>();
        assert!((sum(&whole) / sum(&short) / 20.0 - 1.0).abs() < 0.01);
        let all = submissions(&short, 3).expect("arrivals");
        assert!(all.is_sorted_by_key(|one| one.at));
        for (job, one) in short.jobs.iter().filter_map(|job| Some((job, all.iter().find(|one| one.name == job.name)?)))
        {
            assert_eq!(one.words[2].split(',').count(), job.n_maps as usize);
            assert_eq!(one.words[4].split(',').count(), job.n_reduces as usize);
        }
    }

    #[test]
    fn the_policies_are_ones_that_can_be_made() {
        let trace = trace(1, 20, None).expect("made");
        for policy in policies(&trace, 20) {
            let made = howdah_core::schedulers::by_name(&policy.name, &policy.params);
            assert!(made.is_ok(), "{policy:?}: {:?}", made.err());
        }
    }
}
