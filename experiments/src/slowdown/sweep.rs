//! Figures 5 to 8: time limits and partition sizes.

use anyhow::Result;
use howdah_core::time::Span;
use howdah_planning::tune::{Figures, Objective, best_of};

use super::bench::Bench;
use super::policy::Policy;
use super::runs::{LOADS, mean, play_each};
use crate::framework::Lab;

/// Limits that are tried, in seconds: half to half over the range of the paper's figures and beyond.
const LIMITS_S: [u64; 13] =
    [500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 14_000, 18_000, 24_000, 36_000, 60_000];
const QUICK_LIMITS_S: [u64; 4] = [2_000, 6_000, 12_000, 36_000];
/// Sizes of partition 1 in percent (Fig. 5).
const SHARES: [u32; 5] = [10, 20, 30, 40, 50];
const QUICK_SHARES: [u32; 2] = [30, 50];

/// One setting and its figures at a load.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) scheduler: &'static str,
    pub(super) load_milli: u32,
    /// Percent of partition 1; 0 without partitions.
    pub(super) share: u32,
    pub(super) limit: Span,
    pub(super) figures: Figures,
}

pub(super) struct Sweeps {
    pub(super) points: Vec<Point>,
    /// FIFO at each of the loads.
    pub(super) fifo: [Figures; 2],
}

pub(super) fn two_queues(scheduler: &'static str, share: u32, limit: Span) -> Policy {
    let policy = Policy::new(scheduler, &[("limits", howdah_planning::tune::time(limit))]);
    let policy = if share > 0 { policy.with("partitions", format!("{share}%")) } else { policy };
    if scheduler == "sita" { policy.with("fit", "history") } else { policy }
}

/// TAGS and SITA at a load of 0.7 over limits and sizes, FBQ at both loads over limits.
pub(super) fn run(lab: &Lab<'_>, bench: &Bench) -> Result<Sweeps> {
    let limits: &[u64] = lab.size(&LIMITS_S, &QUICK_LIMITS_S);
    let shares: &[u32] = lab.size(&SHARES, &QUICK_SHARES);
    let mut settings: Vec<(&'static str, u32, u32, Span)> = Vec::new();
    for &limit in limits {
        let limit = Span::from_secs(limit);
        settings.extend(LOADS.map(|load| ("fbq", load, 0, limit)));
        for &share in shares {
            settings.extend(["tags", "sita"].map(|scheduler| (scheduler, LOADS[0], share, limit)));
        }
    }
    let mut runs: Vec<(Policy, u32)> = LOADS.map(|load| (Policy::new("fifo", &[]), load)).to_vec();
    runs.extend(settings.iter().map(|&(scheduler, load, share, limit)| (two_queues(scheduler, share, limit), load)));
    let played = play_each(lab, bench, "Figures 5 to 8: limits and partition sizes", &runs)?;
    let figures: Vec<Figures> = played.iter().map(|repeats| mean(repeats)).collect();
    let point =
        |(&(scheduler, load_milli, share, limit), &figures)| Point { scheduler, load_milli, share, limit, figures };
    let points = settings.iter().zip(&figures[LOADS.len()..]).map(point).collect();
    Ok(Sweeps { points, fifo: [figures[0], figures[1]] })
}

impl Sweeps {
    /// The points of a policy at a load, with this size of partition 1 or any.
    pub(super) fn of(&self, scheduler: &str, load_milli: u32, share: Option<u32>) -> Vec<&Point> {
        let fits = |point: &&Point| {
            point.scheduler == scheduler
                && point.load_milli == load_milli
                && share.is_none_or(|share| point.share == share)
        };
        self.points.iter().filter(fits).collect()
    }

    /// The best of these points, all at one load.
    pub(super) fn best<'a>(&self, points: &[&'a Point]) -> Option<&'a Point> {
        let first = points.first()?;
        let load = LOADS.iter().position(|&load| load == first.load_milli)?;
        let figures: Vec<Figures> = points.iter().map(|point| point.figures).collect();
        best_of(&figures, &self.fifo[load], Objective::Variability).map(|place| points[place])
    }

    /// The best of a policy at a load of 0.7, whatever the size of partition 1.
    pub(super) fn optimum(&self, scheduler: &str) -> Option<&Point> {
        self.best(&self.of(scheduler, LOADS[0], None))
    }
}
