//! What of a run's lost attempts and workers its simulation has, and what not.
//!
//! An attempt that failed or was killed is lost again in the simulation from the run's own profile, after the time that it
//! took. Speculative ones are the policy's, and workers that went stay. Jobs that lost attempts are counted apart, so that
//! their part of the error is seen.

use std::collections::{BTreeMap, BTreeSet};

use howdah_core::job::profile::Trace;
use howdah_master::replay::DecisionReport;
use howdah_master::trace::Causes;
use howdah_planning::accuracy::{Comparison, Summary};

/// Of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lost {
    /// Attempts of the simulated jobs that failed, and end so in the simulation.
    pub(super) failed: usize,
    /// Those that were killed, and end so.
    pub(super) killed: usize,
    /// Speculative attempts that were killed: in the simulation they are launched and lost as the policy has it.
    pub(super) speculative: usize,
    /// All of them by what ended them, in the words that `job attempts` has.
    pub(super) causes: Causes,
    /// Workers that were lost or left while a job was not over; in the simulation they stay.
    pub(super) workers: u64,
    /// Those that were drained then; in the simulation they go on taking tasks.
    pub(super) drained: u64,
    /// Jobs with such attempts, and their errors.
    pub(super) jobs: usize,
    pub(super) of_these: Summary,
    /// Errors of the other jobs.
    pub(super) of_others: Summary,
    /// Of all jobs' errors together, how much is theirs: 0 to 1.
    pub(super) share: f64,
}

impl Lost {
    /// All that is known of a run that was not simulated.
    pub(super) fn of_workers(decisions: &DecisionReport) -> Lost {
        Lost { workers: decisions.workers_lost, drained: decisions.workers_drained, ..Lost::default() }
    }

    /// `self` has the workers; `causes` are those of each job that has any, by its id.
    pub(super) fn with_attempts(
        self,
        trace: &Trace,
        causes: &BTreeMap<String, Causes>,
        comparison: &Comparison,
    ) -> Lost {
        let simulated: BTreeSet<&str> = comparison.jobs.iter().map(|job| job.id.as_str()).collect();
        let jobs = || trace.jobs.iter().filter(|job| simulated.contains(job.id.as_str()));
        let attempts = || jobs().flat_map(|job| &job.lost_attempts);
        let with: BTreeSet<&str> = jobs().filter(|j| !j.lost_attempts.is_empty()).map(|job| job.id.as_str()).collect();
        let errors = |of_these: bool| -> Vec<f64> {
            let jobs = comparison.jobs.iter().filter(|job| with.contains(job.id.as_str()) == of_these);
            jobs.map(|job| job.completion.error()).collect()
        };
        let [these, others] = [true, false].map(errors);
        let [theirs, rest] = [&these, &others].map(|errors| errors.iter().sum::<f64>());
        let mut all = Causes::new();
        let of_simulated = causes.iter().filter(|(job, _)| simulated.contains(job.as_str()));
        for (cause, n) in of_simulated.flat_map(|(_, causes)| causes) {
            *all.entry(cause.clone()).or_default() += n;
        }
        Lost {
            failed: attempts().filter(|lost| lost.failed).count(),
            killed: attempts().filter(|lost| !lost.failed && !lost.speculative).count(),
            speculative: attempts().filter(|lost| !lost.failed && lost.speculative).count(),
            jobs: with.len(),
            of_these: Summary::of(these),
            of_others: Summary::of(others),
            share: if theirs + rest > 0.0 { theirs / (theirs + rest) } else { 0.0 },
            causes: all,
            ..self
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.jobs == 0 && self.workers == 0 && self.drained == 0
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::{JobTemplate, LostAttempt};
    use howdah_planning::accuracy::{JobMeasure, Measure};

    use super::*;

    #[test]
    fn the_error_of_jobs_that_lost_attempts_is_reported_separately() {
        let job = |id: &str, lost: &[(bool, bool)]| JobTemplate {
            id: id.to_owned(),
            lost_attempts: lost
                .iter()
                .map(|&(failed, speculative)| LostAttempt { failed, speculative, ..LostAttempt::default() })
                .collect(),
            ..JobTemplate::default()
        };
        let jobs = vec![
            job("j1", &[(true, false), (false, false), (false, true)]),
            job("j2", &[]),
            job("failed", &[(true, false)]),
        ];
        let trace = Trace { jobs, ..Trace::default() };
        let measure = |id: &str, simulated_s| JobMeasure {
            id: id.to_owned(),
            name: String::new(),
            completion: Measure { measured_s: 10.0, simulated_s },
        };
        let jobs = vec![measure("j1", 7.0), measure("j2", 10.0)];
        let cause = |words: &[(&str, usize)]| words.iter().map(|(cause, n)| ((*cause).to_owned(), *n)).collect();
        let (gone, exit) = ("its worker was lost", "reported by its worker");
        let causes = [
            ("j1".to_owned(), cause(&[(gone, 2), (exit, 1)])),
            // No simulation has it.
            ("failed".to_owned(), cause(&[(exit, 1)])),
        ];
        let comparison = Comparison { jobs, left_out: 1, ..Comparison::default() };
        let workers = Lost { workers: 2, drained: 1, ..Lost::default() };
        let lost = workers.with_attempts(&trace, &causes.into(), &comparison);
        assert_eq!(lost.causes, cause(&[(gone, 2), (exit, 1)]));
        assert!((lost.share - 1.0).abs() < 1e-9, "{lost:?}");
        assert_eq!((lost.failed, lost.killed, lost.speculative, lost.jobs), (1, 1, 1, 1));
        assert_eq!((lost.workers, lost.drained), (2, 1));
        assert!((lost.of_these.mean_error - 0.3).abs() < 1e-9 && lost.of_others.mean_error < 1e-9, "{lost:?}");
        assert!(!lost.is_nothing() && Lost::default().is_nothing());
        assert!(!Lost { drained: 1, ..Lost::default() }.is_nothing());
    }
}
