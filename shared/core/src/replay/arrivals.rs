//! When jobs come: as recorded, all at once, by a Poisson process, or so often that the cluster has a given load.
//!
//! *Load* is the slowdown paper's (§II, §V-C), which imposes loads of 0.7 to 0.9 by the mean of exponential times
//! between jobs, but leaves the formula open. Here: a job's size is the sum of its tasks' times (its definition in
//! §II), a reduce counting its typical shuffle and its reduce time, as if the maps were done when it starts; the
//! load is the sizes of the jobs that come in a time over what all slots, map and reduce slots together, could
//! serve in it. So the mean time between jobs is mean size / (slots × load). Time that reduces spend waiting for
//! maps is not in it: it is the policy's doing, not the workload's.

use super::Arrivals;
use super::streams::Stream;
use crate::job::profile::{JobTemplate, Trace};
use crate::time::{Span, Time};

/// A job to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) at: Time,
    /// Its place in the trace's list.
    pub(super) template: u32,
    /// From its arrival.
    pub(super) deadline: Option<Span>,
}

/// A rule of arrivals that cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrivalsError {
    /// Jobs that never come.
    #[error("arrivals: load 0: expected more than 0")]
    NoLoad,
    /// Nothing that could be loaded.
    #[error("arrivals: load {rho_ppm} millionths of a cluster without slots: expected at least one slot")]
    NoSlots {
        /// As asked for.
        rho_ppm: u32,
    },
}

/// The instant of submission of each job of the trace, in the trace's order. `slots` are all slots of the cluster,
/// maps' and reduces'. Under [`Arrivals::Poisson`] and [`Arrivals::Load`] the first job comes at the start.
///
/// # Errors
/// When a load is asked for that no times can give.
pub fn submit_times(trace: &Trace, rule: &Arrivals, slots: u32, seed: u64) -> Result<Vec<Time>, ArrivalsError> {
    Ok(match *rule {
        Arrivals::AsRecorded => {
            trace.jobs.iter().map(|job| Time::from_us(job.submit_ms.saturating_mul(1_000))).collect()
        }
        Arrivals::Batch => vec![Time::ZERO; trace.jobs.len()],
        Arrivals::Poisson { mean } => poisson(trace.jobs.len(), mean, seed),
        Arrivals::Load { rho_ppm } => poisson(trace.jobs.len(), mean_gap(trace, rho_ppm, slots)?, seed),
    })
}

/// The jobs' places in the trace in order of submission: by instant, then by place.
pub fn submit_order(times: &[Time]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..times.len() as u32).collect();
    order.sort_by_key(|&place| times[place as usize]);
    order
}

fn poisson(n_jobs: usize, mean: Span, seed: u64) -> Vec<Time> {
    let mut stream = Stream::new(seed, "arrivals");
    let mut now = Time::ZERO;
    let next = |_| {
        let this = now;
        now += stream.exponential(mean);
        this
    };
    (0..n_jobs).map(next).collect()
}

/// The mean time between jobs that gives this load.
fn mean_gap(trace: &Trace, rho_ppm: u32, slots: u32) -> Result<Span, ArrivalsError> {
    if rho_ppm == 0 {
        return Err(ArrivalsError::NoLoad);
    }
    if slots == 0 {
        return Err(ArrivalsError::NoSlots { rho_ppm });
    }
    let work_ms: u128 = trace.jobs.iter().map(size_ms).sum();
    let served_ppm = u128::from(slots) * u128::from(rho_ppm) * (trace.jobs.len().max(1) as u128);
    let gap_us = (work_ms * 1_000).saturating_mul(1_000_000) / served_ppm;
    Ok(Span::from_us(u64::try_from(gap_us).unwrap_or(u64::MAX)))
}

/// Sum of the tasks' times: maps, typical shuffles and reduces.
pub(super) fn size_ms(job: &JobTemplate) -> u128 {
    let (first, typical) = (&job.first_shuffle_ms, &job.typical_shuffle_ms);
    // The reduces whose typical shuffle is not known take part in turn, as in the replay itself.
    let shuffles = if typical.is_empty() { first } else { typical };
    cycled(&job.map_ms, job.n_maps) + cycled(shuffles, job.n_reduces) + cycled(&job.reduce_ms, job.n_reduces)
}

/// Sum of `n` entries, starting over after the last.
fn cycled(entries: &[u64], n: u32) -> u128 {
    let n = n as usize;
    if entries.is_empty() {
        return 0;
    }
    let sum = |part: &[u64]| part.iter().map(|&ms| u128::from(ms)).sum::<u128>();
    let (rounds, rest) = (n / entries.len(), n % entries.len());
    let whole = if rounds > 0 { sum(entries) * rounds as u128 } else { 0 };
    whole + sum(&entries[..rest])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(jobs: Vec<JobTemplate>) -> Trace {
        Trace { jobs, ..Trace::default() }
    }

    fn at(submit_ms: u64) -> JobTemplate {
        JobTemplate { submit_ms, ..JobTemplate::default() }
    }

    #[test]
    fn recorded_times_count_from_the_traces_start() {
        let times = submit_times(&trace(vec![at(5), at(2), at(u64::MAX)]), &Arrivals::AsRecorded, 2, 1);
        assert_eq!(times, Ok(vec![Time::from_ms(5), Time::from_ms(2), Time::MAX]));
    }

    #[test]
    fn jobs_come_by_time_and_then_by_place() {
        let times = [5, 2, 5, 2, 0].map(Time::from_ms);
        assert_eq!(submit_order(&times), [4, 1, 3, 0, 2]);
        assert_eq!(submit_order(&[]), [0; 0]);
    }

    #[test]
    fn a_batch_comes_at_the_start() {
        let times = submit_times(&trace(vec![at(5), at(2)]), &Arrivals::Batch, 2, 1);
        assert_eq!(times, Ok(vec![Time::ZERO; 2]));
    }

    #[test]
    fn poisson_arrivals_begin_at_the_start_and_depend_on_the_seed_only() {
        let many = trace(vec![at(0); 10_000]);
        let times = |seed| submit_times(&many, &Arrivals::Poisson { mean: Span::from_secs(3) }, 2, seed).expect("fine");
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
        assert_eq!(times(1)[0], Time::ZERO);
        assert!(times(1).is_sorted());
        let mean = times(1)[9_999].as_us() as f64 / 9_999.0 / 1e6;
        assert!((mean - 3.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn a_load_gives_the_mean_at_which_the_slots_are_busy_for_that_share() {
        let job = JobTemplate {
            n_maps: 3,
            n_reduces: 2,
            map_ms: vec![1_000, 3_000],
            first_shuffle_ms: vec![9_000],
            typical_shuffle_ms: vec![500],
            reduce_ms: vec![2_000, 4_000],
            ..JobTemplate::default()
        };
        // 1 + 3 + 1 seconds of maps, 0.5 + 2 and 0.5 + 4 of reduces: 12 seconds; ten slots at 0.5 serve five a second.
        let gap = mean_gap(&trace(vec![job.clone(), job]), 500_000, 10);
        assert_eq!(gap, Ok(Span::from_ms(2_400)));
    }

    #[test]
    fn loads_that_no_times_can_give_are_refused() {
        let one = trace(vec![at(0)]);
        assert_eq!(submit_times(&one, &Arrivals::Load { rho_ppm: 0 }, 4, 1), Err(ArrivalsError::NoLoad));
        let error = submit_times(&one, &Arrivals::Load { rho_ppm: 700_000 }, 0, 1);
        assert_eq!(error, Err(ArrivalsError::NoSlots { rho_ppm: 700_000 }));
    }
}
