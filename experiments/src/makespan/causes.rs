//! Why pools gain what they gain: what any schedule could, and who gets there.
//!
//! The paper says up to 38 % of what Johnson's order takes. A bound on every schedule says where that is possible at
//! all; where it is, the longest job first in *one* pool, and pools whose small jobs are small by their work or by their
//! length, say what of it is lost to the order, and what to the number of maps as a job's size; so does Algorithm 1's
//! list in descending order, as its first line prints. All of it for each reading of what a job's factor scales, on
//! clusters of very different sizes.

use anyhow::{Context, Result};

use super::sweep::{Point, machines_of, point};
use crate::framework::Lab;
use howdah_planning::optimize::{Batch, ListOrder, Method, SmallBy, plan};
use howdah_planning::workloads::{Choices, Scale, find};

/// For Yahoo! M45 the text says that task durations are scaled, of the synthetic sets that jobs are.
const CASES: [(&str, Scale, &str); 7] = [
    ("synthetic1-bimodal", Scale::Durations, "durations"),
    ("synthetic1-bimodal", Scale::Tasks, "numbers of tasks"),
    ("synthetic1-bimodal", Scale::Both, "both"),
    ("synthetic2-bimodal", Scale::Durations, "durations"),
    ("synthetic2-bimodal", Scale::Tasks, "numbers of tasks"),
    ("synthetic2-bimodal", Scale::Both, "both"),
    ("yahoo-m45-bimodal", Scale::Durations, "durations"),
];
const SIZES: [u16; 4] = [75, 150, 300, 700];
/// Jobs of Yahoo! M45 have hundreds of maps.
const LARGE_SIZES: [u16; 4] = [300, 500, 1_000, 2_000];

/// Gains over Johnson's order at one size of cluster, as shares of its makespan, means over draws.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gains {
    /// That no schedule can exceed.
    pub(super) possible: f64,
    /// Of the longest job first, in one pool.
    pub(super) longest_first: f64,
    /// Of two pools, small jobs by their number of maps, by their work and by their length.
    pub(super) pools: [f64; 3],
    /// Of Algorithm 1 with its list in descending order: in one pool, and in the best of one and two by numbers of maps.
    pub(super) descending: [f64; 2],
}

/// A workload under one reading.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) workload: &'static str,
    pub(super) scale: &'static str,
    /// By machines.
    pub(super) sizes: Vec<(u16, Gains)>,
}

/// Makespans of other ways than those of a [`Point`], in seconds.
#[derive(Clone, Copy, Debug)]
struct Others {
    longest_first: f64,
    by_work: f64,
    by_length: f64,
    descending: [f64; 2],
}

impl Gains {
    fn of(point: &Point, others: &Others) -> Gains {
        let gain = |makespan_s: f64| 1.0 - makespan_s / point.min_sim;
        Gains {
            possible: point.possible_gain(),
            longest_first: gain(others.longest_first),
            pools: [point.balanced, others.by_work, others.by_length].map(gain),
            descending: others.descending.map(gain),
        }
    }

    fn mean(all: &[Gains]) -> Gains {
        let n = all.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Gains) -> f64| all.iter().map(of).sum::<f64>() / n;
        Gains {
            possible: mean(&|gains| gains.possible),
            longest_first: mean(&|gains| gains.longest_first),
            pools: [0, 1, 2].map(|way| mean(&|gains| gains.pools[way])),
            descending: [0, 1].map(|way| mean(&|gains| gains.descending[way])),
        }
    }
}

pub(super) fn run(lab: &Lab<'_>) -> Result<Vec<Cause>> {
    let mut causes = Vec::new();
    for (workload, scale, name) in CASES.into_iter().take(lab.size(CASES.len(), 3)) {
        let sizes = if workload.starts_with("yahoo") { LARGE_SIZES } else { SIZES };
        let sizes = sizes.into_iter().step_by(lab.size(1, 3)).map(|machines| {
            let gains = (lab.seed..lab.seed + lab.size(2, 1)).map(|seed| gains(lab, workload, seed, scale, machines));
            Ok((machines, Gains::mean(&gains.collect::<Result<Vec<_>>>()?)))
        });
        causes.push(Cause { workload, scale: name, sizes: sizes.collect::<Result<_>>()? });
        lab.progress.step(&format!("{workload}, the factor scales {name}: what any schedule could gain, and who does"));
    }
    Ok(causes)
}

fn gains(lab: &Lab<'_>, name: &str, seed: u64, scale: Scale, machines: u16) -> Result<Gains> {
    let workload = find(name).with_context(|| format!("workload `{name}` is not there"))?;
    let choices = Choices { jobs: lab.size(None, Some(10)), seed, scale, ..Choices::default() };
    let trace = workload.generate(&choices).with_context(|| format!("make `{name}`"))?;
    let batch = Batch::new(&trace, machines_of(machines));
    let point = point(lab, name, &batch)?;
    let makespan = |batch: &Batch<'_>, method| -> Result<f64> {
        let plan = plan(batch, method).with_context(|| format!("{name} on {machines} machines"))?;
        Ok(plan.makespan().as_secs_f64())
    };
    let small_by = |small_by| makespan(&Batch { small_by, ..batch }, Method::BALANCED_POOLS);
    let descending = |method| makespan(&Batch { list: ListOrder::Descending, ..batch }, method);
    let others = Others {
        longest_first: makespan(&batch, Method::LongestFirst)?,
        by_work: small_by(SmallBy::Work)?,
        by_length: small_by(SmallBy::Length)?,
        descending: [descending(Method::Johnson)?, descending(Method::BALANCED_POOLS)?],
    };
    Ok(Gains::of(&point, &others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_shares_of_johnsons_makespan() {
        let point = Point { floor: 50.0, min_sim: 100.0, balanced: 90.0, ..Point::default() };
        let others = Others { longest_first: 60.0, by_work: 80.0, by_length: 70.0, descending: [75.0, 65.0] };
        let one = Gains::of(&point, &others);
        let expected = [0.5, 0.4, 0.1, 0.2, 0.3, 0.25, 0.35];
        let ([maps, work, length], [alone, pools]) = (one.pools, one.descending);
        let found = [one.possible, one.longest_first, maps, work, length, alone, pools];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{one:?}");
        let none = Gains::default();
        let mean = Gains::mean(&[one, none]);
        assert!((mean.pools[2] - 0.15).abs() < 1e-12 && (mean.descending[0] - 0.125).abs() < 1e-12, "{mean:?}");
    }
}
