//! `la-estimate`: how near Load-Aware's estimates of a task's time come to the times that follow (thesis §3.3, Fig. 3.3).
//!
//! First the machine is calibrated. Then tasks of several seconds run under other steady foreign loads, in mixed order,
//! and each is predicted from the one before it, as the scheduler predicts from a finished task of the same worker.

mod page;

use std::time::Duration;

use anyhow::Result;
use howdah_shared::models::Random;
use howdah_shared::models::load_curve::LoadFit;

use crate::calibration::{Bench, Machine, Measured, Place, Work, fit, usual_loads};
use crate::framework::{About, Check, Experiment, Lab, Needs, Outcome, papers};

/// The experiment.
pub(crate) struct LaEstimate;

/// Loads go up to this many times the cores.
const TIMES: u32 = 3;
/// An estimate is good within this share of the time that followed.
const GOOD: f64 = 0.15;
/// This share of the estimates must be good.
const MOST: f64 = 0.9;
/// How often a task is run again because something else ran beside it, in a full run. The last time counts, whatever ran.
const AGAIN: u32 = 3;

/// A task that was predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Of the task.
    pub(super) foreign: f64,
    /// Of the task before it, which the estimate is made from.
    pub(super) from: f64,
    pub(super) predicted_s: f64,
    pub(super) actual_s: f64,
    pub(super) stolen_s: f64,
    /// Tasks that ran beside both it and its foreign load, on average.
    pub(super) others: f64,
}

impl Estimate {
    /// As a share of the time that followed.
    pub(super) fn error(&self) -> f64 {
        (self.predicted_s - self.actual_s).abs() / self.actual_s
    }
}

/// Everything that was measured.
pub(super) struct Found {
    pub(super) machine: Machine,
    pub(super) calibration: Vec<Measured>,
    /// The better one first.
    pub(super) fits: [LoadFit; 2],
    /// Under the better fit.
    pub(super) estimates: Vec<Estimate>,
    /// Runs that do not count, as other tasks ran beside them.
    pub(super) disturbed: u32,
    /// Runs that count although other tasks ran beside them.
    pub(super) unsteady: usize,
}

impl Found {
    /// Share of estimates that miss by more than a good one may.
    pub(super) fn missed(&self) -> f64 {
        let missed = self.estimates.iter().filter(|one| one.error() > GOOD).count();
        missed as f64 / self.estimates.len().max(1) as f64
    }
}

impl Experiment for LaEstimate {
    fn about(&self) -> About {
        About {
            name: "la-estimate",
            line: "Load-Aware's estimates of a task's time under foreign load against the times that follow",
            paper: papers::LOAD_AWARE,
            figure: "Figures 3.3 and 3.4",
            needs: Needs::LiveRuns,
            estimate_s: [420, 60],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        lab.progress.step("finding out how much work a task is");
        let task = Duration::from_millis(lab.size(5_000, 700));
        let bench = Bench::new(&lab.program, Work::Sudoku { rounds: 1 }, Place::Here, task)?;
        let cores = bench.machine().cores;
        let repeats = lab.repeats.unwrap_or(lab.size(3, 1)).max(1);
        let mut runs = Steady { bench: &bench, again: lab.size(AGAIN, 0), disturbed: 0 };
        let mut calibration = Vec::new();
        for repeat in 1..=repeats {
            for load in usual_loads(cores, TIMES) {
                lab.progress.step(&format!("calibration {repeat} of {repeats}: foreign load {load}"));
                calibration.push(runs.measure(load)?);
            }
        }
        let fits = fit(&calibration, bench.machine())?;
        let mut held_out = Vec::new();
        for (n, load) in other_loads(cores, lab.size(24, 6), lab.seed).into_iter().enumerate() {
            lab.progress.step(&format!("task {}: foreign load {load:.2}", n + 1));
            held_out.push(runs.measure(load)?);
        }
        let estimates = estimates(&held_out, &fits[0], cores);
        let unsteady = calibration.iter().chain(&held_out).filter(|run| !run.is_steady()).count();
        let (machine, disturbed) = (*bench.machine(), runs.disturbed);
        let found = Found { machine, calibration, fits, estimates, disturbed, unsteady };
        let checks = vec![Check {
            what: format!("estimates that miss by more than {:.0} %", GOOD * 100.0),
            found: found.missed(),
            bar: 1.0 - MOST,
            judged: !lab.quick,
        }];
        let files = page::write(lab, &self.about(), &found, &checks)?;
        Ok(Outcome { files, checks })
    }
}

/// Runs beside which nothing else ran, as far as they are to be had.
struct Steady<'a> {
    bench: &'a Bench,
    /// How often one is repeated.
    again: u32,
    /// Those that do not count.
    disturbed: u32,
}

impl Steady<'_> {
    fn measure(&mut self, load: f64) -> Result<Measured> {
        for _ in 0..self.again {
            let measured = self.bench.measure(load)?;
            if measured.is_steady() {
                return Ok(measured);
            }
            self.disturbed += 1;
        }
        self.bench.measure(load)
    }
}

/// Evenly from none to the most, none of them measured before, in an order drawn from the seed.
fn other_loads(cores: f64, n: u32, seed: u64) -> Vec<f64> {
    let most = cores * f64::from(TIMES);
    let mut loads: Vec<f64> = (0..n).map(|k| most * (f64::from(k) + 0.3) / f64::from(n)).collect();
    Random::new(seed, 7).shuffle(&mut loads);
    loads
}

/// Each task but the first, from the one before it.
fn estimates(tasks: &[Measured], fit: &LoadFit, cores: f64) -> Vec<Estimate> {
    let milli = |number: f64| libm::round(number * 1e3) as u32;
    let factor = |task: &Measured| fit.curve.factor_ppm(milli(task.point().load), milli(cores)) as f64;
    let estimate = |pair: &[Measured]| Estimate {
        foreign: pair[1].foreign,
        from: pair[0].foreign,
        predicted_s: pair[0].time_s * factor(&pair[1]) / factor(&pair[0]),
        actual_s: pair[1].time_s,
        stolen_s: pair[1].stolen_s,
        others: pair[1].others,
    };
    tasks.windows(2).map(estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_machine_is_predicted_perfectly_and_another_one_is_not() {
        let task = |foreign: f64, time_s| Measured { foreign, time_s, stolen_s: 0.0, others: 0.0 };
        let fair: Vec<Measured> = usual_loads(2.0, 3).into_iter().map(|n| task(n, (n + 1.0f64).max(2.0))).collect();
        let machine = Machine { n_cpus: 2, cores: 2.0, khz: 0 };
        let fits = fit(&fair, &machine).expect("points enough");
        let found = estimates(&fair, &fits[0], 2.0);
        assert_eq!(found.len(), fair.len() - 1);
        assert!(found.iter().all(|one| one.error() < 0.001), "{found:?}");
        let odd = estimates(&[task(0.0, 2.0), task(5.0, 2.0)], &fits[0], 2.0);
        assert!((odd[0].predicted_s - 6.0).abs() < 0.01 && odd[0].error() > 1.9, "{odd:?}");
    }

    #[test]
    fn held_out_loads_are_new_ones_in_mixed_order() {
        let loads = other_loads(2.0, 24, 0);
        assert!(loads.iter().all(|load| (0.0..6.0).contains(load) && !usual_loads(2.0, 3).contains(load)));
        assert!(loads.windows(2).any(|pair| pair[0] > pair[1]));
        assert_ne!(loads, other_loads(2.0, 24, 1));
    }
}
