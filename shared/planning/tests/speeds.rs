//! Workers of different speeds and loads: with Load-Aware's curves each task tells of others elsewhere, and ends are predicted
//! better than where workers are taken to be alike.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::AttemptState;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::Random;
use howdah_core::replay::{
    AttemptRecord, Observer, ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView,
};
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::{
    Changes, Class, Fallback, ForecastOptions, Heartbeats, Part, Place, RunningScore, Sample, Speeds, TaskHistory,
    TaskPredictor, by_name, forecast,
};

const HEARTBEAT: SimHeartbeat = SimHeartbeat { interval: Span::from_secs(3), out_of_band: true };

/// Two fast workers, one at half their frequency, and one that has to share its core with two others; all of one map slot.
fn options() -> ReplayOptions {
    let worker = |(index, (khz, foreign)): (usize, (u32, u32))| SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: "/r".to_owned(),
        map_slots: 1,
        reduce_slots: 1,
        cores_milli: 1_000,
        khz,
        foreign: vec![(Time::ZERO, foreign)],
        ..SimWorker::default()
    };
    let kinds = [(2_600_000, 0), (2_600_000, 0), (1_300_000, 0), (2_600_000, 2_000)];
    let workers = kinds.into_iter().enumerate().map(worker).collect();
    let params = [("speculation.cap", "0"), ("load-aware.pending", "all")];
    ReplayOptions {
        scheduler: "load-aware".to_owned(),
        scheduler_params: params.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        view: View::Workers(WorkersView { workers, heartbeat: HEARTBEAT, ..WorkersView::default() }),
        ..ReplayOptions::default()
    }
}

fn trace(seed: u64) -> Trace {
    let mut random = Random::new(3, seed);
    let mut job = |index| JobTemplate {
        name: format!("words-{index}"),
        n_maps: 25,
        map_ms: (0..25).map(|_| (10_000.0 * (1.0 + 0.04 * random.normal())) as u64).collect(),
        ..JobTemplate::default()
    };
    Trace { jobs: (0..3).map(&mut job).collect(), ..Trace::default() }
}

struct Noting(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Noting {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

/// Mean errors with the correction and without: of jobs' ends in seconds, of tasks' times in percent.
#[derive(Debug, Default)]
struct Errors {
    ends_s: [f64; 2],
    tasks_percent: [f64; 2],
    /// Of tasks' times as a running score has them.
    scored_percent: [f64; 2],
}

/// Runs a trace, with forecasts both ways if they are to be judged.
fn run(trace: &Trace, history: &mut TaskHistory, judges: bool) -> Errors {
    let mut run = Simulation::new(trace, &options()).expect("slots");
    let records = Rc::new(RefCell::new(Vec::new()));
    run.observe(Box::new(Noting(Rc::clone(&records))));
    let model = by_name("linear").expect("it is listed");
    let (mut due, mut forecasts, mut tasks) = (Time::from_ms(5_000), Vec::new(), Vec::new());
    let mut scores: [RunningScore; 2] = Default::default();
    while run.next_time().is_some() {
        run.step();
        for record in records.borrow_mut().drain(..).filter(|record| record.state == AttemptState::Succeeded) {
            let mut fork = run.tracker().fork();
            let state = run.tracker().state();
            let worker = state.worker(record.worker).expect("it is known");
            let time = record.end.since(record.start);
            let place = Place::of(worker, state);
            let class = Class { application: String::new(), family: "words".to_owned(), part: Part::Map };
            let sample = Sample { bytes: None, time, worker: worker.name().to_owned(), place };
            if judges {
                let predictor = TaskPredictor::new(history, &*model, Fallback::default());
                let speeds = Speeds::of(&mut fork).expect("Load-Aware has curves");
                scores[0].at(Some(speeds.clone()));
                scores.iter_mut().for_each(|score| score.judge(history, record.attempt, &class, &sample));
                let told = [predictor.at(speeds).estimate_of(&class, &sample), predictor.estimate_of(&class, &sample)];
                tasks.push(told.map(|(told, _)| 100.0 * (told.expected / 1e6 / time.as_secs_f64() - 1.0).abs()));
            }
            history.add(class, sample);
        }
        if judges && run.tracker().state().now() >= due && run.tracker().state().n_jobs() > 0 {
            due += Span::from_secs(10);
            let ahead = [false, true].map(|alike_workers| {
                let predictor = TaskPredictor::new(history, &*model, Fallback::default());
                let heartbeats = Heartbeats::Given(HEARTBEAT);
                let options = ForecastOptions { alike_workers, heartbeats, draws: 0, ..ForecastOptions::default() };
                let fork = run.tracker().fork();
                forecast(fork, &predictor, &|_| String::new(), &Changes::default(), &options).expect("no changes").jobs
            });
            forecasts.push(ahead);
        }
    }
    let outcomes = run.report().jobs;
    let mut ends: Vec<[f64; 2]> = Vec::new();
    for [with, without] in &forecasts {
        for jobs in with.iter().zip(without) {
            let actual = outcomes.iter().find(|outcome| outcome.id == jobs.0.job).expect("it ended").finish;
            ends.push([jobs.0, jobs.1].map(|job| {
                let told = job.finish.expect("within the hour");
                told.since(actual).max(actual.since(told)).as_secs_f64()
            }));
        }
    }
    let mean =
        |list: &[[f64; 2]]| [0, 1].map(|way| list.iter().map(|both| both[way]).sum::<f64>() / list.len().max(1) as f64);
    let scored_percent = scores.map(|score| score.score().mean_percent);
    Errors { ends_s: mean(&ends), tasks_percent: mean(&tasks), scored_percent }
}

#[test]
fn curves_of_load_and_frequency_make_forecasts_on_different_workers_better() {
    let mut history = TaskHistory::default();
    run(&trace(1), &mut history, false);
    let Errors { ends_s, tasks_percent, scored_percent } = run(&trace(2), &mut history, true);
    assert!(tasks_percent[0] < 6.0 && tasks_percent[1] > 30.0, "of task times: {tasks_percent:?}");
    assert!(scored_percent[0] < 6.0 && scored_percent[1] > 30.0, "of task times: {scored_percent:?}");
    // Which worker takes the last map is decided by tenths of a second, and a slow one needs 20 s more for it.
    assert!(ends_s[0] < 0.7 * ends_s[1] && ends_s[0] < 4.0, "of ends: {ends_s:?}");
}

#[test]
fn without_curves_nothing_changes() {
    let plain = ReplayOptions { scheduler: "fifo".to_owned(), scheduler_params: Default::default(), ..options() };
    let trace = trace(1);
    let mut run = Simulation::new(&trace, &plain).expect("slots");
    run.run_until(Time::from_ms(30_000));
    assert_eq!(Speeds::of(&mut run.tracker().fork()), None);
}
