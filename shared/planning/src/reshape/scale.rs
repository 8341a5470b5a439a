//! From the trace of a job on a small input, one for a larger input: what SimMR §VII plans as future work.
//!
//! The paper says what it wants, not how. Assumptions here, for an input `F` times as large:
//!
//! 1. Blocks stay as large as they are, so a job has `F` times the maps. A map's time depends on its block alone:
//!    the first maps keep their measured times, each further one is a resample of them.
//! 2. Map output grows with the input, `F` times.
//! 3. Either the number of reduces stays, and each shuffles and reduces `F` times the data in `F` times the time
//!    ([`Reduces::Keep`], what Hadoop does where a job fixes its number of reduces); or it grows `F` times and data
//!    per reduce, and so its times, stay ([`Reduces::Grow`]). Times in proportion to data leave out what a merge
//!    gains or loses by crossing the size of memory.
//! 4. Submission, commit, slow start and names stay. Deadlines, losses and measured instants belonged to the small
//!    run and go.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Random;

/// What happens to reduces when the input grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduces {
    /// As many, each with more data.
    #[default]
    Keep,
    /// More, each with as much data.
    Grow,
}

/// Why a trace cannot be scaled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScaleError {
    /// Nonsense.
    #[error("factor: expected a number above 0 and at most 1,000,000, found {0}")]
    Factor(f64),
    /// The result would not be a trace that anything can hold.
    #[error("job {index} ({name}): expected at most 4,294,967,295 tasks of a kind after scaling, found {tasks}")]
    TooManyTasks {
        /// Place in the trace, from 0.
        index: usize,
        name: String,
        /// As computed.
        tasks: f64,
    },
}

/// The trace for an input `factor` times as large; below 1 for a smaller one. `seed` decides which measured times
/// the further tasks get.
///
/// # Errors
/// Names the factor or the job that is too large.
pub fn scale(trace: &Trace, factor: f64, reduces: Reduces, seed: u64) -> Result<Trace, ScaleError> {
    if !(factor > 0.0 && factor <= 1e6) {
        return Err(ScaleError::Factor(factor));
    }
    let jobs = trace
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| scale_job(job, index, factor, reduces, &mut Random::new(seed, index as u64)))
        .collect::<Result<_, ScaleError>>()?;
    let source = format!("{}, scaled by {factor}", trace.source);
    Ok(Trace { source, jobs, ..trace.header() })
}

fn scale_job(
    job: &JobTemplate,
    index: usize,
    factor: f64,
    reduces: Reduces,
    random: &mut Random,
) -> Result<JobTemplate, ScaleError> {
    let tasks = |now: u32| {
        let tasks = f64::from(now) * factor;
        if tasks > f64::from(u32::MAX) {
            return Err(ScaleError::TooManyTasks { index, name: job.name.clone(), tasks });
        }
        // A stage that was there stays.
        Ok((tasks.round() as u32).max(u32::from(now > 0)))
    };
    let n_maps = tasks(job.n_maps)?;
    let mut scaled = JobTemplate {
        n_maps,
        n_reduces: if reduces == Reduces::Grow { tasks(job.n_reduces)? } else { job.n_reduces },
        map_ms: resample(&job.map_ms, job.n_maps, n_maps, random),
        map_input_bytes: resample(&job.map_input_bytes, job.n_maps, n_maps, random),
        input_bytes: times(job.input_bytes, factor),
        shuffle_bytes: times(job.shuffle_bytes, factor),
        output_bytes: times(job.output_bytes, factor),
        deadline_ms: None,
        profile: None,
        split_hosts: Default::default(),
        lost_attempts: Vec::new(),
        maps_by_locality: [0; 4],
        outcome: String::new(),
        measured: None,
        ..job.clone()
    };
    if !scaled.map_input_bytes.is_empty() {
        scaled.input_bytes = Some(scaled.map_input_bytes.iter().sum());
    }
    match reduces {
        Reduces::Keep => {
            for list in [&mut scaled.first_shuffle_ms, &mut scaled.typical_shuffle_ms, &mut scaled.reduce_ms] {
                for ms in list {
                    *ms = (*ms as f64 * factor).round() as u64;
                }
            }
        }
        Reduces::Grow => {
            scaled.reduce_ms = resample(&job.reduce_ms, job.n_reduces, scaled.n_reduces, random);
            // The shares of first and later waves depend on the replay's slots; lists that are too short start over.
        }
    }
    Ok(scaled)
}

/// `to` entries where the list had one for each of `from` tasks: the first ones as they are, further ones drawn
/// from them. A shorter list stands for any number of tasks already and stays.
fn resample(values: &[u64], from: u32, to: u32, random: &mut Random) -> Vec<u64> {
    if values.len() != from as usize {
        return values.to_vec();
    }
    let mut all = Vec::with_capacity(to as usize);
    all.extend(values.iter().copied().take(to as usize));
    while all.len() < to as usize {
        all.push(values[random.below(values.len())]);
    }
    all
}

fn times(bytes: Option<u64>, factor: f64) -> Option<u64> {
    bytes.map(|bytes| (bytes as f64 * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use howdah_core::models::ks;

    use super::*;

    fn small() -> Trace {
        let job = JobTemplate {
            name: "wordcount".to_owned(),
            n_maps: 4,
            n_reduces: 2,
            map_ms: vec![10, 20, 30, 40],
            map_input_bytes: vec![1, 2, 3, 4],
            input_bytes: Some(10),
            shuffle_bytes: Some(100),
            first_shuffle_ms: vec![5, 6],
            typical_shuffle_ms: vec![50],
            reduce_ms: vec![100, 200],
            deadline_ms: Some(1000),
            outcome: "SUCCEEDED".to_owned(),
            ..JobTemplate::default()
        };
        Trace { source: "a run".to_owned(), jobs: vec![job], ..Trace::default() }
    }

    #[test]
    fn more_input_is_more_maps_of_the_same_times_and_longer_reduces() {
        let large = scale(&small(), 2.5, Reduces::Keep, 1).expect("sound");
        let job = &large.jobs[0];
        assert_eq!((job.n_maps, job.n_reduces, job.map_ms.len()), (10, 2, 10));
        assert_eq!(job.map_ms[..4], [10, 20, 30, 40]);
        assert!(job.map_ms.iter().all(|ms| [10, 20, 30, 40].contains(ms)));
        assert_eq!((job.first_shuffle_ms.as_slice(), job.typical_shuffle_ms.as_slice()), (&[13, 15][..], &[125][..]));
        assert_eq!(job.reduce_ms, [250, 500]);
        assert_eq!((job.shuffle_bytes, job.deadline_ms, job.outcome.as_str()), (Some(250), None, ""));
        assert_eq!(job.input_bytes, Some(job.map_input_bytes.iter().sum()));
    }

    #[test]
    fn growing_reduces_keep_their_times() {
        let large = scale(&small(), 3.0, Reduces::Grow, 1).expect("sound");
        let job = &large.jobs[0];
        assert_eq!((job.n_maps, job.n_reduces, job.reduce_ms.len()), (12, 6, 6));
        assert!(job.reduce_ms.iter().all(|ms| [100, 200].contains(ms)));
        assert_eq!(job.typical_shuffle_ms, [50]);
    }

    #[test]
    fn factor_one_changes_nothing_that_a_replay_sees() {
        let same = scale(&small(), 1.0, Reduces::Keep, 9).expect("sound");
        let (before, after) = (&small().jobs[0], &same.jobs[0]);
        assert_eq!((&before.map_ms, &before.reduce_ms, before.n_maps), (&after.map_ms, &after.reduce_ms, after.n_maps));
    }

    #[test]
    fn a_smaller_input_keeps_every_stage_and_the_distribution_holds_for_a_larger_one() {
        assert_eq!(scale(&small(), 0.01, Reduces::Grow, 1).expect("sound").jobs[0].n_maps, 1);
        let large = scale(&small(), 1000.0, Reduces::Keep, 1).expect("sound");
        let of = |trace: &Trace| trace.jobs[0].map_ms.iter().map(|ms| *ms as f64).collect::<Vec<_>>();
        assert!(ks::between(&mut of(&small()), &mut of(&large)) < 0.03);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        assert_eq!(scale(&small(), 0.0, Reduces::Keep, 0), Err(ScaleError::Factor(0.0)));
        assert!(matches!(scale(&small(), f64::NAN, Reduces::Keep, 0), Err(ScaleError::Factor(_))));
        let mut huge = small();
        huge.jobs[0].n_maps = u32::MAX;
        let error = scale(&huge, 2.0, Reduces::Keep, 0).expect_err("too many").to_string();
        assert!(error.contains("job 0 (wordcount)"), "{error}");
    }
}
