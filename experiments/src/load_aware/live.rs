//! Real daemons and real load: four workers with a quota each, so that together they leave this machine room, and
//! foreign load inside the control groups of those that are loaded.
//!
//! Shorter and smaller than the thesis's: maps of sudokus that take about two seconds under the quota, and jobs of
//! half as many maps. A worker of such a quota shares it fairly among its tasks, so its time grows in proportion to
//! the load: foreign loads are a quarter of the thesis's, which slows a map down by about as much (2.5 times at 6).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_planning::accuracy::measured_makespan_s;

use super::compared::Compared;
use super::figures::{Figures, Runs};
use super::rule::Rule;
use super::scenario::{Point, Section, Trouble};
use crate::framework::Lab;
use crate::live::{Cluster, HeldLoad, Policy, Program, Shape, Submission, drive, fresh, record};

/// Half as many as the thesis's.
const WORKERS: u32 = 4;
/// Cores for each in thousandths: together they leave room for the daemons on two cores.
const QUOTAS: &[u32] = &[400];
/// With a first worker at 1416 of 2268 MHz.
const SLOWED: &[u32] = &[250, 400];
const QUOTA: f64 = 0.4;
/// A map's time under the quota, about.
const MAP_S: f64 = 2.0;
/// Of the run queue: half of a map's time; the thesis's load average of a minute is a whole one.
const SMOOTHING_MS: u32 = 1_000;
/// A load counts once the master knows this share of it, which takes about so long.
const THERE: f64 = 0.8;
const AHEAD_S: f64 = 2.0;
/// Foreign load as a share of the thesis's.
const LOAD: f64 = 0.25;
/// What a worker of a quota does with its tasks.
const CURVE: &str = "below=0,linear=1";
/// Puzzles of one map; each is solved so often that the map takes its time.
const PUZZLES: u32 = 300;
/// No run takes longer on a machine that works.
const BOUND: Duration = Duration::from_secs(180);
/// The rules that run live.
const RULES: [Rule; 4] = [Rule::None, Rule::Hadoop, Rule::Late, Rule::LoadAware];

/// One live run.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) point: Point,
    pub(super) rule: Rule,
    pub(super) figures: Figures,
    /// Effects that the decision replay compared, and those that were identical.
    pub(super) decisions: (u64, u64),
}

/// What the page says of the live runs.
pub(super) fn about() -> String {
    format!(
        "{WORKERS} workers of one map slot and a quota of {QUOTA} cores each on this machine, vitals from their control \
         groups, smoothed over {SMOOTHING_MS} ms, sudokus of about {MAP_S} s a map, heartbeats of this project (out of \
         band); foreign load is `howdah load` in the loaded workers' groups, at a quarter of the thesis's, and is there \
         before the jobs are. A slowed worker has a smaller quota instead of a lower frequency, which this machine may \
         not set. Rules run by turns, and are compared turn by turn. Maps are short and the machine is shared: these \
         figures show that it works, the bars are judged in replay."
    )
}

/// All of them, by turns, so that whatever else the machine does meets all rules.
pub(super) fn runs(lab: &Lab<'_>, section: Section) -> Result<Vec<Measured>> {
    let repeats = lab.repeats.unwrap_or(lab.size(5, 1)).max(1);
    let points: Vec<Point> = section.points().into_iter().filter(|point| is_live(section, point, lab.quick)).collect();
    let input = Inputs::make(lab, &points)?;
    let mut measured = Vec::new();
    for repeat in 1..=repeats {
        for (n, point) in points.iter().enumerate() {
            for rule in RULES {
                lab.progress.step(&format!("live, repeat {repeat} of {repeats}: {}, {}", point.label, rule.name()));
                let label = format!("{n}-{}-{repeat}", rule.name().to_lowercase());
                let one = run(lab, &label, point, rule, &input).with_context(|| format!("run {label}"))?;
                measured.push(one);
            }
        }
    }
    Ok(measured)
}

/// Long sweeps are thinned out: they would take hours.
fn is_live(section: Section, point: &Point, quick: bool) -> bool {
    match section {
        // A job alone beside a loaded worker runs live in `la-jobs`; beside a slowed one it is judged in replay.
        Section::Unnecessary => point.has_several() && (!quick || matches!(point.trouble, Trouble::Load(_))),
        Section::Dynamic => true,
        Section::Jobs | Section::Waves if quick => point.label == "2",
        // Two jobs, and one map for each worker, are `la-unnecessary`.
        Section::Jobs => ["1", "4"].contains(&point.label.as_str()),
        Section::Waves => ["2", "4"].contains(&point.label.as_str()),
    }
}

/// By point and rule.
pub(super) fn compared(measured: &[Measured]) -> Vec<Compared> {
    let mut all: Vec<Compared> = Vec::new();
    for one in measured {
        let place = match all.iter().position(|known| known.point == one.point) {
            Some(place) => place,
            None => {
                all.push(Compared {
                    point: one.point.clone(),
                    runs: RULES.map(|rule| (rule, Runs::default())).to_vec(),
                    bounds: Vec::new(),
                });
                all.len() - 1
            }
        };
        let runs = all[place].runs.iter_mut().find(|(rule, _)| *rule == one.rule);
        runs.expect("every rule has a place").1.0.push(one.figures);
    }
    all
}

/// Files of puzzles by number of maps.
struct Inputs(BTreeMap<u32, PathBuf>);

impl Inputs {
    fn make(lab: &Lab<'_>, points: &[Point]) -> Result<Inputs> {
        let dir = lab.folder("input")?;
        let program = Program::new(&lab.program);
        let mut files = BTreeMap::new();
        for maps in points.iter().flat_map(|point| point.maps(WORKERS)) {
            if let std::collections::btree_map::Entry::Vacant(place) = files.entry(maps) {
                let path = dir.join(format!("puzzles-{maps}.txt"));
                let puzzles = (maps * PUZZLES).to_string();
                let out = path.display().to_string();
                program.run(["generate", "sudoku", "--clues", "28", "--puzzles", &puzzles, "-o", &out])?;
                place.insert(path);
            }
        }
        Ok(Inputs(files))
    }
}

fn run(lab: &Lab<'_>, label: &str, point: &Point, rule: Rule, input: &Inputs) -> Result<Measured> {
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
    let (scheduler, params) = rule.policy((MAP_S * point.map * 1e3) as u64, CURVE);
    let policy = Policy { name: scheduler.to_owned(), params };
    let mut cluster = Cluster::start(&program, &dir, shape(point), &policy)?;
    let mut loads = loads(&program, &dir, point)?;
    // Who looks at loads must not begin with none.
    cluster.wait_for_loads(&first_loads(point), THERE)?;
    drive(&mut cluster, &submissions(point, input, results.path()), BOUND, lab.progress, label)?;
    let answer = program.json(["cluster", "--output", "json", "--master", cluster.address()])?;
    loads.iter_mut().try_for_each(HeldLoad::check)?;
    drop(loads);
    cluster.stop()?;
    let recorded = record(&program, &dir)?;
    let number =
        |name: &str| answer["speculation"][name].as_f64().with_context(|| format!("find `speculation.{name}`"));
    let (launched, won) = (number("launched")? as u64, number("won")? as u64);
    let total_s = measured_makespan_s(&recorded.trace);
    Ok(Measured {
        point: point.clone(),
        rule,
        figures: Figures {
            total_s,
            launched,
            won,
            wasted_s: number("wasted_slot_s")?,
            idle_s: total_s - busy_s(&recorded.trace) / f64::from(WORKERS),
        },
        decisions: (recorded.compared, recorded.identical),
    })
}

fn shape(point: &Point) -> Shape {
    let quotas_milli = if matches!(point.trouble, Trouble::Frequency(..)) { SLOWED } else { QUOTAS };
    Shape { quotas_milli, smoothing_ms: SMOOTHING_MS, ..Shape::even(WORKERS, 1, 0) }
}

fn submissions(point: &Point, input: &Inputs, results: &Path) -> Vec<Submission> {
    let work = (work() * point.map).round().max(1.0).to_string();
    let one = |(n, maps): (usize, u32)| {
        let name = format!("sudoku-{}", n + 1);
        let file = input.0[&maps].display().to_string();
        let out = results.join(&name).display().to_string();
        let puzzles = PUZZLES.to_string();
        let words = ["sudoku", "--input", &file, "--output", &out, "--reduces", "0", "--puzzles-per-map", &puzzles];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.extend(["--work".to_owned(), work.clone()]);
        // In the order of the point, and all at once as far as users can.
        Submission { name, words, at: Duration::from_millis(50 * n as u64) }
    };
    point.maps(WORKERS).into_iter().enumerate().map(one).collect()
}

/// How often each puzzle is solved so that a map takes its time; a core here solves about 110,000 a second.
fn work() -> f64 {
    110_000.0 * MAP_S * QUOTA / f64::from(PUZZLES)
}

/// Slot time of all attempts.
fn busy_s(trace: &Trace) -> f64 {
    let of = |job: &howdah_core::job::profile::JobTemplate| {
        job.map_ms.iter().sum::<u64>() + job.lost_attempts.iter().map(|lost| lost.ms).sum::<u64>()
    };
    trace.jobs.iter().map(of).sum::<u64>() as f64 / 1e3
}

/// What each worker carries from the start.
fn first_loads(point: &Point) -> Vec<f64> {
    let first = |steps: &Vec<(f64, f64)>| steps.iter().find(|step| step.0 == 0.0).map_or(0.0, |step| step.1 * LOAD);
    point.loads(WORKERS).iter().map(first).collect()
}

/// When a step of foreign load comes, in seconds: the first is there before the jobs are, the others count from them.
fn later(maps: f64) -> f64 {
    if maps == 0.0 { 0.0 } else { AHEAD_S + maps * MAP_S }
}

/// Foreign load in the workers' groups.
fn loads(program: &Program, dir: &Path, point: &Point) -> Result<Vec<HeldLoad>> {
    let loaded = point.loads(WORKERS).into_iter().zip(1..).filter(|(steps, _)| !steps.is_empty());
    let start = |(steps, n): (Vec<(f64, f64)>, u32)| {
        let schedule: Vec<String> = steps.iter().map(|&(at, load)| format!("{}s:{}", later(at), load * LOAD)).collect();
        let worker = dir.join(format!("worker-{n}")).display().to_string();
        HeldLoad::start(program, ["--schedule", &schedule.join(","), "--for", "10m", "--cgroup-of", &worker])
    };
    loaded.map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_thinned_out_live_and_quick_runs_have_one_point() {
        for section in [Section::Unnecessary, Section::Dynamic, Section::Jobs, Section::Waves] {
            let live = |quick| section.points().iter().filter(|point| is_live(section, point, quick)).count();
            assert_eq!(live(true), 1, "{section:?}");
            assert!((1..=3).contains(&live(false)), "{section:?}");
        }
    }
}
