//! `simmr-kl`: how alike the durations of runs are, phase by phase, after SimMR Table I.
//!
//! Five applications run five times each on a live cluster. Runs of one application should be close to each other
//! and far from those of other applications: then one run's profile may stand for the application.

mod workload;

use std::time::Duration;

use anyhow::{Context, Result};

use howdah_core::job::profile::Trace;
use howdah_core::models::divergence::Divergence;
use howdah_core::models::moments::Moments;

use crate::framework::{About, Bars, Check, Experiment, Lab, Needs, Outcome, Page, Series, Table, papers};
use crate::live::{Shape, Study};
use howdah_planning::phase::Phase;
use howdah_planning::similarity::{Application, Similarity, Spread, similarity};

/// The experiment.
pub(crate) struct SimMrKl;

/// Of the mean divergence among runs of one application, as a share of that between applications. In the paper the
/// worst averages are 0.12 of 11.56 for maps (Bayes) and 2.44 of 13.05 for shuffles (WikiTrends), but over hundreds
/// of tasks a run.
const BAR: f64 = 0.5;

impl Experiment for SimMrKl {
    fn about(&self) -> About {
        About {
            name: "simmr-kl",
            line: "Durations of one application's runs are alike, those of different applications are not",
            paper: papers::SIMMR,
            figure: "Table I",
            needs: Needs::LiveRuns,
            estimate_s: [120, 20],
        }
    }

    fn takes_schedulers(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let inputs = workload::Inputs::make(lab)?;
        let repeats = lab.repeats.unwrap_or(lab.size(5, 3)).max(2);
        let study = Study {
            name: "kl",
            base: Shape::even(2, 1, 1),
            others: &[],
            repeats: 1,
            workload: &|results| workload::jobs(&inputs, repeats, results),
            steady: false,
            bound: Duration::from_secs(600),
        };
        let runs = study.run(lab)?;
        let run = &runs.first().context("find the run that was made")?.recorded;
        let found = compared(&run.trace);
        let mut checks = Vec::new();
        for phase in Phase::ALL {
            if let (Some(same), Some(different)) = (mean_within(&found, phase), found.between[phase as usize]) {
                let what = format!("{}: mean divergence within over between applications", phase.name());
                let found = if different.avg > 0.0 { same / different.avg } else { 1.0 };
                // A shuffle or reduce of a few milliseconds is mostly rounding, so only maps are judged.
                checks.push(Check { what, found, bar: BAR, judged: phase == Phase::Map && !lab.quick });
            }
        }
        checks.push(Check::decisions("", [(run.compared, run.identical)]));
        write(lab, &self.about(), &found, repeats, checks)
    }
}

/// All runs of the trace with all others; its jobs are named `APPLICATION-RUN`.
fn compared(trace: &Trace) -> Similarity {
    let mut runs: Vec<(&str, Vec<Trace>)> = Vec::new();
    for job in &trace.jobs {
        let name = job.name.rsplit_once('-').map_or(&job.name[..], |(application, _)| application);
        let run = Trace { jobs: vec![job.clone()], ..Trace::default() };
        match runs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(run),
            None => runs.push((name, vec![run])),
        }
    }
    let applications =
        runs.iter().map(|(name, runs)| Application { name: (*name).to_owned(), runs: runs.iter().collect() });
    similarity(&applications.collect::<Vec<_>>(), Divergence::default())
}

/// Over the applications that have the phase.
fn mean_within(found: &Similarity, phase: Phase) -> Option<f64> {
    let means: Vec<f64> = found.within.iter().filter_map(|(_, spreads)| Some(spreads[phase as usize]?.avg)).collect();
    (!means.is_empty()).then(|| Moments::of(&means).mean)
}

fn write(lab: &Lab<'_>, about: &About, found: &Similarity, repeats: u32, checks: Vec<Check>) -> Result<Outcome> {
    let mut page = Page::new(about, lab.quick);
    page.paragraph(&format!(
        "Each application ran {repeats} times on one live cluster of two workers. Its runs are compared in pairs, \
         phase by phase, by SimMR's symmetric Kullback–Leibler divergence over the durations in milliseconds: bins \
         are logarithmic, ten to a decade, and a bin that only one of the two reaches counts with a probability of a \
         millionth in the other, which caps the divergence near 13.8. The shuffle is the first and the typical one \
         together, as in the paper's table. A run has {} maps and {} reduces, where the paper's had hundreds: fewer \
         samples make every divergence larger.",
        workload::MAPS,
        workload::REDUCES
    ));
    page.heading("Runs of one application");
    let mut ours = Table::new(&COLUMNS);
    found.within.iter().for_each(|(name, spreads)| ours.row(row(name, spreads)));
    page.table(&ours);
    page.paragraph(
        "The paper's (64 workers, six applications, five runs each; its text calls the last of the three the 95th \
         percentile, its table the maximum):",
    );
    page.table(&paper_table());
    page.heading("Runs of different applications");
    page.table(&between_table(found));
    page.image("simmr-kl.svg", "mean divergence within and between applications, by phase");
    page.checks(&checks);
    let within = Phase::ALL.map(|phase| mean_within(found, phase).unwrap_or(f64::NAN));
    let between = found.between.map(|spread| spread.map_or(f64::NAN, |spread| spread.avg));
    let figure = Bars {
        title: "Mean symmetric Kullback–Leibler divergence".to_owned(),
        y_label: "divergence".to_owned(),
        groups: Phase::ALL.map(|phase| phase.name().to_owned()).to_vec(),
        series: [("one application", within), ("different applications", between)]
            .map(|(name, values)| Series::new(name, values.to_vec()))
            .to_vec(),
    };
    let files = page.write(lab, "simmr-kl", &csv(found), figure.svg())?;
    Ok(Outcome { files, checks })
}

const COLUMNS: [&str; 10] =
    ["application", ">map min", ">avg", ">max", ">shuffle min", ">avg", ">max", ">reduce min", ">avg", ">max"];

fn row(name: &str, spreads: &[Option<Spread>; 3]) -> Vec<String> {
    let cells = spreads.iter().flat_map(|spread| match spread {
        Some(Spread { min, avg, max, .. }) => [min, avg, max].map(|value| format!("{value:.2}")),
        None => ["-"; 3].map(str::to_owned),
    });
    std::iter::once(name.to_owned()).chain(cells).collect()
}

fn between_table(found: &Similarity) -> Table {
    let mut table = Table::new(&COLUMNS);
    table.row(row("ours", &found.between));
    table.row(["the paper's (§II)", "7.34", "11.56", "13.25", "11.31", "13.05", "13.49", "9.11", "12.66", "13.30"]);
    table
}

fn csv(found: &Similarity) -> Table {
    let mut table = Table::new(&["applications", "phase", "pairs", "min", "avg", "max"]);
    let between = [("different".to_owned(), found.between)];
    for (name, spreads) in found.within.iter().chain(&between) {
        for phase in Phase::ALL {
            if let Some(Spread { min, avg, max, pairs }) = spreads[phase as usize] {
                let values = [min, avg, max].map(|value| format!("{value:.6}"));
                table.row([name.clone(), phase.name().to_owned(), pairs.to_string()].into_iter().chain(values));
            }
        }
    }
    table
}

fn paper_table() -> Table {
    let mut table = Table::new(&COLUMNS);
    let rows = [
        ["WordCount", "0.05", "0.07", "0.09", "0.13", "0.34", "0.72", "0.00", "0.04", "0.07"],
        ["WikiTrends", "0.09", "0.10", "0.13", "0.71", "2.44", "3.94", "0.11", "0.25", "0.35"],
        ["Twitter", "0.04", "0.06", "0.08", "0.28", "0.84", "1.39", "0.02", "0.07", "0.12"],
        ["Sort", "0.02", "0.09", "0.20", "0.35", "1.69", "3.42", "0.11", "0.22", "0.33"],
        ["TFIDF", "0.00", "0.02", "0.05", "0.14", "1.39", "4.40", "0.07", "0.27", "0.73"],
        ["Bayes", "0.07", "0.12", "0.15", "0.19", "0.57", "1.14", "0.02", "0.04", "0.07"],
    ];
    rows.into_iter().for_each(|row| table.row(row));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::JobTemplate;

    #[test]
    fn jobs_are_runs_of_the_application_that_their_name_begins_with() {
        let job = |name: &str, map_ms: &[u64]| JobTemplate {
            name: name.to_owned(),
            map_ms: map_ms.to_vec(),
            ..JobTemplate::default()
        };
        let jobs = vec![job("sort-1", &[10, 10]), job("sort-2", &[10, 10]), job("word-count-1", &[1_000])];
        let found = compared(&Trace { jobs, ..Trace::default() });
        assert_eq!(found.within.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(), ["sort", "word-count"]);
        assert_eq!(mean_within(&found, Phase::Map), Some(0.0));
        assert_eq!(mean_within(&found, Phase::Shuffle), None);
        let between = found.between[0].expect("two pairs");
        assert_eq!(between.pairs, 2);
        assert!((between.avg - libm::log(1e6)).abs() < 1e-9, "{between:?}");
        assert_eq!(csv(&found).csv().lines().count(), 3);
    }
}
