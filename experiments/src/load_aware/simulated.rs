//! The thesis's own size in replay: eight workers of one map slot on eight hardware threads, maps of a minute.
//!
//! The workers slow down by the thesis's curve. Beyond the cores its exponent is printed, 0.12 for each task more. Below
//! them it prints a slope of 17,700 (§3.3), which we read as milliseconds for each task more on a task of a minute: a
//! growth of 0.295 a task, 2.36 over eight. Its Figure 3.3, which would tell, is not in the text. The rule's own
//! formula `corrected` reads the slope against the 500 s that one machine takes for all games; then a load of 6 would cost a
//! task a fifth of its time, no task would fall 0.2 behind the average, and §4.1 would show nothing.

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::{LoadCurve, Random};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::time::{Span, Time};

use super::bound::{self, Bounds, Pace};
use super::figures::{Figures, Runs};
use super::rule::Rule;
use super::scenario::Point;

/// Nodes of the thesis.
pub(super) const WORKERS: u32 = 8;
/// Hardware threads of each.
const CORES: u32 = 8;
/// "Each mapper takes about 60 seconds."
const MAP_S: f64 = 60.0;
/// Of the thesis's testbed.
const KHZ: u32 = 2_268_000;
pub(super) const CURVE: &str = "below=2.36,exponential=0.12";

/// What the thesis leaves open, as one of its readers may take it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) name: &'static str,
    /// Map slots of a node.
    slots: u16,
    /// Maps of a job, as a multiple of those of the scenario.
    maps: f64,
    curve: &'static str,
    /// Whether the end of an attempt is reported at once.
    out_of_band: bool,
}

/// The one that is judged.
pub(super) const USUAL: Reading = Reading {
    name: "one map slot a node, one map a node and job",
    slots: 1,
    maps: 1.0,
    curve: CURVE,
    out_of_band: false,
};

/// The others.
pub(super) const READINGS: [Reading; 7] = [
    Reading { name: "two map slots a node", slots: 2, ..USUAL },
    Reading { name: "two map slots and two maps a node", slots: 2, maps: 2.0, ..USUAL },
    Reading { name: "two map slots, three maps on two nodes", slots: 2, maps: 1.5, ..USUAL },
    Reading { name: "three maps on two nodes", maps: 1.5, ..USUAL },
    Reading { name: "ends reported at once", out_of_band: true, ..USUAL },
    Reading { name: "slope against 500 s", curve: "below=0.28,exponential=0.12", ..USUAL },
    Reading { name: "loaded workers four times as slow", curve: "below=8,exponential=0.12", ..USUAL },
];

/// Of the logarithms of maps' times: sudokus differ, but a thousand of them less.
const SIGMA: f64 = 0.1;
/// Hadoop's for so small a cluster.
const HEARTBEAT: Span = Span::from_secs(3);
/// Hadoop's lag, and the maps' time that it belongs to.
const LAG_MS: f64 = 60_000.0;

/// A point under a rule, once for each seed.
pub(super) fn runs(point: &Point, rule: Rule, seeds: std::ops::Range<u64>, reading: &Reading) -> Result<Runs> {
    seeds.map(|seed| run(point, rule, seed, reading)).collect::<Result<_>>().map(Runs)
}

fn run(point: &Point, rule: Rule, seed: u64, reading: &Reading) -> Result<Figures> {
    let trace = trace(point, seed, reading);
    let (scheduler, scheduler_params) = rule.policy((LAG_MS * point.map) as u64, reading.curve);
    let options = ReplayOptions {
        scheduler: scheduler.to_owned(),
        scheduler_params,
        view: View::Workers(cluster(point, reading)?),
        seed,
        ..ReplayOptions::default()
    };
    let mut simulation = Simulation::new(&trace, &options)?;
    simulation.run();
    let report = simulation.report();
    if let Some(job) = report.jobs.iter().find(|job| !job.state.is_final()) {
        anyhow::bail!("{} under {}, seed {seed}: job {} did not end", point.label, rule.name(), job.id.0);
    }
    let slot_s = |us: u64| us as f64 / 1e6;
    let all_s = report.makespan.as_secs_f64() * f64::from(report.slots[0]);
    Ok(Figures {
        total_s: report.makespan.as_secs_f64(),
        launched: report.costs.launched.into(),
        won: report.costs.won.into(),
        wasted_s: report.costs.wasted.as_secs_f64(),
        idle_s: (all_s - slot_s(report.busy_us[0])) / f64::from(WORKERS),
    })
}

/// What any schedule could reach, once for each seed; nothing where workers have several slots, whose tasks slow each
/// other down.
pub(super) fn bounds(point: &Point, seeds: std::ops::Range<u64>, reading: &Reading) -> Result<Vec<Bounds>> {
    if reading.slots > 1 {
        return Ok(Vec::new());
    }
    let curve: LoadCurve = reading.curve.parse().context("read the thesis's curve")?;
    let factor = |load: f64| curve.factor_ppm((load * 1e3) as u32, CORES * 1_000) as f64;
    let pace = |(load, frequency): (&Vec<(f64, f64)>, &f64)| {
        let speed = |foreign: f64| factor(1.0) / factor(1.0 + foreign) * frequency;
        let steps = load.iter().map(|&(maps, foreign)| (maps * MAP_S, speed(foreign)));
        let first = if load.first().is_some_and(|step| step.0 == 0.0) { None } else { Some((0.0, speed(0.0))) };
        Pace(first.into_iter().chain(steps).collect())
    };
    let paces: Vec<Pace> = point.loads(WORKERS).iter().zip(&point.frequencies(WORKERS)).map(pace).collect();
    let of_seed = |seed| {
        let trace = trace(point, seed, reading);
        let works: Vec<f64> = trace.jobs.iter().flat_map(|job| &job.map_ms).map(|&ms| ms as f64 / 1e3).collect();
        bound::bounds(&works, &paces)
    };
    Ok(seeds.map(of_seed).collect())
}

/// The jobs, all submitted at once; equal seeds make equal times under every rule.
fn trace(point: &Point, seed: u64, reading: &Reading) -> Trace {
    let mut random = Random::new(seed, 5);
    // A map has its time where one task runs on each machine's eight threads.
    let mut time = || (MAP_S * point.map * 1e3 * libm::exp(SIGMA * random.normal())).round() as u64;
    let counts = point.maps(WORKERS).into_iter().map(|maps| (f64::from(maps) * reading.maps).round() as u32);
    let jobs = counts.enumerate().map(|(n, maps)| JobTemplate {
        name: format!("sudoku-{}", n + 1),
        n_maps: maps,
        map_ms: (0..maps).map(|_| time()).collect(),
        ..JobTemplate::default()
    });
    Trace { jobs: jobs.collect(), ..Trace::default() }
}

fn cluster(point: &Point, reading: &Reading) -> Result<WorkersView> {
    let curve: LoadCurve = reading.curve.parse().context("read the thesis's curve")?;
    let loads = point.loads(WORKERS);
    let frequencies = point.frequencies(WORKERS);
    let at = |maps: f64| Time::from_us((maps * MAP_S * 1e6) as u64);
    let workers = loads.iter().zip(&frequencies).zip(1..).map(|((load, frequency), n)| SimWorker {
        name: format!("node-{n}"),
        host: format!("node-{n}"),
        rack: "/default-rack".to_owned(),
        map_slots: reading.slots,
        cores_milli: CORES * 1_000,
        khz: (f64::from(KHZ) * frequency) as u32,
        foreign: load.iter().map(|&(from, load)| (at(from), (load * 1e3) as u32)).collect(),
        ..SimWorker::default()
    });
    Ok(WorkersView {
        workers: workers.collect(),
        heartbeat: SimHeartbeat { interval: HEARTBEAT, out_of_band: reading.out_of_band },
        curve,
        reference_milli: 1_000,
        plain_khz: KHZ,
        ..WorkersView::default()
    })
}
