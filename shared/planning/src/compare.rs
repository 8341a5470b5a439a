//! Schedulers side by side: the same workload replayed under each of them, several times with other seeds.
//!
//! All runs are independent and spread over the cores; the results come in the order of contenders and seeds whatever
//! the number of threads. What is random (arrivals, deadlines, faults) is drawn from the seed alone, so that all
//! contenders meet the same draws: differences between them are paired, and their intervals are narrower for it.

use std::sync::atomic::{AtomicBool, Ordering};

use howdah_core::job::profile::Trace;
use howdah_core::replay::summary::Summary;
use howdah_core::replay::{ReplayError, ReplayOptions, ReplayReport, Simulation, reference_times};
use howdah_core::schedulers::Scheduler;
use howdah_core::time::Span;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::crew::Crew;

/// Instants between two looks at whether to go on.
const LOOK_EVERY: u32 = 1 << 14;
/// The level of intervals.
const CONFIDENCE: f64 = 0.95;

/// One policy, and what it is replayed on; the seed is the first one.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    /// The workload, which some policies plan first.
    pub trace: &'a Trace,
    /// Equal for all but for the policy.
    pub options: ReplayOptions,
}

/// One replay.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its place among the contenders.
    pub contender: usize,
    /// Of everything random.
    pub seed: u64,
    /// What happened.
    pub report: ReplayReport,
    /// And in figures.
    pub summary: Summary,
}

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Compare<'a> {
    /// At least one.
    pub contenders: &'a [Contender<'a>],
    /// Seeds, counted up from the contenders' own.
    pub repeats: u32,
    /// Whether each job is simulated alone as well.
    pub with_slowdown: bool,
}

/// All runs, by contender and then by seed; `None` if stopped. `make` makes the policy of a contender, `goes_on` is told
/// how many of how many simulations are done and answers whether more are wanted.
///
/// # Errors
/// As [`Simulation::with_scheduler`], or what `make` says.
pub fn compare<E: From<ReplayError> + Send>(
    what: &Compare<'_>,
    make: impl Fn(usize) -> Result<Box<dyn Scheduler>, E> + Sync,
    mut goes_on: impl FnMut(usize, usize) -> bool,
) -> Result<Option<Vec<Run>>, E> {
    let stop = AtomicBool::new(false);
    let repeats = what.repeats.max(1) as usize;
    let alone = if what.with_slowdown { repeats } else { 0 };
    let all = alone + repeats * what.contenders.len();
    let mut crew = Crew::of_cores();
    let mut listen = |done: usize| {
        let wanted = goes_on(done, all);
        stop.store(!wanted, Ordering::Relaxed);
        wanted
    };
    let seeds: Vec<u64> = (0..repeats as u64).collect();
    let Some(first) = what.contenders.first() else { return Ok(Some(Vec::new())) };
    // Alone a job meets no policy: one set of times serves all contenders.
    let references: Option<Vec<Vec<Span>>> = match what.with_slowdown {
        false => None,
        true => {
            let times =
                |(): &mut (), seed: &u64| Ok::<_, E>(reference_times(first.trace, &seeded(&first.options, *seed))?);
            match crew.each(&seeds, times, &mut listen)? {
                None => return Ok(None),
                found => found,
            }
        }
    };
    let items: Vec<(usize, u64)> =
        (0..what.contenders.len()).flat_map(|contender| seeds.iter().map(move |&seed| (contender, seed))).collect();
    let run = |(): &mut (), &(contender, seed): &(usize, u64)| {
        let Contender { trace, options } = &what.contenders[contender];
        let options = seeded(options, seed);
        let mut simulation = Simulation::with_scheduler(trace, &options, make(contender)?)?;
        let mut goes_on = true;
        while goes_on && !stop.load(Ordering::Relaxed) {
            goes_on = simulation.run_for(LOOK_EVERY);
        }
        let report = simulation.report();
        let alone = references.as_ref().map(|references| references[seed as usize].as_slice());
        let summary = Summary::new(&report, trace, alone, &[]);
        Ok(Run { contender, seed: options.seed, report, summary })
    };
    crew.each(&items, run, |done| listen(alone + done))
}

fn seeded(options: &ReplayOptions, offset: u64) -> ReplayOptions {
    ReplayOptions { seed: options.seed.wrapping_add(offset), ..options.clone() }
}

/// A mean, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The arithmetic mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval by Student's t; `None` of fewer than two values.
    pub half_width: Option<f64>,
}

/// The mean of independent values; `None` of none.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok().map(|t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0));
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half_width = t.filter(|_| values.len() > 1).map(|t| t * (variance / n).sqrt());
    Some(Estimate { mean, half_width })
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::JobTemplate;
    use howdah_core::replay::{Arrivals, View};
    use howdah_core::schedulers::registry::{Params, by_name};

    use super::*;

    fn job(submit_ms: u64, maps: u32, map_ms: u64) -> JobTemplate {
        JobTemplate { submit_ms, n_maps: maps, map_ms: vec![map_ms], ..JobTemplate::default() }
    }

    fn options(scheduler: &str) -> ReplayOptions {
        let view = View::Slots { maps: 2, reduces: 1 };
        let arrivals = Arrivals::Poisson { mean: Span::from_secs(10) };
        ReplayOptions { scheduler: scheduler.to_owned(), view, arrivals, seed: 7, ..ReplayOptions::default() }
    }

    fn found(names: &[&str], repeats: u32) -> Vec<Run> {
        let trace = Trace { jobs: vec![job(0, 40, 10_000), job(1, 2, 1_000), job(2, 2, 1_000)], ..Trace::default() };
        let contenders: Vec<Contender<'_>> =
            names.iter().map(|name| Contender { trace: &trace, options: options(name) }).collect();
        let what = Compare { contenders: &contenders, repeats, with_slowdown: true };
        let policy = |at: usize| -> Result<Box<dyn Scheduler>, ReplayError> {
            Ok(by_name(names[at], &Params::new()).expect("known"))
        };
        compare(&what, policy, |_, _| true).expect("slots for all").expect("not stopped")
    }

    #[test]
    fn every_contender_meets_the_same_draws() {
        let runs = found(&["fifo", "fair"], 3);
        assert_eq!(
            runs.iter().map(|run| (run.contender, run.seed)).collect::<Vec<_>>(),
            [(0, 7), (0, 8), (0, 9), (1, 7), (1, 8), (1, 9)]
        );
        let submits = |run: &Run| run.report.jobs.iter().map(|job| job.submit).collect::<Vec<_>>();
        for (fifo, fair) in runs.iter().zip(&runs[3..]) {
            assert_eq!(submits(fifo), submits(fair));
            let mean = |run: &Run| run.summary.completion.expect("they end").mean_s;
            assert!(mean(fair) < mean(fifo), "short jobs wait for the long one");
            assert!(fifo.summary.slowdown.is_some());
        }
        assert_ne!(submits(&runs[0]), submits(&runs[1]));
    }

    #[test]
    fn who_does_not_want_to_go_on_gets_nothing() {
        let trace = Trace { jobs: vec![job(0, 1, 1)], ..Trace::default() };
        let contenders = [Contender { trace: &trace, options: options("fifo") }];
        let what = Compare { contenders: &contenders, repeats: 5, with_slowdown: false };
        let policy = |_: usize| -> Result<Box<dyn Scheduler>, ReplayError> {
            Ok(by_name("fifo", &Params::new()).expect("known"))
        };
        assert!(compare(&what, policy, |_, all| all != 5).expect("a slot").is_none());
    }

    #[test]
    fn intervals_are_students() {
        // t(0.975, 4) = 2.776; the standard deviation of 1 to 5 is sqrt(2.5).
        let found = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("values");
        assert_eq!(found.mean, 3.0);
        assert!((found.half_width.expect("five of them") - 2.776_445 * (2.5_f64 / 5.0).sqrt()).abs() < 1e-5);
        assert_eq!(estimate(&[4.0]), Some(Estimate { mean: 4.0, half_width: None }));
        assert_eq!(estimate(&[]), None);
    }
}
