//! The simulations: every policy, deadline factor and arrival rate over many runs, on as many threads as cores.

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_core::models::Random;
use howdah_core::replay::{Arrivals, Deadlines, ReplayOptions, Simulation, View, alone, deadlines};
use howdah_core::time::Span;
use howdah_planning::crew::Crew;
use howdah_planning::workloads::{Choices, find};

use super::factors::FACTORS_PPM;
use super::variation::Variation;
use crate::framework::Lab;

/// Mean times between arrivals in seconds: the decades in which both workloads go from all at once to one at a time.
const MEANS_S: [u64; 7] = [1, 10, 100, 300, 1_000, 10_000, 100_000];
const MEANS_QUICK_S: [u64; 3] = [10, 100, 1_000];

/// The stream of a run's seed that orders its jobs.
const ORDER: u64 = 1;

/// A policy, or a reading of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    MaxEdf,
    /// As the paper's text has it: the mean of the bounds, computed at arrival, nothing spare given away.
    MinEdf,
    Low,
    Upper,
    Recompute,
    Spare,
}

impl Policy {
    pub(super) const ALL: [Policy; 6] =
        [Policy::MaxEdf, Policy::MinEdf, Policy::Low, Policy::Upper, Policy::Recompute, Policy::Spare];

    pub(super) fn name(self) -> &'static str {
        match self {
            Policy::MaxEdf => "MaxEDF",
            Policy::MinEdf => "MinEDF",
            Policy::Low => "MinEDF, bound=low",
            Policy::Upper => "MinEDF, bound=upper",
            Policy::Recompute => "MinEDF, recompute=true",
            Policy::Spare => "MinEDF, spare=true",
        }
    }

    pub(super) fn is_reading(self) -> bool {
        !matches!(self, Policy::MaxEdf | Policy::MinEdf)
    }

    fn options(self, options: &ReplayOptions) -> ReplayOptions {
        let param = match self {
            Policy::MaxEdf | Policy::MinEdf => None,
            Policy::Low => Some(("bound", "low")),
            Policy::Upper => Some(("bound", "upper")),
            Policy::Recompute => Some(("recompute", "true")),
            Policy::Spare => Some(("spare", "true")),
        };
        ReplayOptions {
            scheduler: if self == Policy::MaxEdf { "maxedf" } else { "minedf" }.to_owned(),
            scheduler_params: param.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            ..options.clone()
        }
    }
}

/// Mean and spread of a number over runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    n: u32,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.n += 1;
        self.sum += value;
        self.squares += value * value;
    }

    pub(super) fn n(&self) -> u32 {
        self.n
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.n.max(1))
    }

    /// The standard error of the mean.
    pub(super) fn error(&self) -> f64 {
        let n = f64::from(self.n);
        if self.n < 2 {
            return f64::NAN;
        }
        let variance = (self.squares - self.sum * self.sum / n) / (n - 1.0);
        (variance.max(0.0) / n).sqrt()
    }
}

/// One point of a curve.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) policy: Policy,
    pub(super) factor_ppm: u32,
    pub(super) mean_s: u64,
    /// Σ (T − D) / D over late jobs, both from the job's submission.
    pub(super) exceeded: Spread,
    /// The same with T and D as instants from the run's start: the other reading of the formula.
    pub(super) on_the_clock: Spread,
    /// Share of the jobs that were late.
    pub(super) late: Spread,
    /// The first two over the runs that readings were made of too.
    pub(super) beside_readings: [Spread; 2],
}

/// One workload's points.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    pub(super) workload: &'static str,
    pub(super) figure: &'static str,
    /// Whether each run has the same jobs in another order, and not a trace of its own.
    pub(super) permuted: bool,
    /// What is done to each trace.
    pub(super) variation: Variation,
    pub(super) policies: &'static [Policy],
    /// For each point of MaxEDF and MinEDF.
    pub(super) runs: u32,
    /// For each point of a reading.
    pub(super) reading_runs: u32,
}

/// What one run gave in each cell, in the cells' order; `None` where a reading was not run.
type Found = Vec<Option<[f64; 3]>>;

impl Sweep {
    /// Runs it all.
    ///
    /// # Errors
    /// When a workload does not generate or a simulation does not start.
    pub(super) fn run(&self, lab: &Lab<'_>) -> Result<Vec<Cell>> {
        let mut cells = cells(self.policies, if lab.quick { &MEANS_QUICK_S } else { &MEANS_S });
        let (runs, seed): (Vec<u32>, u64) = ((0..self.runs).collect(), lab.seed);
        let found = Crew::of_cores().each(
            &runs,
            |_, &run| self.one(&cells, seed, run),
            |done| {
                lab.progress.tick(&format!("{}: {done} of {} runs", self.workload, self.runs));
                true
            },
        )?;
        // In the order of the runs, so that sums do not depend on threads.
        for (run, values) in found.into_iter().flatten().enumerate() {
            for (cell, values) in cells.iter_mut().zip(values) {
                if let Some([exceeded, on_the_clock, late]) = values {
                    cell.exceeded.add(exceeded);
                    cell.on_the_clock.add(on_the_clock);
                    cell.late.add(late);
                    if run < self.reading_runs as usize {
                        cell.beside_readings[0].add(exceeded);
                        cell.beside_readings[1].add(on_the_clock);
                    }
                }
            }
        }
        Ok(cells)
    }

    /// One run under all policies, factors and arrival rates.
    fn one(&self, cells: &[Cell], lab_seed: u64, run: u32) -> Result<Found> {
        let seed = lab_seed.wrapping_mul(1_000_003).wrapping_add(u64::from(run));
        let workload = find(self.workload).with_context(|| format!("find workload {}", self.workload))?;
        // The testbed's traces were recorded once and come in another order each time (§V-B); synthetic ones are drawn.
        let drawn_once = if self.permuted { lab_seed } else { seed };
        let mut trace = workload.generate(&Choices { seed: drawn_once, ..Choices::default() })?;
        self.variation.change(&mut trace);
        if self.permuted {
            Random::new(seed, ORDER).shuffle(&mut trace.jobs);
        }
        // The testbed of §IV-B for both workloads; for the synthetic one the text names no cluster.
        let slots = self.variation.slots();
        let view = View::Slots { maps: slots, reduces: slots };
        let options = ReplayOptions { view, seed, ..ReplayOptions::default() };
        let alone: Vec<Span> = alone(&trace, &options)?.iter().map(|time| time.completion).collect();
        let mut due = Vec::new();
        for factor_ppm in FACTORS_PPM {
            let drawn = deadlines(&trace, &Deadlines::Uniform { factor_ppm }, &alone, seed);
            due.push((factor_ppm, with_deadlines(&trace, &drawn)));
        }
        let mut found = Vec::new();
        for cell in cells {
            if cell.policy.is_reading() && run >= self.reading_runs {
                found.push(None);
                continue;
            }
            let (_, trace) = due.iter().find(|(factor, _)| *factor == cell.factor_ppm).context("find the deadlines")?;
            let arrivals = Arrivals::Poisson { mean: Span::from_secs(cell.mean_s) };
            let options = cell.policy.options(&ReplayOptions { arrivals, ..options.clone() });
            found.push(Some(measured(trace, &options)?));
        }
        Ok(found)
    }
}

fn cells(policies: &[Policy], means_s: &[u64]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &policy in policies {
        for factor_ppm in FACTORS_PPM {
            for &mean_s in means_s {
                let none = Spread::default();
                cells.push(Cell {
                    policy,
                    factor_ppm,
                    mean_s,
                    exceeded: none,
                    on_the_clock: none,
                    late: none,
                    beside_readings: [none; 2],
                });
            }
        }
    }
    cells
}

/// Deadlines are whole milliseconds in a trace, rounded up so that none is below T.
fn with_deadlines(trace: &Trace, drawn: &[Option<Span>]) -> Trace {
    let mut trace = trace.clone();
    for (job, deadline) in trace.jobs.iter_mut().zip(drawn) {
        job.deadline_ms = deadline.map(|span| span.as_us().div_ceil(1_000));
    }
    trace
}

fn measured(trace: &Trace, options: &ReplayOptions) -> Result<[f64; 3]> {
    let mut simulation = Simulation::new(trace, options)?;
    simulation.run();
    let jobs = simulation.report().jobs;
    let [mut exceeded, mut on_the_clock, mut late] = [0.0; 3];
    for job in &jobs {
        let relative = job.relative_deadline_exceeded();
        exceeded += relative;
        late += f64::from(u8::from(relative > 0.0));
        let due = job.submit + job.deadline.unwrap_or(Span::MAX);
        on_the_clock += job.finish.since(due).as_us() as f64 / due.as_us().max(1) as f64;
    }
    Ok([exceeded, on_the_clock, late / jobs.len().max(1) as f64])
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::JobTemplate;

    #[test]
    fn spreads_have_their_mean_and_error() {
        let mut spread = Spread::default();
        [1.0, 2.0, 3.0, 4.0].into_iter().for_each(|value| spread.add(value));
        assert_eq!((spread.n(), spread.mean()), (4, 2.5));
        // Variance 5/3 of four values.
        assert!((spread.error() - (5.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }

    // SimMR §V-A: Σ (T − D) / D over the jobs that are late. Two maps of 10 s on one slot, each due after 10 s.
    #[test]
    fn the_metric_sums_what_late_jobs_exceed_their_deadlines_by() {
        let job = JobTemplate { n_maps: 1, map_ms: vec![10_000], deadline_ms: Some(10_000), ..JobTemplate::default() };
        let trace = Trace { jobs: vec![job.clone(), job], ..Trace::default() };
        let view = View::Slots { maps: 1, reduces: 1 };
        let options = Policy::MaxEdf.options(&ReplayOptions { view, ..ReplayOptions::default() });
        assert_eq!(measured(&trace, &options).expect("simulates"), [1.0, 1.0, 0.5]);
    }

    #[test]
    fn a_run_is_the_same_whoever_asks_and_readings_stop_earlier() {
        let sweep = Sweep {
            workload: "example-five-jobs",
            figure: "",
            permuted: true,
            variation: Variation::None,
            policies: &Policy::ALL,
            runs: 2,
            reading_runs: 1,
        };
        let cells: Vec<Cell> =
            cells(&Policy::ALL, &[5]).into_iter().filter(|cell| cell.factor_ppm == 1_000_000).collect();
        let first = sweep.one(&cells, 1, 0).expect("simulates");
        assert_eq!(first, sweep.one(&cells, 1, 0).expect("simulates"));
        let second = sweep.one(&cells, 1, 1).expect("simulates");
        assert_ne!(first[0], second[0]);
        assert!(second[2..].iter().all(Option::is_none) && second[..2].iter().all(Option::is_some));
    }
}
