//! Calibration: how long the same CPU-bound work takes on this machine while foreign load competes with it.
//!
//! Real work runs as a process of its own, as an attempt does, while `howdah load` holds so many busy tasks beside it.
//! The curve through the points is what Load-Aware estimates with (thesis §3.3, Fig. 3.3 and 3.4) and what a replay's
//! loaded workers slow down by. Time that the hypervisor gave to other machines is taken out of each measurement, and so
//! is what neighbours on the cores' other threads do to the machine's speed, which a yardstick beside each run shows: no
//! load that a worker can see explains them. The same work at several frequencies (Fig. 3.5) gives the second curve: a
//! [guard](Throttle) sets them through the kernel's governor, or plays slower cores by a control group's quota where
//! frequencies cannot be set, as on most virtual machines.

mod cpufreq;
mod figure;
mod file;
mod frequency;
mod guard;
mod looks;
mod machine;
mod measured;
mod place;
mod work;

pub use self::cpufreq::{CORES, Cpufreq};
pub use self::figure::figure;
pub use self::file::{against_frequency, calibration};
pub use self::frequency::{AtFrequency, USUAL_SHARES, fit_at, frequency_figure, measure_frequencies};
pub use self::guard::{Frequency, Hello, Slows, Throttle, guard};
pub use self::machine::{Machine, nominal_khz};
pub use self::measured::Measured;
pub(crate) use self::measured::STEADY;
pub use self::place::Place;
pub use self::work::Work;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_core::models::load_curve::{LoadFit, LoadPoint, fit_load};

use self::looks::Looks;
use self::machine::stolen;
use crate::live::{HeldLoad, Program, SELDOM, Yardstick};

/// How long foreign load runs, and is looked at, before the work starts beside it.
const SETTLE: Duration = Duration::from_millis(500);
/// How often it is looked at again while something else runs as well.
const SETTLES: u32 = 6;

/// What measures.
#[derive(Clone, Debug)]
pub struct Bench {
    program: Program,
    work: Work,
    place: Place,
    machine: Machine,
    /// The machine's speed when the bench was made, as a yardstick has it; `None` where it could not be measured.
    usual: Option<f64>,
}

/// What else the machine did meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    /// As [`Measured::stolen_s`].
    pub(crate) stolen_s: f64,
    /// As [`Measured::others`].
    pub(crate) others: f64,
    /// As [`Measured::speed`].
    pub(crate) speed: f64,
}

impl Beside {
    /// Whether the load was what it was meant to be.
    pub(crate) fn is_steady(&self) -> bool {
        self.others.abs() <= STEADY
    }
}

impl Bench {
    /// With work that takes about `task` on the idle machine, `howdah` being the program at `program`.
    ///
    /// # Errors
    /// When the machine cannot be looked at or the work does not run.
    pub fn new(program: &std::path::Path, work: Work, place: Place, task: Duration) -> Result<Bench> {
        let program = Program::new(program);
        let machine = Machine::look(&program, &place)?;
        let mut bench = Bench { program, work, place, machine, usual: None };
        let yardstick = Yardstick::start(SELDOM);
        bench.work = bench.work.clone().scaled(task, |work| bench.run(work))?;
        bench.usual = yardstick.stop().mean();
        Ok(bench)
    }

    /// The same work somewhere else.
    pub fn at(&self, place: Place) -> Bench {
        Bench { place, ..self.clone() }
    }

    /// Where the work runs.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What the work shares.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Runs the work beside so many busy tasks, once nothing else runs or that has been waited for long enough.
    ///
    /// # Errors
    /// When the load cannot be held or the work fails.
    pub fn measure(&self, foreign: f64) -> Result<Measured> {
        let measured = self.measure_as_it_is(foreign)?;
        Ok(Measured { time_s: measured.time_s * measured.speed, ..measured })
    }

    /// The same at whatever speed the machine has, as when that is what is to be found out.
    pub(crate) fn measure_as_it_is(&self, foreign: f64) -> Result<Measured> {
        let (time, Beside { stolen_s, others, speed }) =
            self.beside(foreign, || self.settle(foreign), || self.run(&self.work))?;
        let time_s = (time.as_secs_f64() - stolen_s).max(1e-6);
        Ok(Measured { foreign, time_s, stolen_s, others, speed })
    }

    /// Has something else done beside so many busy tasks, once `settle` says that they are there, and watches what else
    /// the machine does meanwhile.
    ///
    /// # Errors
    /// When the load cannot be held, or what is done fails.
    pub(crate) fn beside<T>(
        &self,
        foreign: f64,
        settle: impl FnOnce() -> Result<()>,
        task: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Beside)> {
        let mut load = self.place.hold(&self.program, foreign)?;
        settle()?;
        let looks = Looks::start()?;
        let yardstick = Yardstick::start(SELDOM);
        let before = stolen()?;
        let done = task()?;
        let stolen_s = (stolen()? - before).max(0.0) / self.busy_cores(foreign);
        let seen = looks.mean()?;
        let speed = yardstick.stop().mean().zip(self.usual).map_or(1.0, |(now, usual)| now / usual);
        load.as_mut().map_or(Ok(()), HeldLoad::check)?;
        let others = if self.place == Place::Here { seen - foreign - 1.0 } else { 0.0 };
        Ok((done, Beside { stolen_s, others, speed }))
    }

    /// Waits until the machine is as loaded as it is meant to be.
    fn settle(&self, foreign: f64) -> Result<()> {
        for _ in 0..SETTLES {
            let looks = Looks::start()?;
            std::thread::sleep(SETTLE);
            // In a group the load is held back, and cannot be seen from outside; that nothing else runs can.
            if (looks.mean()? - foreign).abs() <= STEADY || (self.place != Place::Here && foreign > 0.0) {
                break;
            }
        }
        Ok(())
    }

    /// Cores that have something to do while the work runs: the hypervisor takes time from no others.
    fn busy_cores(&self, foreign: f64) -> f64 {
        let most = self.machine.n_cpus as f64;
        if self.place == Place::Here { (foreign + 1.0).min(most) } else { most }
    }

    /// The work's time.
    fn run(&self, work: &Work) -> Result<Duration> {
        let began = Instant::now();
        work.run(&self.program, &self.place)?;
        Ok(began.elapsed())
    }
}

/// Fits the measurements.
///
/// # Errors
/// When they are too few or all at one load.
pub fn fit(measured: &[Measured], machine: &Machine) -> Result<[LoadFit; 2]> {
    let points: Vec<LoadPoint> = measured.iter().map(Measured::point).collect();
    fit_load(&points, machine.cores)
        .with_context(|| format!("fit {} measurements: expected three or more, at two different loads", measured.len()))
}

/// Foreign loads from 0 to `times` the cores, in steps of half of the cores below them and of the cores beyond.
pub fn usual_loads(cores: f64, times: u32) -> Vec<f64> {
    // Three times 0.3 are 0.8999999999999999; loads are held, and printed, to thousandths.
    let rounded = |load: f64| (load * 1e3).round() / 1e3;
    let mut loads = vec![0.0, rounded(cores / 2.0)];
    loads.extend((1..=times).map(|n| rounded(cores * f64::from(n))));
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_loads_go_from_none_to_a_multiple_of_the_cores() {
        assert_eq!(usual_loads(2.0, 3), [0.0, 1.0, 2.0, 4.0, 6.0]);
        assert_eq!(usual_loads(0.5, 1), [0.0, 0.25, 0.5]);
        assert_eq!(usual_loads(0.3, 3), [0.0, 0.15, 0.3, 0.6, 0.9]);
    }

    #[test]
    fn the_work_itself_is_part_of_the_load_and_too_few_points_are_named() {
        let measured = |foreign, time_s| Measured { foreign, time_s, stolen_s: 0.0, others: 0.0, speed: 1.0 };
        assert_eq!(measured(3.0, 2.0).point(), LoadPoint { load: 4.0, time: 2.0 });
        let machine = Machine { n_cpus: 2, cores: 2.0, khz: 0 };
        let error = fit(&[measured(0.0, 1.0)], &machine).expect_err("one point");
        assert!(error.to_string().starts_with("fit 1 measurements"), "{error}");
        let points: Vec<Measured> = usual_loads(2.0, 3).into_iter().map(|n| measured(n, (n + 1.0).max(2.0))).collect();
        let [best, _] = fit(&points, &machine).expect("points enough");
        assert!(best.curve.to_string().contains("linear=") && best.max_error < 0.001, "{best:?}");
    }
}
