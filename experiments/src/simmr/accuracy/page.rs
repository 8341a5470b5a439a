//! The page, the tables and the figure of `simmr-accuracy`.

pub(super) use super::notes::AT_ITS_SPEED;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use howdah_planning::accuracy::{Comparison, JobMeasure, Kind, Prediction, Summary, spread_of};

use super::errors::Findings;
use crate::framework::{About, Bars, Check, FIGURE_ONLY, Lab, Page, Series, Table, percent};

type Workloads<'a> = [(&'a str, &'a Findings)];

/// Writes everything; the page comes first.
pub(super) fn write(
    lab: &Lab<'_>,
    about: &About,
    workloads: &Workloads<'_>,
    checks: &[Check],
    undecided: &[String],
) -> Result<Vec<PathBuf>> {
    let mut files = vec![lab.write("simmr-accuracy.csv", &job_table(workloads).csv())?];
    let figure = chart(workloads).svg()?;
    files.push(lab.write("simmr-accuracy.svg", &figure)?);
    let mut page = Page::new(about, lab.quick);
    page.paragraph(HOW);
    page.heading("Errors of completion times");
    page.table(&summary_table(workloads));
    page.paragraph("The paper's own numbers (SimMR §IV-D), on 64 workers with one map and one reduce slot each:");
    page.table(&paper_table());
    page.image("simmr-accuracy.svg", "mean error of each application by the kind of prediction");
    page.checks(checks);
    undecided.iter().for_each(|text| page.paragraph(text));
    for (name, findings) in workloads {
        page.heading(&format!("Workload {name}"));
        page.table(&run_table(findings));
        steadiness(&mut page, findings);
        spread_lines(&mut page, findings);
        page.paragraph("Every job of the first run, predicted from its own profile:");
        if let Some(first) = findings.predictions.first() {
            page.table(&first_run(first));
        }
    }
    page.paragraph("All predictions, job by job, are in `simmr-accuracy.csv`.");
    files.insert(0, lab.write("simmr-accuracy.md", page.text())?);
    Ok(files)
}

const HOW: &str =
    "Each workload ran on real clusters of this machine and was then simulated on the same cluster, with \
the same policy, arrivals as they were, and the durations of a profile. *self*: the profile of the very run that is \
predicted, so only what a profile leaves out can be wrong. *cross-run*: the profile of another repeat. *cross-shape*: \
the profile of a repeat, for a run on other slots or under another policy. *Mumak's model* is the self \
prediction without shuffles. Errors are shares of measured completion times, over all jobs of all predictions.

*One speed*: beside each run a fixed piece of work, done two hundred times a second on each core, measures how fast the \
core is. Where other programs share a machine that changes for milliseconds or minutes, by half and more. While jobs compute, \
what a core could do beyond one speed, below that of its slow spells, is therefore taken from it by a thread that \
computes for nothing, as one sets a machine to one clock frequency before measuring on it. It takes from each run alike, \
whatever runs. Sleeping tasks need none of that.

*At the machine's own speed*: what that leaves. A run's durations are turned into work by the speeds of its own time, \
and another run is simulated with that work on workers as fast as its own cores were. Nothing of the predicted run's \
jobs goes into that, only the speed of its machine.

Two rows say how much of an error is the machine's. *A repeat as it was*: the times that one repeat measured, taken \
for a prediction of another without any simulation. *Several runs together*: the profile has the median of each \
task's times over some runs, and predicts the median completion time of each job over other runs; of repeats the \
first, third, … predict the second, fourth, … and the other way round, and all of them together predict the runs on \
other slots or under another policy. The plain rows above them are one run's profile for one other run.";

fn summary_table(workloads: &Workloads<'_>) -> Table {
    let mut table =
        Table::new(&["workload", "prediction", ">jobs", ">mean error", ">largest error", ">makespan, mean"]);
    for (name, findings) in workloads {
        for kind in Kind::ALL {
            for (judged, note) in [(true, ""), (false, ", more slots than cores (not judged)")] {
                let all = findings.of_kind(kind, judged).map(|found| &found.comparison);
                let what = format!("{}{note}", kind.name());
                if let Some(summary) = findings.summary(kind, judged).filter(|_| judged || kind == Kind::CrossShape) {
                    table.row(summary_row(name, &what, all, summary));
                }
            }
        }
        for kind in Kind::ALL {
            if let Some(summary) = findings.paced_summary(kind) {
                let all = findings.of_paced(kind, true).map(|found| &found.comparison);
                table.row(summary_row(name, &format!("{}, {AT_ITS_SPEED}", kind.name()), all, summary));
            }
        }
        for kind in [Kind::CrossRun, Kind::CrossShape] {
            if let Some(summary) = findings.several_summary(kind) {
                let all = findings.of_several(kind).map(|found| &found.comparison);
                table.row(summary_row(name, &format!("{}, several runs together", kind.name()), all, summary));
            }
        }
        if let Some(summary) = findings.repeats_summary() {
            let all = findings.repeats().map(|found| &found.comparison);
            table.row(summary_row(name, "a repeat as it was, no simulation", all, summary));
        }
        let all = findings.mumak.iter().map(|found| &found.comparison);
        table.row(summary_row(name, "self, Mumak's model", all, findings.mumak_summary()));
    }
    table
}

fn summary_row<'a>(
    workload: &str,
    what: &str,
    all: impl Iterator<Item = &'a Comparison>,
    summary: Summary,
) -> [String; 6] {
    let (mut jobs, mut makespans) = (0, Vec::new());
    for comparison in all {
        jobs += comparison.jobs.len();
        makespans.push(comparison.makespan.error());
    }
    let makespan = Summary::of(makespans);
    [
        workload.to_owned(),
        what.to_owned(),
        jobs.to_string(),
        percent(summary.mean_error),
        percent(summary.max_error),
        percent(makespan.mean_error),
    ]
}

/// Stated in the paper's text; what its figure shows beyond that cannot be cited.
fn paper_table() -> Table {
    let mut table = Table::new(&["simulator", "policy", "prediction", ">mean error", ">largest error"]);
    table.row(["SimMR", "FIFO", "self", "below 2.7 %", "6.6 %"]);
    table.row(["SimMR", "MaxEDF", "self", "below 3.7 %", "8.6 %"]);
    table.row(["SimMR", "MinEDF", "self", "below 1.1 %", "2.7 %"]);
    table.row(["Mumak", "FIFO", "self", "37 %", "51.7 %"]);
    table.row(["both", "each", "each application", FIGURE_ONLY, FIGURE_ONLY]);
    table
}

fn run_table(findings: &Findings) -> Table {
    let mut table = Table::new(&[
        "run",
        "cluster",
        "policy",
        ">jobs",
        ">tasks",
        ">makespan",
        ">decisions compared",
        ">identical",
        ">fixed work",
        ">5th to 95th percentile",
    ]);
    for run in &findings.runs {
        table.row([
            run.label.clone(),
            run.shape.clone(),
            run.scheduler.clone(),
            run.jobs.to_string(),
            run.tasks.to_string(),
            format!("{:.3} s", run.makespan_s),
            run.compared.to_string(),
            run.identical.to_string(),
            format!("{:.2} ms", run.pace.ms[1]),
            format!("{:.2} to {:.2} ms", run.pace.ms[0], run.pace.ms[2]),
        ]);
    }
    table
}

/// How steady the machine was while the runs went on.
fn steadiness(page: &mut Page, findings: &Findings) {
    let medians: Vec<f64> = findings.runs.iter().filter(|run| run.pace.pieces > 0).map(|run| run.pace.ms[1]).collect();
    let most = findings.runs.iter().map(|run| run.pace.unsteadiness()).fold(0.0, f64::max);
    if medians.is_empty() {
        return;
    }
    page.paragraph(&format!(
        "The fixed work is one and the same array of numbers, sorted two hundred times a second on each core while \
         a run goes on, in CPU time, whatever was taken from the core besides. Its slow pieces took up to {} longer than its fast ones within one run (95th \
         over 5th percentile), and its \
         medians differ by {} between the runs (largest minus smallest over the median). That is the machine's doing: \
         neither load nor stolen time is in it.",
        percent(most),
        percent(spread_of(&medians))
    ));
}

fn spread_lines(page: &mut Page, findings: &Findings) {
    for (place, spread) in &findings.spreads {
        if spread.runs < 2 {
            continue;
        }
        let run = &findings.runs[*place];
        let mut text = format!(
            "{} repeats on {} under {} differ among themselves (largest minus smallest over the median) by {} in \
             their makespan and by {} in a job's completion time on average, {} at most.",
            spread.runs,
            run.shape,
            run.scheduler,
            percent(spread.makespan),
            percent(spread.mean()),
            percent(spread.max()),
        );
        if let Some(error) = findings.summary(Kind::CrossRun, true).map(|summary| summary.mean_error)
            && error < spread.mean()
        {
            text += &format!(
                " The mean cross-run error, {}, is smaller: it says no more than that runs repeat this well.",
                percent(error)
            );
        }
        page.paragraph(&text);
    }
}

fn first_run(prediction: &Prediction) -> Table {
    let mut table = Table::new(&["job", ">measured", ">simulated", ">error"]);
    for job in &prediction.comparison.jobs {
        let Measured { measured, simulated } = Measured::of(&job.completion);
        table.row([job.name.clone(), measured, simulated, percent(job.completion.signed_error())]);
    }
    table
}

struct Measured {
    measured: String,
    simulated: String,
}

impl Measured {
    fn of(measure: &howdah_planning::accuracy::Measure) -> Measured {
        let seconds = |s: f64| format!("{s:.3} s");
        Measured { measured: seconds(measure.measured_s), simulated: seconds(measure.simulated_s) }
    }
}

/// Everything, a line per job of each prediction.
fn job_table(workloads: &Workloads<'_>) -> Table {
    let mut table = Table::new(&[
        "workload",
        "model",
        "prediction",
        "profile",
        "measured",
        "scheduler",
        "job",
        "name",
        "measured_s",
        "simulated_s",
        "error",
    ]);
    for (workload, findings) in workloads {
        let label = |place: &usize| &findings.runs[*place].label[..];
        let one = [
            ("simmr", &findings.predictions),
            ("mumak", &findings.mumak),
            ("simmr-paced", &findings.paced),
            ("as-it-was", &findings.as_it_was),
        ];
        for (model, found) in one.iter().flat_map(|(model, all)| all.iter().map(move |found| (*model, found))) {
            let runs = [label(&found.profile).to_owned(), label(&found.measured).to_owned()];
            let policy = &findings.runs[found.measured].scheduler;
            for job in &found.comparison.jobs {
                table.row(job_row([*workload, model, found.kind.name()], &runs, policy, job));
            }
        }
        for found in &findings.together {
            let runs =
                [&found.profile, &found.measured].map(|runs| runs.iter().map(label).collect::<Vec<_>>().join(" "));
            let policy = &findings.runs[found.measured[0]].scheduler;
            for job in &found.comparison.jobs {
                table.row(job_row([*workload, "simmr-together", found.kind.name()], &runs, policy, job));
            }
        }
    }
    table
}

fn job_row(what: [&str; 3], runs: &[String; 2], policy: &str, job: &JobMeasure) -> [String; 11] {
    let [workload, model, prediction] = what.map(str::to_owned);
    let [profile, measured] = runs.clone();
    [
        workload,
        model,
        prediction,
        profile,
        measured,
        policy.to_owned(),
        job.id.clone(),
        job.name.clone(),
        format!("{:.3}", job.completion.measured_s),
        format!("{:.6}", job.completion.simulated_s),
        format!("{:.6}", job.completion.signed_error()),
    ]
}

/// Mean errors in percent by application (a job's name up to its size) and kind of prediction, of runs that are judged: on
/// more slots than cores the errors are not the simulation's.
fn chart(workloads: &Workloads<'_>) -> Bars {
    let mut errors: BTreeMap<String, BTreeMap<Kind, Vec<f64>>> = BTreeMap::new();
    let predictions = workloads.iter().flat_map(|(_, findings)| Kind::ALL.map(|kind| findings.of_kind(kind, true)));
    for prediction in predictions.flatten() {
        for job in &prediction.comparison.jobs {
            let application = job.name.split('-').next().unwrap_or_default().to_owned();
            let kinds = errors.entry(application).or_default();
            kinds.entry(prediction.kind).or_default().push(job.completion.error());
        }
    }
    let mean = |errors: Option<&Vec<f64>>| {
        errors.map_or(f64::NAN, |errors| 100.0 * Summary::of(errors.iter().copied()).mean_error)
    };
    let series =
        Kind::ALL.map(|kind| Series::new(kind.name(), errors.values().map(|kinds| mean(kinds.get(&kind))).collect()));
    Bars {
        title: "Mean error of completion times".to_owned(),
        y_label: "error in percent".to_owned(),
        groups: errors.keys().cloned().collect(),
        series: series.into_iter().collect(),
    }
}
