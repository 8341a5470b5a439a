//! `online-locality`: delay scheduling that looks ahead (`fair` with `locality.forecast`) against fixed waits, after §I.
//!
//! In replay on ten workers in two racks, where a map costs more the farther its data is. Where slots beside the data come soon, a
//! wait is worth its time and looking ahead must wait too; where they come late, a wait is lost and looking ahead must not wait.
//! Four workloads between the two, over several seeds each: whose wait is right depends on the workload, and nobody tells the
//! scheduler which it is.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{Locality, SplitHosts, TaskKind};
use howdah_core::models::Random;
use howdah_core::replay::{
    AttemptRecord, LocalityCost, Observer, ReplayOptions, SimWorker, Simulation, View, WorkersView,
};

use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers, percent};

/// The experiment.
pub(crate) struct OnlineLocality;

const WORKERS: u64 = 10;
/// What a map takes off its host and off its rack, in millionths of its time beside its data.
const COST: LocalityCost = LocalityCost { rack_ppm: 1_300_000, off_rack_ppm: 2_000_000 };
/// The waits, in milliseconds.
const WAITS_MS: [u64; 2] = [5_000, 15_000];
/// Looking ahead may be so much worse than the better of not waiting and the same wait as given.
const NEAR: f64 = 0.05;

struct Workload {
    name: &'static str,
    about: &'static str,
    jobs: u64,
    maps: u32,
    /// Between two submissions on average.
    every_ms: u64,
    map_ms: u64,
    /// Hosts that hold all data, the first ones.
    hosts: u64,
}

const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "spread",
        about: "3 maps of 4 s every 1.5 s, data anywhere",
        jobs: 60,
        maps: 3,
        every_ms: 1_500,
        map_ms: 4_000,
        hosts: WORKERS,
    },
    Workload {
        name: "half",
        about: "3 maps of 8 s every 4 s, data on five hosts",
        jobs: 60,
        maps: 3,
        every_ms: 4_000,
        map_ms: 8_000,
        hosts: 5,
    },
    Workload {
        name: "narrow",
        about: "6 maps of 20 s every 15 s, data on two hosts",
        jobs: 20,
        maps: 6,
        every_ms: 15_000,
        map_ms: 20_000,
        hosts: 2,
    },
    Workload {
        name: "long",
        about: "4 maps of 60 s every 20 s, data on three hosts",
        jobs: 20,
        maps: 4,
        every_ms: 20_000,
        map_ms: 60_000,
        hosts: 3,
    },
];

/// How long a job waits for its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    wait_ms: u64,
    looks_ahead: bool,
}

impl Way {
    fn all() -> Vec<Way> {
        let fixed = std::iter::once(0).chain(WAITS_MS).map(|wait_ms| Way { wait_ms, looks_ahead: false });
        fixed.chain(WAITS_MS.map(|wait_ms| Way { wait_ms, looks_ahead: true })).collect()
    }

    fn name(self) -> String {
        match (self.wait_ms / 1_000, self.looks_ahead) {
            (0, _) => "no wait".to_owned(),
            (s, false) => format!("{s} s"),
            (s, true) => format!("{s} s, forecast"),
        }
    }

    fn options(self) -> ReplayOptions {
        let params =
            [("locality.delay", self.wait_ms.to_string()), ("locality.forecast", self.looks_ahead.to_string())];
        let worker = |n: u64| SimWorker {
            name: format!("worker-{n}"),
            host: host(n),
            rack: format!("/rack-{}", n % 2),
            map_slots: 2,
            reduce_slots: 1,
            ..SimWorker::default()
        };
        let view =
            WorkersView { workers: (0..WORKERS).map(worker).collect(), locality: COST, ..WorkersView::default() };
        ReplayOptions {
            scheduler: "fair".to_owned(),
            scheduler_params: params.map(|(key, value)| (key.to_owned(), value)).into(),
            view: View::Workers(view),
            ..ReplayOptions::default()
        }
    }
}

fn host(n: u64) -> String {
    format!("host-{n}")
}

fn trace(of: &Workload, seed: u64) -> Trace {
    let mut random = Random::new(seed, 900);
    let mut at_ms = 0;
    let mut job = || {
        let hosts: Vec<[String; 1]> = (0..of.maps).map(|_| [host(random.below(of.hosts as usize) as u64)]).collect();
        let scatter = |random: &mut Random| (of.map_ms as f64 * (1.0 + 0.1 * random.normal()).max(0.5)) as u64;
        let made = JobTemplate {
            n_maps: of.maps,
            submit_ms: at_ms,
            map_ms: (0..of.maps).map(|_| scatter(&mut random)).collect(),
            split_hosts: SplitHosts::new(hosts.iter().map(|[host]| [host.as_str()])),
            ..JobTemplate::default()
        };
        at_ms += of.every_ms / 2 + random.below(of.every_ms as usize) as u64;
        made
    };
    Trace { jobs: (0..of.jobs).map(|_| job()).collect(), ..Trace::default() }
}

/// How a workload went, over all seeds.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Share of maps beside their data.
    local: f64,
    /// Mean completion of a job.
    mean_s: f64,
}

#[derive(Default)]
struct Maps {
    all: u32,
    local: u32,
}

struct Counting(Rc<RefCell<Maps>>);

impl Observer for Counting {
    fn attempt(&mut self, record: &AttemptRecord) {
        let mut maps = self.0.borrow_mut();
        maps.all += u32::from(record.attempt.kind == TaskKind::Map);
        maps.local += u32::from(record.attempt.kind == TaskKind::Map && record.locality == Locality::Node);
    }
}

fn played(of: &Workload, way: Way, seeds: impl Iterator<Item = u64>) -> Result<Found> {
    let maps = Rc::new(RefCell::new(Maps::default()));
    let (mut sum_s, mut n) = (0.0, 0);
    for seed in seeds {
        let trace = trace(of, seed);
        let mut run = Simulation::new(&trace, &way.options()).context("make the cluster")?;
        run.observe(Box::new(Counting(Rc::clone(&maps))));
        run.run();
        let jobs = run.report().jobs;
        sum_s += jobs.iter().map(|job| job.completion().as_secs_f64()).sum::<f64>();
        n += jobs.len();
    }
    let Maps { all, local } = maps.take();
    Ok(Found { local: f64::from(local) / f64::from(all.max(1)), mean_s: sum_s / n.max(1) as f64 })
}

/// By how much looking ahead is worse than the better of not waiting and the wait as given; negative where it is better.
fn worse(ways: &[Way], found: &[Found], wait_ms: u64) -> f64 {
    let of = |way: Way| ways.iter().position(|one| *one == way).map_or(f64::NAN, |at| found[at].mean_s);
    let fixed = |wait_ms| of(Way { wait_ms, looks_ahead: false });
    of(Way { wait_ms, looks_ahead: true }) / fixed(0).min(fixed(wait_ms)) - 1.0
}

impl Experiment for OnlineLocality {
    fn about(&self) -> About {
        About {
            name: "online-locality",
            line: "Waiting for data by forecast against fixed waits",
            paper: papers::ONLINE,
            figure: "Section I (no figure)",
            needs: Needs::Simulation,
            estimate_s: [10, 2],
        }
    }

    fn takes_repeats(&self) -> bool {
        false
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let ways = Way::all();
        let mut rows = Vec::new();
        for workload in &WORKLOADS {
            lab.progress.step(workload.name);
            let seeds = || lab.seed..lab.seed + lab.size(20, 3);
            let found: Result<Vec<Found>> = ways.iter().map(|&way| played(workload, way, seeds())).collect();
            rows.push((workload, found?));
        }
        write(lab, &self.about(), &ways, &rows)
    }
}

fn write(lab: &Lab<'_>, about: &About, ways: &[Way], rows: &[(&Workload, Vec<Found>)]) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "In replay: {WORKERS} workers of two map slots in two racks, Fair, {} seeds of each workload. A map takes {:.1} times as long \
         off its data's host, {:.1} times off its rack. Share of maps beside their data, and mean completion of a job.",
        lab.size(20, 3),
        f64::from(COST.rack_ppm) / 1e6,
        f64::from(COST.off_rack_ppm) / 1e6
    ));
    let names: Vec<String> = ways.iter().map(|way| way.name()).collect();
    let columns: Vec<&str> = ["workload", "what"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let (mut table, mut checks) = (Table::new(&columns), Vec::new());
    for (workload, found) in rows {
        let figures = found.iter().map(|one| format!("{}, {:.1} s", percent(one.local), one.mean_s));
        table.row([workload.name.to_owned(), workload.about.to_owned()].into_iter().chain(figures));
        for wait_ms in WAITS_MS {
            let what = format!(
                "{}: mean completion with a wait of {} s by forecast above the better of none and the same as given",
                workload.name,
                wait_ms / 1_000
            );
            let judged = !lab.quick && wait_ms == WAITS_MS[0];
            checks.push(Check { what, found: worse(ways, found, wait_ms), bar: NEAR, judged });
        }
    }
    page.table(&table);
    page.paragraph(&format!(
        "The wait is what a map beside its data may cost at most. Only the bars of {} s are judged: that is about what distance costs \
         here, and a longer wait by forecast pays up to its whole length for each slot beside the data, as it was told to.",
        WAITS_MS[0] / 1_000
    ));
    let figure = Bars {
        title: "Mean completion by wait".to_owned(),
        y_label: "seconds".to_owned(),
        groups: rows.iter().map(|(workload, _)| workload.name.to_owned()).collect(),
        series: (names.iter().zip(0..))
            .map(|(name, at)| {
                Series::new(name, rows.iter().map(|(_, found): &(&Workload, Vec<Found>)| found[at].mean_s).collect())
            })
            .collect(),
    };
    page.image("online-locality.svg", "mean completion by wait");
    page.checks(&checks);
    let files = page.write(lab, "online-locality", &table, figure.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_ahead_waits_where_slots_come_soon_and_does_not_where_they_come_late() {
        let ways = Way::all();
        let found = |workload: &Workload| -> Vec<Found> {
            ways.iter().map(|&way| played(workload, way, 1..3).unwrap()).collect()
        };
        let [soon, late] = [found(&WORKLOADS[0]), found(&WORKLOADS[2])];
        assert!(soon[3].local > 0.9 && soon[0].local < 0.5, "{soon:?}");
        assert!(worse(&ways, &soon, 5_000) < NEAR && worse(&ways, &late, 5_000) < NEAR, "{soon:?} {late:?}");
        assert!(late[1].mean_s > 1.05 * late[0].mean_s, "the fixed wait is lost there: {late:?}");
    }
}
