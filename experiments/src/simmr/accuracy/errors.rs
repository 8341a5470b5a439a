//! All predictions among the live runs of one workload.

pub(super) use super::bar::Bars;

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_core::schedulers::by_name;
use howdah_planning::accuracy;
use howdah_planning::accuracy::{
    AccuracyError, Comparison, Kind, Model, Paced, Prediction, Speeds, Spread, Summary, Together,
};

use super::notes::AT_ITS_SPEED;
use crate::framework::{Check, percent};
use crate::live::{LiveRun, Pace};

/// What one workload showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) predictions: Vec<Prediction>,
    /// Each run from its own profile, without shuffles.
    pub(super) mumak: Vec<Prediction>,
    /// Each run from another repeat as it was, without a simulation.
    pub(super) as_it_was: Vec<Prediction>,
    /// As `predictions`, with the machine's own speed, as it was measured beside each run, in the simulation.
    pub(super) paced: Vec<Prediction>,
    /// Several runs from several others.
    pub(super) together: Vec<Together>,
    /// Among the repeats of each cluster and policy, after the place of the first of them.
    pub(super) spreads: Vec<(usize, Spread)>,
    /// In the order of the predictions' places.
    pub(super) runs: Vec<RunLine>,
}

/// A live run, for the page.
#[derive(Clone, Debug)]
pub(super) struct RunLine {
    pub(super) label: String,
    pub(super) shape: String,
    pub(super) scheduler: String,
    /// Whether predictions of it are held against the bars.
    pub(super) judged: bool,
    pub(super) jobs: usize,
    pub(super) tasks: u64,
    pub(super) makespan_s: f64,
    pub(super) compared: u64,
    pub(super) identical: u64,
    /// How fast the machine was meanwhile.
    pub(super) pace: Pace,
}

impl Findings {
    /// Makes all predictions; what stands first is the first repeat of the first policy. Tasks that compute are predicted
    /// at the machine's own speed as well.
    pub(super) fn of(runs: &[LiveRun], computes: bool) -> Result<Findings> {
        let traces: Vec<&Trace> = runs.iter().map(|run| &run.recorded.trace).collect();
        let predictions = accuracy::across(&traces, Model::SimMr, by_name).context("predict the runs")?;
        let mumak = traces.iter().enumerate().map(|(place, trace)| {
            let comparison = accuracy::compare(trace, trace, Model::Mumak)?;
            Ok(Prediction { kind: Kind::Own, profile: place, measured: place, comparison })
        });
        let mumak = mumak.collect::<Result<Vec<_>, AccuracyError>>().context("predict without shuffles")?;
        let as_it_was = accuracy::as_it_was(&traces).context("compare the repeats")?;
        let together = accuracy::together(&traces, Model::SimMr, by_name).context("predict the runs together")?;
        let speeds = speeds(runs);
        let paced = traces.iter().zip(&speeds).filter(|_| computes).map(|(&trace, speeds)| Paced { trace, speeds });
        let paced: Vec<Paced<'_>> = paced.collect();
        let paced = accuracy::across_paced(&paced, Model::SimMr, by_name).context("predict the runs at their speed")?;
        let spread = |places: Vec<usize>| {
            let repeats: Vec<&Trace> = places.iter().map(|&place| traces[place]).collect();
            (places[0], accuracy::spread(&repeats))
        };
        let spreads = accuracy::alike(&traces).into_iter().map(spread).collect();
        // Own predictions come first, in the order of the runs.
        let lines = runs.iter().zip(&predictions).map(|(run, own)| line(run, &own.comparison)).collect();
        Ok(Findings { predictions, mumak, as_it_was, paced, together, spreads, runs: lines })
    }

    /// Predictions of this kind of runs that are judged, or of those that are not.
    pub(super) fn of_kind(&self, kind: Kind, judged: bool) -> impl Iterator<Item = &Prediction> {
        self.among(&self.predictions, judged).filter(move |found| found.kind == kind)
    }

    /// The same at the machine's own speed.
    pub(super) fn of_paced(&self, kind: Kind, judged: bool) -> impl Iterator<Item = &Prediction> {
        self.among(&self.paced, judged).filter(move |found| found.kind == kind)
    }

    /// Judged runs from repeats as they were.
    pub(super) fn repeats(&self) -> impl Iterator<Item = &Prediction> {
        self.among(&self.as_it_was, true)
    }

    /// Predictions of several judged runs at once.
    pub(super) fn of_several(&self, kind: Kind) -> impl Iterator<Item = &Together> {
        let judged = |found: &&Together| found.measured.iter().all(|&place| self.runs[place].judged);
        self.together.iter().filter(move |found| found.kind == kind).filter(judged)
    }

    fn among<'a>(&'a self, list: &'a [Prediction], judged: bool) -> impl Iterator<Item = &'a Prediction> {
        list.iter().filter(move |found| self.runs[found.measured].judged == judged)
    }

    /// Over all jobs of the predictions of this kind; `None` without any, as below.
    pub(super) fn summary(&self, kind: Kind, judged: bool) -> Option<Summary> {
        over(self.of_kind(kind, judged).map(|found| &found.comparison))
    }

    /// Over those of judged runs at the machine's own speed.
    pub(super) fn paced_summary(&self, kind: Kind) -> Option<Summary> {
        over(self.of_paced(kind, true).map(|found| &found.comparison))
    }

    /// Over those of repeats as they were: how far off a simulation without any error would be.
    pub(super) fn repeats_summary(&self) -> Option<Summary> {
        over(self.repeats().map(|found| &found.comparison))
    }

    /// Over those of several judged runs at once.
    pub(super) fn several_summary(&self, kind: Kind) -> Option<Summary> {
        over(self.of_several(kind).map(|found| &found.comparison))
    }

    /// Over those of the baseline without shuffles.
    pub(super) fn mumak_summary(&self) -> Summary {
        over(self.mumak.iter().map(|found| &found.comparison)).unwrap_or_default()
    }

    /// Why a bar says nothing about the simulation here, where that is so.
    pub(super) fn undecided(&self, workload: &str, bars: &[(Kind, Bars)]) -> Option<String> {
        let repeats = self.repeats_summary()?;
        let (kind, bar) = bars.iter().find(|(kind, _)| *kind == Kind::CrossRun)?;
        let (mean, max) = (repeats.mean_error > bar.mean, bar.max.is_some_and(|bar| repeats.max_error > bar));
        let which = match (mean, max) {
            (false, false) => return None,
            (true, false) => "bar for the mean",
            (false, true) => "bar for the largest error",
            (true, true) => "bars for the mean and the largest error",
        };
        Some(format!(
            "**{workload}, {}: single runs do not decide the {which} here.** Repeats of one run, each \
             taken as it was for a prediction of the others, are off by {} on average and {} at most: a simulation \
             without any error of its own would be, too. What is left of it over several runs stands beside it.",
            kind.name(),
            percent(repeats.mean_error),
            percent(repeats.max_error)
        ))
    }

    /// The bars for each kind of prediction, and for the decision replays.
    pub(super) fn checks(&self, workload: &str, bars: &[(Kind, Bars)], judged: bool) -> Vec<Check> {
        let mut checks = Vec::new();
        for (kind, bar) in bars {
            let name = kind.name();
            if let Some(found) = self.summary(*kind, true) {
                checks.extend(super::bars::bars(&format!("{workload}, {name}"), found, *bar, judged));
            }
            if let Some(found) = self.paced_summary(*kind) {
                checks.extend(super::bars::bars(&format!("{workload}, {name}, {AT_ITS_SPEED}"), found, *bar, judged));
            }
            if let Some(found) = self.several_summary(*kind) {
                checks.extend(super::bars::bars(
                    &format!("{workload}, {name}, several runs together"),
                    found,
                    *bar,
                    judged,
                ));
            }
        }
        let decisions = self.runs.iter().map(|run| (run.compared, run.identical));
        checks.push(Check::decisions(&format!("{workload}: "), decisions));
        checks
    }
}

/// Of the workers of each run, from its trace's start on. Where nothing was measured all are at speed 1.
fn speeds(runs: &[LiveRun]) -> Vec<Speeds> {
    let fast = runs.iter().map(|run| run.speed.pace()).filter(|pace| pace.pieces > 0).map(|pace| pace.ms[0]);
    // Any time will do, as long as it is one for all runs.
    let plain_ms = fast.fold(f64::INFINITY, f64::min);
    let of = |run: &LiveRun| {
        let from_ms = run.recorded.trace.start_ms_epoch.unwrap_or(0);
        (1..=run.shape.workers).map(|n| run.speed.steps(run.shape.core(n), from_ms, plain_ms)).collect()
    };
    runs.iter().map(of).collect()
}

/// The errors of all jobs; `None` without a comparison.
fn over<'a>(all: impl Iterator<Item = &'a Comparison>) -> Option<Summary> {
    let mut all = all.peekable();
    all.peek()?;
    Some(Summary::of(all.flat_map(|one| one.jobs.iter().map(|job| job.completion.error()))))
}

fn line(run: &LiveRun, own: &Comparison) -> RunLine {
    let jobs = &run.recorded.trace.jobs;
    RunLine {
        label: run.label.clone(),
        shape: run.shape.to_string(),
        scheduler: run.scheduler.clone(),
        judged: run.judged,
        jobs: jobs.len(),
        tasks: jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum(),
        makespan_s: own.makespan.measured_s,
        compared: run.recorded.compared,
        identical: run.recorded.identical,
        pace: run.speed.pace(),
    }
}
