//! Attempts through a socket, with the test as their worker.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use howdah_core::job::counters::{Counters, FRAMEWORK};
use howdah_core::job::{App, InputFormat, OutputFormat, Phase, Split, TaskKind};
use howdah_webhdfs::fake::FakeHdfs;
use howdah_webhdfs::{MARK_PROPERTY, RemotePath, USER_PROPERTY, server_property};

use super::link::{Incoming, Link};
use super::serve;
use crate::api::error::TaskError;
use crate::local::attempt::run_attempt;
use crate::local::server::ShuffleServer;
use crate::umbilical::{FromTask, MapEvent, TaskSpec, ToTask};
use crate::{Application, Fold, MapOutput, Properties, Result, text};

const TOKEN: &str = "secret";

/// A process of attempts, as its worker sees it.
struct Process {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    thread: JoinHandle<Result<ExitCode, TaskError>>,
}

fn application(_: &App, properties: &Properties) -> Result<Application> {
    let count = |line: &[u8], out: &mut MapOutput| text::words(line).try_for_each(|word| out.emit_long(word, 1));
    match properties.get("wrong") {
        Some(_) => Err("no such application".into()),
        None => Ok(Application::lines(count).fold(Fold::Sum)),
    }
}

impl Process {
    fn start() -> Process {
        let (stream, theirs) = UnixStream::pair().expect("socket pair");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("timeout");
        let reader = BufReader::new(stream.try_clone().expect("clone"));
        let thread =
            std::thread::spawn(move || serve(theirs, &mut |app, properties| application(app, properties).map(Rc::new)));
        Process { stream, reader, thread }
    }

    fn say(&mut self, message: &ToTask) {
        let mut line = serde_json::to_vec(message).expect("encode");
        line.push(b'\n');
        self.stream.write_all(&line).expect("send");
    }

    /// The next message that is no status.
    fn next_message(&mut self) -> FromTask {
        loop {
            match self.hear_all() {
                FromTask::Status { .. } => {}
                message => return message,
            }
        }
    }

    fn hear_all(&mut self) -> FromTask {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("receive");
        serde_json::from_str(&line).expect("a message")
    }

    fn done(&mut self) -> Counters {
        match self.next_message() {
            FromTask::Done { counters, .. } => counters,
            other => panic!("expected `Done`, got {other:?}"),
        }
    }

    fn join(self) -> ExitCode {
        drop((self.stream, self.reader));
        self.thread.join().expect("no panic").expect("a code")
    }
}

fn spec(dir: &Path, kind: TaskKind, attempt: &str, n_reduces: u32) -> TaskSpec {
    let local_dir = dir.join(attempt);
    std::fs::create_dir_all(&local_dir).expect("create");
    let input = dir.join("text");
    std::fs::write(&input, "b a b\nc b\n").expect("write");
    TaskSpec {
        marked: false,
        job: "job_1_0001".to_owned(),
        attempt: attempt.to_owned(),
        kind,
        index: 0,
        number: 0,
        app: App::BuiltIn { name: "count".to_owned() },
        properties: BTreeMap::new(),
        n_maps: 1,
        n_reduces,
        input_format: InputFormat::Text,
        split: (kind == TaskKind::Map).then(|| Split::File {
            path: input.to_string_lossy().into_owned(),
            offset: 0,
            length: 10,
            hosts: Vec::new(),
            file: None,
        }),
        output: OutputFormat::Files { directory: dir.join("out").to_string_lossy().into_owned() },
        asks_commit: true,
        log_dir: Some(local_dir.clone()),
        local_dir,
        token: TOKEN.to_owned(),
        worker_name: "test".to_owned(),
    }
}

/// Runs a map in `dir` and serves its output.
fn map_and_server(dir: &Path, attempt: &str) -> ShuffleServer {
    let map = spec(dir, TaskKind::Map, attempt, 1);
    run_attempt(map, &(Arc::new(application) as Arc<crate::local::Make>), &[]).expect("map");
    ShuffleServer::start(dir.to_owned(), TOKEN).expect("server")
}

fn event(attempt: &str, address: Option<String>) -> ToTask {
    ToTask::MapEvents { events: vec![MapEvent { map: 0, attempt: attempt.to_owned(), address, failed: false }] }
}

fn part(dir: &Path, attempt: &str) -> PathBuf {
    dir.join("out/_temporary").join(attempt).join("part-r-00000")
}

#[test]
fn a_reduce_fetches_reports_its_phases_and_waits_for_its_commit() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let server = map_and_server(dir.path(), "attempt_m_0");
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(spec(dir.path(), TaskKind::Reduce, "attempt_r_0", 1))));
    process.say(&event("attempt_m_0", Some(server.address())));
    let mut phases = Vec::new();
    loop {
        match process.hear_all() {
            FromTask::Status { phase, .. } => phases.push(phase),
            FromTask::CommitPending => break,
            other => panic!("expected `CommitPending`, got {other:?}"),
        }
    }
    assert_eq!(phases, [Phase::Shuffle, Phase::Sort, Phase::Reduce]);
    let output = std::fs::read_to_string(part(dir.path(), "attempt_r_0")).expect("complete before the commit");
    assert_eq!(output, "a\t1\nb\t3\nc\t1\n");
    process.say(&ToTask::CommitGranted);
    let counters = process.done();
    assert_eq!(counters.get(FRAMEWORK, "Reduce input groups"), 3);
    assert!(dir.path().join("attempt_r_0/syslog").exists());
    process.join();
}

#[test]
fn an_output_that_cannot_be_fetched_is_reported_and_taken_from_another_attempt() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let server = map_and_server(dir.path(), "attempt_m_1");
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(spec(dir.path(), TaskKind::Reduce, "attempt_r_0", 1))));
    process.say(&event("attempt_m_0", Some(server.address())));
    match process.next_message() {
        FromTask::FetchFailure { attempt, message } => {
            assert_eq!(attempt, "attempt_m_0");
            assert!(message.contains("404"), "{message}");
        }
        other => panic!("expected `FetchFailure`, got {other:?}"),
    }
    process.say(&event("attempt_m_0", None));
    process.say(&event("attempt_m_1", Some(server.address())));
    assert_eq!(process.next_message(), FromTask::CommitPending);
    process.say(&ToTask::CommitGranted);
    process.done();
    process.join();
}

#[test]
fn a_peer_that_does_not_answer_is_a_failed_fetch_and_no_sign_of_life() {
    let dir = tempfile::tempdir().expect("temporary directory");
    // The kernel takes the connections; nobody answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
    let mut reduce = spec(dir.path(), TaskKind::Reduce, "attempt_r_0", 1);
    reduce.properties.insert("mapreduce.reduce.shuffle.read.timeout".to_owned(), "1100".to_owned());
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(reduce)));
    for _ in 0..3 {
        let sign = process.hear_all();
        assert!(matches!(sign, FromTask::Status { .. }), "it waits for maps, and lives: {sign:?}");
    }
    let address = silent.local_addr().expect("an address").to_string();
    process.say(&event("attempt_m_0", Some(address)));
    let mut signs = 0;
    for _ in 0..2 {
        loop {
            match process.hear_all() {
                FromTask::Status { .. } => signs += 1,
                FromTask::FetchFailure { .. } => break,
                other => panic!("expected `FetchFailure`, got {other:?}"),
            }
        }
    }
    // The event was news. Two and a half seconds of silence were not.
    assert!(signs <= 2, "{signs}");
    process.join();
}

#[test]
fn damaged_map_output_is_not_used() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let server = map_and_server(dir.path(), "attempt_m_0");
    let file = dir.path().join("attempt_m_0/file.out");
    let bytes = std::fs::read(&file).expect("read");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let mut checker = crate::segment::SegmentChecker::new("damaged".to_owned());
        let fed = checker.feed(&damaged);
        assert!(fed.and_then(|()| checker.finish()).is_err(), "byte {at}");
    }
    let mut damaged = bytes.clone();
    damaged[22] ^= 1;
    std::fs::write(&file, &damaged).expect("write");
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(spec(dir.path(), TaskKind::Reduce, "attempt_r_0", 1))));
    process.say(&event("attempt_m_0", Some(server.address())));
    match process.next_message() {
        FromTask::FetchFailure { message, .. } => assert!(message.contains("checksum"), "{message}"),
        other => panic!("expected `FetchFailure`, got {other:?}"),
    }
    // Once the output is whole again, a later try succeeds.
    std::fs::write(&file, &bytes).expect("write");
    loop {
        match process.next_message() {
            FromTask::FetchFailure { .. } => {}
            other => break assert_eq!(other, FromTask::CommitPending),
        }
    }
    process.say(&ToTask::CommitGranted);
    process.done();
    process.join();
}

#[test]
fn a_reused_process_runs_attempt_after_attempt_until_one_fails() {
    for wrong in [None, Some(2)] {
        let dir = tempfile::tempdir().expect("temporary directory");
        let mut process = Process::start();
        for number in 0..3 {
            let attempt = format!("attempt_m_{number}");
            let mut map = spec(dir.path(), TaskKind::Map, &attempt, 1);
            map.properties.insert("mapred.job.reuse.jvm.num.tasks".to_owned(), "-1".to_owned());
            if wrong == Some(number) {
                map.properties.insert("wrong".to_owned(), "yes".to_owned());
            }
            process.say(&ToTask::Run(Box::new(map)));
            match process.next_message() {
                FromTask::Failed { message, .. } if wrong == Some(number) => {
                    assert!(message.contains("no such application"), "{message}");
                }
                FromTask::Done { counters, .. } if wrong != Some(number) => {
                    assert_eq!(counters.get(FRAMEWORK, "Map output records"), 5);
                    assert!(dir.path().join(&attempt).join("file.out.index").exists());
                }
                other => panic!("attempt {number}: {other:?}"),
            }
        }
        let expected = if wrong.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) };
        if wrong.is_none() {
            process.say(&ToTask::Exit);
        }
        let end = process.thread.join().expect("no panic").expect("a code");
        assert_eq!(format!("{end:?}"), format!("{expected:?}"));
    }
}

#[test]
fn a_process_ends_when_its_worker_is_gone() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(spec(dir.path(), TaskKind::Reduce, "attempt_r_0", 1))));
    assert!(matches!(process.hear_all(), FromTask::Status { phase: Phase::Shuffle, .. }));
    assert_eq!(format!("{:?}", process.join()), format!("{:?}", ExitCode::from(1)));
}

#[test]
fn an_attempt_at_work_listens_and_ends_when_its_worker_does() {
    let (ours, theirs) = UnixStream::pair().expect("socket pair");
    let link = Link::new(theirs);
    assert!(link.soak().is_ok() && !link.has_line());
    // Far more than a socket holds: unread, it would block the worker.
    let sender = std::thread::spawn(move || {
        let line = serde_json::to_string(&ToTask::MapEvents { events: Vec::new() }).expect("encode") + "\n";
        (0..100_000).try_for_each(|_| (&ours).write_all(line.as_bytes())).expect("send");
    });
    let error = loop {
        if let Err(error) = link.soak() {
            break error.to_string();
        }
        std::thread::yield_now();
    };
    assert!(error.contains("closed"), "{error}");
    sender.join().expect("sent all");
    let next = link.receive(Some(std::time::Instant::now())).expect("kept");
    assert!(matches!(next, Incoming::Message(ToTask::MapEvents { .. })));
}

#[test]
fn nonsense_on_the_umbilical_is_an_error_that_says_so() {
    let mut process = Process::start();
    process.stream.write_all(b"{\"say\":\"sing\"}\n").expect("send");
    let error = process.thread.join().expect("no panic").expect_err("an error").to_string();
    assert!(error.contains("a message that is not one of ours") && error.contains("sing"), "{error}");
}

/// A map whose records are the output of its job, in an HDFS.
fn into_hdfs(dir: &Path, hdfs: &FakeHdfs) -> TaskSpec {
    let out: RemotePath = "hdfs://nn:8020/out".parse().expect("an address");
    let properties = [(server_property(&out), hdfs.address())];
    let more = [(USER_PROPERTY, "ann"), (MARK_PROPERTY, "mine")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    TaskSpec {
        properties: properties.into_iter().chain(more).collect(),
        output: OutputFormat::Files { directory: out.to_string() },
        marked: true,
        ..spec(dir, TaskKind::Map, "attempt_m_0", 0)
    }
}

#[test]
fn output_is_in_hdfs_before_the_attempt_asks_for_its_commit_and_no_longer_here() {
    let (dir, hdfs) = (tempfile::tempdir().expect("temporary directory"), FakeHdfs::start(1));
    hdfs.put("/out/_temporary/_job", "mine", 4);
    let mut process = Process::start();
    process.say(&ToTask::Run(Box::new(into_hdfs(dir.path(), &hdfs))));
    assert!(matches!(process.next_message(), FromTask::CommitPending));
    let part = hdfs.read("/out/_temporary/attempt_m_0/part-m-00000").expect("complete before the commit");
    assert_eq!(part.split(|&byte| byte == b'\n').count(), 6, "five words, a line each");
    process.say(&ToTask::CommitGranted);
    process.done();
    process.join();
    let left = std::fs::read_dir(dir.path().join("attempt_m_0")).expect("its directory");
    let names: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(".output")), "{names:?}");
}

#[test]
fn an_attempt_leaves_an_output_alone_that_is_not_its_jobs() {
    let (dir, hdfs) = (tempfile::tempdir().expect("temporary directory"), FakeHdfs::start(1));
    for (mark, why) in [(None, "the job's mark in it is gone"), (Some("theirs"), "it belongs to another job by now")] {
        if let Some(mark) = mark {
            hdfs.put("/out/_temporary/_job", mark, 9);
        }
        let mut process = Process::start();
        process.say(&ToTask::Run(Box::new(into_hdfs(dir.path(), &hdfs))));
        match process.next_message() {
            FromTask::Failed { message, unseen: None, .. } => {
                assert_eq!(message, format!("output `hdfs://nn:8020/out`: {why}"));
            }
            other => panic!("expected `Failed`, got {other:?}"),
        }
        process.join();
        assert!(!hdfs.asked().iter().any(|line| !line.contains(" GET ")), "{:?}", hdfs.asked());
    }
}
