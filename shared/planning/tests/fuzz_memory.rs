//! No bytes in the file of what was learnt of tasks make the master panic, eat memory or forecast without end: it is kept across
//! restarts, and whoever can write into the master's directory can change it.
//!
//! A changed one is refused, or is a memory as it could have been learnt: it can be written, read again, added to and asked.

use std::sync::LazyLock;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, JobId, TaskKind};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::time::{Span, Time};
use howdah_fuzz::{Counting, Readings, cases, changed, changes, most_held};
use howdah_planning::prediction::{
    Changes, Class, EndWatch, Fallback, ForecastOptions, Heartbeats, MODELS, Part, Place, RunningScore, Sample,
    TaskHistory, TaskPredictor, by_name, forecast,
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static READINGS: Readings = Readings::of("what was learnt");

/// A name that stands for no number when the file is changed.
const FAMILY: &str = "night";

fn class(part: Part) -> Class {
    Class { application: "sort".to_owned(), family: FAMILY.to_owned(), part }
}

fn sample(n: u64) -> Sample {
    let place = Place { load_milli: 1_500, cores_milli: 2_000, khz: 2_400_000 };
    let worker = format!("w{}", n % 3);
    Sample {
        bytes: Some(n << 20),
        time: Span::from_ms(900 + 40 * n),
        worker,
        place: n.is_multiple_of(2).then_some(place),
    }
}

/// With something of all that there is: few enough samples that a change hits the rest as well, and enough for each model.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut history = TaskHistory::default();
    for n in 0..12 {
        history.add(class(Part::Map), sample(n));
    }
    history.add(class(Part::LaterReduce), sample(3));
    history.add_commit(Span::from_ms(70));
    history.add_commit(Span::from_ms(90));
    let mut document = serde_json::to_value(&history).expect("it has a JSON form");
    let errors: Vec<Value> = (0..9).map(|job| json!([0.25, 0.1 * f64::from(job)])).collect();
    document["end_errors"] = json!({ "fifo": errors });
    let evidence = json!({"n": 20.0, "said": 2.0, "was": 2.5, "said_squared": 3.0, "product": 3.1, "was_squared": 3.5});
    document["progress"] = json!([[[class(Part::Map), 1], evidence]]);
    serde_json::to_vec(&document).expect("it is JSON")
});

/// A cluster with jobs of that application, some of whose tasks run.
fn trace() -> Trace {
    let job = |n_maps| JobTemplate {
        name: FAMILY.to_owned(),
        n_maps,
        n_reduces: 1,
        map_ms: vec![10_000],
        reduce_ms: vec![3_000],
        ..JobTemplate::default()
    };
    Trace { jobs: vec![job(5), job(3)], ..Trace::default() }
}

fn options() -> ReplayOptions {
    let worker = |n: u32| SimWorker {
        name: format!("w{n}"),
        host: format!("h{n}"),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        ..SimWorker::default()
    };
    let view = View::Workers(WorkersView { workers: (0..2).map(worker).collect(), ..WorkersView::default() });
    ReplayOptions { view, ..ReplayOptions::default() }
}

/// Asks it everything, and adds to it.
fn use_it(mut history: TaskHistory) {
    let known: Vec<Class> = history.classes().map(|(class, _)| class.clone()).collect();
    for model in MODELS {
        let model = by_name(model).expect("it is listed");
        let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
        for class in known.iter().cloned().chain(Part::ALL.map(class)) {
            for bytes in [None, Some(0), Some(1 << 20), Some(u64::MAX)] {
                let (estimate, _) = predictor.estimate(&class, bytes, Some("w1"));
                assert!(!estimate.expected.is_nan() && estimate.expected >= 0.0, "{class:?}: {estimate:?}");
            }
        }
    }
    let (mut score, mut watch) = (RunningScore::default(), EndWatch::default());
    let trace = trace();
    let mut run = Simulation::new(&trace, &options()).expect("slots of both kinds");
    run.run_until(Time::from_ms(12_000));
    let model = by_name("linear").expect("it is listed");
    let asked = ForecastOptions {
        draws: 3,
        heartbeats: Heartbeats::Given(SimHeartbeat::default()),
        alone: true,
        ..ForecastOptions::default()
    };
    let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
    let told = forecast(run.tracker().fork(), &predictor, &|_| "sort".to_owned(), &Changes::default(), &asked);
    let told = told.expect("nothing is changed");
    assert_eq!(told.jobs.len(), 2);
    assert!(told.events < 100_000, "{} events for ten tasks", told.events);
    watch.predicted(&told);
    for n in 0..3 {
        let attempt = AttemptId { job: JobId(1), kind: TaskKind::Map, index: n as u32, number: 0 };
        score.launched(&history, attempt, &class(Part::Map), sample(n).bytes, "w1");
        score.judge(&history, attempt, &class(Part::Map), &sample(n));
        watch.task_ended(attempt, sample(n).time, &mut history);
        history.add(class(Part::Map), sample(n));
        history.add_commit(Span::from_ms(80));
    }
    watch.ended(JobId(1), Some(Time::from_ms(40_000)), &mut history);
    writes_and_reads_again(&history);
}

fn writes_and_reads_again(history: &TaskHistory) {
    let bytes = serde_json::to_vec(history).expect("it has a JSON form");
    let again: TaskHistory = serde_json::from_slice(&bytes).expect("its own form");
    let counts = |history: &TaskHistory| history.classes().map(|(class, n)| (class.clone(), n)).collect::<Vec<_>>();
    assert_eq!((counts(&again), again.seen()), (counts(history), history.seen()));
}

#[test]
fn the_good_one_is_read_whole_and_can_be_used() {
    let history: TaskHistory = serde_json::from_slice(&GOOD).expect("it is good");
    let counts: Vec<usize> = history.classes().map(|(_, samples)| samples).collect();
    assert_eq!((counts, history.seen(), history.commit()), (vec![12, 1], 13, Span::from_ms(80)));
    let written = serde_json::to_value(&history).expect("it has a JSON form");
    assert_eq!(written, serde_json::from_slice::<Value>(&GOOD).expect("it is JSON"), "nothing of it was cut");
    use_it(history);
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn changed_ones_are_refused_or_can_be_used(changes in changes()) {
        let bytes = changed(&GOOD, &changes);
        let (read, most) = most_held(|| serde_json::from_slice::<TaskHistory>(&bytes));
        prop_assert!(most < 64 * bytes.len() + (1 << 20), "{} bytes were held for {}", most, bytes.len());
        if let Ok(history) = read {
            writes_and_reads_again(&history);
            use_it(history);
        }
        READINGS.add(1);
    }
}
