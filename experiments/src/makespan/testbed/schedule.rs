//! The testbed, and what an order of the batch came to on it.

use howdah_core::models::moments::Moments;
use howdah_planning::optimize::{Plan, Slots};

use crate::live::Shape;

/// Eight workers of two map and two reduce slots; the paper's were 64 of four and four.
pub(crate) const SHAPE: Shape = Shape::even(8, 2, 2);

pub(crate) const SLOTS: Slots = Slots { maps: 16, reduces: 16 };

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) name: &'static str,
    pub(crate) plan: Plan,
    /// Seconds, a trial each.
    pub(crate) measured: Vec<f64>,
    /// Effects of all trials that the decision replay compared, and those that were identical.
    pub(crate) decisions: (u64, u64),
}

impl Schedule {
    pub(crate) fn simulated(&self) -> f64 {
        self.plan.makespan().as_secs_f64()
    }

    pub(crate) fn mean(&self) -> f64 {
        Moments::of(&self.measured).mean
    }

    pub(crate) fn least(&self) -> f64 {
        self.measured.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn most(&self) -> f64 {
        self.measured.iter().copied().fold(0.0, f64::max)
    }

    /// Of the simulated makespan, as a share of the mean measured one.
    pub(crate) fn error(&self) -> f64 {
        (self.simulated() - self.mean()) / self.mean()
    }
}
