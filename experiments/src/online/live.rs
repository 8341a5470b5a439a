//! `online-live`: how well task times, starts and ends of jobs are predicted on real daemons, against the project's bars.
//!
//! Two workloads under FCFS and naive Fair: sleeping tasks whose times scatter as those of the replayed experiments do, on the
//! paper's 3 workers of 2 + 2 slots; and word counts on one worker with no more slots than most machines have cores. Each runs
//! twice on a cluster of its own, first to learn from, and all of it several times. The recorded runs are then judged by
//! `howdah predict score`, in forecasts every five seconds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::models::Random;
use serde_json::Value;

use super::under::POLICIES;
use super::world::{SCATTER, scattered_by};
use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers, percent};
use crate::live::{Cluster, Policy, Program, Shape, Submission, drive, fresh};

/// The experiment.
pub(crate) struct OnlineLive;

/// No run takes longer on a machine that works.
const BOUND: Duration = Duration::from_secs(600);
const NAP_MS: f64 = 2_000.0;
/// Maps of a sleeping job, and of how many MiB each map of a word count is.
const NAPS: u32 = 18;
const SPLIT_MIB: u32 = 4;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workload {
    Sleep,
    WordCount,
}

impl Workload {
    const ALL: [Workload; 2] = [Workload::Sleep, Workload::WordCount];

    const fn name(self) -> &'static str {
        match self {
            Workload::Sleep => "sleep",
            Workload::WordCount => "word count",
        }
    }

    const fn shape(self) -> Shape {
        match self {
            Workload::Sleep => Shape::even(3, 2, 2),
            Workload::WordCount => Shape::even(1, 2, 1),
        }
    }

    /// The jobs of one run, all submitted at its start.
    fn jobs(self, random: &mut Random, texts: &[PathBuf], results: &Path, n: u32) -> Vec<Submission> {
        let mut job = |index: u32| {
            let words = match self {
                Workload::Sleep => {
                    let mut times = |n: u32| -> String {
                        let drawn = (0..n).map(|_| scattered_by(NAP_MS, SCATTER, random.normal()).to_string());
                        drawn.collect::<Vec<_>>().join(",")
                    };
                    ["sleep", "--map-times", &times(NAPS), "--reduce-times", &times(1)].map(str::to_owned).to_vec()
                }
                Workload::WordCount => {
                    let text = texts[index as usize % texts.len()].display().to_string();
                    let output = results.join(format!("count-{index}")).display().to_string();
                    let split = format!("mapred.max.split.size={SPLIT_MIB}m");
                    ["wordcount", "--input", &text, "--output", &output, "-D", &split].map(str::to_owned).to_vec()
                }
            };
            let slow_start = ["-D", "mapred.reduce.slowstart.completed.maps=1"].map(str::to_owned);
            let words = words.into_iter().chain(slow_start).collect();
            Submission { name: format!("{}-{index}", self.name().replace(' ', "")), words, at: Duration::ZERO }
        };
        (1..=n).map(&mut job).collect()
    }
}

/// What came of one pair of runs, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Tasks predicted within 10 %.
    tasks: f64,
    /// Starts within 2 s and on the right worker, 30 s ahead.
    starts: f64,
    /// Mean error of jobs' ends over the run's length.
    ends: f64,
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
        })
    }
}

/// A workload under a policy, and the repeats of it.
struct Under {
    workload: Workload,
    policy: &'static str,
    found: Vec<Found>,
}

/// One figure: of what, the bar, and whether more is better.
struct Figure {
    name: &'static str,
    of: fn(&Found) -> f64,
    /// FCFS and Fair.
    bars: [f64; 2],
    at_least: bool,
}

const FIGURES: [Figure; 3] = [
    Figure { name: "task times within 10 %", of: |found| found.tasks, bars: [0.95, 0.95], at_least: true },
    Figure {
        name: "starts within 2 s and on the predicted worker, 30 s ahead",
        of: |found| found.starts,
        bars: [0.95, 0.85],
        at_least: true,
    },
    Figure {
        name: "mean error of jobs' ends over the run's length",
        of: |found| found.ends,
        bars: [0.01, 0.04],
        at_least: false,
    },
];

impl Figure {
    fn bar(&self, policy: &str) -> f64 {
        self.bars[usize::from(policy != POLICIES[0].1)]
    }

    /// Mean, least and most over the repeats.
    fn spread(&self, under: &Under) -> [f64; 3] {
        let all: Vec<f64> = under.found.iter().map(self.of).collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        [mean, all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max)]
    }

    fn check(&self, under: &Under, judged: bool) -> Check {
        let [mean, ..] = self.spread(under);
        let bar = self.bar(under.policy);
        let (found, bar) = if self.at_least { (1.0 - mean, 1.0 - bar) } else { (mean, bar) };
        let beyond = if self.at_least { "all but " } else { "" };
        Check {
            what: format!("{}, {}: {beyond}{}", under.workload.name(), under.policy, self.name),
            found,
            bar,
            judged,
        }
    }
}

/// A run on a cluster of its own; where it is recorded.
fn run(
    lab: &Lab<'_>,
    label: &str,
    (workload, scheduler): (Workload, &str),
    random: &mut Random,
    texts: &[PathBuf],
) -> Result<PathBuf> {
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
    let jobs = workload.jobs(random, texts, results.path(), lab.size(6, 2));
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
            estimate_s: [1_000, 90],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let program = Program::new(&lab.program);
        let input = lab.folder("input")?;
        let mut texts = Vec::new();
        for n in 0..lab.size(3, 1) {
            let path = input.join(format!("text-{n}.txt"));
            let (bytes, seed) = (format!("{}MiB", lab.size(40, 8)), lab.seed.wrapping_add(n).to_string());
            program.run(["generate", "text", "--bytes", &bytes, "--seed", &seed, "-o", &path.display().to_string()])?;
            texts.push(path);
        }
        let repeats = lab.repeats.unwrap_or(lab.size(3, 1)).max(1);
        let mut all: Vec<Under> = Vec::new();
        for repeat in 1..=repeats {
            for workload in Workload::ALL {
                for (scheduler, policy) in POLICIES {
                    lab.progress.step(&format!("{}, {policy}, {repeat} of {repeats}", workload.name()));
                    let mut random = Random::new(lab.seed, 900 + u64::from(repeat));
                    let label = |what| format!("{}-{scheduler}-{repeat}-{what}", workload.name().replace(' ', "-"));
                    let train = run(lab, &label("train"), (workload, scheduler), &mut random, &texts)?;
                    let test = run(lab, &label("test"), (workload, scheduler), &mut random, &texts)?;
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
        "Live. Sleeping: {} jobs of {NAPS} maps of 2 s and a reduce, which scatter by {}, on {}. Word count: {} jobs over texts in \
         maps of {SPLIT_MIB} MiB, on {}. All jobs are submitted at the start and reduces come after all maps. Each workload runs \
         twice, first to learn from; every figure is the mean of {} such pairs, with the least and the most. The speed of this \
         machine's cores is not held, and what else runs on it is in the figures.",
        lab.size(6, 2),
        percent(SCATTER),
        Workload::Sleep.shape(),
        lab.size(6, 2),
        Workload::WordCount.shape(),
        all.first().map_or(0, |under| under.found.len()),
    ));
    let mut table = Table::new(&["workload", "scheduler", "figure", ">mean", ">from pair to pair", ">bar", "holds"]);
    let mut rows = Table::new(&["workload", "scheduler", "repeat", "tasks_within_10", "starts_within_2s", "end_error"]);
    let mut checks = Vec::new();
    for under in all {
        for figure in &FIGURES {
            let [mean, least, most] = figure.spread(under);
            let check = figure.check(under, !lab.quick);
            table.row([
                under.workload.name().to_owned(),
                under.policy.to_owned(),
                figure.name.to_owned(),
                percent(mean),
                format!("{} to {}", percent(least), percent(most)),
                format!("{} {}", if figure.at_least { "≥" } else { "≤" }, percent(figure.bar(under.policy))),
                if check.holds() { "yes" } else { "**no**" }.to_owned(),
            ]);
            checks.push(check);
        }
        for (found, repeat) in under.found.iter().zip(1_u32..) {
            let figures = [found.tasks, found.starts, found.ends].map(|share| format!("{share:.4}"));
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
            } })
        };
        let found = [0.84, 0.92].map(|within| Found::of(&score(within)).unwrap());
        assert_eq!(found[0], Found { tasks: 0.97, starts: 0.84, ends: 0.02 });
        let under = |policy| Under { workload: Workload::Sleep, policy, found: found.to_vec() };
        let holds = |policy| FIGURES.each_ref().map(|figure| figure.check(&under(policy), true).holds());
        assert_eq!([holds("FCFS"), holds("Fair")], [[true, false, false], [true, true, true]]);
        let [mean, least, most] = FIGURES[1].spread(&under("FCFS"));
        assert!((mean - 0.88).abs() < 1e-9 && (least, most) == (0.84, 0.92));
        assert!(Found::of(&json!({ "score": {} })).is_err());
    }
}
