//! A shorter trace of equal character from a long one.
//!
//! Jobs in order of size (sum of task run times) are cut into as many slices as jobs are to be kept, and each slice
//! keeps one: of the jobs closest to the slice's mean size, the one that the seed picks. So few large jobs are
//! neither lost nor doubled, which is where a plain sample goes wrong, and the mean size stays. Kept jobs stay in
//! order of submission and keep their templates.
//!
//! Interarrival is preserved, not absolute time: each kept job comes after the gap that separated it from its
//! predecessor in the long trace, so the trace shrinks in time as it does in jobs, and the load stays. What comes
//! and goes with the hour of the day is not preserved, because a short trace has no room for it. Nor are times of tasks
//! where a handful of jobs has most of them: whole jobs are kept, and one of them cannot be like several.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::moments::Moments;
use howdah_core::models::{Random, ks};

use crate::phase::Phase;
use crate::workloads::properties::size_ms;

/// Jobs of a slice whose distance from its mean size is within this share of it are as good as the closest one.
const AS_GOOD: f64 = 0.05;

/// How much to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// This many jobs.
    Jobs(usize),
    /// As many jobs as make about this much time between first and last submission, in milliseconds.
    Span(u64),
    /// One job of so many, which makes the trace about so many times shorter; 1 keeps all.
    Factor(f64),
}

/// How one property compares before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// What is compared.
    pub property: &'static str,
    /// Mean in the long trace.
    pub before: f64,
    /// Mean in the short one.
    pub after: f64,
    /// Kolmogorov–Smirnov distance between the two, 0 to 1.
    pub distance: f64,
    /// Of times of tasks: how few jobs have half of the tasks, in the long trace and in the short one.
    pub half_in: Option<[usize; 2]>,
}

/// Why a trace cannot be folded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FoldError {
    /// More than there is, or nothing.
    #[error("jobs: expected 1 to {available}, found {asked}")]
    Jobs {
        /// Jobs of the trace.
        available: usize,
        asked: usize,
    },
    /// A span that is no shorter.
    #[error("span: expected less than the trace's own {available_ms} ms and more than 0, found {asked_ms} ms")]
    Span {
        /// From first to last submission.
        available_ms: u64,
        asked_ms: u64,
    },
    /// A factor that makes the trace longer, or leaves nothing of it.
    #[error("factor: expected 1 to {available}, one job of that many, found {asked}")]
    Factor {
        /// Jobs of the trace.
        available: usize,
        asked: f64,
    },
}

/// The shorter trace.
///
/// # Errors
/// If there is nothing to keep or nothing to leave out.
pub fn fold(trace: &Trace, keep: Keep, seed: u64) -> Result<Trace, FoldError> {
    let available = trace.jobs.len();
    let count = match keep {
        Keep::Jobs(asked) if asked == 0 || asked > available => return Err(FoldError::Jobs { available, asked }),
        Keep::Jobs(asked) => asked,
        Keep::Span(asked_ms) => {
            let available_ms = span_ms(trace);
            if asked_ms == 0 || asked_ms >= available_ms {
                return Err(FoldError::Span { available_ms, asked_ms });
            }
            let share = asked_ms as f64 / available_ms as f64;
            ((available as f64 * share).round() as usize).clamp(1, available)
        }
        Keep::Factor(asked) if !(1.0..=available as f64).contains(&asked) => {
            return Err(FoldError::Factor { available, asked });
        }
        Keep::Factor(asked) => ((available as f64 / asked).round() as usize).clamp(1, available),
    };
    let kept = choose(trace, count, &mut Random::new(seed, 0));
    let mut now = 0;
    let jobs = kept
        .iter()
        .enumerate()
        .map(|(place, index)| {
            if place > 0 {
                now += gap_before(trace, *index);
            }
            JobTemplate { submit_ms: now, measured: None, ..trace.jobs[*index].clone() }
        })
        .collect();
    let source = format!("{}, folded from {available} to {count} jobs", trace.source);
    Ok(Trace { source, start_ms_epoch: None, jobs, ..trace.header() })
}

fn span_ms(trace: &Trace) -> u64 {
    let times = || trace.jobs.iter().map(|job| job.submit_ms);
    times().max().unwrap_or(0) - times().min().unwrap_or(0)
}

/// From the job before it in the list to this one.
fn gap_before(trace: &Trace, index: usize) -> u64 {
    match index.checked_sub(1) {
        Some(before) => trace.jobs[index].submit_ms.saturating_sub(trace.jobs[before].submit_ms),
        None => 0,
    }
}

/// `count` places in the trace, ascending: one from each of as many slices of the jobs in order of size.
fn choose(trace: &Trace, count: usize, random: &mut Random) -> Vec<usize> {
    let mut by_size: Vec<(u64, usize)> =
        trace.jobs.iter().enumerate().map(|(index, job)| (size_ms(job), index)).collect();
    by_size.sort_unstable();
    let mut kept: Vec<usize> = (0..count)
        .map(|slice| {
            // At most as many slices as jobs: none is empty.
            let jobs = &by_size[slice * by_size.len() / count..(slice + 1) * by_size.len() / count];
            let mean = Moments::of(&jobs.iter().map(|(size, _)| *size as f64).collect::<Vec<_>>()).mean;
            let distance = |size: u64| (size as f64 - mean).abs();
            let closest = jobs.iter().map(|(size, _)| distance(*size)).fold(f64::INFINITY, f64::min);
            let good: Vec<usize> = jobs
                .iter()
                .filter(|(size, _)| distance(*size) <= closest + AS_GOOD * mean)
                .map(|(_, index)| *index)
                .collect();
            good[random.below(good.len())]
        })
        .collect();
    kept.sort_unstable();
    kept
}

/// How the two compare: sizes, counts, gaps and task durations.
pub fn character(long: &Trace, short: &Trace) -> Vec<Character> {
    let of_jobs =
        |number: fn(&JobTemplate) -> f64| move |trace: &Trace| trace.jobs.iter().map(number).collect::<Vec<f64>>();
    let gaps = |trace: &Trace| (1..trace.jobs.len()).map(|index| gap_before(trace, index) as f64).collect::<Vec<f64>>();
    let compare = |property, values: &dyn Fn(&Trace) -> Vec<f64>| {
        let (mut before, mut after) = (values(long), values(short));
        let mean = |values: &[f64]| howdah_core::models::moments::Moments::of(values).mean;
        let distance = ks::between(&mut before, &mut after);
        Character { property, before: mean(&before), after: mean(&after), distance, half_in: None }
    };
    let times = |property, phase: Phase| {
        let half_in = Some([half_in(long, phase), half_in(short, phase)]);
        Character { half_in, ..compare(property, &|trace| phase.of_trace(trace)) }
    };
    vec![
        compare("job size, slot ms", &of_jobs(|job| size_ms(job) as f64)),
        compare("maps per job", &of_jobs(|job| f64::from(job.n_maps))),
        compare("reduces per job", &of_jobs(|job| f64::from(job.n_reduces))),
        compare("gap before a job, ms", &gaps),
        times("map, ms", Phase::Map),
        times("shuffle, ms", Phase::Shuffle),
        times("reduce, ms", Phase::Reduce),
    ]
}

/// The smallest number of jobs that have half of a phase's times.
fn half_in(trace: &Trace, phase: Phase) -> usize {
    let mut counts: Vec<usize> = trace.jobs.iter().map(|job| phase.of_job(job).count()).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let mut lacking = counts.iter().sum::<usize>().div_ceil(2);
    let is_wanted = |count: &&usize| {
        let before = lacking;
        lacking = lacking.saturating_sub(**count);
        before > 0
    };
    counts.iter().take_while(is_wanted).count()
}

#[cfg(test)]
mod tests {
    use howdah_core::models::Distribution;

    use super::*;
    use crate::workloads::{Choices, find};

    fn long() -> Trace {
        let gaps = Some(Distribution::Exponential { mean: 60_000.0 });
        let choices = Choices { gaps, ..Choices::default() };
        find("slowdown-swim").expect("it is there").generate(&choices).expect("generates")
    }

    #[test]
    fn a_tenth_of_the_jobs_has_the_character_of_all() {
        let long = long();
        let short = fold(&long, Keep::Jobs(112), 3).expect("sound");
        assert_eq!(short.jobs.len(), 112);
        assert!(short.jobs.windows(2).all(|pair| pair[0].submit_ms <= pair[1].submit_ms));
        let character = character(&long, &short);
        let of = |property: &str| character.iter().find(|it| it.property == property).expect("compared");
        // A plain sample of 112 would be off by 0.13 in one of twenty.
        assert!(of("job size, slot ms").distance < 0.03, "{character:#?}");
        assert!(of("gap before a job, ms").distance < 0.16, "{character:#?}");
        assert!((of("job size, slot ms").after / of("job size, slot ms").before - 1.0).abs() < 0.02);
        assert_eq!(of("shuffle, ms").distance, 0.0);
    }

    #[test]
    fn times_that_most_tasks_have_from_few_jobs_tell_so() {
        let job = |n_maps: u32, ms: u64| JobTemplate { n_maps, map_ms: vec![ms], ..JobTemplate::default() };
        let jobs = [vec![job(1, 10); 40], vec![job(100, 500), job(100, 600)]].concat();
        let long = Trace { jobs, ..Trace::default() };
        let short = fold(&long, Keep::Jobs(21), 0).expect("sound");
        let found = character(&long, &short);
        // One of the two large jobs is kept. Of 240 maps 100 took 600 ms, of 120 all but 20 or none.
        assert_eq!((found[4].property, found[4].half_in), ("map, ms", Some([2, 1])));
        assert!((found[4].distance - 100.0 / 240.0).abs() < 1e-9, "{found:#?}");
        assert_eq!((found[5].half_in, found[0].half_in), (Some([0, 0]), None));
    }

    #[test]
    fn a_span_keeps_as_many_jobs_as_came_in_it_on_average() {
        let long = long();
        let wanted = span_ms(&long) / 4;
        let short = fold(&long, Keep::Span(wanted), 3).expect("sound");
        assert_eq!(short.jobs.len(), 280);
        assert!((span_ms(&short) as f64 / wanted as f64 - 1.0).abs() < 0.25);
    }

    #[test]
    fn a_factor_keeps_one_job_of_so_many() {
        let long = long();
        let jobs = |factor| fold(&long, Keep::Factor(factor), 3).map(|short| short.jobs.len());
        // Of 1,121.
        assert_eq!([jobs(10.0), jobs(2.5), jobs(1.0), jobs(1121.0)], [Ok(112), Ok(448), Ok(1121), Ok(1)]);
        for asked in [0.5, 1122.0, f64::INFINITY, -3.0] {
            assert_eq!(jobs(asked), Err(FoldError::Factor { available: 1121, asked }));
        }
        assert!(jobs(f64::NAN).is_err());
        let ratio = span_ms(&long) as f64 / span_ms(&fold(&long, Keep::Factor(4.0), 3).expect("sound")) as f64;
        assert!((ratio / 4.0 - 1.0).abs() < 0.25, "{ratio}");
    }

    #[test]
    fn all_jobs_are_kept_once_when_all_are_asked_for() {
        let long = long();
        assert_ne!(fold(&long, Keep::Jobs(300), 1), fold(&long, Keep::Jobs(300), 2), "a seed is a sample of its own");
        let same = fold(&long, Keep::Jobs(long.jobs.len()), 5).expect("sound");
        assert_eq!(same.jobs, long.jobs);
    }

    #[test]
    fn nothing_and_more_than_all_are_refused() {
        let long = long();
        assert_eq!(fold(&long, Keep::Jobs(0), 0), Err(FoldError::Jobs { available: 1121, asked: 0 }));
        assert_eq!(fold(&long, Keep::Jobs(9999), 0), Err(FoldError::Jobs { available: 1121, asked: 9999 }));
        assert!(matches!(fold(&long, Keep::Span(u64::MAX), 0), Err(FoldError::Span { .. })));
    }
}
