//! `online-overhead`: what forecasts cost a live workload, after the paper's Table I.
//!
//! The same jobs run with a round of forecasts every 5 s and with none, in pairs by turns, on one worker with as many map
//! slots as most machines have cores: whatever the master's simulations take, they take from the tasks. The figure is the
//! mean over the pairs of how much longer the workload took, with the interval that their scatter leaves. A worker without slots
//! sends a heartbeat every 10 ms meanwhile, so that what rounds do to heartbeats shows as well.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_planning::compare::estimate;
use serde_json::Value;

use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers, percent};
use crate::live::{Cluster, HeartbeatTimer, HeartbeatTimes, Policy, Program, Shape, Submission, drive, fresh};

/// The experiment.
pub(crate) struct OnlineOverhead;

/// The paper's shortest interval.
const EVERY_MS: u32 = 5_000;
const SHAPE: Shape = Shape::even(1, 2, 2);
/// No run takes longer on a machine that works.
const BOUND: Duration = Duration::from_secs(600);
/// Most that the workload may take longer.
const BAR: f64 = 0.01;

/// What a run took, in seconds.
#[derive(Clone, Copy, Debug)]
struct Took {
    workload_s: f64,
    mean_job_s: f64,
    /// The 99th percentile of heartbeats' times.
    heartbeat_p99_ms: f64,
}

/// Of a list of jobs as `howdah job list` has it.
fn took(list: &Value, heartbeats: HeartbeatTimes) -> Result<Took> {
    let jobs = list["jobs"].as_array().context("read the list of jobs")?;
    let time = |job: &Value, key: &str| job[key].as_u64().with_context(|| format!("a job has no {key}"));
    let spans = jobs.iter().map(|job| Ok((time(job, "submit_ms_epoch")?, time(job, "finish_ms_epoch")?)));
    let spans = spans.collect::<Result<Vec<(u64, u64)>>>()?;
    let first = spans.iter().map(|span| span.0).min().context("no job ran")?;
    let last = spans.iter().map(|span| span.1).max().context("no job ran")?;
    let all: u64 = spans.iter().map(|(submit, finish)| finish.saturating_sub(*submit)).sum();
    Ok(Took {
        workload_s: last.saturating_sub(first) as f64 / 1e3,
        mean_job_s: all as f64 / 1e3 / spans.len() as f64,
        heartbeat_p99_ms: heartbeats.p99_us / 1e3,
    })
}

/// Word counts and greps, submitted together, so that there is a queue to simulate.
fn jobs(texts: &[PathBuf], results: &std::path::Path) -> Vec<Submission> {
    let job = |(index, text): (usize, &PathBuf)| {
        let app: &[&str] = if index % 2 == 0 { &["wordcount"] } else { &["grep", "[a-z]+ [a-z]{6,}"] };
        let name = format!("{}-{index}", app[0]);
        let mut words: Vec<String> = app.iter().map(|&word| word.to_owned()).collect();
        let output = results.join(&name).display().to_string();
        words.extend(["--input".to_owned(), text.display().to_string(), "--output".to_owned(), output]);
        words.extend(
            ["-D", "mapred.max.split.size=1m", "-D", "mapred.reduce.slowstart.completed.maps=1"].map(str::to_owned),
        );
        Submission { name, words, at: Duration::ZERO }
    };
    texts.iter().enumerate().map(job).collect()
}

fn run(lab: &Lab<'_>, label: &str, forecast_ms: u32, texts: &[PathBuf]) -> Result<Took> {
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
    let shape = Shape { forecast_ms: Some(forecast_ms), ..SHAPE };
    // The paper's fair scheduler, as it chose for this.
    let mut cluster = Cluster::start(&program, &dir, shape, &Policy::plain("naive-fair"))?;
    let heartbeats = HeartbeatTimer::start(&cluster, &dir)?;
    drive(&mut cluster, &jobs(texts, results.path()), BOUND, lab.progress, label)?;
    let heartbeats = heartbeats.finish()?;
    let list = program.json(["job", "list", "--output", "json", "--master", cluster.address()])?;
    cluster.stop()?;
    took(&list, heartbeats)
}

impl Experiment for OnlineOverhead {
    fn about(&self) -> About {
        About {
            name: "online-overhead",
            line: "What forecasts every 5 s cost a live workload, in pairs",
            paper: papers::ONLINE,
            figure: "Table I",
            needs: Needs::LiveRuns,
            estimate_s: [500, 40],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let program = Program::new(&lab.program);
        let input = lab.folder("input")?;
        let bytes = format!("{}MiB", lab.size(80, 2));
        let mut texts = Vec::new();
        for n in 0..lab.size(10_u64, 4) {
            let path = input.join(format!("text-{n}.txt"));
            let seed = lab.seed.wrapping_add(n).to_string();
            program.run(["generate", "text", "--bytes", &bytes, "--seed", &seed, "-o", &path.display().to_string()])?;
            texts.push(path);
        }
        let n = lab.repeats.unwrap_or(lab.size(8, 2)).max(2);
        let mut pairs = Vec::new();
        for pair in 0..n {
            lab.progress.step(&format!("pair {} of {n}", pair + 1));
            // By turns, so that a machine that slows down slows neither.
            let order = if pair % 2 == 0 { [0, EVERY_MS] } else { [EVERY_MS, 0] };
            let mut both = [None; 2];
            for every in order {
                let label = format!("{}-{}", if every == 0 { "off" } else { "on" }, pair + 1);
                both[usize::from(every > 0)] = Some(run(lab, &label, every, &texts)?);
            }
            let [Some(off), Some(on)] = both else { continue };
            pairs.push((off, on));
        }
        write(lab, &self.about(), &pairs)
    }
}

/// The ratios less 1: their mean, with half of its 95 % interval.
fn overhead(pairs: &[(Took, Took)], of: fn(&Took) -> f64) -> (f64, f64) {
    let ratios: Vec<f64> = pairs.iter().map(|(off, on)| of(on) / of(off) - 1.0).collect();
    estimate(&ratios).map_or((f64::NAN, f64::NAN), |found| (found.mean, found.half_width.unwrap_or(f64::NAN)))
}

/// A figure over some runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    mean: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(figures: &[f64]) -> Spread {
        Spread {
            mean: figures.iter().sum::<f64>() / figures.len().max(1) as f64,
            least: figures.iter().copied().fold(f64::INFINITY, f64::min),
            most: figures.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// What rounds do to heartbeats: their 99th percentiles in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeartbeatSpread {
    off: Spread,
    on: Spread,
}

impl HeartbeatSpread {
    fn of(pairs: &[(Took, Took)]) -> HeartbeatSpread {
        let [off, on] = [|pair: &(Took, Took)| pair.0.heartbeat_p99_ms, |pair: &(Took, Took)| pair.1.heartbeat_p99_ms]
            .map(|of| Spread::of(&pairs.iter().map(of).collect::<Vec<f64>>()));
        HeartbeatSpread { off, on }
    }

    /// By which share the mean with rounds lies above the worst run without; 0 if it does not.
    fn beyond_spread(&self) -> f64 {
        (self.on.mean / self.off.most - 1.0).max(0.0)
    }
}

fn write(lab: &Lab<'_>, about: &About, pairs: &[(Took, Took)]) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "Live, on {SHAPE}, naive fair: word counts and greps submitted together, with a round of forecasts every {} s and \
         with none, {} pairs by turns. The master, its simulations and the tasks share this machine's cores.",
        EVERY_MS / 1_000,
        pairs.len()
    ));
    let columns = [
        "pair",
        ">off s",
        ">every 5 s",
        ">jobs off s",
        ">jobs every 5 s",
        ">heartbeats' 99 % off ms",
        ">heartbeats' 99 % every 5 s ms",
    ];
    let mut table = Table::new(&columns);
    for ((off, on), pair) in pairs.iter().zip(1_u32..) {
        let figures = [off.workload_s, on.workload_s, off.mean_job_s, on.mean_job_s].map(|s| format!("{s:.2}"));
        let heartbeats = [off.heartbeat_p99_ms, on.heartbeat_p99_ms].map(|ms| format!("{ms:.2}"));
        table.row(std::iter::once(pair.to_string()).chain(figures).chain(heartbeats));
    }
    page.table(&table);
    let (mean, half) = overhead(pairs, |took| took.workload_s);
    let (jobs, jobs_half) = overhead(pairs, |took| took.mean_job_s);
    let heartbeats = HeartbeatSpread::of(pairs);
    page.heading("Overhead");
    let mut sums = Table::new(&["of", "mean of the pairs", "95 % interval", "the paper, every 5 s", "every 20 s"]);
    let between = |mean: f64, half: f64| format!("{} to {}", percent(mean - half), percent(mean + half));
    sums.row(["workload time", &percent(mean), &between(mean, half), "7.0 % (1384 s over 1293 s)", "1.3 %"]);
    sums.row(["mean job time", &percent(jobs), &between(jobs, jobs_half), "12 % (825 s over 735 s)", "2.2 %"]);
    page.table(&sums);
    page.paragraph(&format!(
        "The 99th percentile of heartbeats' times is {:.2} ms without rounds, {:.2} to {:.2} ms from run to run, and {:.2} ms with them, \
         {:.2} to {:.2} ms. Heartbeats of a worker without slots, every 10 ms, not parked.",
        heartbeats.off.mean, heartbeats.off.least, heartbeats.off.most, heartbeats.on.mean, heartbeats.on.least, heartbeats.on.most
    ));
    let figure = Bars {
        title: "Workload time by pair".to_owned(),
        y_label: "seconds".to_owned(),
        groups: (1..=pairs.len()).map(|pair| pair.to_string()).collect(),
        series: vec![
            Series::new("off", pairs.iter().map(|pair| pair.0.workload_s).collect()),
            Series::new("every 5 s", pairs.iter().map(|pair| pair.1.workload_s).collect()),
        ],
    };
    page.image("online-overhead.svg", "workload time by pair");
    let what = "workload time with a round every 5 s over none, mean of the pairs".to_owned();
    let changed =
        "heartbeats' 99th percentile with rounds over without, beyond the spread of the runs without".to_owned();
    let checks = vec![
        Check { what, found: mean, bar: BAR, judged: !lab.quick },
        Check { what: changed, found: heartbeats.beyond_spread(), bar: 0.0, judged: !lab.quick },
    ];
    page.checks(&checks);
    let files = page.write(lab, "online-overhead", &table, figure.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workload_goes_from_the_first_submission_to_the_last_end() {
        let job = |submit: u64, finish: u64| json!({ "submit_ms_epoch": submit, "finish_ms_epoch": finish });
        let heartbeats = HeartbeatTimes { n: 9, p50_us: 300.0, p99_us: 1_500.0, max_us: 9_000.0 };
        let took = |list| took(&list, heartbeats);
        let found = took(json!({ "jobs": [job(1_000, 9_000), job(2_000, 5_000)] })).unwrap();
        assert_eq!((found.workload_s, found.mean_job_s, found.heartbeat_p99_ms), (8.0, 5.5, 1.5));
        assert!(took(json!({ "jobs": [] })).is_err());
        assert!(took(json!({ "jobs": [{ "submit_ms_epoch": 1 }] })).is_err(), "one that is not over");
    }

    #[test]
    fn heartbeats_are_slower_only_beyond_what_they_scatter_by_themselves() {
        let took = |ms| Took { workload_s: 1.0, mean_job_s: 1.0, heartbeat_p99_ms: ms };
        let of = |on: [f64; 2]| HeartbeatSpread::of(&[(took(1.0), took(on[0])), (took(2.0), took(on[1]))]);
        assert_eq!(of([1.9, 2.0]).beyond_spread(), 0.0);
        assert!((of([2.9, 3.1]).beyond_spread() - 0.5).abs() < 1e-9);
        assert_eq!(of([1.0, 4.0]).on, Spread { mean: 2.5, least: 1.0, most: 4.0 });
    }

    #[test]
    fn the_interval_of_equal_pairs_is_narrow_and_that_of_different_ones_is_not() {
        let pair = |off: f64, on: f64| {
            let took = |s| Took { workload_s: s, mean_job_s: s, heartbeat_p99_ms: s };
            (took(off), took(on))
        };
        let (mean, half) = overhead(&[pair(100.0, 102.0), pair(50.0, 51.0)], |took| took.workload_s);
        assert!((mean - 0.02).abs() < 1e-9 && half < 1e-9);
        let (mean, half) = overhead(&[pair(100.0, 104.0), pair(100.0, 100.0)], |took| took.workload_s);
        assert!((mean - 0.02).abs() < 1e-9 && (half - 12.706_205 * 0.02).abs() < 1e-6, "{half}");
    }
}
