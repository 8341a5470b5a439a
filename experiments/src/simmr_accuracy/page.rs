//! The page, the tables and the figure of `simmr-accuracy`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

use super::errors::Findings;
use crate::accuracy::{Kind, Prediction, Summary};
use crate::framework::{About, Bars, Check, FIGURE_ONLY, Lab, Page, Series, Table, percent};

type Workloads<'a> = [(&'a str, &'a Findings)];

/// Writes everything; the page comes first.
pub(super) fn write(lab: &Lab<'_>, about: &About, workloads: &Workloads<'_>, checks: &[Check]) -> Result<Vec<PathBuf>> {
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
    for (name, findings) in workloads {
        page.heading(&format!("Workload {name}"));
        page.table(&run_table(findings));
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

const HOW: &str = "Each workload ran on real clusters of this machine and was then simulated on the same cluster, with \
the same policy, arrivals as they were, and the durations of a profile. *self*: the profile of the very run that is \
predicted, so only what a profile leaves out can be wrong. *cross-run*: the profile of another repeat. *cross-shape*: \
the profile of a repeat, for a run on other slots or under another policy. *Mumak's model* is the self \
prediction without shuffles. Errors are shares of measured completion times, over all jobs of all predictions.";

fn summary_table(workloads: &Workloads<'_>) -> Table {
    let mut table =
        Table::new(&["workload", "prediction", ">jobs", ">mean error", ">largest error", ">makespan, mean"]);
    for (name, findings) in workloads {
        for kind in Kind::ALL {
            for (judged, note) in [(true, ""), (false, ", more slots than cores (not judged)")] {
                let all: Vec<_> = findings.of_kind(kind, judged).collect();
                let what = format!("{}{note}", kind.name());
                if let Some(summary) = findings.summary(kind, judged).filter(|_| judged || kind == Kind::CrossShape) {
                    table.row(summary_row(name, &what, &all, summary));
                }
            }
        }
        let all: Vec<_> = findings.mumak.iter().collect();
        table.row(summary_row(name, "self, Mumak's model", &all, findings.mumak_summary()));
    }
    table
}

fn summary_row(workload: &str, what: &str, all: &[&Prediction], summary: Summary) -> [String; 6] {
    let makespan = Summary::of(all.iter().map(|found| found.comparison.makespan.error()));
    let jobs: usize = all.iter().map(|found| found.comparison.jobs.len()).sum();
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
    let columns = ["run", "cluster", "policy", ">jobs", ">tasks", ">makespan", ">decisions compared", ">identical"];
    let mut table = Table::new(&columns);
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
        ]);
    }
    table
}

fn spread_lines(page: &mut Page, findings: &Findings) {
    for (scheduler, spread) in &findings.spreads {
        if spread.runs < 2 {
            continue;
        }
        let mut text = format!(
            "{} repeats under {scheduler} differ among themselves (largest minus smallest over the median) by {} in \
             their makespan and by {} in a job's completion time on average, {} at most.",
            spread.runs,
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
    fn of(measure: &crate::accuracy::Measure) -> Measured {
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
        let models = [("simmr", &findings.predictions), ("mumak", &findings.mumak)];
        for (model, prediction) in models.iter().flat_map(|(model, all)| all.iter().map(move |one| (model, one))) {
            for job in &prediction.comparison.jobs {
                table.row([
                    (*workload).to_owned(),
                    (*model).to_owned(),
                    prediction.kind.name().to_owned(),
                    findings.runs[prediction.profile].label.clone(),
                    findings.runs[prediction.measured].label.clone(),
                    findings.runs[prediction.measured].scheduler.clone(),
                    job.id.clone(),
                    job.name.clone(),
                    format!("{:.3}", job.completion.measured_s),
                    format!("{:.6}", job.completion.simulated_s),
                    format!("{:.6}", job.completion.signed_error()),
                ]);
            }
        }
    }
    table
}

/// Mean errors in percent by application (a job's name up to its size) and kind of prediction.
fn chart(workloads: &Workloads<'_>) -> Bars {
    let mut errors: BTreeMap<String, BTreeMap<Kind, Vec<f64>>> = BTreeMap::new();
    for prediction in workloads.iter().flat_map(|(_, findings)| &findings.predictions) {
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
