//! The workload that sleeps: task times are drawn, so what the cluster adds is all that can go wrong.

use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Random;
use howdah_planning::accuracy::Kind;

use super::bar::Bars;
use crate::framework::Lab;
use crate::live::Submission;

/// What the project asks of it.
pub(super) const BARS: [(Kind, Bars); 3] = [
    (Kind::Own, Bars { mean: 0.01, max: Some(0.03) }),
    (Kind::CrossRun, Bars { mean: 0.02, max: None }),
    (Kind::CrossShape, Bars { mean: 0.02, max: None }),
];

/// Maps and reduces of a job.
const SIZES: [(&str, usize, usize); 4] = [("small", 12, 2), ("medium", 48, 8), ("large", 96, 40), ("wide", 128, 0)];
/// Mean time between two jobs in milliseconds: the slots are busy most of the time and jobs wait for each other.
const BETWEEN_MS: f64 = 2_200.0;
/// Medians of map and reduce times in milliseconds, and the spread of their logarithms.
const MAP_MS: f64 = 600.0;
const REDUCE_MS: f64 = 500.0;
const SIGMA: f64 = 0.4;

/// Twelve jobs in half a minute, or six in about ten seconds, each with its profile for policies that plan.
pub(super) fn jobs(lab: &Lab<'_>) -> Result<Vec<Submission>> {
    let mut jobs = drawn(lab.quick, lab.seed);
    let profiles = Trace { jobs: jobs.iter().map(template).collect(), ..Trace::default() };
    let text = serde_json::to_string(&profiles).context("write the profiles of the sleeping jobs")?;
    let path = lab.write("sleep-profiles.json", &text)?;
    for job in &mut jobs {
        job.words.extend(["--profile".to_owned(), format!("{}:{}", path.display(), job.name)]);
    }
    Ok(jobs)
}

/// What a job is asked to sleep.
fn template(job: &Submission) -> JobTemplate {
    let times = |flag: &str| {
        let value = job.words.iter().skip_while(|word| *word != flag).nth(1);
        let list = value.map(|list| list.split(',').filter_map(|ms| ms.parse().ok()).collect::<Vec<u64>>());
        list.unwrap_or_default()
    };
    let (map_ms, reduce_ms) = (times("--map-times"), times("--reduce-times"));
    JobTemplate {
        name: job.name.clone(),
        n_maps: map_ms.len() as u32,
        n_reduces: reduce_ms.len() as u32,
        map_ms,
        reduce_ms,
        ..JobTemplate::default()
    }
}

fn drawn(quick: bool, seed: u64) -> Vec<Submission> {
    let mut random = Random::new(seed, 1);
    let mut at_ms = 0.0;
    let n = if quick { 6 } else { 12 };
    (0..n)
        .map(|n| {
            let (size, maps, reduces) = SIZES[n % SIZES.len()];
            let maps = times(&mut random, MAP_MS, maps);
            let reduces = times(&mut random, REDUCE_MS, reduces);
            let mut words = vec!["sleep".to_owned(), "--map-times".to_owned(), maps];
            if !reduces.is_empty() {
                words.extend(["--reduce-times".to_owned(), reduces]);
            }
            words.extend(["--deadline".to_owned(), format!("{:.1}s", 4.0 + 16.0 * random.unit())]);
            let job = Submission { name: format!("{size}-{}", n + 1), words, at: Duration::from_millis(at_ms as u64) };
            at_ms += -BETWEEN_MS * libm::log(random.unit());
            job
        })
        .collect()
}

/// So many lognormal times, none longer than six times the median.
fn times(random: &mut Random, median_ms: f64, n: usize) -> String {
    let one = |random: &mut Random| (median_ms * libm::exp(SIGMA * random.normal())).min(6.0 * median_ms);
    (0..n).map(|_| format!("{:.0}", one(random))).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_make_equal_workloads_with_distinct_names() {
        let (a, b) = (drawn(false, 7), drawn(false, 7));
        assert_eq!(a, b);
        assert_ne!(a, drawn(false, 8));
        let names: std::collections::BTreeSet<_> = a.iter().map(|job| &job.name).collect();
        assert_eq!(names.len(), 12);
        assert!(a.is_sorted_by_key(|job| job.at));
    }

    #[test]
    fn every_task_has_a_time_of_its_own_and_jobs_without_reduces_name_none() {
        let jobs = drawn(true, 0);
        assert_eq!(jobs[0].words[2].split(',').count(), 12);
        assert_eq!(jobs[0].words[4].split(',').count(), 2);
        assert!(!jobs[3].words.contains(&"--reduce-times".to_owned()));
        let ms: Vec<u64> = jobs[3].words[2].split(',').map(|ms| ms.parse().expect("a number")).collect();
        assert_eq!(ms.len(), 128);
        assert!(ms.iter().all(|&ms| (50..=3_600).contains(&ms)), "{ms:?}");
    }

    #[test]
    fn a_jobs_profile_is_of_the_times_that_it_is_asked_to_sleep() {
        let job = Submission {
            name: "small-1".to_owned(),
            words: ["sleep", "--map-times", "600,800", "--reduce-times", "500"].map(str::to_owned).to_vec(),
            at: Duration::ZERO,
        };
        let template = template(&job);
        assert_eq!((template.n_maps, template.n_reduces, template.map_ms), (2, 1, vec![600, 800]));
    }
}
