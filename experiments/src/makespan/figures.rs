//! The figures of `makespan`: Figures 10 to 13 of the paper, a picture for each workload.

use super::sweep::{Curve, Point};
use crate::framework::{Bars, Series};

/// Makespans, in seconds, of a workload's orders and pools by the size of the cluster, in machines.
pub(super) fn makespans(curve: &Curve) -> Bars {
    let series = |name: &str, value: fn(&Point) -> f64| Series::new(name, curve.points.iter().map(value).collect());
    Bars {
        title: format!("Makespan of {}, {} jobs", curve.workload, curve.jobs),
        y_label: "seconds".to_owned(),
        groups: curve.points.iter().map(|point| point.machines.to_string()).collect(),
        series: vec![
            series("Min", |point| point.min),
            series("Max", |point| point.max),
            series("MinSim", |point| point.min_sim),
            series("MaxSim", |point| point.max_sim),
            series("BalancedPools", |point| point.balanced),
        ],
    }
}
