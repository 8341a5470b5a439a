//! What the paper leaves open of its algorithms: stages' estimates, slow start, and the order of Algorithm 1's list.
//!
//! The pseudo-code of Algorithm 1 sorts its list in descending order where text and Figure 7 say ascending. What becomes
//! of the gains if the authors' program did as printed, in all strategies or in the pools alone, is stated here.

use anyhow::{Context, Result};

use super::readings::mean_and_most;
use super::sweep::{Point, machines_of, point};
use crate::framework::{Lab, Table, percent};
use howdah_planning::optimize::{Batch, Bound, ListOrder, Method, plan};
use howdah_planning::workloads::{Choices, find};

const WORKLOADS: [(&str, &[u16]); 5] = [
    ("synthetic1-unimodal", &[25, 50, 100, 200]),
    ("synthetic1-bimodal", &[25, 50, 100, 200]),
    ("synthetic1-bimodal-20", &[25, 50, 100, 200]),
    ("synthetic2-bimodal", &[25, 50, 100, 200]),
    ("yahoo-m45-bimodal", &[400, 1_000]),
];

/// What a batch is planned by, in words.
const RULES: [(&str, Choice); 6] = [
    ("as in the figures below", Choice::Main),
    ("stages by the lower bound", Choice::Stages(Bound::Low)),
    ("stages by the upper bound", Choice::Stages(Bound::Upper)),
    ("reduces start after all maps", Choice::NoSlowStart),
    ("Algorithm 1's list descending, as printed", Choice::Descending),
    ("the same in the pools alone", Choice::DescendingInPools),
];

#[derive(Clone, Copy)]
enum Choice {
    Main,
    Stages(Bound),
    NoSlowStart,
    Descending,
    DescendingInPools,
}

/// Gains of one workload under one rule, over draws and sizes: mean and largest.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    workload: &'static str,
    rule: &'static str,
    /// Of Johnson's order over its reverse.
    johnson: (f64, f64),
    /// Of pools over Johnson's order.
    pools: (f64, f64),
}

pub(super) fn run(lab: &Lab<'_>) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for (name, sizes) in WORKLOADS.into_iter().take(lab.size(WORKLOADS.len(), 2)) {
        let workload = find(name).with_context(|| format!("workload `{name}` is not there"))?;
        for (rule, choice) in RULES {
            let mut points = Vec::new();
            for seed in lab.seed..lab.seed + lab.size(3, 1) {
                let choices = Choices { jobs: lab.size(None, Some(10)), seed, ..Choices::default() };
                let trace = workload.generate(&choices).with_context(|| format!("make `{name}`"))?;
                for &machines in sizes.iter().take(lab.size(sizes.len(), 1)) {
                    points.push(choice.point(lab, name, &Batch::new(&trace, machines_of(machines)))?);
                }
            }
            let johnson = mean_and_most(&points, Point::johnson_gain);
            rules.push(Rule { workload: name, rule, johnson, pools: mean_and_most(&points, Point::pools_gain) });
        }
        lab.progress.step(&format!("{name}: what is open of the algorithms"));
    }
    Ok(rules)
}

impl Choice {
    fn point(self, lab: &Lab<'_>, name: &str, batch: &Batch<'_>) -> Result<Point> {
        match self {
            Choice::Main => point(lab, name, batch),
            Choice::Stages(bound) => point(lab, name, &Batch { bound, ..*batch }),
            Choice::NoSlowStart => point(lab, name, &Batch { slowstart_ppm: Some(1_000_000), ..*batch }),
            Choice::Descending => point(lab, name, &Batch { list: ListOrder::Descending, ..*batch }),
            Choice::DescendingInPools => {
                let pools = plan(&Batch { list: ListOrder::Descending, ..*batch }, Method::BALANCED_POOLS)
                    .with_context(|| format!("{name} on {} machines", batch.slots.maps))?;
                let balanced = pools.makespan().as_secs_f64();
                Ok(Point { balanced, ..point(lab, name, batch)? })
            }
        }
    }
}

/// What the table holds.
pub(super) const WHAT: &str = "What the text leaves open of the algorithms, over three draws of each workload and several \
sizes of cluster: mean gain and, in brackets, the largest. In the last row of each workload MinSim is Johnson's order, and \
pools (or one pool, where that is best) follow the list in descending order.";

/// Gains by workload and rule.
pub(super) fn table(rules: &[Rule]) -> Table {
    let mut table = Table::new(&["workload", "rule", ">MinSim below MaxSim", ">pools below MinSim"]);
    let both = |(mean, most): (f64, f64)| format!("{} ({})", percent(mean), percent(most));
    for Rule { workload, rule, johnson, pools } in rules {
        table.row([(*workload).to_owned(), (*rule).to_owned(), both(*johnson), both(*pools)]);
    }
    table
}

/// The same for programs.
pub(super) fn csv(rules: &[Rule]) -> Table {
    let mut table = Table::new(&["workload", "rule", "johnson_mean", "johnson_most", "pools_mean", "pools_most"]);
    for Rule { workload, rule, johnson, pools } in rules {
        let gains = [johnson.0, johnson.1, pools.0, pools.1].map(|gain| format!("{gain:.6}"));
        table.row([(*workload).to_owned(), (*rule).to_owned()].into_iter().chain(gains));
    }
    table
}
