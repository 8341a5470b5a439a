//! How long the work took under one load.

use howdah_core::models::load_curve::LoadPoint;

/// A load is what it was meant to be within so many tasks: less than a short task's share, more than looks are uneven.
pub(crate) const STEADY: f64 = 0.25;

/// One run of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Busy tasks beside it.
    pub foreign: f64,
    /// From start to end in seconds, stolen time left out, as at the machine's usual speed.
    pub time_s: f64,
    /// Taken by the hypervisor meanwhile, mean of the cores that were busy, in seconds.
    pub stolen_s: f64,
    /// Tasks that ran or waited meanwhile beside the work and the foreign load, on average; below 0 when there were
    /// fewer than meant. 0 in a control group, whose quota keeps others out.
    pub others: f64,
    /// How fast the machine's cores were meanwhile, whatever ran on them, as a share of the usual.
    pub speed: f64,
}

impl Measured {
    /// With the work itself in the load.
    pub fn point(&self) -> LoadPoint {
        LoadPoint { load: self.foreign + 1.0, time: self.time_s }
    }

    /// Whether the load was what it was meant to be.
    pub fn is_steady(&self) -> bool {
        self.others.abs() <= STEADY
    }
}
