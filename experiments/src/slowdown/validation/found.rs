//! What a live run and its twin came to.

use howdah_core::models::moments::{percentile, sorted};

use crate::live::Policy;

/// Median and 95th percentile of slowdowns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Percentiles {
    pub(super) median: f64,
    pub(super) p95: f64,
}

impl Percentiles {
    /// The average of each figure.
    pub(super) fn mean(of: impl ExactSizeIterator<Item = Percentiles>) -> Percentiles {
        let n = of.len().max(1) as f64;
        of.fold(Percentiles::default(), |sum, one| Percentiles {
            median: sum.median + one.median / n,
            p95: sum.p95 + one.p95 / n,
        })
    }
}

/// One policy, all of its repeats.
pub(super) struct Found {
    pub(super) policy: Policy,
    pub(super) repeats: Vec<Repeat>,
}

/// One live run and its simulations.
pub(super) struct Repeat {
    pub(super) live: Percentiles,
    /// Simulated from the run's own profile, and from the times that were asked for.
    pub(super) simulated: [Percentiles; 2],
    pub(super) jobs: Vec<JobLine>,
    pub(super) compared: u64,
    pub(super) identical: u64,
}

impl Found {
    /// Live, simulated from the runs' own profiles, and from the times that were asked for.
    pub(super) fn means(&self) -> [Percentiles; 3] {
        let mean = |of: fn(&Repeat) -> Percentiles| Percentiles::mean(self.repeats.iter().map(of));
        [mean(|one| one.live), mean(|one| one.simulated[0]), mean(|one| one.simulated[1])]
    }

    /// Decisions compared, and those that were the same again.
    pub(super) fn decisions(&self) -> (u64, u64) {
        self.repeats.iter().fold((0, 0), |sum, one| (sum.0 + one.compared, sum.1 + one.identical))
    }
}

/// One job of one run.
pub(super) struct JobLine {
    pub(super) name: String,
    pub(super) live: f64,
    pub(super) simulated: f64,
}

/// A kind of job alone.
pub(super) struct AloneLine {
    pub(super) kind: String,
    pub(super) maps: u32,
    pub(super) reduces: u32,
    pub(super) live_s: f64,
    pub(super) simulated_s: f64,
}

pub(super) fn percentiles(slowdowns: impl IntoIterator<Item = f64>) -> Percentiles {
    let slowdowns = sorted(slowdowns);
    let at = |q| percentile(&slowdowns, q).unwrap_or(0.0);
    Percentiles { median: at(50.0), p95: at(95.0) }
}

pub(super) fn error(simulated: f64, live: f64) -> f64 {
    if live > 0.0 { (simulated - live).abs() / live } else { 1.0 }
}
