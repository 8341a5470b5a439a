//! Recorded runs: read, replayed, simulated, and compared with each other.

use std::path::{Path, PathBuf};

use howdah_core::job::profile::Trace;
use howdah_master::journal::{find_run, runs_in};
use howdah_master::replay::{DecisionReport, ReplayError, replay_decisions};
use howdah_master::trace::TraceError;
use howdah_planning::accuracy::{self, AccuracyError, Comparison, Kind, Model, Prediction, Spread, Summary};

use super::lost::Lost;
use crate::failure::{Failure, Outcome};

#[derive(Debug)]
pub(crate) struct Run {
    /// As it was replayed.
    pub(crate) decisions: DecisionReport,
    /// Its profile and measured times.
    pub(crate) trace: Trace,
    /// Simulated from its own profile, or why that cannot be.
    pub(crate) simulated: Result<Comparison, AccuracyError>,
    /// Of what was simulated, what was lost.
    pub(super) lost: Lost,
    /// Runs that lie beside it, where it was not named itself.
    pub(crate) beside: Vec<PathBuf>,
}

/// One run and others of the same workload.
#[derive(Debug)]
pub(crate) struct Repeats {
    /// In the order given, without the one they are compared with.
    pub(crate) others: Vec<Run>,
    /// Among the run and those others that are of its shape and policy.
    pub(crate) spread: Spread,
    /// Places count from the run itself, then the others.
    pub(crate) predictions: Vec<Prediction>,
    /// Jobs, of all runs together, that another run has no like of: they take their slots with their own durations, and are not
    /// compared.
    pub(crate) left_out: usize,
}

impl Run {
    /// Reads the run in `dir`, replays its decisions and simulates it.
    pub(crate) fn read(dir: &Path) -> Outcome<Run> {
        let (dir, beside) = chosen(dir);
        let decisions = replay_decisions(&dir).map_err(|error| {
            let advice = if let ReplayError::Journal(error) = &error { error.advice() } else { None };
            unreadable(anyhow::Error::new(error), advice)
        })?;
        let (trace, causes) = howdah_master::trace::record_with_causes(&dir).map_err(|error| {
            let advice = if let TraceError::Journal(error) = &error { error.advice() } else { None };
            unreadable(anyhow::Error::new(error), advice)
        })?;
        let simulated = accuracy::compare_under(&trace, &trace, Model::SimMr, howdah_master::policies::make);
        let workers = Lost::of_workers(&decisions);
        let lost = match &simulated {
            Ok(comparison) => workers.with_attempts(&trace, &causes, comparison),
            Err(_) => workers,
        };
        Ok(Run { decisions, trace, simulated, lost, beside })
    }

    /// Over its jobs; `None` when it could not be simulated.
    pub(crate) fn summary(&self) -> Option<Summary> {
        self.simulated.as_ref().ok().map(Comparison::summary)
    }
}

/// The run that `dir` names, and the others of a cluster's directory: there it is the newest one with a job, since a
/// cluster that was begun anew and did nothing is not what anybody asks about.
fn chosen(dir: &Path) -> (PathBuf, Vec<PathBuf>) {
    let Ok(newest) = find_run(dir) else { return (dir.to_owned(), Vec::new()) };
    if newest == dir {
        return (newest, Vec::new());
    }
    let mut runs = newest.parent().map_or_else(Vec::new, runs_in);
    let has_job = |run: &PathBuf| std::fs::read_dir(run.join("jobs")).is_ok_and(|mut jobs| jobs.next().is_some());
    let run = runs.iter().rev().find(|run| has_job(run)).cloned().unwrap_or(newest);
    runs.retain(|other| *other != run);
    (run, runs)
}

/// A journal that is there and does not read has advice of its own; without one, perhaps there is none.
fn unreadable(error: anyhow::Error, advice: Option<&str>) -> Failure {
    let wrong_place = "a run is named by its own directory, its master's, or what `up` or `demo` was given";
    Failure::usage(format!("{error:#}")).help(advice.unwrap_or(wrong_place))
}

impl Repeats {
    /// Reads the others and makes all predictions among the runs.
    pub(crate) fn read(run: &Run, dirs: &[PathBuf]) -> Outcome<Repeats> {
        let others = dirs.iter().map(|dir| Run::read(dir)).collect::<Outcome<Vec<_>>>()?;
        let whole: Vec<&Trace> = std::iter::once(run).chain(&others).map(|run| &run.trace).collect();
        let common = accuracy::in_common(&whole);
        let traces: Vec<&Trace> = common.iter().collect();
        let left_out = traces.iter().flat_map(|run| &run.jobs).filter(|job| accuracy::is_alone(job)).count();
        if left_out > 0 && !common.iter().any(|run| run.jobs.iter().any(|job| job.outcome == "SUCCEEDED")) {
            return Err(Failure::usage(
                "the runs: no job has its like in each of them, expected runs of the same workload",
            )
            .help("--repeat takes other runs of the same workload as --dir"));
        }
        let alike = |trace: &&Trace| accuracy::kind(&run.trace, trace) == Kind::CrossRun;
        let spread = accuracy::spread(&traces.iter().copied().filter(alike).collect::<Vec<_>>());
        let predictions = accuracy::across(&traces, Model::SimMr, howdah_master::policies::make).map_err(|error| {
            Failure::usage(format!("{:#}", anyhow::Error::new(error)))
                .help("--repeat takes other runs of the same workload as --dir")
        })?;
        Ok(Repeats { others, spread, predictions, left_out })
    }

    /// Predictions of one kind: jobs in all, and their errors; `None` without any.
    pub(crate) fn summary(&self, kind: Kind) -> Option<(usize, Summary)> {
        let jobs = || self.of(kind).flat_map(|prediction| &prediction.comparison.jobs);
        self.of(kind).next()?;
        Some((jobs().count(), Summary::of(jobs().map(|job| job.completion.error()))))
    }

    /// Mean error of the makespans of one kind of prediction; 0 without any.
    pub(crate) fn makespan_error(&self, kind: Kind) -> f64 {
        Summary::of(self.of(kind).map(|prediction| prediction.comparison.makespan.error())).mean_error
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Prediction> {
        self.predictions.iter().filter(move |prediction| prediction.kind == kind)
    }

    /// What predictions are worth beside the repeats' spread: those of a run from another one's profile, as a run's own
    /// has the answer in it.
    pub(crate) fn verdict(&self) -> Option<String> {
        let (_, across) = self.summary(Kind::CrossRun).filter(|_| self.spread.runs > 1)?;
        Some(compared(across.mean_error, self.spread.mean()))
    }
}

/// Jobs of one name in the repeats.
#[derive(Debug, PartialEq)]
pub(super) struct OfName<'a> {
    pub(super) name: &'a str,
    /// Of one run.
    pub(super) jobs: usize,
    /// The mean of theirs.
    pub(super) spread: f64,
    /// Of the predictions across runs; `None` without any.
    pub(super) across: Option<Summary>,
}

impl Repeats {
    /// In the order of the first run's submissions: what the repeats differ by, and how far off predictions across runs are.
    pub(super) fn by_name(&self) -> Vec<OfName<'_>> {
        let mut names: Vec<&str> = Vec::new();
        for job in &self.spread.jobs {
            if !names.contains(&job.name.as_str()) {
                names.push(&job.name);
            }
        }
        let of_name = |name| {
            let spreads: Vec<f64> =
                self.spread.jobs.iter().filter(|job| job.name == name).map(|job| job.spread).collect();
            let predicted = self.of(Kind::CrossRun).flat_map(|prediction| &prediction.comparison.jobs);
            let errors: Vec<f64> = predicted.filter(|job| job.name == name).map(|job| job.completion.error()).collect();
            let across = (!errors.is_empty()).then(|| Summary::of(errors));
            OfName { name, jobs: spreads.len(), spread: Summary::of(spreads).mean_error, across }
        };
        names.into_iter().map(of_name).collect()
    }
}

/// The sentence for an error across runs and a spread.
fn compared(error: f64, spread: f64) -> String {
    let is_smaller = error < spread;
    let [error, spread] = [error, spread].map(|share| format!("{:.2} %", share * 100.0));
    if is_smaller {
        format!(
            "the mean error across runs, {error}, is smaller than the mean spread of the repeats, {spread}: it says no more \
             than that a simulation is as close to a run as another run is"
        )
    } else {
        format!("the mean error across runs, {error}, is larger than the mean spread of the repeats, {spread}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(spread: f64) -> Repeats {
        let job = accuracy::JobSpread { name: "a".to_owned(), completion_s: vec![1.0, 1.0], spread };
        let spread = Spread { runs: 2, makespan: spread, jobs: vec![job] };
        Repeats { others: Vec::new(), spread, predictions: Vec::new(), left_out: 0 }
    }

    fn across(error: f64) -> Prediction {
        let completion = accuracy::Measure { measured_s: 1.0, simulated_s: 1.0 + error };
        let job = accuracy::JobMeasure { id: "1".to_owned(), name: "a".to_owned(), completion };
        let comparison = Comparison { jobs: vec![job], ..Comparison::default() };
        Prediction { kind: Kind::CrossRun, profile: 1, measured: 0, comparison }
    }

    #[test]
    fn what_counts_is_the_error_across_runs_beside_the_spread_of_the_repeats() {
        let said = |error, spread| {
            Repeats { predictions: vec![across(error)], ..repeats(spread) }.verdict().expect("two runs")
        };
        let small = said(0.01, 0.03);
        assert!(
            small.starts_with(
                "the mean error across runs, 1.00 %, is smaller than the mean spread of the repeats, 3.00 %:"
            ),
            "{small}"
        );
        let large = "the mean error across runs, 1.00 %, is larger than the mean spread of the repeats, 0.50 %";
        assert_eq!(said(0.01, 0.005), large);
    }

    #[test]
    fn each_jobs_spread_is_beside_the_error_of_its_predictions_across_runs() {
        let mut of = Repeats { predictions: vec![across(0.01), across(0.03)], ..repeats(0.02) };
        of.predictions.push(Prediction { kind: Kind::Own, ..across(0.9) });
        let job = |name: &str, spread| accuracy::JobSpread { name: name.to_owned(), completion_s: Vec::new(), spread };
        of.spread.jobs.extend([job("b", 0.5), job("a", 0.04)]);
        let rows = of.by_name();
        let plain: Vec<(&str, usize)> = rows.iter().map(|row| (row.name, row.jobs)).collect();
        assert_eq!(plain, [("a", 2), ("b", 1)]);
        let error = rows[0].across.expect("it was predicted");
        assert!((rows[0].spread - 0.03).abs() < 1e-9 && (error.mean_error - 0.02).abs() < 1e-9, "{rows:?}");
        assert!((error.max_error - 0.03).abs() < 1e-9 && rows[1].across.is_none(), "{rows:?}");
    }

    #[test]
    fn without_another_run_there_is_nothing_to_compare_with() {
        assert_eq!(repeats(0.03).verdict(), None, "nothing was predicted across runs");
        let mut alone = Repeats { predictions: vec![across(0.01)], ..repeats(0.0) };
        alone.spread.runs = 1;
        assert_eq!(alone.verdict(), None);
        assert_eq!(alone.summary(Kind::Own), None);
    }

    #[test]
    fn of_a_clusters_runs_the_newest_with_a_job_is_chosen_and_the_others_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let run = |serial: u32, has_job: bool| {
            let run = dir.path().join(format!("run-202611201200-{serial}"));
            std::fs::create_dir_all(run.join("jobs")).unwrap();
            std::fs::write(run.join("header"), "").unwrap();
            if has_job {
                std::fs::write(run.join("jobs/job_1.json"), "{}").unwrap();
            }
            run
        };
        let runs = [run(1, true), run(2, true), run(3, false)];
        assert_eq!(chosen(dir.path()), (runs[1].clone(), vec![runs[0].clone(), runs[2].clone()]));
        assert_eq!(chosen(&runs[2]), (runs[2].clone(), vec![]), "named itself");
    }
}
