//! A master and tasks that do as a test tells them, around a real worker.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod master;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use howdah_core::job::{App, AttemptId, ClusterId, InputFormat, JobConf, JobFile, JobId, JobSpec, OutputFormat};
use howdah_core::job::{Split, TaskId, TaskKind};
use howdah_proto::stop::Stop;
use howdah_worker::WorkerConfig;
use tempfile::TempDir;

pub(crate) use master::FakeMaster;

pub(crate) const CLUSTER: ClusterId = ClusterId(202_611_201_200);
/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn map(index: u32) -> AttemptId {
    TaskId { job: JobId(1), kind: TaskKind::Map, index }.attempt(0)
}

pub(crate) fn reduce(index: u32) -> AttemptId {
    TaskId { job: JobId(1), kind: TaskKind::Reduce, index }.attempt(0)
}

/// Job 1, whose tasks behave as named; see `task.sh`.
pub(crate) fn job(behave: &str, conf: JobConf) -> JobFile {
    let spec = JobSpec { name: "test".into(), n_maps: 100, n_reduces: 2, conf, ..JobSpec::default() };
    JobFile {
        marked: false,
        id: CLUSTER.job(JobId(1)),
        submit_ms_epoch: 0,
        app: App::BuiltIn { name: "test".to_owned() },
        input_format: InputFormat::Generated { n_maps: spec.n_maps },
        splits: vec![Split::Generated; spec.n_maps as usize],
        output: OutputFormat::None,
        properties: BTreeMap::from([("behave".to_owned(), behave.to_owned())]),
        token: "0123456789abcdef0123456789abcdef".to_owned(),
        spec,
    }
}

pub(crate) fn config(master: &FakeMaster, dir: &Path) -> WorkerConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kit/task.sh");
    WorkerConfig {
        master: master.address.clone(),
        dir: dir.to_owned(),
        name: "worker-1".to_owned(),
        host: "localhost".to_owned(),
        task_command: vec!["/bin/sh".to_owned(), script.display().to_string()],
        map_slots: 4,
        reduce_slots: 2,
        kill_grace_ms: 300,
        retry_max_ms: 500,
        ..WorkerConfig::default()
    }
}

/// A worker in this process, with its master.
pub(crate) struct Cluster {
    pub(crate) master: FakeMaster,
    pub(crate) stop: Stop,
    pub(crate) dir: TempDir,
    worker: tokio::task::JoinHandle<anyhow::Result<()>>,
}

impl Cluster {
    pub(crate) async fn start(file: JobFile) -> Cluster {
        Cluster::start_with(file, |_| {}).await
    }

    pub(crate) async fn start_with(file: JobFile, change: impl FnOnce(&mut WorkerConfig)) -> Cluster {
        let master = FakeMaster::start(file).await;
        let dir = TempDir::new().unwrap();
        let mut config = config(&master, dir.path());
        change(&mut config);
        let stop = Stop::new();
        let worker = tokio::spawn(howdah_worker::run(config, stop.clone()));
        let cluster = Cluster { master, stop, dir, worker };
        cluster.master.until("a registration", |received| received.registrations.last().cloned()).await;
        cluster
    }

    /// Waits for the worker's own end, after one of the wishes to stop.
    pub(crate) async fn ended(self) -> (FakeMaster, TempDir, anyhow::Result<()>) {
        let result = tokio::time::timeout(PATIENCE, self.worker).await.expect("the worker ends").expect("no panic");
        (self.master, self.dir, result)
    }

    /// Ends the worker at once.
    pub(crate) async fn end(self) -> (FakeMaster, TempDir) {
        self.stop.now.cancel();
        let (master, dir, result) = self.ended().await;
        result.expect("a worker that is told to stop ends well");
        (master, dir)
    }

    pub(crate) fn logs(&self, attempt: AttemptId) -> PathBuf {
        logs(self.dir.path(), attempt)
    }

    pub(crate) fn local(&self, attempt: AttemptId) -> PathBuf {
        self.dir.path().join("local").join(CLUSTER.job(attempt.job)).join(CLUSTER.attempt(attempt))
    }
}

pub(crate) fn logs(dir: &Path, attempt: AttemptId) -> PathBuf {
    dir.join("userlogs").join(CLUSTER.job(attempt.job)).join(CLUSTER.attempt(attempt))
}

/// A log of an attempt over HTTP, whether the attempt runs or is over.
pub(crate) async fn log(cluster: &Cluster, attempt: AttemptId, file: &str) -> Option<String> {
    let address = cluster.master.look(|received| format!("127.0.0.1{}", received.registrations[0].http_address));
    let (code, body) = get(&address, &format!("/logs/{}/{file}", CLUSTER.attempt(attempt)), None).await;
    (code == 200).then(|| String::from_utf8(body).unwrap())
}

/// Waits, with a bound, until `look` finds something.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The number in a file that a task wrote, once it is there.
pub(crate) async fn number_in(path: PathBuf) -> i32 {
    until("a process id", || std::fs::read_to_string(&path).ok()?.trim().parse().ok()).await
}

pub(crate) fn is_alive(pid: i32) -> bool {
    // A zombie that waits for its parent is no longer alive.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Status code and body of a plain request.
pub(crate) async fn get(address: &str, path: &str, token: Option<&str>) -> (u16, Vec<u8>) {
    let (address, path, token) = (address.to_owned(), path.to_owned(), token.map(str::to_owned));
    let fetch = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let token = token.map_or_else(String::new, |token| format!("x-howdah-token: {token}\r\n"));
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{token}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a header");
        let code = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (code, answer.split_off(end + 4))
    };
    tokio::task::spawn_blocking(fetch).await.unwrap()
}
