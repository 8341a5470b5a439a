//! No bytes on an attempt's umbilical make its worker panic, eat memory, or pass on more than may be said: the socket is a user's
//! program's standard input, and it can write there whatever it likes.

use std::fs::File;
use std::io::Write;
use std::sync::LazyLock;

use howdah_core::job::{App, ClusterId, InputFormat, JobFile, JobId, JobSpec, OutputFormat, Split, TaskId};
use howdah_fuzz::{Readings, cases, changed, changes, most_held};
use nix::fcntl::Flock;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::directory::Directory;
use crate::logs::Logs;
use crate::memory::Memory;
use crate::space::{Bounds, Space};
use crate::vitals::OwnProcesses;

static READINGS: Readings = Readings::of("lines of attempts");

const CLUSTER: ClusterId = ClusterId(202_611_261_029);

/// A worker's directory and what its keepers share.
struct Place {
    _dir: TempDir,
    _lock: Flock<File>,
    context: Arc<ProcessContext>,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a folder");
    let (directory, lock) = Directory::open(dir.path()).expect("a worker's directory");
    let context = ProcessContext {
        logs: Arc::new(Logs::new(dir.path().join("userlogs"), 1 << 20)),
        space: Space::start(directory.clone(), Bounds { log_bytes: 0, min_free: 0 }).expect("a thread"),
        memory: Memory::start().expect("a thread"),
        worker_name: "lab1".to_owned(),
        task_command: Vec::new(),
        cgroups: None,
        cores: [None, None],
        own: OwnProcesses::default(),
        directory,
    };
    Place { _dir: dir, _lock: lock, context: Arc::new(context) }
});

type Events = Arc<Mutex<Vec<ProcessEvent>>>;

/// The keeper of a process that runs a reduce, and what it notices.
fn keeper(reuse_tasks: i32) -> (Keeper, Events) {
    let mut spec = JobSpec { n_maps: 4, n_reduces: 2, ..JobSpec::default() };
    spec.conf.reuse_tasks = reuse_tasks;
    let job = JobFile {
        id: CLUSTER.job(JobId(1)),
        submit_ms_epoch: 1_795_688_944_855,
        spec,
        app: App::BuiltIn { name: "sleep".to_owned() },
        input_format: InputFormat::Generated { n_maps: 4 },
        splits: vec![Split::Generated; 4],
        output: OutputFormat::Files { directory: "/out".into() },
        marked: true,
        properties: [].into(),
        token: "0123456789abcdef".to_owned(),
    };
    let attempt = TaskId { job: JobId(1), kind: TaskKind::Reduce, index: 1 }.attempt(0);
    let assignment = Assignment { cluster: CLUSTER, attempt, job: Arc::new(job) };
    let events = Events::default();
    let sink = Arc::clone(&events);
    let keeper = Keeper {
        context: PLACE.context.clone(),
        process: Process::new(),
        notify: Box::new(move |_, event| sink.lock().expect("nobody panicked").push(event)),
        current: Running::new(assignment),
        spoke: false,
        logs: None,
    };
    (keeper, events)
}

/// One line of each kind.
static GOOD: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut counters = Counters::default();
    counters.add(FRAMEWORK, "Map input records", 12);
    counters.add(FRAMEWORK, "CPU time spent (ms)", 340);
    counters.add(FRAMEWORK, "Physical memory (bytes) snapshot", 1 << 26);
    counters.add("Mine", "größer", -3);
    let status = |counters| FromTask::Status {
        phase: Phase::Shuffle,
        progress: howdah_core::job::Progress::from_parts(3_300),
        counters,
        message: Some("half way".to_owned()),
    };
    let failed = FromTask::Failed {
        message: "no such file".to_owned(),
        counters: counters.clone(),
        cut: Cut { names: 1, ..Cut::default() },
        fatal: true,
        unseen: Some("/data/in/part-00000".to_owned()),
    };
    let map = TaskId { job: JobId(1), kind: TaskKind::Map, index: 2 }.attempt(0);
    let lost = FromTask::FetchFailure { attempt: CLUSTER.attempt(map), message: "refused".to_owned() };
    let done = FromTask::Done { counters: counters.clone(), cut: Cut::default() };
    let messages = [status(Some(counters)), status(None), lost, FromTask::CommitPending, done, failed];
    messages.iter().map(|message| serde_json::to_vec(message).expect("it has a JSON form")).collect()
});

/// Lets a process say this, close its end and be over.
fn hear(bytes: &[u8], reuse_tasks: i32) -> Vec<ProcessEvent> {
    let (mut keeper, events) = keeper(reuse_tasks);
    let (ours, mut theirs) = UnixStream::pair().expect("a socket pair");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // What follows the last word is not read.
            let _ = theirs.write_all(bytes);
        });
        keeper.listen(std::process::id(), &ours);
        drop(ours);
    });
    if !keeper.reported_alive() {
        keeper.report_end(None, u64::MAX, 0, 0);
    }
    drop(keeper);
    Arc::into_inner(events).expect("the keeper is gone").into_inner().expect("nobody panicked")
}

/// What a worker passes on has its bounds, whatever it was told.
fn check(event: &ProcessEvent) {
    let fits = |counters: &Counters| limits::within(counters.clone(), limits::COUNTERS).1.is_nothing();
    match event {
        ProcessEvent::Status { counters, message, progress, .. } => {
            assert!(counters.as_ref().is_none_or(fits) && progress.parts() <= 10_000);
            assert!(message.as_ref().is_none_or(|message| message.len() <= limits::STATUS_BYTES));
        }
        ProcessEvent::FetchFailure(map) => assert_eq!((map.job, map.kind), (JobId(1), TaskKind::Map)),
        ProcessEvent::Ended { end, counters, .. } => {
            assert!(fits(counters));
            // With what was cut, in a sentence.
            assert!(end.diagnostics.len() <= limits::DIAGNOSTICS_BYTES + 512, "{} bytes", end.diagnostics.len());
            assert!(end.unseen.len() <= limits::PATH_BYTES && end.stderr_tail.is_empty());
        }
        ProcessEvent::CommitPending | ProcessEvent::Gone => {}
    }
}

/// What one attempt may hold of its worker, beside what is made of a line while it is read.
fn most(bytes: usize) -> usize {
    64 * bytes + (1 << 20)
}

#[test]
fn good_lines_are_heard_and_the_end_is_said_once() {
    let said: Vec<u8> = GOOD.iter().flat_map(|line| [&line[..], b"\n"].concat()).collect();
    let events = hear(&said, 1);
    events.iter().for_each(check);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| match event {
            ProcessEvent::Status { .. } => "status",
            ProcessEvent::FetchFailure(_) => "fetch",
            ProcessEvent::CommitPending => "commit",
            ProcessEvent::Ended { .. } => "ended",
            ProcessEvent::Gone => "gone",
        })
        .collect();
    assert_eq!(kinds, ["status", "status", "fetch", "commit", "ended"]);
    let failed = [&GOOD[5][..], b"\n"].concat();
    let events = hear(&failed, 1);
    let [ProcessEvent::Ended { ok: false, fatal: true, end, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((end.unseen.as_str(), end.diagnostics.lines().next()), ("/data/in/part-00000", Some("no such file")));
}

#[test]
fn a_process_that_has_used_more_than_time_itself_or_names_an_endless_path_is_reported_within_bounds() {
    let mut counters = Counters::default();
    counters.add(FRAMEWORK, "CPU time spent (ms)", i64::MAX);
    let done = serde_json::to_vec(&FromTask::CommitPending).expect("JSON");
    let last = serde_json::to_vec(&FromTask::Done { counters: counters.clone(), cut: Cut::default() }).expect("JSON");
    // A process that goes on to other attempts reports what it used itself.
    let (mut keeper, events) = keeper(-1);
    *keeper.process.granted.lock().expect("nobody panicked") = Some(keeper.current.attempt());
    for line in [done, last] {
        keeper.on_message(read_line(&line).expect("it is good"));
    }
    let events = std::mem::take(&mut *events.lock().expect("nobody panicked"));
    let [_, ProcessEvent::Ended { ok: true, end, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(end.cpu_us, u64::MAX, "as much as can be said");
    let unseen = Some("/ä".repeat(limits::PATH_BYTES));
    let failed = FromTask::Failed { message: String::new(), counters, cut: Cut::default(), fatal: false, unseen };
    hear(&serde_json::to_vec(&failed).expect("JSON"), 1).iter().for_each(check);
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn changed_lines_are_heard_within_bounds_or_end_the_attempt(
        lines in prop::collection::vec((0..6_usize, prop::option::weighted(0.5, changes())), 1..5),
        reuse_tasks in prop::sample::select(&[1, -1][..]),
        whole: bool,
    ) {
        let mut bytes = Vec::new();
        for (which, changes) in &lines {
            bytes.extend(changed(&GOOD[*which], changes.as_deref().unwrap_or_default()));
            bytes.push(b'\n');
        }
        if !whole {
            bytes.pop();
        }
        let (events, held) = most_held(|| hear(&bytes, reuse_tasks));
        prop_assert!(held < most(bytes.len()), "{} bytes were held for {}", held, bytes.len());
        events.iter().for_each(check);
        let ends = events.iter().filter(|event| matches!(event, ProcessEvent::Ended { .. })).count();
        prop_assert_eq!(ends, 1, "{:?}", events);
        READINGS.add(lines.len() as u64);
    }

    #[test]
    fn noise_ends_the_attempt_with_one_word(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let events = hear(&bytes, 1);
        let [ProcessEvent::Ended { ok: false, end, .. }] = &events[..] else { panic!("{events:?}") };
        prop_assert!(!end.diagnostics.is_empty());
        READINGS.add(1);
    }
}
