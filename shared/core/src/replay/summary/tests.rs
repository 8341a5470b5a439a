//! Summaries of reports that were worked out by hand.

use super::*;
use crate::cluster::{EndCause, SpeculationCosts};
use crate::job::profile::JobTemplate;
use crate::job::{AttemptState, JobId, Locality, TaskId, TaskKind, WorkerId};
use crate::replay::{AttemptRecord, Observer};
use crate::time::Time;

/// A job that came at `submit_s` and took `completion_s`.
fn job(template: u32, submit_s: u64, completion_s: u64) -> JobOutcome {
    JobOutcome {
        id: JobId(template + 1),
        template,
        submit: Time::from_ms(submit_s * 1_000),
        start: Some(Time::from_ms(submit_s * 1_000)),
        maps_done: None,
        finish: Time::from_ms((submit_s + completion_s) * 1_000),
        state: JobState::Succeeded,
        deadline: None,
        failed_attempts: 0,
        killed_attempts: 0,
        costs: SpeculationCosts::default(),
    }
}

fn trace(sizes_s: &[u64]) -> Trace {
    let template = |&s: &u64| JobTemplate { n_maps: 1, map_ms: vec![s * 1_000], ..JobTemplate::default() };
    Trace { jobs: sizes_s.iter().map(template).collect(), ..Trace::default() }
}

fn seconds(list: &[u64]) -> Vec<Span> {
    list.iter().map(|&s| Span::from_secs(s)).collect()
}

#[test]
fn slowdown_is_completion_over_the_time_alone_and_variability_is_over_the_median() {
    let report = ReplayReport {
        jobs: vec![job(0, 0, 10), job(1, 0, 40), job(2, 5, 30), job(3, 5, 50), job(4, 9, 100)],
        ..ReplayReport::default()
    };
    // Slowdowns 1, 4, 3, 5, 20; sorted 1, 3, 4, 5, 20.
    let summary = Summary::new(&report, &trace(&[10; 5]), Some(&seconds(&[10, 10, 10, 10, 5])), &[50.0, 75.0, 100.0]);
    assert_eq!(summary.slowdowns, [Some(1.0), Some(4.0), Some(3.0), Some(5.0), Some(20.0)]);
    let slowdown = summary.slowdown.expect("five jobs");
    assert_eq!((slowdown.jobs, slowdown.mean, slowdown.median), (5, 6.6, 4.0));
    // 0.95 × 4 = 3.8: from 5 four fifths of the way to 20.
    assert!((slowdown.p95 - 17.0).abs() < 1e-12, "{}", slowdown.p95);
    assert!((slowdown.variability() - 4.25).abs() < 1e-12);
    let measured: Vec<(f64, f64)> = slowdown.percentiles.iter().map(|p| (p.slowdown, p.variability)).collect();
    assert_eq!(measured, [(4.0, 1.0), (5.0, 1.25), (20.0, 5.0)]);
    let completion = summary.completion.expect("five jobs");
    assert_eq!((completion.mean_s, completion.median_s), (46.0, 40.0));
}

#[test]
fn jobs_without_a_comparable_time_have_no_slowdown() {
    let mut failed = job(0, 0, 10);
    failed.state = JobState::Failed;
    let mut running = job(1, 0, 10);
    running.state = JobState::Running;
    let report = ReplayReport { jobs: vec![failed, running, job(2, 0, 0), job(3, 0, 4)], ..ReplayReport::default() };
    let summary = Summary::new(&report, &trace(&[1; 4]), Some(&seconds(&[5, 5, 0, 0])), &[]);
    assert_eq!(summary.slowdowns, [None, None, Some(1.0), None]);
    assert_eq!(summary.jobs, JobCounts { succeeded: 2, failed: 1, killed: 0, unfinished: 1 });
    let without = Summary::new(&report, &trace(&[1; 4]), None, &[50.0]);
    assert_eq!(without.slowdown, None);
}

#[test]
fn an_empty_report_has_no_distributions() {
    let summary = Summary::new(&ReplayReport::default(), &Trace::default(), Some(&[]), &[50.0]);
    assert_eq!((summary.slowdown, summary.completion), (None, None));
    assert_eq!(summary.utilisation, [0.0, 0.0]);
}

#[test]
fn lateness_is_relative_and_summed_over_the_late_ones_only() {
    let with = |template, completion, deadline: u64| JobOutcome {
        deadline: Some(Span::from_secs(deadline)),
        ..job(template, 7, completion)
    };
    let mut failed = with(2, 5, 100);
    failed.state = JobState::Failed;
    let running = |template, so_far| JobOutcome { state: JobState::Running, ..with(template, so_far, 20) };
    let jobs = vec![with(0, 30, 20), with(1, 10, 20), failed, job(3, 0, 9), running(4, 90), running(5, 3)];
    let report = ReplayReport { jobs, ..ReplayReport::default() };
    let summary = Summary::new(&report, &trace(&[1; 6]), None, &[]);
    assert_eq!(summary.relative_deadline_exceeded, 0.5);
    assert_eq!((summary.with_deadline, summary.deadlines_missed), (5, 3));
}

#[test]
fn mean_slowdown_is_reported_per_class_of_size() {
    let report = ReplayReport { jobs: vec![job(0, 0, 10), job(1, 0, 30), job(2, 0, 600)], ..ReplayReport::default() };
    let summary = Summary::new(&report, &trace(&[5, 5, 200]), Some(&seconds(&[5, 5, 200])), &[]);
    let classes = summary.slowdown.expect("three jobs").by_size;
    let measured: Vec<(u64, f64, f64)> = classes.iter().map(|class| (class.jobs, class.mean, class.max)).collect();
    assert_eq!(measured, [(2, 4.0, 6.0), (1, 3.0, 3.0)]);
    assert_eq!((classes[1].from, classes[1].below), (Span::from_secs(100), Span::from_us(316_227_800)));
}

#[test]
fn queues_share_the_slots_time() {
    let mut one = trace(&[1, 1, 1]);
    one.jobs[1].queue = "etl".to_owned();
    let report = ReplayReport {
        jobs: vec![job(0, 0, 10), job(1, 0, 10), job(2, 0, 10)],
        makespan: Span::from_secs(10),
        slots: [2, 1],
        ..ReplayReport::default()
    };
    let usage = UsageByQueue::default();
    let record = |job: u32, kind, end_s: u64, state| AttemptRecord {
        attempt: TaskId { job: JobId(job), kind, index: 0 }.attempt(0),
        worker: WorkerId(0),
        state,
        cause: EndCause::Reported,
        start: Time::ZERO,
        maps_done: None,
        sorted: None,
        end: Time::from_ms(end_s * 1_000),
        locality: Locality::Unknown,
        speculative: false,
    };
    let mut observer = usage.clone();
    observer.attempt(&record(1, TaskKind::Map, 4, AttemptState::Succeeded));
    observer.attempt(&record(2, TaskKind::Map, 10, AttemptState::Succeeded));
    observer.attempt(&record(2, TaskKind::Reduce, 5, AttemptState::Killed));
    observer.attempt(&record(3, TaskKind::Map, 1, AttemptState::Failed));
    let queues = usage.queues(&report, &one);
    assert_eq!(
        queues.iter().map(|queue| (queue.queue.as_str(), queue.jobs)).collect::<Vec<_>>(),
        [("default", 2), ("etl", 1)]
    );
    assert_eq!(queues[0].utilisation, [0.25, 0.0]);
    assert_eq!(queues[1].utilisation, [0.5, 0.5]);
    assert_eq!(queues[0].wasted, [Span::from_secs(1), Span::ZERO]);
    assert_eq!(queues[1].wasted, [Span::ZERO, Span::from_secs(5)]);
}
