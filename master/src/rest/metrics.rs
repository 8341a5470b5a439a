//! `GET /metrics`: how forecasts do, in the text that Prometheus reads.
//!
//! What rounds cost and how well tasks that ended and started had been predicted are the predictor's own numbers; the ends of
//! jobs are those of the last round, as `howdah job list` shows them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use howdah_planning::prediction::{EndScore, STATED, StartScore};
use howdah_proto::v1;

use super::published::View;
use crate::prediction::{Coverage, RoundCosts, Switches};

/// As the exposition format's version 0.0.4 names itself.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

pub(super) fn text(costs: &RoundCosts, switches: &Switches, view: &View) -> String {
    let mut text = String::new();
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let seconds = |us: u64| us as f64 / 1e6;
    let score = *costs.score.lock().unwrap_or_else(PoisonError::into_inner);
    let n_switches = switches.lock().unwrap_or_else(PoisonError::into_inner).len();
    let numbers = [
        ("prediction_rounds_total", "counter", "Rounds of forecasts.", load(&costs.rounds) as f64),
        (
            "prediction_fork_seconds_total",
            "counter",
            "Time that the core's thread stood still to copy its state.",
            seconds(load(&costs.fork_us)),
        ),
        ("prediction_fork_seconds_max", "gauge", "The longest of these times.", seconds(load(&costs.fork_max_us))),
        (
            "prediction_simulated_seconds_total",
            "counter",
            "Time that simulations took on their own thread.",
            seconds(load(&costs.simulated_us)),
        ),
        ("prediction_tasks_scored", "gauge", "Finished tasks whose predicted times are scored.", score.tasks as f64),
        ("prediction_tasks_within_5_percent", "gauge", "Share of them predicted within 5 %.", score.within_5_percent),
        (
            "prediction_tasks_within_10_percent",
            "gauge",
            "Share of them predicted within 10 %.",
            score.within_10_percent,
        ),
        (
            "prediction_task_error_p95",
            "gauge",
            "The error that 95 % of them stay within, as a share of the task's time.",
            score.p95_percent / 100.0,
        ),
        ("prediction_tasks_unseen_total", "counter", "Finished tasks whose class was new.", score.unseen as f64),
        ("prediction_scheduler_switches", "gauge", "Switches of the scheduler that are kept.", n_switches as f64),
    ];
    for (name, kind, help, value) in numbers {
        head(&mut text, name, kind, help);
        let _ = writeln!(text, "howdah_{name} {value}");
    }
    let coverage = costs.coverage.lock().unwrap_or_else(PoisonError::into_inner).clone();
    reliability(&mut text, &coverage);
    let with_forecast = || view.jobs.iter().filter_map(|job| Some((job, job.predicted?)));
    head(&mut text, "job_predicted_finish_timestamp_seconds", "gauge", "When jobs that are not over will be.");
    for (job, end) in with_forecast() {
        sample(&mut text, "job_predicted_finish_timestamp_seconds", job, end.finish_ms_epoch);
    }
    head(&mut text, "job_predicted_finish_low_timestamp_seconds", "gauge", "The early end of the interval.");
    for (job, end) in with_forecast() {
        sample(&mut text, "job_predicted_finish_low_timestamp_seconds", job, end.low_ms_epoch);
    }
    head(&mut text, "job_predicted_finish_high_timestamp_seconds", "gauge", "The late end of the interval.");
    for (job, end) in with_forecast() {
        sample(&mut text, "job_predicted_finish_high_timestamp_seconds", job, end.high_ms_epoch);
    }
    text
}

/// A number of one scheduler's forecasts: its name, what it is, and where it comes from.
type Number<S> = (&'static str, &'static str, fn(&S) -> f64);

/// How many truths intervals hold, beside the share that they state. What nobody has seen yet is left out.
fn reliability(text: &mut String, coverage: &Coverage) {
    head(text, "prediction_interval_stated", "gauge", "The share of truths that every interval states to hold.");
    let _ = writeln!(text, "howdah_prediction_interval_stated {STATED}");
    let name = "prediction_tasks_within_interval";
    head(text, name, "gauge", "Share of the scored tasks that took what their intervals said.");
    if let Some(share) = coverage.tasks {
        let _ = writeln!(text, "howdah_{name} {share}");
    }
    let of_ends: [Number<EndScore>; 4] = [
        ("ends_jobs", "Jobs whose ends were predicted.", |score| score.jobs as f64),
        ("ends_forecasts", "Forecasts of their ends; those of long jobs are thinned out.", |score| {
            score.forecasts as f64
        }),
        ("ends_within_interval", "Forecasts whose interval held the end.", |score| score.within_interval as f64),
        ("ends_error_seconds", "By how much the predicted ends were off, all together.", |score| {
            score.error.as_secs_f64()
        }),
    ];
    by_scheduler(text, &of_ends, &coverage.ends);
    let of_starts: [Number<StartScore>; 5] = [
        ("starts", "Starts of tasks within 30 s after a forecast.", |score| score.starts as f64),
        ("starts_predicted", "Those that the last forecast before them had told.", |score| score.predicted as f64),
        ("starts_elsewhere", "Maps among these that ran on another worker.", |score| score.elsewhere as f64),
        ("starts_within_2_seconds", "Those within 2 s of the told time, maps on the told worker.", |score| {
            score.near as f64
        }),
        ("starts_error_seconds", "By how much those that were told were off, all together.", |score| {
            score.error.as_secs_f64()
        }),
    ];
    by_scheduler(text, &of_starts, &coverage.starts);
}

fn by_scheduler<S>(text: &mut String, numbers: &[Number<S>], scores: &BTreeMap<String, S>) {
    for (what, help, number) in numbers {
        let name = format!("prediction_{what}_total");
        head(text, &name, "counter", help);
        for (scheduler, score) in scores {
            let _ = writeln!(text, "howdah_{name}{{scheduler=\"{scheduler}\"}} {}", number(score));
        }
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP howdah_{name} {help}\n# TYPE howdah_{name} {kind}");
}

/// Of a job; what is beyond the horizon is left out. Ids are digits and underscores, which need no escapes.
fn sample(text: &mut String, name: &str, job: &v1::JobStatus, ms_epoch: u64) {
    if ms_epoch > 0 {
        let _ = writeln!(text, "howdah_{name}{{job=\"{}\"}} {:.3}", job.job, ms_epoch as f64 / 1e3);
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::*;

    #[test]
    fn each_known_metric_is_a_line_and_an_unknown_one_is_none() {
        let costs = RoundCosts::default();
        costs.rounds.store(3, Ordering::Relaxed);
        costs.fork_us.store(1_500, Ordering::Relaxed);
        let end = v1::PredictedEnd { finish_ms_epoch: 12_500, ..v1::PredictedEnd::default() };
        let job = v1::JobStatus { job: "job_1_0001".to_owned(), predicted: Some(end), ..v1::JobStatus::default() };
        let over = v1::JobStatus { job: "job_1_0002".to_owned(), ..v1::JobStatus::default() };
        let view =
            View { cluster: v1::GetClusterResponse::default(), jobs: vec![job, over], workers: vec![], queues: vec![] };
        let text = text(&costs, &Switches::default(), &view);
        let has = |line: &str| assert!(text.lines().any(|found| found == line), "{line}: not in\n{text}");
        has("# TYPE howdah_prediction_rounds_total counter");
        has("howdah_prediction_rounds_total 3");
        has("howdah_prediction_fork_seconds_total 0.0015");
        has("howdah_job_predicted_finish_timestamp_seconds{job=\"job_1_0001\"} 12.500");
        let scored = |line: &str| line.starts_with("howdah_prediction_tasks_within") && line.contains("interval");
        assert!(!text.lines().any(scored) && !text.contains("scheduler="), "nothing was scored yet: {text}");
        assert!(!text.contains("low_timestamp_seconds{") && !text.contains("job_1_0002"), "{text}");
    }

    #[test]
    fn coverage_and_errors_of_ends_and_starts_are_counted_by_scheduler() {
        let costs = RoundCosts::default();
        let score = EndScore { jobs: 2, forecasts: 10, within_interval: 9, error: Span::from_ms(2_500) };
        let ends = [("fair".to_owned(), score)].into();
        let score = StartScore { starts: 9, predicted: 8, elsewhere: 2, near: 5, error: Span::from_ms(750) };
        let starts = [("fifo".to_owned(), score)].into();
        *costs.coverage.lock().expect("nobody panicked") = Coverage { tasks: Some(0.875), ends, starts };
        let view = View { cluster: v1::GetClusterResponse::default(), jobs: vec![], workers: vec![], queues: vec![] };
        let text = text(&costs, &Switches::default(), &view);
        for line in [
            "howdah_prediction_interval_stated 0.9",
            "howdah_prediction_tasks_within_interval 0.875",
            "# TYPE howdah_prediction_ends_within_interval_total counter",
            "howdah_prediction_ends_jobs_total{scheduler=\"fair\"} 2",
            "howdah_prediction_ends_forecasts_total{scheduler=\"fair\"} 10",
            "howdah_prediction_ends_within_interval_total{scheduler=\"fair\"} 9",
            "howdah_prediction_ends_error_seconds_total{scheduler=\"fair\"} 2.5",
            "# TYPE howdah_prediction_starts_total counter",
            "howdah_prediction_starts_total{scheduler=\"fifo\"} 9",
            "howdah_prediction_starts_predicted_total{scheduler=\"fifo\"} 8",
            "howdah_prediction_starts_elsewhere_total{scheduler=\"fifo\"} 2",
            "howdah_prediction_starts_within_2_seconds_total{scheduler=\"fifo\"} 5",
            "howdah_prediction_starts_error_seconds_total{scheduler=\"fifo\"} 0.75",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: not in\n{text}");
        }
    }
}
