//! A master on loopback in a temporary directory, and workers that only talk.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use howdah_master::MasterConfig;
use howdah_proto::stop::Stop;
use howdah_proto::v1;
use howdah_proto::v1::client_service_client::ClientServiceClient;
use howdah_proto::v1::directive::Kind;
use howdah_proto::v1::worker_service_client::WorkerServiceClient;
use tonic::Status;
use tonic::transport::Channel;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Cluster {
    dir: tempfile::TempDir,
    address: String,
    stop: Stop,
    master: tokio::task::JoinHandle<anyhow::Result<()>>,
    pub(crate) client: ClientServiceClient<Channel>,
}

impl Cluster {
    pub(crate) async fn start() -> Cluster {
        Cluster::start_with(|_| {}).await
    }

    pub(crate) async fn start_with(change: impl FnOnce(&mut MasterConfig)) -> Cluster {
        let dir = tempfile::tempdir().unwrap();
        let mut config = MasterConfig {
            // Its workers have no HTTP servers.
            reach_interval_ms: 0,
            dir: dir.path().join("master"),
            journal_segment_bytes: 1 << 20,
            drain_grace_ms: 0,
            ..MasterConfig::default()
        };
        change(&mut config);
        let access = config.dir.join(howdah_master::ACCESS_FILE);
        let stop = Stop::new();
        let master = tokio::spawn(howdah_master::run(config, stop.clone()));
        let text = wait_for(|| std::fs::read_to_string(&access).ok()).await;
        let access: serde_json::Value = serde_json::from_str(&text).unwrap();
        let address = format!("http://{}", access["master"].as_str().unwrap());
        let client = ClientServiceClient::new(connect(&address).await);
        Cluster { dir, address, stop, master, client }
    }

    /// Where it listens, host:port.
    pub(crate) fn listens(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Another connection.
    pub(crate) async fn channel(&self) -> Channel {
        connect(&self.address).await
    }

    /// Another client with a connection of its own.
    pub(crate) async fn another_client(&self) -> ClientServiceClient<Channel> {
        ClientServiceClient::new(connect(&self.address).await)
    }

    pub(crate) fn master_dir(&self) -> PathBuf {
        self.dir.path().join("master")
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) async fn submit(&mut self, request: v1::SubmitJobRequest) -> Result<String, Status> {
        self.client.submit_job(request).await.map(|response| response.into_inner().job)
    }

    /// Says hello as a run of a worker, and no more.
    pub(crate) async fn register(&self, name: &str, incarnation: u64) -> Result<v1::RegisterResponse, Status> {
        let mut client = WorkerServiceClient::new(connect(&self.address).await);
        let request = v1::RegisterRequest {
            name: name.to_owned(),
            incarnation,
            http_address: ":1".to_owned(),
            protocol: howdah_proto::PROTOCOL,
            ..Default::default()
        };
        client.register(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn get(&mut self, job: &str) -> Result<v1::GetJobResponse, Status> {
        let request = v1::GetJobRequest { job: job.to_owned(), brief: false };
        self.client.get_job(request).await.map(tonic::Response::into_inner)
    }

    /// Watches the job to its end.
    pub(crate) async fn wait(&mut self, job: &str) -> v1::JobStatus {
        let watch = async {
            let request = v1::GetJobRequest { job: job.to_owned(), brief: false };
            let mut stream = self.client.watch_job(request).await.unwrap().into_inner();
            let mut last = None;
            while let Some(status) = stream.message().await.unwrap() {
                last = Some(status);
            }
            last.unwrap()
        };
        tokio::time::timeout(PATIENCE, watch).await.expect("the job ends")
    }

    pub(crate) async fn until(&mut self, condition: impl Fn(&v1::GetClusterResponse) -> bool) {
        let wait = async {
            while !condition(&self.client.get_cluster(v1::GetClusterRequest {}).await.unwrap().into_inner()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the cluster gets there");
    }

    /// Waits until a worker's row says this.
    pub(crate) async fn until_state(&mut self, name: &str, state: &str) -> v1::WorkerInfo {
        let mut last = String::new();
        let wait = async {
            loop {
                let list = v1::ListWorkersRequest { all: true };
                let workers = self.client.list_workers(list).await.unwrap().into_inner().workers;
                if let Some(found) = workers.into_iter().find(|worker| worker.name == name) {
                    last.clone_from(&found.state);
                    if found.state == state {
                        return found;
                    }
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(found) => found,
            Err(_) => panic!("worker {name} is {last}, expected {state}"),
        }
    }

    pub(crate) async fn until_gone(&self, path: &str) {
        wait_for(|| (!Path::new(path).exists()).then_some(())).await;
    }

    pub(crate) async fn log(&mut self, attempt: &str, file: &str) -> Result<String, Status> {
        let request =
            v1::GetLogRequest { attempt: attempt.to_owned(), file: file.to_owned(), ..v1::GetLogRequest::default() };
        let mut stream = self.client.get_log(request).await?.into_inner();
        let mut text = Vec::new();
        while let Some(chunk) = stream.message().await? {
            text.extend_from_slice(&chunk.data);
        }
        Ok(String::from_utf8(text).unwrap())
    }

    /// Stops the master, which has its directory elsewhere.
    pub(crate) async fn end(self) {
        self.stop.drain.cancel();
        tokio::time::timeout(PATIENCE, self.master).await.expect("the master stops").unwrap().unwrap();
    }

    /// Stops the master and gives the run's directory, moved to a place that stays.
    pub(crate) async fn stop(self) -> Run {
        self.stop.drain.cancel();
        tokio::time::timeout(PATIENCE, self.master).await.expect("the master stops").unwrap().unwrap();
        let run = howdah_master::journal::find_run(&self.dir.path().join("master")).unwrap();
        Run { _dir: self.dir, path: run }
    }
}

/// A recorded run; its files live as long as this.
pub(crate) struct Run {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl std::ops::Deref for Run {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.path
    }
}

async fn connect(address: &str) -> Channel {
    Channel::from_shared(address.to_owned()).unwrap().connect().await.unwrap()
}

/// Polls without sleeping longer than a moment, with a generous bound.
pub(crate) async fn wait_for<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let wait = async {
        loop {
            if let Some(value) = condition() {
                return value;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the condition comes true")
}

/// A worker that reports what the test tells it to.
pub(crate) struct FakeWorker {
    pub(crate) client: WorkerServiceClient<Channel>,
    number: u32,
    incarnation: u64,
    slots: [u32; 2],
    pub(crate) response_id: u32,
    /// Of the next report; 0 does not count.
    pub(crate) sequence: u32,
    /// Attempts that it says are running.
    running: Vec<v1::AttemptId>,
    pub(crate) directives: VecDeque<v1::Directive>,
    /// Why it takes no tasks, if it takes none.
    pub(crate) refusal: v1::Refusal,
}

impl FakeWorker {
    pub(crate) async fn register(cluster: &mut Cluster, name: &str, map_slots: u32, reduce_slots: u32) -> FakeWorker {
        FakeWorker::register_run(cluster, name, map_slots, reduce_slots, 1).await
    }

    pub(crate) async fn register_run(
        cluster: &mut Cluster,
        name: &str,
        map_slots: u32,
        reduce_slots: u32,
        incarnation: u64,
    ) -> FakeWorker {
        let client = WorkerServiceClient::new(connect(&cluster.address).await);
        FakeWorker::register_through(client, name, [map_slots, reduce_slots], incarnation).await.unwrap()
    }

    /// Another run of it, through the same connection.
    pub(crate) async fn again(&self, name: &str, incarnation: u64) -> Result<FakeWorker, Status> {
        FakeWorker::register_through(self.client.clone(), name, self.slots, incarnation).await
    }

    /// One slot for a map and one for a reduce, and log files at this address.
    pub(crate) async fn register_serving(cluster: &Cluster, name: &str, http_address: &str) -> FakeWorker {
        let client = WorkerServiceClient::new(connect(&cluster.address).await);
        FakeWorker::register_at(client, name, [1, 1], 1, http_address).await.unwrap()
    }

    /// As a process of its own would.
    pub(crate) async fn try_register(
        cluster: &Cluster,
        name: &str,
        slots: [u32; 2],
        incarnation: u64,
    ) -> Result<FakeWorker, Status> {
        let client = WorkerServiceClient::new(connect(&cluster.address).await);
        FakeWorker::register_through(client, name, slots, incarnation).await
    }

    async fn register_through(
        client: WorkerServiceClient<Channel>,
        name: &str,
        slots: [u32; 2],
        incarnation: u64,
    ) -> Result<FakeWorker, Status> {
        // Nothing listens there.
        FakeWorker::register_at(client, name, slots, incarnation, "127.0.0.1:1").await
    }

    async fn register_at(
        mut client: WorkerServiceClient<Channel>,
        name: &str,
        [map_slots, reduce_slots]: [u32; 2],
        incarnation: u64,
        http_address: &str,
    ) -> Result<FakeWorker, Status> {
        let request = v1::RegisterRequest {
            name: name.to_owned(),
            host: "localhost".to_owned(),
            rack: "/default-rack".to_owned(),
            map_slots,
            reduce_slots,
            http_address: http_address.to_owned(),
            incarnation,
            protocol: howdah_proto::PROTOCOL,
            ..Default::default()
        };
        let answer = client.register(request).await?.into_inner();
        Ok(FakeWorker {
            client,
            number: answer.worker,
            incarnation,
            slots: [map_slots, reduce_slots],
            response_id: 0,
            sequence: 0,
            running: Vec::new(),
            directives: VecDeque::new(),
            refusal: v1::Refusal::Unspecified,
        })
    }

    /// The same worker once more, for a second call at the same time.
    pub(crate) fn twin(&self) -> FakeWorker {
        FakeWorker { client: self.client.clone(), running: Vec::new(), directives: VecDeque::new(), ..*self }
    }

    pub(crate) async fn beat(&mut self, changes: Vec<v1::AttemptStatus>) -> Result<v1::HeartbeatResponse, Status> {
        let mut attempts = changes;
        for &attempt in &self.running {
            if !attempts.iter().any(|status| status.attempt == Some(attempt)) {
                attempts.push(status(attempt, v1::AttemptState::Running));
            }
        }
        let used = |reduce| self.running.iter().filter(|attempt| attempt.reduce == reduce).count() as u32;
        let request = v1::HeartbeatRequest {
            worker: self.number,
            incarnation: self.incarnation,
            response_id: self.response_id,
            free_maps: self.slots[0] - used(false).min(self.slots[0]),
            free_reduces: self.slots[1] - used(true).min(self.slots[1]),
            accepts_tasks: self.refusal == v1::Refusal::Unspecified,
            may_park: true,
            attempts,
            vitals: None,
            sequence: self.sequence,
            attributes: None,
            refusal: self.refusal.into(),
            met: None,
        };
        self.sequence += u32::from(self.sequence > 0);
        let answer = tokio::time::timeout(PATIENCE, self.client.heartbeat(request)).await.expect("an answer comes");
        let answer = answer?.into_inner();
        self.response_id = answer.response_id;
        self.directives.extend(answer.directives.iter().cloned());
        Ok(answer)
    }

    async fn next<T>(&mut self, wanted: impl Fn(&Kind) -> Option<T>) -> T {
        loop {
            while let Some(directive) = self.directives.pop_front() {
                if let Some(found) = directive.kind.as_ref().and_then(&wanted) {
                    return found;
                }
            }
            self.beat(vec![]).await.unwrap();
        }
    }

    pub(crate) async fn next_launch(&mut self) -> v1::AttemptId {
        self.next(|kind| match kind {
            Kind::Launch(launch) => launch.attempt,
            _ => None,
        })
        .await
    }

    pub(crate) async fn next_kill(&mut self) -> v1::AttemptId {
        self.next(|kind| match kind {
            Kind::Kill(kill) => kill.attempt,
            _ => None,
        })
        .await
    }

    /// Reports it running from now on.
    pub(crate) async fn running(&mut self, attempt: v1::AttemptId) {
        self.running.push(attempt);
    }

    /// Asks for the grant and gets it.
    pub(crate) async fn commit(&mut self, attempt: v1::AttemptId) {
        let mut granted = false;
        while !granted {
            self.beat(vec![status(attempt, v1::AttemptState::CommitPending)]).await.unwrap();
            granted = self.directives.iter().any(|d| d.kind == Some(Kind::Commit(attempt)));
        }
    }

    pub(crate) async fn succeed(&mut self, attempt: v1::AttemptId, cpu_us: u64) {
        let mut done = status(attempt, v1::AttemptState::Succeeded);
        let counter = v1::Counter { name: "Map input records".to_owned(), value: if attempt.reduce { 0 } else { 100 } };
        let group = v1::CounterGroup { name: "Map-Reduce Framework".to_owned(), counters: vec![counter] };
        done.counters = Some(v1::Counters { groups: vec![group], ..Default::default() });
        done.end = Some(v1::AttemptEnd { exit_code: Some(0), cpu_us, ..Default::default() });
        self.finish(attempt, done).await;
    }

    pub(crate) async fn fail(&mut self, attempt: v1::AttemptId, code: i32, stderr: &str) {
        let mut failed = status(attempt, v1::AttemptState::Failed);
        let end = v1::AttemptEnd { exit_code: Some(code), stderr_tail: stderr.to_owned(), ..Default::default() };
        failed.end = Some(end);
        self.finish(attempt, failed).await;
    }

    pub(crate) async fn killed(&mut self, attempt: v1::AttemptId) {
        self.finish(attempt, status(attempt, v1::AttemptState::Killed)).await;
    }

    pub(crate) async fn killed_by(&mut self, attempt: v1::AttemptId, signal: i32) {
        let end = v1::AttemptEnd { signal: Some(signal), finished_ms_epoch: 5, ..Default::default() };
        let killed = v1::AttemptStatus { end: Some(end), ..status(attempt, v1::AttemptState::Killed) };
        self.finish(attempt, killed).await;
    }

    async fn finish(&mut self, attempt: v1::AttemptId, end: v1::AttemptStatus) {
        self.running.retain(|running| *running != attempt);
        // The answer is not awaited for long: it may be parked, and the job may be over with this.
        let beat = self.beat(vec![end]);
        let _ = tokio::time::timeout(Duration::from_secs(2), beat).await;
    }

    pub(crate) async fn goodbye(&mut self) {
        let request = v1::GoodbyeRequest { worker: self.number, incarnation: self.incarnation };
        self.client.goodbye(request).await.unwrap();
    }

    pub(crate) async fn job_file(&mut self, job: u32) -> serde_json::Value {
        let answer = self.client.get_job_file(v1::GetJobFileRequest { job, met: None }).await.unwrap().into_inner();
        serde_json::from_slice(&answer.json).unwrap()
    }

    /// The first events of a job.
    pub(crate) async fn map_events(&mut self, job: u32) -> Vec<v1::MapEvent> {
        let request = v1::MapEventsRequest { job, from: 0, met: None };
        let mut stream = self.client.map_events(request).await.unwrap().into_inner();
        let first = tokio::time::timeout(PATIENCE, stream.message()).await.expect("events come");
        first.unwrap().unwrap().events
    }
}

fn status(attempt: v1::AttemptId, state: v1::AttemptState) -> v1::AttemptStatus {
    v1::AttemptStatus { attempt: Some(attempt), state: state.into(), ..Default::default() }
}

pub(crate) fn text_job(input: &str, output: &str, n_reduces: u32) -> v1::SubmitJobRequest {
    v1::SubmitJobRequest {
        name: "word count".to_owned(),
        user: "ann".to_owned(),
        app_json: r#"{"kind":"built_in","name":"wordcount"}"#.to_owned(),
        input_format_json: r#"{"kind":"text"}"#.to_owned(),
        inputs: vec![input.to_owned()],
        output: output.to_owned(),
        n_reduces,
        ..Default::default()
    }
}

pub(crate) fn generated(n_maps: u32) -> v1::SubmitJobRequest {
    v1::SubmitJobRequest {
        name: "sleep".to_owned(),
        app_json: r#"{"kind":"built_in","name":"sleep"}"#.to_owned(),
        input_format_json: format!(r#"{{"kind":"generated","n_maps":{n_maps}}}"#),
        ..Default::default()
    }
}

pub(crate) fn sleep_job(n_maps: u32) -> v1::SubmitJobRequest {
    generated(n_maps)
}

pub(crate) fn counter(counters: &v1::Counters, group: &str, name: &str) -> i64 {
    let group = counters.groups.iter().find(|g| g.name == group);
    group.and_then(|g| g.counters.iter().find(|c| c.name == name)).map_or(0, |c| c.value)
}
