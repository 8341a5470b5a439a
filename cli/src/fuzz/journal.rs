//! The journal: damaged bytes are read as far as they are good, and whole frames may say anything.
//!
//! A checksum and a chain keep nearly all changed bytes from being read at all. What gets past them would be a frame that
//! was written so: frames whose payload is changed are therefore written anew, with a good checksum and chain, and then
//! go through the core.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use howdah_core::job::{AttemptState, JobConf, JobId, JobSpec, Phase, Priority, Progress, TaskId, TaskKind, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{
    AttemptReport, ClusterConfig, Input, JobTracker, Registration, Report, SchedulerChoice, Snapshot, Vitals,
};
use howdah_fuzz::{Readings, apply, change};
use howdah_master::journal::{JournalReader, JournalWriter, check, read_header, repair};
use howdah_master::policies;
use howdah_master::recorder::{Origin, Recorder};
use howdah_master::replay::replay_decisions;
use howdah_proto::v1;
use proptest::prelude::*;
use prost::Message;
use serde_json::Value;

const SEGMENT: u64 = 1 << 16;

static READINGS: Readings = Readings::of("journals");

/// A small run as it lies on disk.
struct Run {
    header: v1::JournalHeader,
    frames: Vec<v1::JournalFrame>,
    header_bytes: Vec<u8>,
    segment: Vec<u8>,
}

static RUN: LazyLock<Run> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("make a folder");
    record(folder.path());
    let header_bytes = std::fs::read(folder.path().join("header")).expect("the header");
    let segment = std::fs::read(folder.path().join("journal/00000001.seg")).expect("the segment");
    let header = read_header(folder.path()).expect("it reads");
    Run { header, frames: frames_in(folder.path()), header_bytes, segment }
});

/// What a master of that run remembers: when a job's maps run, when another one waits beside its reduce, and in the end.
static SNAPSHOTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut tracker =
        JobTracker::new(ClusterConfig::default(), policies::make("fifo", &BTreeMap::new()).expect("fifo"));
    let mut snapshots = Vec::new();
    for (n, input) in (1..).zip(inputs()) {
        tracker.apply(Time::from_ms(1_000 * n), &[input], &mut Vec::new());
        if [4, 6, inputs().len() as u64].contains(&n) {
            snapshots.push(tracker.snapshot().expect("no batch is under way"));
        }
    }
    let jobs: Vec<usize> = snapshots.iter().map(|snapshot| snapshot.live_jobs().count()).collect();
    assert_eq!(jobs, [1, 2, 0], "masters at work and one at rest");
    let documents = snapshots.iter().map(|snapshot| serde_json::to_value(snapshot).expect("it has string keys"));
    documents.collect()
});

/// What a number of a snapshot may be instead.
const EXTREMES: [u64; 9] = [0, 1, 2, 8, 65_535, 4_294_967_295, 9_223_372_036_854_775_807, 200_000, u64::MAX];

/// All numbers of a document.
fn numbers_of<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => found.push(value),
        Value::Array(values) => values.iter_mut().for_each(|value| numbers_of(value, found)),
        Value::Object(values) => values.values_mut().for_each(|value| numbers_of(value, found)),
        _ => {}
    }
}

fn frames_in(run: &Path) -> Vec<v1::JournalFrame> {
    let Ok(mut reader) = JournalReader::open(run) else { return Vec::new() };
    std::iter::from_fn(|| reader.next_frame().ok().flatten()).collect()
}

/// A job comes, runs on a worker and ends; another one is killed, and everything else happens once.
fn record(run: &Path) {
    let origin = Origin {
        cluster_id: 202_611_201_200,
        cluster: ClusterConfig::default(),
        scheduler: "fifo".to_owned(),
        scheduler_params: BTreeMap::new(),
        seed: 0,
        nonce: 0,
    };
    let fifo = policies::make("fifo", &BTreeMap::new()).expect("it exists");
    let mut recorder = Recorder::create(run, &origin, fifo, SEGMENT).expect("make the journal");
    for (n, input) in inputs().iter().enumerate() {
        let mut recorded = vec![v1::JournalInput::from(input)];
        let now = Time::from_ms(1_000 * (n as u64 + 1));
        recorder.apply(now, std::slice::from_ref(input), &mut recorded, &mut Vec::new());
    }
    recorder.close().expect("write the journal");
}

fn inputs() -> Vec<Input> {
    let worker = WorkerId(0);
    let spec = JobSpec {
        n_maps: 2,
        n_reduces: 1,
        conf: JobConf { commits_output: false, ..JobConf::default() },
        ..JobSpec::default()
    };
    let status = |kind, index, state| AttemptReport {
        attempt: TaskId { job: JobId(1), kind, index }.attempt(0),
        state,
        phase: Phase::Starting,
        progress: Progress::ZERO,
        fetch_failures: Vec::new(),
        fatal: false,
    };
    let report = |response_id, attempts| {
        Input::Report(Box::new(Report {
            worker,
            incarnation: 7,
            response_id,
            free_maps: 2,
            free_reduces: 1,
            accepts_tasks: true,
            may_park: response_id == 3,
            attempts,
            vitals: Vitals::default(),
            attributes: None,
        }))
    };
    let registration = Registration {
        worker,
        incarnation: 7,
        starts: false,
        name: "w".to_owned(),
        host: "h".to_owned(),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        attributes: vec![("gpu".to_owned(), "1".to_owned())],
        kept: Vec::new(),
    };
    let (maps, ended) = ([0, 1], AttemptState::Succeeded);
    let fair = Box::new(SchedulerChoice { name: "fair".to_owned(), params: BTreeMap::new() });
    vec![
        Input::Register(Box::new(registration)),
        Input::Submit { job: JobId(1), spec: Arc::new(spec.clone()) },
        report(0, Vec::new()),
        report(1, maps.map(|index| status(TaskKind::Map, index, AttemptState::Running)).to_vec()),
        report(2, maps.map(|index| status(TaskKind::Map, index, ended)).to_vec()),
        Input::Submit { job: JobId(2), spec: Arc::new(spec) },
        Input::SetScheduler(fair.clone()),
        report(3, vec![status(TaskKind::Reduce, 0, ended)]),
        Input::JobCommitted { job: JobId(1), ok: true },
        Input::SetPriority { job: JobId(2), priority: Priority::High },
        Input::SetQueue { job: JobId(2), queue: "etl".into() },
        Input::Reach { worker, reachable: false },
        Input::CannotServe { worker, job: JobId(2) },
        Input::Drain { worker, drain: true },
        Input::KillJob { job: JobId(2) },
        Input::Tick,
        Input::Enable { worker },
        Input::Goodbye { worker, incarnation: 7 },
        Input::Gone { worker, incarnation: 7 },
        Input::Snapshot(fair),
        Input::Recovered,
    ]
}

#[test]
fn the_good_run_is_whole_and_a_job_of_it_ends() {
    let folder = tempfile::tempdir().expect("make a folder");
    record(folder.path());
    let found = check(folder.path()).expect("it reads");
    assert_eq!((found.batches, found.ended, found.damage.is_none()), (inputs().len() as u64, true, true));
    let report = replay_decisions(folder.path()).expect("it replays");
    assert!(report.first_difference.is_none() && report.decisions >= 3, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_journal_gives_its_first_frames_or_none_and_is_whole_after_a_repair(
        in_header in prop::bool::weighted(0.1),
        changes in prop::collection::vec(change(), 1..4),
    ) {
        let folder = tempfile::tempdir().expect("make a folder");
        let (mut header, mut segment) = (RUN.header_bytes.clone(), RUN.segment.clone());
        let changed = if in_header { &mut header } else { &mut segment };
        changes.iter().for_each(|change| apply(changed, change));
        std::fs::create_dir(folder.path().join("journal")).expect("make a folder");
        std::fs::write(folder.path().join("header"), &header).expect("write the header");
        std::fs::write(folder.path().join("journal/00000001.seg"), &segment).expect("write the segment");
        let frames = frames_in(folder.path());
        prop_assert!(RUN.frames.starts_with(&frames), "other frames come out");
        if repair(folder.path()).is_ok() {
            let found = check(folder.path()).expect("it reads");
            prop_assert!(found.damage.is_none() && found.torn.is_none(), "{found:?}");
            prop_assert_eq!(found.batches, frames.len() as u64);
        }
        READINGS.add(1);
    }

    #[test]
    fn a_snapshot_that_says_anything_is_of_a_master_that_goes_on_or_refused(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&EXTREMES[..])), 1..4),
    ) {
        let mut document = which.get(&SNAPSHOTS[..]).clone();
        let mut numbers = Vec::new();
        numbers_of(&mut document, &mut numbers);
        for (which, extreme) in &changes {
            let at = which.index(numbers.len());
            *numbers[at] = (*extreme).into();
        }
        let fifo = policies::make("fifo", &BTreeMap::new()).expect("it exists");
        let snapshot = serde_json::from_value::<Snapshot>(document);
        let tracker = snapshot.map(|snapshot| JobTracker::from_snapshot(ClusterConfig::default(), fifo, snapshot));
        if let Ok(Ok(mut tracker)) = tracker {
            let start = tracker.state().now();
            for (n, input) in inputs().into_iter().enumerate() {
                tracker.apply(start + Span::from_ms(1_000 * n as u64), &[input], &mut Vec::new());
                tracker.check_invariants().map_err(TestCaseError::fail)?;
            }
        }
    }

    #[test]
    fn whole_frames_that_say_anything_are_replayed_or_refused(
        changed in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(change(), 1..3)), 1..4),
    ) {
        let folder = tempfile::tempdir().expect("make a folder");
        let mut frames = RUN.frames.clone();
        for (which, changes) in &changed {
            let frame = which.get(&RUN.frames);
            let mut bytes = frame.encode_to_vec();
            changes.iter().for_each(|change| apply(&mut bytes, change));
            if let Ok(other) = v1::JournalFrame::decode(&bytes[..]) {
                // A time that is not in order would end the replay here; what is no batch is not counted.
                frames[which.index(RUN.frames.len())] = v1::JournalFrame {
                    time_us: frame.time_us,
                    end: false,
                    snapshot: None,
                    ..other
                };
            }
        }
        let mut writer = JournalWriter::create(folder.path(), &RUN.header, SEGMENT).expect("make the journal");
        frames.iter_mut().for_each(|frame| writer.append(frame));
        writer.close().expect("write the journal");
        if let Ok(report) = replay_decisions(folder.path()) {
            prop_assert_eq!(report.batches, frames.len() as u64);
        }
        READINGS.add(1);
    }
}
