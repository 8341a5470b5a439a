//! Tasks on a real worker, one after the other, each beside another steady load, and what the scheduler thought of them.
//!
//! A job of equal maps waits for the only slot of a cluster whose scheduler is Load-Aware. The worker is drained while a
//! load is put beside it and its vitals settle, and has its slot for one task's launch. Afterwards the recorded run is
//! replayed by `howdah validate --estimates`, which asks the rule itself for its estimates, from what the worker
//! had measured and reported by then.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::calibration::{Bench, Beside};
use crate::framework::Lab;
use crate::live::{Cluster, Policy, Program, Shape, fresh};

const WORKER: &str = "worker-1";
/// Puzzles of a map. All maps have the same ones, so that they are equal work.
const PUZZLES: usize = 300;
/// How long the job before it tries how fast the solver is, in ms.
const TRIAL_MS: u32 = 1_000;
/// Between two looks at a job or at a worker; each is a process of a few milliseconds.
const LOOK: Duration = Duration::from_millis(500);
/// Vitals have settled once so many looks in a row show the load within so many tasks.
const SETTLED: u32 = 2;
const WITHIN: f64 = 0.25;
/// After so many looks they are what they are.
const SETTLES: u32 = 60;
/// Looks at a task that begins or ends, at most: no task takes longer on a machine that works.
const PATIENCE: u32 = 600;

/// One task as it went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ran {
    /// Busy tasks beside it, as asked for.
    pub(super) foreign: f64,
    /// As the worker reported it before the launch.
    pub(super) reported: f64,
    pub(super) beside: Beside,
}

/// One line of `howdah validate --estimates`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Line {
    pub(super) event: String,
    pub(super) job: String,
    pub(super) task: u32,
    pub(super) ran_s: f64,
    pub(super) progress: f64,
    pub(super) estimate_s: Option<f64>,
    pub(super) succeeded: Option<bool>,
}

/// What the scheduler thought of one task, and what it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thought {
    /// The task's time by the estimate at its launch; `None` of the job's first.
    pub(super) at_launch_s: Option<f64>,
    /// The same by the report nearest to its middle.
    pub(super) midway_s: Option<f64>,
    /// From launch to end, by the master's clock.
    pub(super) took_s: f64,
}

/// A cluster whose job waits.
pub(super) struct Tasks<'a> {
    lab: &'a Lab<'a>,
    bench: &'a Bench,
    cluster: Cluster,
    dir: PathBuf,
    ran: Vec<Ran>,
}

impl<'a> Tasks<'a> {
    /// Starts it: maps of about `task` on the idle machine, of which at most so many run, estimated by this curve. One more
    /// keeps the job from ending.
    ///
    /// # Errors
    /// When a process does not start or the trial fails.
    pub(super) fn start(
        lab: &'a Lab<'a>,
        bench: &'a Bench,
        curve: &str,
        task: Duration,
        maps: u32,
    ) -> Result<Tasks<'a>> {
        let program = Program::new(&lab.program);
        let dir = fresh(&lab.dir.join("runs").join("tasks"))?;
        let input = dir.join("puzzles.txt");
        let n = PUZZLES.to_string();
        let puzzles = program.run(["generate", "sudoku", "--clues", "28", "--puzzles", &n])?;
        std::fs::write(&input, puzzles.repeat(maps as usize + 1))
            .with_context(|| format!("write `{}`", input.display()))?;
        let policy = Policy {
            name: "load-aware".to_owned(),
            params: [("load-aware.curve".to_owned(), curve.to_owned())].into(),
        };
        let cluster = Cluster::start(&program, &dir, Shape::even(1, 1, 0), &policy)?;
        let tasks = Tasks { lab, bench, cluster, dir, ran: Vec::new() };
        let trial = dir_of(&tasks.dir, "trial.txt");
        std::fs::write(&trial, &puzzles).with_context(|| format!("write `{trial}`"))?;
        tasks.submit("trial", &trial, &["--work-ms", &TRIAL_MS.to_string(), "--wait"])?;
        let counter = |name: &str| -> Result<f64> {
            let said = tasks.command(&["job", "counters", "1", "Sudoku", name])?;
            said.trim().parse().with_context(|| format!("read counter `{name}`: `{}`", said.trim()))
        };
        let games_per_s = counter("Games")? / counter("SolvingMicroseconds")?.max(1.0) * 1e6;
        tasks.drain(true)?;
        let work = (games_per_s * task.as_secs_f64() / PUZZLES as f64).round().max(1.0).to_string();
        tasks.submit("tasks", &dir_of(&tasks.dir, "puzzles.txt"), &["--work", &work])?;
        Ok(tasks)
    }

    /// Runs the next task beside so much foreign load.
    ///
    /// # Errors
    /// When the load cannot be held, the task does not run, or the cluster breaks.
    pub(super) fn run(&mut self, foreign: f64) -> Result<Ran> {
        let done = self.ran.len() as u64;
        let mut reported = 0.0;
        let bench = self.bench;
        let ((), beside) = bench.beside(
            foreign,
            || {
                reported = self.settle(foreign)?;
                Ok(())
            },
            || self.one(done),
        )?;
        let ran = Ran { foreign, reported, beside };
        self.ran.push(ran);
        Ok(ran)
    }

    /// Stops everything; all tasks in order, with what the scheduler thought of each.
    ///
    /// # Errors
    /// When the run's decisions do not replay, or it holds other tasks than those that were run.
    pub(super) fn stop(self) -> Result<Vec<(Ran, Thought)>> {
        self.command(&["job", "kill", "2"])?;
        let Tasks { lab, cluster, dir, ran, .. } = self;
        let program = cluster.program().clone();
        cluster.stop()?;
        let (dir, file) = (dir.display().to_string(), dir_of(&dir, "estimates.jsonl"));
        lab.progress.step("asking the scheduler what it estimated");
        program.run(["validate", "--dir", &dir, "--estimates", &file])?;
        let text = std::fs::read_to_string(&file).with_context(|| format!("read `{file}`"))?;
        let lines: serde_json::Result<Vec<Line>> = text.lines().map(serde_json::from_str).collect();
        let thoughts = thoughts(&lines.with_context(|| format!("read `{file}`"))?);
        let found = thoughts.len();
        ensure!(found == ran.len(), "the run in `{dir}` has {found} tasks that succeeded, expected {}", ran.len());
        Ok(ran.into_iter().zip(thoughts).collect())
    }

    fn command(&self, words: &[&str]) -> Result<String> {
        self.cluster.program().run(words.iter().copied().chain(["--master", self.cluster.address()]))
    }

    fn submit(&self, name: &str, input: &str, more: &[&str]) -> Result<()> {
        let output = dir_of(&self.dir, &format!("{name}-output"));
        let per_map = PUZZLES.to_string();
        let words = ["submit", "--name", name, "--output", "json", "--master", self.cluster.address(), "sudoku"];
        let job = ["--input", input, "--output", &output, "--reduces", "0", "--puzzles-per-map", &per_map];
        self.cluster.program().run(words.iter().chain(&job).chain(more).copied()).map(drop)
    }

    fn drain(&self, drain: bool) -> Result<()> {
        let words: &[&str] = if drain { &["worker", "drain", WORKER] } else { &["worker", "drain", WORKER, "--undo"] };
        self.command(words).map(drop)
    }

    /// Waits until the worker's vitals show the load; what they show then.
    fn settle(&self, foreign: f64) -> Result<f64> {
        let mut settled = 0;
        let mut last = 0.0;
        for _ in 0..SETTLES {
            std::thread::sleep(LOOK);
            last = self.cluster.foreign_load(WORKER)?.unwrap_or(0.0);
            settled = if (last - foreign).abs() <= WITHIN { settled + 1 } else { 0 };
            if settled == SETTLED {
                break;
            }
        }
        Ok(last)
    }

    /// Lets one task start, and waits for its end.
    fn one(&self, done: u64) -> Result<()> {
        self.drain(false)?;
        self.until("a task to start", |status| status.0 > done || status.1 > 0)?;
        self.drain(true)?;
        self.until("a task to end", |status| status.0 > done)
    }

    /// Looks at the job's maps that are done and that run.
    fn until(&self, what: &str, holds: impl Fn((u64, u64)) -> bool) -> Result<()> {
        for _ in 0..PATIENCE {
            let words = ["job", "status", "2", "--output", "json", "--master", self.cluster.address()];
            let status = self.cluster.program().json(words)?;
            let number = |name: &str| status[name].as_u64().with_context(|| format!("find `{name}` in a job's status"));
            ensure!(status["failed_attempts"] == 0, "a task of the run in `{}` failed", self.dir.display());
            if holds((number("maps_done")?, number("maps_running")?)) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        anyhow::bail!("waited {} s for {what}", (LOOK * PATIENCE).as_secs())
    }
}

fn dir_of(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

/// Of every task of the second job that succeeded, in the order of their launches.
fn thoughts(lines: &[Line]) -> Vec<Thought> {
    let second = lines.iter().map(|line| &line.job).find(|&job| *job != lines[0].job);
    let lines: Vec<&Line> = lines.iter().filter(|line| Some(&line.job) == second).collect();
    let launches = lines.iter().filter(|line| line.event == "launch");
    let thought = |launch: &&Line| {
        let of = |event: &'static str| {
            let task = launch.task;
            lines.iter().filter(move |line| line.task == task && line.event == event)
        };
        let end = of("end").find(|end| end.succeeded == Some(true))?;
        let midway = of("report").min_by(|a, b| (a.progress - 0.5).abs().total_cmp(&(b.progress - 0.5).abs()));
        Some(Thought {
            at_launch_s: launch.estimate_s,
            midway_s: midway.and_then(|line| line.estimate_s),
            took_s: end.ran_s,
        })
    };
    launches.filter_map(thought).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tasks_launch_middle_and_end_are_found_among_the_lines() {
        let line = |job: &str, task, event: &str, ran_s, progress, estimate_s: Option<f64>| Line {
            event: event.to_owned(),
            job: job.to_owned(),
            task,
            ran_s,
            progress,
            estimate_s,
            succeeded: (event == "end").then_some(true),
        };
        let mut killed = line("b", 7, "end", 1.0, 1.0, None);
        killed.succeeded = Some(false);
        let lines = [
            line("a", 0, "launch", 0.0, 0.0, None),
            line("a", 0, "end", 1.0, 1.0, None),
            line("b", 4, "launch", 0.0, 0.0, None),
            line("b", 4, "end", 5.0, 1.0, None),
            line("b", 2, "launch", 0.0, 0.0, Some(7.0)),
            line("b", 2, "report", 1.0, 0.1, Some(9.0)),
            line("b", 2, "report", 4.0, 0.45, Some(8.5)),
            line("b", 2, "report", 7.0, 0.9, Some(8.1)),
            line("b", 2, "end", 8.0, 1.0, None),
            line("b", 7, "launch", 0.0, 0.0, Some(7.0)),
            killed,
        ];
        let first = Thought { at_launch_s: None, midway_s: None, took_s: 5.0 };
        let second = Thought { at_launch_s: Some(7.0), midway_s: Some(8.5), took_s: 8.0 };
        assert_eq!(thoughts(&lines), [first, second]);
        assert_eq!(thoughts(&[]), []);
    }
}
