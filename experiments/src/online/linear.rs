//! `online-linear`: the time of a task against the size of its input for each application, after the paper's Fig. 1.
//!
//! Live, on one worker with one slot of each kind and reduces after all maps, so that one task runs at a time. Each
//! application processes texts of several sizes, each in one map, some times over; what a line through the times leaves
//! unexplained is the figure.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use howdah_core::time::Span;
use howdah_planning::prediction::{Sample, by_name};
use serde_json::Value;

use crate::framework::{About, Check, Curve, Experiment, Lab, Needs, Outcome, Page, Plot, Table, papers, percent};
use crate::live::{Cluster, Policy, Program, Shape, fresh};

/// The experiment.
pub(crate) struct OnlineLinear;

const SHAPE: Shape = Shape::even(1, 1, 1);
/// What runs, with its own arguments.
const APPS: [&[&str]; 3] = [&["wordcount"], &["grep", "[a-z]+ [a-z]{6,}"], &["sort"]];
/// Most of the squares that a line may leave unexplained.
const BAR: f64 = 0.1;

/// Times in milliseconds by size in MiB, of one application's tasks of a kind.
type Times = BTreeMap<u32, Vec<u64>>;

/// Of the successful attempts of a kind, as `howdah job attempts` has them, on the worker's own clock.
fn times(attempts: &Value, kind: &str) -> Vec<u64> {
    let list = attempts["attempts"].as_array().map_or(&[][..], |list| list);
    let of_kind = list.iter().filter(|one| one["kind"] == kind && one["state"] == "SUCCEEDED");
    let time = |one: &Value| one["finished_ms_epoch"].as_u64()?.checked_sub(one["started_ms_epoch"].as_u64()?);
    of_kind.filter_map(time).collect()
}

/// Runs one job to its end; the attempts of its first job, as grep is two.
fn run(program: &Program, address: &str, app: &[&str], input: &Path, output: &Path) -> Result<Value> {
    let (input, output) = (input.display().to_string(), output.display().to_string());
    let mut words = vec!["submit", app[0], "--wait", "--output", "json", "--master", address];
    words.extend(["--input", &input, "--output", &output, "--reduces", "1"]);
    words.extend(["-D", "mapred.min.split.size=1g", "-D", "mapred.reduce.slowstart.completed.maps=1"]);
    words.extend(&app[1..]);
    let answer = program.json(words)?;
    let job = answer["jobs"][0].as_str().context("the answer names no job")?.to_owned();
    program.json(["job", "attempts", &job, "--output", "json", "--master", address])
}

impl Experiment for OnlineLinear {
    fn about(&self) -> About {
        About {
            name: "online-linear",
            line: "Task times against the size of their input, application by application",
            paper: papers::ONLINE,
            figure: "Figure 1",
            needs: Needs::LiveRuns,
            estimate_s: [240, 30],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let program = Program::new(&lab.program);
        let input = lab.folder("input")?;
        let sizes: Vec<u32> = (1..=lab.size(12, 4)).map(|step| step * lab.size(4, 2)).collect();
        for size in &sizes {
            let path = input.join(format!("text-{size}.txt")).display().to_string();
            let (bytes, seed) = (format!("{size}MiB"), lab.seed.to_string());
            program.run(["generate", "text", "--bytes", &bytes, "--seed", &seed, "-o", &path])?;
        }
        let dir = fresh(&lab.dir.join("runs").join("linear"))?;
        let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
        let cluster = Cluster::start(&program, &dir, SHAPE, &Policy::plain("fifo"))?;
        let mut found: BTreeMap<(&str, &str), Times> = BTreeMap::new();
        for repeat in 1..=lab.repeats.unwrap_or(lab.size(3, 1)).max(1) {
            lab.progress.step(&format!("repeat {repeat}"));
            for app in APPS {
                for &size in &sizes {
                    lab.progress.tick(&format!("{} of {size} MiB", app[0]));
                    let text = input.join(format!("text-{size}.txt"));
                    let output = results.path().join(format!("{}-{size}-{repeat}", app[0]));
                    let attempts = run(&program, cluster.address(), app, &text, &output)?;
                    for kind in ["map", "reduce"] {
                        let of = found.entry((app[0], kind)).or_default();
                        of.entry(size).or_default().extend(times(&attempts, kind));
                    }
                }
            }
        }
        cluster.stop()?;
        write(lab, &self.about(), &found)
    }
}

/// How well a model tells times from sizes.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Share of the squares around the mean that it leaves.
    left: f64,
    /// Of its tasks, the share predicted within 10 %.
    within: f64,
}

fn fit(model: &str, of: &Times) -> Option<Fit> {
    let sample = |(&size, ms): (&u32, &Vec<u64>)| {
        let one = |&ms: &u64| Sample {
            bytes: Some(u64::from(size) << 20),
            time: Span::from_ms(ms),
            worker: String::new(),
            place: None,
        };
        ms.iter().map(one).collect::<Vec<_>>()
    };
    let samples: Vec<Sample> = of.iter().flat_map(sample).collect();
    let fitted = by_name(model)?.fit(&samples.iter().collect::<Vec<_>>())?;
    let n = samples.len() as f64;
    let us = |sample: &Sample| sample.time.as_us() as f64;
    let mean = samples.iter().map(us).sum::<f64>() / n;
    let estimated = |sample: &Sample| fitted.estimate(sample.bytes.unwrap_or(0), None).expected;
    let around_mean: f64 = samples.iter().map(|sample| (us(sample) - mean).powi(2)).sum();
    let around_line: f64 = samples.iter().map(|sample| (us(sample) - estimated(sample)).powi(2)).sum();
    let near = samples.iter().filter(|sample| (estimated(sample) / us(sample).max(1.0) - 1.0).abs() <= 0.1).count();
    Some(Fit { left: around_line / around_mean.max(1.0), within: near as f64 / n })
}

fn write(lab: &Lab<'_>, about: &About, found: &BTreeMap<(&str, &str), Times>) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "Live, on {SHAPE}: one task at a time. Texts of several sizes, each in one map. The lines are the predictor's own \
         models, fitted to what is shown; `left` is the share of the squares around the mean that a model does not explain."
    ));
    let mut table =
        Table::new(&["application", "task", ">n", ">line: left", ">within 10 %", ">two lines: left", ">within 10 %"]);
    let mut rows = Table::new(&["application", "task", "mib", "ms"]);
    let (mut checks, mut curves) = (Vec::new(), Vec::new());
    for (&(app, kind), of) in found {
        let (Some(line), Some(two)) = (fit("linear", of), fit("piecewise", of)) else { continue };
        let n: usize = of.values().map(Vec::len).sum();
        let figures = [line.left, line.within, two.left, two.within].map(percent);
        table.row([app.to_owned(), kind.to_owned(), n.to_string()].into_iter().chain(figures));
        for (size, ms) in of {
            ms.iter().for_each(|ms| rows.row([app.to_owned(), kind.to_owned(), size.to_string(), ms.to_string()]));
        }
        let mean = |ms: &Vec<u64>| ms.iter().sum::<u64>() as f64 / 1e3 / ms.len().max(1) as f64;
        let points = of.iter().map(|(&size, ms)| (f64::from(size), mean(ms))).collect();
        curves.push(Curve { name: format!("{app} {kind}"), points, joined: true });
        if kind == "map" {
            let what = format!("{app}: what a line leaves unexplained of its maps' times");
            checks.push(Check { what, found: line.left, bar: BAR, judged: !lab.quick });
        }
    }
    page.table(&table);
    page.paragraph(
        "The paper finds a line for the maps of TeraGen and of the random text writer and for TeraSort's reduces, and two \
         lines with a step at 27 MB for TeraSort's maps, whose output then no longer fits into memory (figure only).",
    );
    let plot = Plot {
        title: "Time of a task by the size of the job's input".to_owned(),
        x_label: "MiB".to_owned(),
        y_label: "seconds".to_owned(),
        x_log: false,
        y_log: false,
        curves,
        across: Vec::new(),
    };
    page.image("online-linear.svg", "time of a task by the size of the job's input");
    page.checks(&checks);
    let files = page.write(lab, "online-linear", &rows, plot.svg())?;
    Ok(Outcome { files, checks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_leaves_nothing_of_a_line_and_much_of_a_step() {
        let of = |time: fn(u64) -> u64| -> Times { (1..20).map(|size| (size, vec![time(u64::from(size))])).collect() };
        let line = fit("linear", &of(|size| 100 + 20 * size)).unwrap();
        assert!(line.left < 1e-9 && line.within == 1.0, "{line:?}");
        let step = fit("linear", &of(|size| if size < 10 { 100 } else { 900 })).unwrap();
        assert!(step.left > BAR && step.within < 0.5, "{step:?}");
    }

    #[test]
    fn only_successful_attempts_of_the_kind_have_times() {
        let one = |kind: &str, state: &str| json!({ "kind": kind, "state": state, "started_ms_epoch": 5, "finished_ms_epoch": 25 });
        let list = json!({ "attempts": [one("map", "SUCCEEDED"), one("map", "KILLED"), one("reduce", "SUCCEEDED"), { "kind": "map", "state": "SUCCEEDED" }] });
        assert_eq!((times(&list, "map"), times(&list, "reduce")), (vec![20], vec![20]));
    }
}
