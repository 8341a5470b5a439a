//! What was estimated, and what it took.

use howdah_core::models::load_curve::LoadFit;

use crate::calibration::{Machine, Measured};

/// An estimate is good within this share of the time that followed.
pub(super) const GOOD: f64 = 0.15;

/// A task that was estimated. No figure has the time in it that the hypervisor stole, and each is as at the machine's usual
/// speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Beside the task, as asked for.
    pub(crate) foreign: f64,
    /// The same as the worker's vitals had it before the launch.
    pub(crate) reported: f64,
    /// Beside the task before it, which the estimate is made from.
    pub(crate) from: f64,
    /// By the scheduler, at the task's launch.
    pub(crate) at_launch_s: f64,
    /// By the scheduler, in the middle of the task; `None` where no report came meanwhile.
    pub(crate) midway_s: Option<f64>,
    /// By the curve alone, from the loads that were asked for.
    pub(crate) by_curve_s: f64,
    pub(crate) actual_s: f64,
    pub(crate) stolen_s: f64,
    /// How fast the machine was meanwhile, as a share of its usual speed.
    pub(crate) speed: f64,
    /// By the scheduler at its launch and in fact, with the machine's speed as it was in both tasks.
    pub(crate) as_it_was_s: (f64, f64),
    /// Tasks that ran beside both it and its foreign load, on average.
    pub(crate) others: f64,
}

impl Estimate {
    /// Of an estimate, as a share of the time that followed.
    pub(crate) fn error(&self, estimated_s: f64) -> f64 {
        (estimated_s - self.actual_s).abs() / self.actual_s
    }
}

/// Everything that was measured.
pub(crate) struct Found {
    pub(crate) machine: Machine,
    pub(crate) calibration: Vec<Measured>,
    /// The better one first.
    pub(crate) fits: [LoadFit; 2],
    /// Under the better fit.
    pub(crate) estimates: Vec<Estimate>,
    /// Runs that do not count, as other tasks ran beside them.
    pub(crate) disturbed: u32,
    /// Runs that count although other tasks ran beside them.
    pub(crate) unsteady: usize,
}

impl Found {
    /// Share of the estimates at launch that miss by more than a good one may.
    pub(crate) fn missed(&self) -> f64 {
        let missed = self.estimates.iter().filter(|one| one.error(one.at_launch_s) > GOOD).count();
        missed as f64 / self.estimates.len().max(1) as f64
    }
}
