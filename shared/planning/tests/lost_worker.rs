//! A worker that is lost while forecasts are made: in doubt while it is silent, gone in the next round once it is lost.

#[path = "../../core/tests/kit/mod.rs"]
mod kit;

use howdah_core::job::WorkerId;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;
use howdah_planning::prediction::{
    Changes, Class, Fallback, Forecast, ForecastOptions, JobForecast, Part, Sample, TaskHistory, TaskPredictor,
    by_name, forecast,
};
use kit::{Cluster, Succeeded, job_with, map};

/// Maps of ten seconds, nearly.
fn history() -> TaskHistory {
    let mut history = TaskHistory::default();
    for n in 0..30 {
        let class = Class { application: "words".to_owned(), family: "test".to_owned(), part: Part::Map };
        let time = Span::from_ms(9_850 + n * 10);
        history.add(class, Sample { bytes: None, time, worker: String::new(), place: None });
    }
    history
}

fn ahead(tracker: &JobTracker) -> Forecast {
    let (model, history) = (by_name("linear").expect("it is listed"), history());
    let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
    let options = ForecastOptions::default();
    forecast(tracker.fork(), &predictor, &|_| "words".to_owned(), &Changes::default(), &options)
        .expect("nothing is changed")
}

/// Workers of one map slot that expire after half a minute, and a job that they have begun.
fn cluster(workers: u32) -> (Cluster, Time) {
    let mut cluster = Cluster::with(|config| config.expiry_ms = 30_000).workers(workers, 1, 1);
    cluster.submit(job_with(6, 0, |conf| conf.commits_output = false));
    (0..workers).for_each(|worker| cluster.beat(worker));
    let start = cluster.now;
    (cluster, start)
}

/// When the only job is over, in seconds from `start`: at the earliest, expected, at the latest.
fn ends(forecast: &Forecast, start: Time) -> [Option<f64>; 3] {
    let JobForecast { low, finish, high, .. } = forecast.jobs[0];
    [low, finish, high].map(|at| at.map(|at| at.since(start).as_secs_f64()))
}

#[test]
fn a_worker_that_falls_silent_makes_the_interval_wide_and_once_it_is_lost_the_next_forecast_goes_without_it() {
    let (mut cluster, start) = cluster(2);
    let [low, finish, high] = ends(&ahead(&cluster.tracker), start).map(|at| at.expect("within the hour"));
    assert!((29.0..31.0).contains(&finish) && high - low < 3.0, "{low} {finish} {high}");

    // The second worker says nothing any more; the first goes on.
    for _ in 0..3 {
        cluster.advance(3_000);
        cluster.beat(0);
    }
    cluster.advance(1_000);
    cluster.report(0, &[(map(1, 0, 0), Succeeded)]);
    cluster.advance(2_000);
    cluster.beat(0);
    let silent = cluster.tracker.fork();
    let before = format!("{:?}", silent.state());
    let [low, finish, high] = ends(&ahead(&silent), start).map(|at| at.expect("within the hour"));
    assert!(low < 35.0 && finish < 40.0, "it may come back: {low} {finish} {high}");
    assert!(high > 55.0, "or five maps are left to one worker: {low} {finish} {high}");

    // It is lost while that forecast is being simulated.
    let live = &cluster.tracker;
    assert!(live.state().worker(WorkerId(1)).is_some_and(|worker| worker.free(howdah_core::job::TaskKind::Map) == 0));
    for _ in 0..7 {
        cluster.advance(3_000);
        cluster.beat(0);
    }
    assert!(cluster.running_on(1).is_empty(), "it is lost, and what ran there waits again");
    assert_eq!(before, format!("{:?}", silent.state()), "a fork has nothing to do with what comes later");
    let next = ahead(&cluster.tracker);
    assert!(next.starts.iter().all(|start| start.worker == WorkerId(0)) && next.starts.len() == 4, "{:?}", next.starts);
    let [_, finish, _] = ends(&next, start);
    assert!(finish.is_some_and(|finish| finish > 55.0), "{finish:?}");
}

#[test]
fn when_the_only_worker_is_silent_or_lost_no_latest_end_is_stated() {
    let (mut cluster, start) = cluster(1);
    cluster.advance(12_000);
    // Something has to happen for time to pass.
    cluster.submit(job_with(1, 0, |_| {}));
    let [low, finish, high] = ends(&ahead(&cluster.tracker), start);
    assert!(low.is_some() && finish.is_some() && high.is_none(), "{low:?} {finish:?} {high:?}");
    cluster.advance(30_000);
    assert_eq!(ends(&ahead(&cluster.tracker), start), [None; 3], "nobody is left to do it");
}
