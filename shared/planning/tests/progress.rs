//! Running maps by what they report of their progress: believed as far as it came true before, and nothing live changes by it.

#[path = "../../core/tests/kit/mod.rs"]
mod kit;

use howdah_core::job::{JobId, Phase, Progress};
use howdah_core::time::Span;
use howdah_core::tracker::{Effect, Input};
use howdah_planning::prediction::{
    Changes, EndWatch, Fallback, Forecast, ForecastOptions, Learned, Learner, TaskHistory, TaskPredictor, by_name,
    forecast,
};
use kit::{AttemptState, Cluster, Running, Succeeded, job_with, map};

/// A cluster of one worker that is learnt from, with forecasts on the way if they are made.
struct Learning {
    cluster: Cluster,
    learner: Learner,
    watch: EndWatch,
    history: TaskHistory,
    forecasts: bool,
    /// All that came of it.
    effects: Vec<Effect>,
}

impl Learning {
    fn new(forecasts: bool) -> Learning {
        let cluster = Cluster::new().workers(1, 1, 1);
        let (learner, watch, history) = Default::default();
        Learning { cluster, learner, watch, history, forecasts, effects: Vec::new() }
    }

    fn learn(&mut self) {
        let Learning { cluster, learner, watch, history, .. } = self;
        let effects = std::mem::take(&mut cluster.effects);
        learner.follow(
            cluster.now,
            &effects,
            cluster.tracker.state(),
            |_| "words".to_owned(),
            |learned| {
                if let Learned::Task { attempt, sample, .. } = &learned {
                    watch.task_ended(*attempt, sample.time, history);
                }
                learned.put_into(history);
            },
        );
        self.effects.extend(effects);
    }

    fn report(&mut self, job: JobId, progress: f64, state: AttemptState) {
        let id = map(job.0, 0, 0);
        self.cluster.puppets[0].attempts.insert(id, state);
        let mut report = self.cluster.report_of(0);
        for status in report.attempts.iter_mut().filter(|status| status.attempt == id) {
            (status.phase, status.progress) = (Phase::Map, Progress::from_fraction(progress));
        }
        self.cluster.puppets[0].waiting = true;
        self.cluster.apply(&[Input::Report(Box::new(report))]);
        self.learn();
    }

    /// A job of one map runs for so long, and has reported `progress` at half of it.
    fn run_half(&mut self, ms: u64, progress: f64) -> JobId {
        let job = self.cluster.submit(job_with(1, 0, |conf| conf.commits_output = false));
        self.cluster.beat(0);
        self.learn();
        self.cluster.advance(ms / 2);
        self.report(job, progress, Running);
        if self.forecasts {
            let ahead = self.ahead(false);
            self.watch.predicted(&ahead);
        }
        job
    }

    fn run(&mut self, ms: u64, progress: f64) {
        let job = self.run_half(ms, progress);
        self.cluster.advance(ms - ms / 2);
        self.report(job, 1.0, Succeeded);
        self.cluster.apply(&[Input::JobCommitted { job, ok: true }]);
        self.learn();
    }

    fn ahead(&self, without_progress: bool) -> Forecast {
        let model = by_name("linear").expect("it is listed");
        let predictor = TaskPredictor::new(&self.history, &*model, Fallback::default());
        let options = ForecastOptions { without_progress, ..ForecastOptions::default() };
        let fork = self.cluster.tracker.fork();
        forecast(fork, &predictor, &|_| "words".to_owned(), &Changes::default(), &options).expect("nothing is changed")
    }

    /// In how long the job that runs is expected to be over, with its progress and without, in seconds.
    fn left(&self) -> [f64; 2] {
        [false, true].map(|without| {
            let ahead = self.ahead(without);
            ahead.jobs[0].finish.expect("within the hour").since(ahead.at).as_secs_f64()
        })
    }
}

/// Times of maps, in milliseconds: 10 s on average.
fn times() -> impl Iterator<Item = u64> {
    (0..24).map(|n| 6_000 + (n * 7 % 9) * 1_000)
}

#[test]
fn a_map_that_is_half_done_has_as_much_left_where_progress_was_true_before() {
    let mut learning = Learning::new(true);
    times().for_each(|ms| learning.run(ms, 0.5));
    learning.run_half(14_000, 0.5);
    let [with, without] = learning.left();
    assert!((6.7..7.3).contains(&with) && (2.0..4.0).contains(&without), "{with} s by progress, {without} s without");
}

#[test]
fn progress_that_says_the_same_of_short_and_long_maps_is_not_believed() {
    let mut learning = Learning::new(true);
    // At its half each map says that it is nearly done, or has just begun, whatever it takes.
    for (n, ms) in times().enumerate() {
        learning.run(ms, if n % 2 == 0 { 0.97 } else { 0.69 });
    }
    learning.run_half(10_000, 0.97);
    let [with, without] = learning.left();
    assert!((with - without).abs() < 2.0, "{with} s by progress, {without} s without");
}

#[test]
fn nothing_is_told_by_progress_before_enough_of_it_came_true() {
    let mut learning = Learning::new(true);
    times().take(8).for_each(|ms| learning.run(ms, 0.5));
    learning.run_half(14_000, 0.5);
    let [with, without] = learning.left();
    assert_eq!(with, without);
}

#[test]
fn what_is_remembered_of_progress_survives_as_the_history_does() {
    let mut learning = Learning::new(true);
    times().for_each(|ms| learning.run(ms, 0.5));
    let text = serde_json::to_string(&learning.history).expect("it can be written");
    let read: TaskHistory = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(read, learning.history);
    let mut old: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    old.as_object_mut().expect("an object").remove("progress").expect("it was there");
    let read: TaskHistory = serde_json::from_value(old).expect("a file of an earlier build");
    assert_ne!(read, learning.history);
}

#[test]
fn forecasts_by_progress_change_no_decision_and_no_state() {
    let [with, without] = [true, false].map(|forecasts| {
        let mut learning = Learning::new(forecasts);
        times().for_each(|ms| learning.run(ms, 0.5));
        learning.run_half(14_000, 0.5);
        let before = format!("{:?}", learning.cluster.tracker.state());
        learning.ahead(false);
        assert_eq!(before, format!("{:?}", learning.cluster.tracker.state()), "a forecast changed the live state");
        learning.cluster.advance(Span::from_secs(20).as_ms());
        (learning.effects, before)
    });
    assert!(with == without, "whoever makes forecasts decides otherwise");
}
