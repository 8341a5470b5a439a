//! `la-estimate`: how near Load-Aware's estimates of a task's time come to the times that follow (thesis §3.3, Fig. 3.3).
//!
//! First the machine is calibrated. Then tasks of several seconds run on a real worker under other steady foreign loads,
//! in mixed order. What is judged is the scheduler's own estimate of each at its launch, made from the vitals that the
//! worker measured and from the task that it finished before; the estimate midway stands beside it.

mod found;
mod page;
mod tasks;

pub(super) use self::found::{Estimate, Found};

use std::time::Duration;

use anyhow::Result;
use howdah_core::models::Random;
use howdah_core::models::load_curve::LoadCurve;

use self::found::GOOD;
use self::tasks::{Ran, Tasks, Thought};
use crate::calibration::{Bench, Measured, Place, STEADY, Work, fit, usual_loads};
use crate::framework::{About, Check, Experiment, Lab, Needs, Outcome, papers};

/// The experiment.
pub(crate) struct LaEstimate;

/// Loads go up to this many times the cores.
const TIMES: u32 = 3;
/// This share of the estimates must be good.
const MOST: f64 = 0.9;
/// How often a task is run again because something else ran beside it, in a full run. The last time counts, whatever ran.
const AGAIN: u32 = 3;

impl Experiment for LaEstimate {
    fn about(&self) -> About {
        About {
            name: "la-estimate",
            line: "Load-Aware's estimates of a task's time under foreign load against the times that follow",
            paper: papers::LOAD_AWARE,
            figure: "Figures 3.3 and 3.4",
            needs: Needs::LiveRuns,
            estimate_s: [720, 120],
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
        let loads = other_loads(cores, lab.size(24, 6), lab.seed);
        let (tasks, again) = run_tasks(lab, &bench, &fits[0].curve, task, &loads)?;
        let estimates = estimates(&tasks, &fits[0].curve, cores);
        let unsteady = calibration.iter().filter(|run| !run.is_steady()).count()
            + estimates.iter().filter(|one| one.others.abs() > STEADY).count();
        runs.disturbed += again;
        let (machine, disturbed) = (*bench.machine(), runs.disturbed);
        let found = Found { machine, calibration, fits, estimates, disturbed, unsteady };
        let checks = vec![Check {
            what: format!("the scheduler's estimates at launch that miss by more than {:.0} %", GOOD * 100.0),
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

/// A task that ran.
#[derive(Clone, Copy, Debug)]
struct Tried {
    ran: Ran,
    thought: Thought,
    /// Whether its estimate is judged.
    counts: bool,
}

impl Tried {
    /// Its time without what was stolen, in seconds.
    fn unstolen_s(&self) -> f64 {
        (self.thought.took_s - self.ran.beside.stolen_s).max(1e-6)
    }

    /// The same as at the machine's usual speed.
    fn net_s(&self) -> f64 {
        self.unstolen_s() * self.ran.beside.speed
    }
}

/// A task beside no load, from which the first is estimated, and one for each load; with how many did not count. A task
/// that something else ran beside is followed by another one beside the same load, which is then the next one's reference.
fn run_tasks(
    lab: &Lab<'_>,
    bench: &Bench,
    curve: &LoadCurve,
    task: Duration,
    loads: &[f64],
) -> Result<(Vec<Tried>, u32)> {
    let tries = 1 + lab.size(AGAIN, 0);
    let most = 1 + tries * loads.len() as u32;
    lab.progress.step("starting a master and a worker");
    let mut tasks = Tasks::start(lab, bench, &curve.to_string(), task, most)?;
    let mut counts = Vec::new();
    for (n, load) in std::iter::once(&0.0).chain(loads).enumerate() {
        for left in (0..tries).rev() {
            lab.progress.step(&format!("task {} of {}: foreign load {load:.2}", n, loads.len()));
            let steady = tasks.run(*load)?.beside.is_steady();
            // The first only has to be there.
            counts.push(n > 0 && (steady || left == 0));
            if steady || n == 0 {
                break;
            }
        }
    }
    let again = counts.iter().skip(1).filter(|counts| !**counts).count() as u32;
    let tried = tasks.stop()?.into_iter().zip(counts).map(|((ran, thought), counts)| Tried { ran, thought, counts });
    Ok((tried.collect(), again))
}

/// Of each task that counts. The scheduler estimates from the task before it, whether that counts or not. It cannot know
/// what the hypervisor takes, nor how fast its neighbours leave the cores: both are taken out of the estimate by what they
/// were for the task before, as the estimate is in proportion to that task's time.
fn estimates(tasks: &[Tried], curve: &LoadCurve, cores: f64) -> Vec<Estimate> {
    let milli = |number: f64| libm::round(number * 1e3) as u32;
    let factor = |one: &Tried| curve.factor_ppm(milli(one.ran.foreign + 1.0), milli(cores)) as f64;
    let estimate = |pair: &[Tried]| {
        let (before, one) = (&pair[0], &pair[1]);
        let at_launch_s = one.thought.at_launch_s.filter(|_| one.counts)?;
        Some(Estimate {
            foreign: one.ran.foreign,
            reported: one.ran.reported,
            from: before.ran.foreign,
            at_launch_s: at_launch_s * before.net_s() / before.thought.took_s,
            midway_s: one.thought.midway_s.map(|midway| (midway - one.ran.beside.stolen_s) * one.ran.beside.speed),
            by_curve_s: before.net_s() * factor(one) / factor(before),
            actual_s: one.net_s(),
            stolen_s: one.ran.beside.stolen_s,
            speed: one.ran.beside.speed,
            as_it_was_s: (at_launch_s * before.unstolen_s() / before.thought.took_s, one.unstolen_s()),
            others: one.ran.beside.others,
        })
    };
    tasks.windows(2).filter_map(estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Beside;

    fn ran(foreign: f64, took_s: f64, stolen_s: f64, at_launch_s: Option<f64>) -> Tried {
        let beside = Beside { stolen_s, others: 0.0, speed: 1.0 };
        let thought = Thought { at_launch_s, midway_s: at_launch_s, took_s };
        Tried { ran: Ran { foreign, reported: foreign, beside }, thought, counts: at_launch_s.is_some() }
    }

    #[test]
    fn estimates_are_the_schedulers_own_and_stolen_time_is_in_no_figure() {
        let curve = LoadCurve::default();
        // The reference took 5 s, one of them stolen; at three times the load the scheduler said 3 × 5, and 12 was right.
        let tasks = [ran(0.0, 5.0, 1.0, None), ran(5.0, 14.0, 2.0, Some(15.0))];
        let [one] = estimates(&tasks, &curve, 2.0)[..] else { panic!("one of two is estimated") };
        assert!((one.at_launch_s - 12.0).abs() < 1e-9 && (one.actual_s - 12.0).abs() < 1e-9, "{one:?}");
        assert!(one.error(one.at_launch_s) < 1e-9 && (one.by_curve_s - 12.0).abs() < 1e-9);
        assert_eq!(one.midway_s, Some(13.0));
        // What the scheduler says counts, whatever the curve would say.
        let odd = estimates(&[ran(0.0, 2.0, 0.0, None), ran(5.0, 2.0, 0.0, Some(3.0))], &curve, 2.0);
        assert!((odd[0].error(odd[0].at_launch_s) - 0.5).abs() < 1e-9, "{odd:?}");
        assert!((odd[0].error(odd[0].by_curve_s) - 2.0).abs() < 1e-9, "{odd:?}");
    }

    #[test]
    fn a_machine_that_was_slower_for_one_task_than_for_the_next_makes_no_error() {
        // Equal work; the first ran at two thirds of the speed.
        let mut before = ran(0.0, 6.0, 0.0, None);
        before.ran.beside.speed = 2.0 / 3.0;
        let found = estimates(&[before, ran(0.0, 4.0, 0.0, Some(6.0))], &LoadCurve::default(), 2.0);
        assert!((found[0].at_launch_s - 4.0).abs() < 1e-9 && found[0].error(found[0].at_launch_s) < 1e-9, "{found:?}");
        assert_eq!(found[0].as_it_was_s, (6.0, 4.0));
    }

    #[test]
    fn a_task_that_does_not_count_is_still_what_the_next_is_estimated_from() {
        let mut disturbed = ran(2.0, 9.0, 0.0, Some(4.0));
        disturbed.counts = false;
        let tasks = [ran(0.0, 4.0, 0.0, None), disturbed, ran(2.0, 6.0, 3.0, Some(9.0))];
        let found = estimates(&tasks, &LoadCurve::default(), 2.0);
        assert_eq!((found.len(), found[0].at_launch_s, found[0].actual_s), (1, 9.0, 3.0));
    }

    #[test]
    fn held_out_loads_are_new_ones_in_mixed_order() {
        let loads = other_loads(2.0, 24, 0);
        assert!(loads.iter().all(|load| (0.0..6.0).contains(load) && !usual_loads(2.0, 3).contains(load)));
        assert!(loads.windows(2).any(|pair| pair[0] > pair[1]));
        assert_ne!(loads, other_loads(2.0, 24, 1));
    }
}
