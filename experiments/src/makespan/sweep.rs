//! One workload on clusters of several sizes under all strategies.

use anyhow::{Context, Result};

use crate::framework::Lab;
use howdah_planning::optimize::{Batch, Method, Slots, floor, plan, theory};
use howdah_planning::workloads::{Choices, find};

/// A workload and where it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) workload: &'static str,
    /// Of the paper.
    pub(super) figure: &'static str,
    /// Machines, one map and one reduce slot each.
    pub(super) sizes: &'static [u16],
}

/// Makespans in seconds on one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) machines: u16,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) min_sim: f64,
    pub(super) max_sim: f64,
    pub(super) balanced: f64,
    /// That no schedule is below.
    pub(super) floor: f64,
    /// Map slots of the pools, small jobs first; one entry when one pool was best.
    pub(super) pools: Vec<u16>,
    pub(super) pool_jobs: Vec<usize>,
}

impl Point {
    /// By how much of it Johnson's order shortens the reverse order.
    pub(super) fn johnson_gain(&self) -> f64 {
        1.0 - self.min_sim / self.max_sim
    }

    /// By how much of it pools shorten Johnson's order.
    pub(super) fn pools_gain(&self) -> f64 {
        1.0 - self.balanced / self.min_sim
    }

    /// By how much of it any schedule at all could shorten Johnson's order.
    pub(super) fn possible_gain(&self) -> f64 {
        1.0 - self.floor / self.min_sim
    }

    /// By how much of it pools shorten the reverse order.
    pub(super) fn overall_gain(&self) -> f64 {
        1.0 - self.balanced / self.max_sim
    }
}

/// A workload's points, by size.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) workload: &'static str,
    pub(super) figure: &'static str,
    pub(super) jobs: usize,
    pub(super) points: Vec<Point>,
}

impl Curve {
    /// The largest value over the sizes, and where.
    pub(super) fn most(&self, gain: impl Fn(&Point) -> f64) -> (f64, u16) {
        let found = self.points.iter().map(|point| (gain(point), point.machines));
        found.fold((f64::NEG_INFINITY, 0), |best, next| if next.0 > best.0 { next } else { best })
    }
}

/// Runs a case. Quick runs take few jobs and few sizes.
pub(super) fn curve(lab: &Lab<'_>, case: &Case) -> Result<Curve> {
    let workload = find(case.workload).with_context(|| format!("workload `{}` is not there", case.workload))?;
    let jobs = lab.size(None, workload.resizable.then(|| workload.jobs.min(20)));
    let choices = Choices { jobs, seed: lab.seed, ..Choices::default() };
    let trace = workload.generate(&choices).with_context(|| format!("make `{}`", case.workload))?;
    let sizes: Vec<u16> = case.sizes.iter().copied().step_by(lab.size(1, 3)).collect();
    let mut points = Vec::new();
    for &machines in &sizes {
        points.push(point(lab, case.workload, &Batch::new(&trace, machines_of(machines)))?);
    }
    lab.progress.step(&format!("{}: {} jobs on {} sizes of cluster", case.workload, trace.jobs.len(), sizes.len()));
    Ok(Curve { workload: case.workload, figure: case.figure, jobs: trace.jobs.len(), points })
}

/// One map and one reduce slot each.
pub(super) fn machines_of(machines: u16) -> Slots {
    Slots { maps: machines, reduces: machines }
}

/// All strategies on one cluster.
pub(super) fn point(lab: &Lab<'_>, name: &str, batch: &Batch<'_>) -> Result<Point> {
    let machines = batch.slots.maps;
    lab.progress.tick(&format!("{name} on {machines} machines"));
    let simulated = |method| plan(batch, method).with_context(|| format!("{name} on {machines} machines"));
    let theory = theory(batch);
    let (johnson, reverse) = (simulated(Method::Johnson)?, simulated(Method::ReverseJohnson)?);
    let balanced = simulated(Method::BALANCED_POOLS)?;
    Ok(Point {
        machines,
        min: theory.min.as_secs_f64(),
        max: theory.max.as_secs_f64(),
        min_sim: johnson.makespan().as_secs_f64(),
        max_sim: reverse.makespan().as_secs_f64(),
        balanced: balanced.makespan().as_secs_f64(),
        floor: floor(batch).as_secs_f64(),
        pools: balanced.pools.iter().map(|pool| pool.slots.maps).collect(),
        pool_jobs: balanced.pools.iter().map(|pool| pool.jobs.len()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_shares_of_what_is_shortened() {
        let point =
            Point { machines: 30, min_sim: 75.0, max_sim: 100.0, balanced: 60.0, floor: 45.0, ..Point::default() };
        assert!((point.possible_gain() - 0.4).abs() < 1e-12);
        assert_eq!((point.johnson_gain(), point.overall_gain()), (0.25, 0.4));
        assert!((point.pools_gain() - 0.2).abs() < 1e-12);
        let curve = Curve {
            workload: "w",
            figure: "",
            jobs: 0,
            points: vec![Point { machines: 10, min_sim: 90.0, ..point.clone() }, point],
        };
        assert_eq!(curve.most(Point::johnson_gain), (0.25, 30));
    }
}
