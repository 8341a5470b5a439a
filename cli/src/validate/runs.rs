//! Recorded runs: read, decided again, simulated, and compared with each other.

use std::path::{Path, PathBuf};

use howdah_core::job::profile::Trace;
use howdah_master::replay::{DecisionReport, replay_decisions};
use howdah_planning::accuracy::{self, AccuracyError, Comparison, Kind, Model, Prediction, Spread, Summary};

use crate::failure::{Failure, Outcome};

/// One run.
#[derive(Debug)]
pub(crate) struct Run {
    /// As it was decided again.
    pub(crate) decisions: DecisionReport,
    /// Its profile and measured times.
    pub(crate) trace: Trace,
    /// Simulated from its own profile, or why that cannot be.
    pub(crate) simulated: Result<Comparison, AccuracyError>,
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
}

impl Run {
    /// Reads the run in `dir`, replays its decisions and simulates it.
    pub(crate) fn read(dir: &Path) -> Outcome<Run> {
        let decisions = replay_decisions(dir).map_err(|error| unreadable(anyhow::Error::new(error)))?;
        let trace = howdah_master::trace::record(dir).map_err(|error| unreadable(anyhow::Error::new(error)))?;
        let simulated = accuracy::compare_under(&trace, &trace, Model::SimMr, howdah_master::policies::make);
        Ok(Run { decisions, trace, simulated })
    }

    /// Over its jobs; `None` when it could not be simulated.
    pub(crate) fn summary(&self) -> Option<Summary> {
        self.simulated.as_ref().ok().map(Comparison::summary)
    }
}

fn unreadable(error: anyhow::Error) -> Failure {
    Failure::usage(format!("{error:#}"))
        .help("a run is named by its own directory, its master's, or what `up` or `demo` was given")
}

impl Repeats {
    /// Reads the others and makes all predictions among the runs.
    pub(crate) fn read(run: &Run, dirs: &[PathBuf]) -> Outcome<Repeats> {
        let others = dirs.iter().map(|dir| Run::read(dir)).collect::<Outcome<Vec<_>>>()?;
        let traces: Vec<&Trace> = std::iter::once(run).chain(&others).map(|run| &run.trace).collect();
        let alike = |trace: &&Trace| accuracy::kind(&run.trace, trace) == Kind::CrossRun;
        let spread = accuracy::spread(&traces.iter().copied().filter(alike).collect::<Vec<_>>());
        let predictions = accuracy::across(&traces, Model::SimMr, howdah_master::policies::make).map_err(|error| {
            Failure::usage(format!("{:#}", anyhow::Error::new(error)))
                .help("--repeat takes other runs of the same workload as --dir")
        })?;
        Ok(Repeats { others, spread, predictions })
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

    /// What the run's own error is worth beside the repeats' spread.
    pub(crate) fn verdict(&self, own: Summary) -> Option<String> {
        if self.spread.runs < 2 {
            return None;
        }
        let [error, spread] = [own.mean_error, self.spread.mean()].map(|share| format!("{:.2} %", share * 100.0));
        Some(if own.mean_error < self.spread.mean() {
            format!(
                "the mean error, {error}, is smaller than the mean spread of the repeats, {spread}: it says no more than \
                 that a simulation is as close to a run as another run is"
            )
        } else {
            format!("the mean error, {error}, is larger than the mean spread of the repeats, {spread}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(spread: f64) -> Repeats {
        let job = accuracy::JobSpread { name: "a".to_owned(), completion_s: vec![1.0, 1.0], spread };
        let spread = Spread { runs: 2, makespan: spread, jobs: vec![job] };
        Repeats { others: Vec::new(), spread, predictions: Vec::new() }
    }

    #[test]
    fn an_error_below_the_spread_of_the_repeats_is_said_to_mean_little() {
        let own = Summary { mean_error: 0.01, max_error: 0.02 };
        let said = repeats(0.03).verdict(own).expect("two runs");
        assert!(said.starts_with("the mean error, 1.00 %, is smaller than the mean spread of the repeats, 3.00 %:"));
        let said = repeats(0.005).verdict(own).expect("two runs");
        assert_eq!(said, "the mean error, 1.00 %, is larger than the mean spread of the repeats, 0.50 %");
    }

    #[test]
    fn one_run_has_no_spread_to_compare_with() {
        let mut alone = repeats(0.0);
        alone.spread.runs = 1;
        assert_eq!(alone.verdict(Summary::default()), None);
        assert_eq!(alone.summary(Kind::Own), None);
    }
}
