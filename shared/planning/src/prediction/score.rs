//! How good forecasts were: what was predicted beside what then happened.
//!
//! Task times by the share within 5 % and 10 % and the error that 95 % stay within; starts within windows of 30 s and 60 s
//! after each forecast, where a map counts only if it ran where it was predicted to; ends of jobs as they were predicted over
//! time. Source: §III-A and §III-B.

use std::collections::BTreeMap;

use serde::Serialize;

use super::calibration::STATED;
use super::class::Class;
use super::forecast::TaskStart;
use super::models::Estimate;
use howdah_core::job::{AttemptId, JobId, TaskId, TaskKind, WorkerId};
use howdah_core::time::{Span, Time};

/// One task's time, predicted before its end and measured after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskError {
    /// Its job's family.
    pub family: String,
    pub part: &'static str,
    /// In seconds.
    pub predicted_s: f64,
    /// Where the interval of nine of ten began, in seconds.
    pub low_s: f64,
    /// Where it ended, in seconds.
    pub high_s: f64,
    /// In seconds.
    pub actual_s: f64,
    /// Whether tasks of its class were seen before.
    pub seen: bool,
}

impl TaskError {
    /// A task of a class that has ended, beside what was predicted of it.
    pub fn new(class: &Class, (estimate, seen): (Estimate, bool), time: Span) -> TaskError {
        TaskError {
            family: class.family.clone(),
            part: class.part.name(),
            predicted_s: estimate.expected / 1e6,
            low_s: estimate.low / 1e6,
            high_s: estimate.high / 1e6,
            actual_s: time.as_secs_f64(),
            seen,
        }
    }

    /// Whether it took what its interval says.
    pub fn within_interval(&self) -> bool {
        self.low_s <= self.actual_s && self.actual_s <= self.high_s
    }

    /// In percent of what it took; positive if more was predicted.
    pub fn percent(&self) -> f64 {
        if self.actual_s > 0.0 { 100.0 * (self.predicted_s / self.actual_s - 1.0) } else { 0.0 }
    }
}

/// One task that started within a window after a forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartError {
    /// By how much it was predicted wrongly; `None` if it was not predicted at all.
    pub by: Option<Span>,
    /// Whether it is a map that ran elsewhere.
    pub elsewhere: bool,
}

impl StartError {
    /// Whether it counts as predicted within `most`.
    pub fn is_within(&self, most: Span) -> bool {
        !self.elsewhere && self.by.is_some_and(|by| by <= most)
    }
}

/// What is notified of the starts in the windows of one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WindowScore {
    /// Length in seconds.
    pub window_s: u64,
    /// Starts in all windows.
    pub starts: u64,
    /// Mean error in seconds, of those predicted at all.
    pub mean_error_s: f64,
    /// Share within 1, 2, 5 and 10 s, maps on the right worker.
    pub within_1s: f64,
    /// See above.
    pub within_2s: f64,
    /// See above.
    pub within_5s: f64,
    /// See above.
    pub within_10s: f64,
    /// Share within 2 s, wherever they ran.
    pub anywhere_2s: f64,
}

impl WindowScore {
    /// Of these starts.
    pub fn of(window: Span, errors: &[StartError]) -> WindowScore {
        let share = |secs| {
            let hits = errors.iter().filter(|error| error.is_within(Span::from_secs(secs))).count();
            if errors.is_empty() { 1.0 } else { hits as f64 / errors.len() as f64 }
        };
        let predicted: Vec<f64> = errors.iter().filter_map(|error| error.by).map(Span::as_secs_f64).collect();
        WindowScore {
            window_s: window.as_us() / 1_000_000,
            starts: errors.len() as u64,
            mean_error_s: if predicted.is_empty() {
                0.0
            } else {
                predicted.iter().sum::<f64>() / predicted.len() as f64
            },
            within_1s: share(1),
            within_2s: share(2),
            within_5s: share(5),
            within_10s: share(10),
            anywhere_2s: if errors.is_empty() {
                1.0
            } else {
                let near = |error: &&StartError| error.by.is_some_and(|by| by <= Span::from_secs(2));
                errors.iter().filter(near).count() as f64 / errors.len() as f64
            },
        }
    }
}

/// One job's end as one forecast predicted it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobError {
    pub job: u32,
    /// When it was predicted, in seconds from the run's start.
    pub at_s: f64,
    /// Predicted end, in seconds from the run's start; null beyond the horizon.
    pub predicted_s: Option<f64>,
    /// Where the interval of nine of ten began, in seconds from the run's start; null beyond the horizon.
    pub low_s: Option<f64>,
    /// Where it ended, in seconds from the run's start; null beyond the horizon.
    pub high_s: Option<f64>,
    /// When it ended, in seconds from the run's start.
    pub actual_s: f64,
    /// Whether the end lay in the predicted interval.
    pub within_interval: bool,
    /// In percent of the run's length; positive if a later end was predicted; null beyond the horizon.
    pub error_percent: Option<f64>,
}

/// Compares the starts that a forecast at `at` predicted with those that followed within `window`.
pub fn score_starts(
    at: Time,
    window: Span,
    predicted: &[TaskStart],
    actual: &[(Time, AttemptId, WorkerId)],
) -> Vec<StartError> {
    let by_task: BTreeMap<TaskId, &TaskStart> =
        predicted.iter().rev().map(|start| (start.attempt.task(), start)).collect();
    let within = actual.iter().filter(|start| start.0 > at && start.0 <= at + window);
    within
        .map(|&(when, attempt, worker)| start_error(by_task.get(&attempt.task()).copied(), when, attempt, worker))
        .collect()
}

/// A start beside what was predicted of it, if anything was.
pub(super) fn start_error(told: Option<&TaskStart>, when: Time, attempt: AttemptId, worker: WorkerId) -> StartError {
    let Some(told) = told else { return StartError { by: None, elsewhere: false } };
    StartError {
        by: Some(when.since(told.at).max(told.at.since(when))),
        elsewhere: attempt.kind == TaskKind::Map && told.worker != worker,
    }
}

/// Everything that is notified of one run, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunScore {
    /// Forecasts that were made.
    pub forecasts: u64,
    /// Of tasks of classes that were seen before.
    pub tasks: Score,
    /// Tasks whose class was new when they were predicted; in no figure.
    pub unseen_tasks: u64,
    /// The share of truths that intervals state to hold.
    pub stated: f64,
    /// The share of these tasks that took what their intervals said.
    pub tasks_within_interval: f64,
    /// How wide those were on average, in percent of the predicted times.
    pub tasks_interval_percent: f64,
    /// Of 30 s and 60 s.
    pub windows: Vec<WindowScore>,
    /// Mean error of jobs' ends over all forecasts, in percent of the length of the job's run.
    pub job_error_percent: f64,
    /// The largest one.
    pub job_error_max_percent: f64,
    /// Share of the ends that lay within the predicted interval.
    pub job_within_interval: f64,
    /// How wide those were on average, in seconds, of those within the horizon.
    pub job_interval_s: f64,
    /// From the first submission to the last end, in seconds; of several runs the sum.
    pub length_s: f64,
}

/// A list of errors in a few figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Length of the list.
    pub n: u64,
    /// Share within 5 %.
    pub within_5_percent: f64,
    /// Share within 10 %.
    pub within_10_percent: f64,
    /// The error in percent that 95 % stay within.
    pub p95_percent: f64,
    /// Their mean, without signs.
    pub mean_percent: f64,
}

impl Score {
    /// Of errors in percent.
    pub fn of(errors: impl Iterator<Item = f64>) -> Score {
        let mut errors: Vec<f64> = errors.map(f64::abs).collect();
        if errors.is_empty() {
            return Score::default();
        }
        errors.sort_by(f64::total_cmp);
        let n = errors.len();
        let share = |most: f64| errors.iter().filter(|error| **error <= most).count() as f64 / n as f64;
        Score {
            n: n as u64,
            within_5_percent: share(5.0),
            within_10_percent: share(10.0),
            p95_percent: errors[(n * 95).div_ceil(100).max(1) - 1],
            mean_percent: errors.iter().sum::<f64>() / n as f64,
        }
    }
}

impl RunScore {
    /// Puts everything together. `length` is that of the run, or of all runs.
    pub fn new(
        forecasts: u64,
        tasks: &[TaskError],
        windows: Vec<WindowScore>,
        jobs: &[JobError],
        length: Span,
    ) -> RunScore {
        let errors: Vec<f64> = jobs.iter().filter_map(|job| job.error_percent.map(f64::abs)).collect();
        let seen = || tasks.iter().filter(|task| task.seen);
        let width = |task: &TaskError| 100.0 * (task.high_s - task.low_s) / task.predicted_s.max(1e-6);
        let holds = |held: bool| if held { 1.0 } else { 0.0 };
        RunScore {
            forecasts,
            tasks: Score::of(seen().map(TaskError::percent)),
            unseen_tasks: tasks.iter().filter(|task| !task.seen).count() as u64,
            stated: STATED,
            tasks_within_interval: mean(seen().map(|task| holds(task.within_interval()))),
            tasks_interval_percent: mean(seen().map(width)),
            windows,
            job_error_percent: mean(errors.iter().copied()),
            job_error_max_percent: errors.iter().copied().fold(0.0, f64::max),
            job_within_interval: mean(jobs.iter().map(|job| holds(job.within_interval))),
            job_interval_s: mean(jobs.iter().filter_map(|job| Some(job.high_s? - job.low_s?))),
            length_s: length.as_secs_f64(),
        }
    }
}

/// 0 of none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_u32), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n.max(1))
}

/// A job's end as it came, on the clock of the forecasts.
pub(super) fn seconds_from(start: Time, at: Time) -> f64 {
    at.since(start).as_secs_f64()
}

/// Makes a job's error of a forecast, in a run of this length.
pub fn job_error(start: Time, at: Time, predicted: &super::JobForecast, actual: Time, length: Span) -> JobError {
    let JobId(job) = predicted.job;
    let of_length = |finish| {
        let by = seconds_from(start, finish) - seconds_from(start, actual);
        100.0 * by / length.as_secs_f64().max(1e-6)
    };
    JobError {
        error_percent: predicted.finish.map(of_length),
        job,
        at_s: seconds_from(start, at),
        predicted_s: predicted.finish.map(|finish| seconds_from(start, finish)),
        low_s: predicted.low.map(|low| seconds_from(start, low)),
        high_s: predicted.high.map(|high| seconds_from(start, high)),
        actual_s: seconds_from(start, actual),
        within_interval: predicted.low.is_some_and(|low| low <= actual)
            && predicted.high.is_none_or(|high| actual <= high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(index: u32) -> AttemptId {
        AttemptId { job: JobId(1), kind: TaskKind::Map, index, number: 0 }
    }

    #[test]
    fn a_map_that_ran_elsewhere_counts_as_missed_however_well_its_time_was_predicted() {
        let predicted = [
            TaskStart { attempt: map(0), at: Time::from_ms(11_000), worker: WorkerId(1) },
            TaskStart { attempt: map(1), at: Time::from_ms(11_000), worker: WorkerId(1) },
        ];
        let actual = [
            (Time::from_ms(9_000), map(8), WorkerId(0)),
            (Time::from_ms(11_500), map(0), WorkerId(1)),
            (Time::from_ms(11_000), map(1), WorkerId(0)),
            (Time::from_ms(12_000), map(2), WorkerId(0)),
            (Time::from_ms(50_000), map(3), WorkerId(0)),
        ];
        let errors = score_starts(Time::from_ms(10_000), Span::from_secs(30), &predicted, &actual);
        let within: Vec<bool> = errors.iter().map(|error| error.is_within(Span::from_secs(1))).collect();
        assert_eq!(within, [true, false, false], "what started before or after the window is not looked at");
        let score = WindowScore::of(Span::from_secs(30), &errors);
        assert_eq!((score.starts, score.within_1s, score.mean_error_s), (3, 1.0 / 3.0, 0.25));
        assert_eq!(score.anywhere_2s, 2.0 / 3.0);
    }

    #[test]
    fn the_error_of_a_jobs_end_is_in_percent_of_its_own_run() {
        let seconds = |s: u64| Time::from_ms(s * 1_000);
        let error = |predicted_s: Option<u64>, length_s| {
            let told = super::super::JobForecast::told(predicted_s.map(seconds));
            job_error(seconds(10), seconds(12), &told, seconds(60), Span::from_secs(length_s))
        };
        let errors = [error(Some(70), 100), error(Some(50), 50), error(None, 50)];
        assert_eq!(errors.clone().map(|error| error.error_percent), [Some(10.0), Some(-20.0), None]);
        let score = RunScore::new(3, &[], Vec::new(), &errors, Span::from_secs(150));
        assert_eq!((score.job_error_percent, score.job_error_max_percent, score.length_s), (15.0, 20.0, 150.0));
    }

    #[test]
    fn ninety_five_percent_of_errors_stay_within_the_stated_bound() {
        let score = Score::of((1..=100).map(f64::from).map(|error| if error < 50.0 { -error } else { error }));
        assert_eq!((score.p95_percent, score.within_10_percent, score.n), (95.0, 0.1, 100));
        assert_eq!(Score::of(std::iter::empty()), Score::default());
    }
}
