//! `online-prefetch`: the arithmetic of caching and prefetching (§IV-A, Tables II and III), played by the simulator.
//!
//! Three jobs read two sets of data. A cache makes a job faster if another has read its data before; a prefetch that knows
//! the future makes every job faster, and reads from disk what a cache would have kept. What a job saves when its input is
//! in memory is the paper's half. It is a model of the paper's table and not of disks.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, View, simulate};

use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers};

/// The experiment.
pub(crate) struct OnlinePrefetch;

/// A job of Table II: when it starts, how long it runs with its data on disk, which data, how many GB.
struct Job(u64, u64, &'static str, u64);

const JOBS: [Job; 3] = [Job(0, 100, "d1", 1), Job(10, 140, "d2", 1), Job(200, 100, "d1", 1)];

/// A way to have data in memory, and the paper's totals: cluster-seconds, GB from disk.
struct Way {
    name: &'static str,
    cache: bool,
    prefetch: bool,
    paper: [u64; 2],
}

const WAYS: [Way; 4] = [
    Way { name: "baseline", cache: false, prefetch: false, paper: [340, 3] },
    Way { name: "caching", cache: true, prefetch: false, paper: [290, 2] },
    Way { name: "prefetching", cache: false, prefetch: true, paper: [170, 3] },
    Way { name: "both", cache: true, prefetch: true, paper: [170, 2] },
];

/// Cluster-seconds and GB from disk, by the simulator.
fn totals(way: &Way) -> Result<[u64; 2]> {
    let mut seen = BTreeSet::new();
    let mut gigabytes = 0;
    let mut trace = Trace::default();
    for Job(start_s, takes_s, data, gb) in JOBS {
        let cached = !seen.insert(data) && way.cache;
        gigabytes += if cached { 0 } else { gb };
        let takes_ms = takes_s * if cached || way.prefetch { 500 } else { 1_000 };
        trace.jobs.push(JobTemplate {
            submit_ms: start_s * 1_000,
            n_maps: 1,
            map_ms: vec![takes_ms],
            ..JobTemplate::default()
        });
    }
    let options = ReplayOptions { view: View::Slots { maps: 3, reduces: 1 }, ..ReplayOptions::default() };
    let report = simulate(&trace, &options).context("simulate the three jobs")?;
    Ok([report.busy_us[0] / 1_000_000, gigabytes])
}

impl Experiment for OnlinePrefetch {
    fn about(&self) -> About {
        About {
            name: "online-prefetch",
            line: "What caching and prefetching by forecast save, in the paper's example",
            paper: papers::ONLINE,
            figure: "Tables II and III",
            needs: Needs::Simulation,
            estimate_s: [1, 1],
        }
    }

    fn takes_repeats(&self) -> bool {
        false
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let mut table = Table::new(&["way", "cluster-seconds", "the paper", "GB from disk", "the paper's"]);
        let mut checks = Vec::new();
        let mut seconds = Vec::new();
        for way in &WAYS {
            let found = totals(way)?;
            let both = [found[0], way.paper[0], found[1], way.paper[1]].map(|n| n.to_string());
            table.row(std::iter::once(way.name.to_owned()).chain(both));
            let differ = found[0].abs_diff(way.paper[0]) + found[1].abs_diff(way.paper[1]);
            let what = format!("{}: difference from Table III", way.name);
            checks.push(Check { what, found: differ as f64, bar: 0.0, judged: true });
            seconds.push(found[0] as f64);
        }
        let mut page = Page::new(&self.about(), lab.quick);
        page.paragraph(
            "Three jobs of Table II on a cluster with room for all. A job whose input is in memory takes half its time, as the \
             paper assumes. This is the table's arithmetic: no worker reads ahead here and nothing was measured.",
        );
        page.table(&table);
        let figure = Bars {
            title: "Cluster-seconds of the three jobs".to_owned(),
            y_label: "cluster-seconds".to_owned(),
            groups: WAYS.iter().map(|way| way.name.to_owned()).collect(),
            series: vec![Series::new("simulated", seconds)],
        };
        page.image("online-prefetch.svg", "cluster-seconds of the three jobs");
        page.checks(&checks);
        let files = page.write(lab, "online-prefetch", &table, figure.svg())?;
        Ok(Outcome { files, checks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_three_comes_out_of_the_simulator() {
        for way in &WAYS {
            assert_eq!(totals(way).unwrap(), way.paper, "{}", way.name);
        }
    }
}
