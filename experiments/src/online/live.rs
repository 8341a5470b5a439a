//! `online-live`: how well task times, starts and ends of jobs are predicted on real daemons, against the project's bars.
//!
//! Three workloads under FCFS and naive Fair: sleeping tasks of some ten seconds, as the replayed word counts have, whose times
//! scatter as theirs do, on the paper's 3 workers of 2 + 2 slots; sudokus on one worker with no more slots than most machines
//! have cores, which are held at one speed as in `simmr-accuracy`; and the same sudokus on cores as they are, which are measured
//! and not judged. Each runs twice on a cluster of its own, first to learn from, and all of it several times. The recorded runs
//! are then judged by `howdah predict score`, in forecasts every five seconds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::models::Random;
use serde_json::Value;

use super::under::POLICIES;
use super::world::{SCATTER, scattered_by};
use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers, percent};
use crate::live::{Cluster, OFTEN, Policy, Program, Shape, Submission, Yardstick, drive, fresh, held_ms};

/// The experiment.
pub(crate) struct OnlineLive;

/// No run takes longer on a machine that works.
const BOUND: Duration = Duration::from_secs(600);
/// Maps of a sleeping job.
const NAPS: u32 = 9;
/// A map of a sudoku job is so many puzzles, each solved so many times: about two seconds of a core that is held.
const PUZZLES: u32 = 1_000;
const WORK: u32 = 260;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workload {
    Sleep,
    /// Before the other, which is held at the speed that is measured here.
    Sudoku,
    HeldSudoku,
}

impl Workload {
    const ALL: [Workload; 3] = [Workload::Sleep, Workload::Sudoku, Workload::HeldSudoku];

    const fn name(self) -> &'static str {
        match self {
            Workload::Sleep => "sleep",
            Workload::Sudoku => "sudoku",
            Workload::HeldSudoku => "sudoku on held cores",
        }
    }

    /// Of directories and jobs.
    fn label(self) -> String {
        self.name().replace(' ', "-")
    }

    const fn shape(self) -> Shape {
        match self {
            Workload::Sleep => Shape::even(3, 2, 2),
            Workload::Sudoku | Workload::HeldSudoku => Shape::even(1, 2, 1),
        }
    }

    /// Whether its figures are held against the bars: nobody promises what cores of changing speed take.
    fn is_judged(self) -> bool {
        self != Workload::Sudoku
    }

    /// The jobs of one run, all submitted at its start.
    fn jobs(self, lab: &Lab<'_>, random: &mut Random, puzzles: &Path, results: &Path) -> Vec<Submission> {
        let mut job = |index: u32| {
            let words = match self {
                Workload::Sleep => {
                    let nap_ms = nap_ms(lab);
                    let mut times = |n: u32| -> String {
                        let drawn = (0..n).map(|_| scattered_by(nap_ms, SCATTER, random.normal()).to_string());
                        drawn.collect::<Vec<_>>().join(",")
                    };
                    ["sleep", "--map-times", &times(NAPS), "--reduce-times", &times(1)].map(str::to_owned).to_vec()
                }
                Workload::Sudoku | Workload::HeldSudoku => {
                    let output = results.join(format!("solved-{index}")).display().to_string();
                    let (input, work, per_map) = (puzzles.display().to_string(), WORK.to_string(), PUZZLES.to_string());
                    let words = ["sudoku", "--input", &input, "--output", &output, "--work", &work];
                    words
                        .into_iter()
                        .chain(["--puzzles-per-map", &per_map, "--reduces", "1"])
                        .map(str::to_owned)
                        .collect()
                }
            };
            let slow_start = ["-D", "mapred.reduce.slowstart.completed.maps=1"].map(str::to_owned);
            let words = words.into_iter().chain(slow_start).collect();
            Submission { name: format!("{}-{index}", self.label()), words, at: Duration::ZERO }
        };
        (1..=n_jobs(lab)).map(&mut job).collect()
    }
}

fn n_jobs(lab: &Lab<'_>) -> u32 {
    lab.size(4, 2)
}

fn nap_ms(lab: &Lab<'_>) -> f64 {
    lab.size(10_000.0, 2_000.0)
}

/// Maps of a sudoku job.
fn sudoku_maps(lab: &Lab<'_>) -> u32 {
    lab.size(12, 3)
}

/// What came of one pair of runs, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Tasks predicted within 10 %.
    tasks: f64,
    /// Starts within 2 s and on the right worker, 30 s ahead.
    starts: f64,
    /// Mean error of jobs' ends over the run's length, of all forecasts from its start on.
    ends: f64,
    /// The largest of them.
    worst_end: f64,
}

impl Found {
    fn of(answer: &Value) -> Result<Found> {
        let score = &answer["score"];
        let windows = score["windows"].as_array().context("read the windows of a score")?;
        let window = windows.iter().find(|window| window["window_s"] == 30).context("find the window of 30 s")?;
        let number = |value: &Value, key: &str| value[key].as_f64().with_context(|| format!("a score has no {key}"));
        Ok(Found {
            tasks: number(&score["tasks"], "within_10_percent")?,
            starts: number(window, "within_2s")?,
            ends: number(score, "job_error_percent")? / 100.0,
            worst_end: number(score, "job_error_max_percent")? / 100.0,
        })
    }
}

/// A workload under a policy, and the repeats of it.
struct Under {
    workload: Workload,
    policy: &'static str,
    found: Vec<Found>,
}

/// One figure: of what, the bars, if there are any, and whether more is better.
struct Figure {
    name: &'static str,
    of: fn(&Found) -> f64,
    /// FCFS and Fair.
    bars: Option<[f64; 2]>,
    at_least: bool,
}

const FIGURES: [Figure; 4] = [
    Figure { name: "task times within 10 %", of: |found| found.tasks, bars: Some([0.95, 0.95]), at_least: true },
    Figure {
        name: "starts within 2 s and on the predicted worker, 30 s ahead",
        of: |found| found.starts,
        bars: Some([0.95, 0.85]),
        at_least: true,
    },
    Figure {
        name: "mean error of jobs' ends over the run's length",
        of: |found| found.ends,
        bars: Some([0.01, 0.04]),
        at_least: false,
    },
    Figure {
        name: "largest error of jobs' ends over the run's length",
        of: |found| found.worst_end,
        bars: None,
        at_least: false,
    },
];

impl Figure {
    fn bar(&self, under: &Under) -> Option<f64> {
        let bars = self.bars.filter(|_| under.workload.is_judged())?;
        Some(bars[usize::from(under.policy != POLICIES[0].1)])
    }

    /// Mean, least and most over the repeats.
    fn spread(&self, under: &Under) -> [f64; 3] {
        let all: Vec<f64> = under.found.iter().map(self.of).collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        [mean, all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max)]
    }

    /// `None` for what has no bar.
    fn check(&self, under: &Under, judged: bool) -> Option<Check> {
        let [mean, ..] = self.spread(under);
        let bar = self.bar(under)?;
        let (found, bar) = if self.at_least { (1.0 - mean, 1.0 - bar) } else { (mean, bar) };
        let beyond = if self.at_least { "all but " } else { "" };
        let what = format!("{}, {}: {beyond}{}", under.workload.name(), under.policy, self.name);
        Some(Check { what, found, bar, judged })
    }
}

/// A run on a cluster of its own; where it is recorded.
fn run(
    lab: &Lab<'_>,
    label: &str,
    (workload, scheduler): (Workload, &str),
    random: &mut Random,
    puzzles: &Path,
) -> Result<PathBuf> {
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
    let jobs = workload.jobs(lab, random, puzzles, results.path());
    let mut cluster = Cluster::start(&program, &dir, workload.shape(), &Policy::plain(scheduler))?;
    drive(&mut cluster, &jobs, BOUND, lab.progress, label)?;
    cluster.stop()?;
    Ok(dir.join("master"))
}

impl Experiment for OnlineLive {
    fn about(&self) -> About {
        About {
            name: "online-live",
            line: "Task times, starts and ends of jobs predicted on real daemons, against the bars",
            paper: papers::ONLINE,
            figure: "Figures 3 to 9",
            needs: Needs::LiveRuns,
            estimate_s: [1_500, 100],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let program = Program::new(&lab.program);
        let puzzles = lab.folder("input")?.join("puzzles.txt");
        let (n, seed) = ((sudoku_maps(lab) * PUZZLES).to_string(), lab.seed.to_string());
        let out = puzzles.display().to_string();
        program.run(["generate", "sudoku", "--puzzles", &n, "--seed", &seed, "-o", &out])?;
        let repeats = lab.repeats.unwrap_or(lab.size(3, 1)).max(1);
        let mut all: Vec<Under> = Vec::new();
        let mut held = None;
        for repeat in 1..=repeats {
            for workload in Workload::ALL {
                for (scheduler, policy) in POLICIES {
                    lab.progress.step(&format!("{}, {policy}, {repeat} of {repeats}", workload.name()));
                    let mut random = Random::new(lab.seed, 900 + u64::from(repeat));
                    let label = |what| format!("{}-{scheduler}-{repeat}-{what}", workload.label());
                    let yardstick = match held.filter(|_| workload == Workload::HeldSudoku) {
                        Some(ms) => Yardstick::hold(OFTEN, ms),
                        None => Yardstick::start(OFTEN),
                    };
                    let train = run(lab, &label("train"), (workload, scheduler), &mut random, &puzzles)?;
                    let test = run(lab, &label("test"), (workload, scheduler), &mut random, &puzzles)?;
                    let speed = yardstick.stop();
                    if workload == Workload::Sudoku {
                        held.get_or_insert(held_ms(&speed));
                    }
                    let [train, test] = [train, test].map(|dir| dir.display().to_string());
                    let args = ["predict", "score", "--dir", &test, "--train", &train, "--output", "json"];
                    let found = Found::of(&program.json(args)?)?;
                    match all.iter_mut().find(|under| under.workload == workload && under.policy == policy) {
                        Some(under) => under.found.push(found),
                        None => all.push(Under { workload, policy, found: vec![found] }),
                    }
                }
            }
        }
        write(lab, &self.about(), &all)
    }
}

fn write(lab: &Lab<'_>, about: &About, all: &[Under]) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "Live. Sleeping: {} jobs of {NAPS} maps of {} s and a reduce, which scatter by {}, on {}. Sudoku: {} jobs of {} maps of {PUZZLES} \
         puzzles, each solved {WORK} times, on {}; once on cores that are held at one speed, which is judged, and once on cores as \
         they are. All jobs are submitted at the start and reduces come after all maps. Each workload runs twice, first to \
         learn from; every figure is the mean of {} such pairs, with the least and the most.",
        n_jobs(lab),
        nap_ms(lab) / 1e3,
        percent(SCATTER),
        Workload::Sleep.shape(),
        n_jobs(lab),
        sudoku_maps(lab),
        Workload::Sudoku.shape(),
        all.first().map_or(0, |under| under.found.len()),
    ));
    let mut table = Table::new(&["workload", "scheduler", "figure", ">mean", ">from pair to pair", ">bar", "holds"]);
    let columns =
        ["workload", "scheduler", "repeat", "tasks_within_10", "starts_within_2s", "end_error", "worst_end_error"];
    let mut rows = Table::new(&columns);
    let mut checks = Vec::new();
    for under in all {
        for figure in &FIGURES {
            let [mean, least, most] = figure.spread(under);
            let (check, bar) = (figure.check(under, !lab.quick), figure.bar(under));
            let sign = if figure.at_least { "≥" } else { "≤" };
            table.row([
                under.workload.name().to_owned(),
                under.policy.to_owned(),
                figure.name.to_owned(),
                percent(mean),
                format!("{} to {}", percent(least), percent(most)),
                bar.map_or_else(|| "-".to_owned(), |bar| format!("{sign} {}", percent(bar))),
                check.as_ref().map_or("-", |check| if check.holds() { "yes" } else { "**no**" }).to_owned(),
            ]);
            checks.extend(check);
        }
        for (found, repeat) in under.found.iter().zip(1_u32..) {
            let figures = [found.tasks, found.starts, found.ends, found.worst_end].map(|share| format!("{share:.4}"));
            let head = [under.workload.name().to_owned(), under.policy.to_owned(), repeat.to_string()];
            rows.row(head.into_iter().chain(figures));
        }
    }
    page.table(&table);
    let series =
        |figure: &Figure| Series::new(figure.name, all.iter().map(|under| 100.0 * figure.spread(under)[0]).collect());
    let figure = Bars {
        title: "Predicted on real daemons".to_owned(),
        y_label: "percent".to_owned(),
        groups: all.iter().map(|under| format!("{}, {}", under.workload.name(), under.policy)).collect(),
        series: FIGURES.iter().map(series).collect(),
    };
    page.image("online-live.svg", "predicted on real daemons");
    page.checks(&checks);
    let files = page.write(lab, "online-live", &rows, figure.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_score_is_held_against_the_bar_of_its_policy() {
        let score = |within_2s: f64| {
            let window = |window_s: u32| json!({ "window_s": window_s, "within_2s": if window_s == 30 { within_2s } else { 0.1 } });
            json!({ "score": {
                "tasks": { "within_10_percent": 0.97 }, "windows": [window(30), window(60)], "job_error_percent": 2.0,
                "job_error_max_percent": 5.0,
            } })
        };
        let found = [0.84, 0.92].map(|within| Found::of(&score(within)).unwrap());
        assert_eq!(found[0], Found { tasks: 0.97, starts: 0.84, ends: 0.02, worst_end: 0.05 });
        let under = |workload, policy| Under { workload, policy, found: found.to_vec() };
        let holds = |workload, policy| {
            FIGURES.each_ref().map(|figure| figure.check(&under(workload, policy), true).map(|check| check.holds()))
        };
        let [yes, no] = [true, false].map(Some);
        assert_eq!(holds(Workload::Sleep, "FCFS"), [yes, no, no, None]);
        assert_eq!(holds(Workload::HeldSudoku, "Fair"), [yes, yes, yes, None]);
        assert_eq!(holds(Workload::Sudoku, "Fair"), [None; 4], "cores as they are promise nothing");
        let [mean, least, most] = FIGURES[1].spread(&under(Workload::Sleep, "FCFS"));
        assert!((mean - 0.88).abs() < 1e-9 && (least, most) == (0.84, 0.92));
        assert!(Found::of(&json!({ "score": {} })).is_err());
    }
}
