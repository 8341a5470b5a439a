//! One forecast of a large cluster: the fork on the core's thread, and the simulation of an hour.
//!
//! 100 workers of 4 map and 2 reduce slots, heartbeats every 3 s, 200 jobs of which 50,000 tasks of about a minute wait, as many
//! more as a tenth of them done before. Every map has its own size of input, and its time follows from that. The fork is all that
//! a master's core's thread does for it. Time is the thread's CPU time.

use howdah_core::cluster::{ClusterState, Job};
use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::time::{Span, Time};
use howdah_master::prediction::Rows;
use howdah_planning::prediction::{
    Changes, Class, Fallback, ForecastOptions, Heartbeats, Part, Sample, TaskHistory, TaskPredictor, by_name, forecast,
};

use super::measure::{median, thread_time};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};

const WORKERS: usize = 100;
/// Jobs that are not over, at least, and tasks of theirs that wait.
const LIVE: usize = 200;
const WAITING: u64 = 50_000;
/// All jobs: the first ones are done by then.
const JOBS: u32 = 216;
const MAPS: u32 = 253;
const APPLICATION: &str = "wordcount";
const HEARTBEAT: SimHeartbeat = SimHeartbeat { interval: Span::from_secs(3), out_of_band: true };

pub(crate) fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let trace = trace();
    let options = ReplayOptions { view: view(), ..ReplayOptions::default() };
    let mut live = Simulation::new(&trace, &options).map_err(|error| Failure::broke(error.to_string()))?;
    // A tenth of the work is done: 400 map slots of a minute each.
    live.run_until(Time::from_ms(12 * 60_000));
    let (jobs, waiting) = waiting(live.tracker().state());
    if jobs < LIVE || waiting < WAITING {
        return Err(Failure::broke(format!(
            "{jobs} jobs with {waiting} waiting tasks, expected {LIVE} with {WAITING}"
        )));
    }
    let rows_of_master = Rows::of(live.tracker().state(), APPLICATION);
    let history = history();
    let model = by_name("linear").ok_or_else(|| Failure::broke("the paper's model is not listed"))?;
    let mut rows = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..bench.repeats() * 5 {
        let began = thread_time()?;
        let handed = rows_of_master.fork(live.tracker());
        rows[0].push((thread_time()? - began).as_secs_f64() * 1e3);
        drop(handed);
        let fork = live.tracker().fork();
        for (row, (starts, draws)) in rows[1..].iter_mut().zip([(0, 0), (10_000, 0), (10_000, 4)]) {
            let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
            let heartbeats = Heartbeats::Given(HEARTBEAT);
            let options = ForecastOptions { starts, draws, heartbeats, ..ForecastOptions::default() };
            let began = thread_time()?;
            let outlook = forecast(fork.fork(), &predictor, &|_| APPLICATION.to_owned(), &Changes::default(), &options);
            let outlook = outlook.map_err(|error| Failure::broke(error.to_string()))?;
            row.push((thread_time()? - began).as_secs_f64() * 1e3);
            if outlook.jobs.iter().filter(|job| job.finish.is_some()).count() < 50 {
                return Err(Failure::broke("the forecast ended fewer jobs than an hour holds"));
            }
        }
    }
    let row = |measure: &str, values: &[f64], bar| Row {
        measure: measure.to_owned(),
        unit: "ms",
        howdah: median(values),
        baseline: None,
        bar,
    };
    Ok(Report {
        name: "predict",
        title: "Forecasting an hour of 100 workers, 200 jobs and 50,000 waiting tasks".to_owned(),
        baseline: "none: the bars are the project's own",
        rows: vec![
            row("fork of the live state, with what its jobs run", &rows[0], Some(Bar::AtMost(1.0))),
            row("the longest of these forks", &rows[0][longest(&rows[0])..][..1], Some(Bar::AtMost(1.0))),
            row("one simulation of an hour", &rows[1], Some(Bar::AtMost(50.0))),
            row("the same with 10,000 starts listed", &rows[2], None),
            row("a whole forecast, with the intervals of 4 draws", &rows[3], None),
        ],
        notes: vec![
            "CPU time of the thread, medians but for the longest fork; the fork is what the core's thread stands still for"
                .to_owned(),
            format!("{jobs} jobs with {waiting} waiting tasks, and sizes of input for each map"),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

/// The place of the largest.
fn longest(values: &[f64]) -> usize {
    (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
}

/// Jobs that are not over, and their tasks that wait.
fn waiting(state: &ClusterState) -> (usize, u64) {
    let of =
        |job: &Job| TaskKind::ALL.map(|kind| u64::from(job.tasks(kind).pending().count())).into_iter().sum::<u64>();
    (state.jobs().count(), state.jobs().map(of).sum())
}

/// A map's input: from 48 to 80 MiB, all different.
fn bytes(job: u32, map: u32) -> u64 {
    (48 << 20) + (u64::from(map) * 7_919 + u64::from(job) * 104_729) % 32_768 * 1_024
}

/// A map of 64 MiB takes a minute.
fn map_ms(bytes: u64) -> u64 {
    12_000 + bytes * 750 / (1 << 20)
}

/// As if jobs like these had run before.
fn history() -> TaskHistory {
    let mut history = TaskHistory::default();
    for part in Part::TASKS {
        for n in 0..1_000 {
            let class = Class { application: APPLICATION.to_owned(), family: "batch".to_owned(), part };
            let bytes = bytes(0, n);
            let time = if part == Part::Map { map_ms(bytes) + u64::from(n % 7) * 500 } else { 55_000 };
            let sample = Sample { bytes: Some(bytes), time: Span::from_ms(time), worker: String::new(), place: None };
            history.add(class, sample);
        }
    }
    history
}

fn trace() -> Trace {
    let sizes = |job| (0..MAPS).map(move |map| bytes(job, map));
    let job = |index| JobTemplate {
        name: format!("batch-{index}"),
        n_maps: MAPS,
        n_reduces: 2,
        map_ms: sizes(index).map(map_ms).collect(),
        map_input_bytes: sizes(index).collect(),
        first_shuffle_ms: vec![10_000],
        typical_shuffle_ms: vec![15_000],
        reduce_ms: vec![40_000],
        ..JobTemplate::default()
    };
    Trace { jobs: (1..=JOBS).map(job).collect(), ..Trace::default() }
}

fn view() -> View {
    let worker = |index| SimWorker {
        name: format!("worker-{index}"),
        host: format!("host-{index}"),
        rack: format!("/rack-{}", index % 4),
        map_slots: 4,
        reduce_slots: 2,
        ..SimWorker::default()
    };
    View::Workers(WorkersView {
        workers: (0..WORKERS).map(worker).collect(),
        heartbeat: HEARTBEAT,
        ..WorkersView::default()
    })
}
