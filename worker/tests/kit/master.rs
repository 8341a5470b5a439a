//! A master that answers heartbeats by the contract's rules and otherwise does what it is told.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use howdah_core::job::{AttemptId, JobFile};
use howdah_proto::v1;
use howdah_proto::v1::directive::Kind;
use howdah_proto::v1::worker_service_server::{WorkerService, WorkerServiceServer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::{CLUSTER, PATIENCE};

/// Short, so that tests that wait for a beat are quick.
const INTERVAL: Duration = Duration::from_millis(400);

/// Everything that the worker said, in order, and what is to be said to it.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) registrations: Vec<v1::RegisterRequest>,
    /// Which start of a master this is from now on.
    start: Option<v1::MasterStart>,
    /// Which start answers what else workers ask; the same if there is none.
    calls_start: Option<v1::MasterStart>,
    pub(crate) reports: Vec<v1::HeartbeatRequest>,
    pub(crate) goodbyes: Vec<v1::GoodbyeRequest>,
    /// From which event each stream of map events was asked for.
    pub(crate) event_requests: Vec<u64>,
    /// What the worker had met when it asked for a job's file.
    pub(crate) file_requests: Vec<Option<v1::MasterStart>>,
    pending: VecDeque<v1::Directive>,
    events: Vec<v1::MapEvent>,
    last_id: u32,
    last_answer: v1::HeartbeatResponse,
    answers_to_lose: u32,
    beats: u64,
    /// That the master speaks, where it is not ours.
    protocol: Option<u32>,
}

impl Received {
    /// The newest word on an attempt.
    pub(crate) fn status(&self, attempt: AttemptId) -> Option<&v1::AttemptStatus> {
        let wire = Some(v1::AttemptId::from(attempt));
        self.reports.iter().rev().flat_map(|report| &report.attempts).find(|status| status.attempt == wire)
    }
}

#[derive(Debug)]
struct Shared {
    received: Mutex<Received>,
    file: JobFile,
    changed: watch::Sender<u64>,
    address: Mutex<String>,
}

#[derive(Clone, Debug)]
struct Service(Arc<Shared>);

/// Runs until dropped; it can be taken away and brought back under the same address.
pub(crate) struct FakeMaster {
    pub(crate) address: String,
    shared: Arc<Shared>,
    running: Option<(CancellationToken, tokio::task::JoinHandle<()>)>,
}

impl FakeMaster {
    pub(crate) async fn start(file: JobFile) -> FakeMaster {
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            file,
            changed: watch::Sender::new(0),
            address: Mutex::default(),
        });
        let mut master = FakeMaster { address: "127.0.0.1:0".to_owned(), shared, running: None };
        master.come_back().await;
        master
    }

    /// Listens again, with all that was received so far.
    pub(crate) async fn come_back(&mut self) {
        let listener = bound(&self.address).await;
        self.address = listener.local_addr().unwrap().to_string();
        let gone = CancellationToken::new();
        let service = WorkerServiceServer::new(Service(self.shared.clone()));
        let token = gone.clone();
        let server = tokio::spawn(async move {
            let server = tonic::transport::Server::builder().add_service(service);
            tokio::select! {
                _ = server.serve_with_incoming(TcpListenerStream::new(listener)) => {}
                () = token.cancelled() => {}
            }
        });
        self.running = Some((gone, server));
    }

    /// Cuts every connection.
    pub(crate) async fn go_away(&mut self) {
        if let Some((gone, server)) = self.running.take() {
            gone.cancel();
            server.await.unwrap();
        }
    }

    /// Forgets the worker, as a master that was restarted.
    pub(crate) fn forget_worker(&self) {
        let mut received = self.shared.lock();
        received.last_id = u32::MAX - 1;
    }

    fn change(&self, how: impl FnOnce(&mut Received)) {
        how(&mut self.shared.lock());
        self.shared.changed.send_modify(|n| *n += 1);
    }

    /// Answers registrations as a master of another protocol does from now on.
    pub(crate) fn speak(&self, protocol: u32) {
        self.change(|received| received.protocol = Some(protocol));
    }

    pub(crate) fn direct(&self, kinds: impl IntoIterator<Item = Kind>) {
        self.change(|received| {
            received.pending.extend(kinds.into_iter().map(|kind| v1::Directive { kind: Some(kind) }))
        });
    }

    pub(crate) fn launch(&self, attempt: AttemptId) {
        self.direct([Kind::Launch(v1::Launch { attempt: Some(attempt.into()), speculative: false })]);
    }

    pub(crate) fn kill(&self, attempt: AttemptId) {
        self.direct([Kind::Kill(v1::Kill { attempt: Some(attempt.into()), why: "by request".to_owned() })]);
    }

    pub(crate) fn commit(&self, attempt: AttemptId) {
        self.direct([Kind::Commit(attempt.into())]);
    }

    pub(crate) fn map_done(&self, map: u32, attempt: AttemptId, address: &str) {
        let event =
            v1::MapEvent { map, attempt: Some(attempt.into()), address: address.to_owned(), ..Default::default() };
        self.change(|received| received.events.push(event));
    }

    /// The next answers are made but do not arrive.
    pub(crate) fn lose_answers(&self, n: u32) {
        self.change(|received| received.answers_to_lose = n);
    }

    /// Waits, with a bound, until `look` finds something in what was received.
    pub(crate) async fn until<T>(&self, what: &str, mut look: impl FnMut(&Received) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            loop {
                if let Some(found) = look(&self.shared.lock()) {
                    return found;
                }
                changed.changed().await.expect("the sender is ours");
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(found) => found,
            Err(_) => panic!("waited in vain for {what}; received {:?}", self.shared.lock().reports.last()),
        }
    }

    pub(crate) async fn until_state(&self, attempt: AttemptId, state: v1::AttemptState) -> v1::AttemptStatus {
        let what = format!("{} to be {state:?}", CLUSTER.attempt(attempt));
        self.until(&what, |received| received.status(attempt).filter(|status| status.state() == state).cloned()).await
    }

    /// From now on it is this start of the cluster's master.
    pub(crate) fn become_start(&self, epoch: u32) {
        self.be_start(epoch, 1);
    }

    /// From now on it is the first start of another cluster that began in the same minute.
    pub(crate) fn become_another_cluster(&self) {
        self.be_start(1, 2);
    }

    fn be_start(&self, epoch: u32, nonce: u64) {
        let start = v1::MasterStart { cluster_id: CLUSTER.0, epoch, began_us: 1, nonce };
        self.change(|received| received.start = Some(start));
    }

    /// Answers to calls other than registrations and heartbeats come from this start from now on.
    pub(crate) fn answer_calls_as(&self, epoch: u32) {
        let start = v1::MasterStart { cluster_id: CLUSTER.0, epoch, began_us: 1, nonce: 1 };
        self.change(|received| received.calls_start = Some(start));
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&Received) -> T) -> T {
        look(&self.shared.lock())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls_start(&self) -> Option<v1::MasterStart> {
        let received = self.lock();
        received.calls_start.or(received.start)
    }

    /// An answer, if there is one without waiting.
    fn answer(&self, response_id: u32, is_new: bool, overdue: bool) -> Option<Result<v1::HeartbeatResponse, Status>> {
        let mut received = self.lock();
        let answer = if response_id == received.last_id {
            if received.pending.is_empty() && !overdue {
                return None;
            }
            let directives = received.pending.drain(..).collect();
            received.last_id += 1;
            v1::HeartbeatResponse {
                response_id: received.last_id,
                interval_ms: INTERVAL.as_millis() as u32,
                directives,
                ..v1::HeartbeatResponse::default()
            }
        } else if is_new && response_id + 1 == received.last_id {
            received.last_answer.clone()
        } else {
            let directives = vec![v1::Directive { kind: Some(Kind::Reinit(v1::Reinit {})) }];
            let response_id = response_id + 1;
            v1::HeartbeatResponse { response_id, directives, ..v1::HeartbeatResponse::default() }
        };
        let answer = v1::HeartbeatResponse { start: received.start, ..answer };
        received.last_answer = answer.clone();
        if received.answers_to_lose > 0 {
            received.answers_to_lose -= 1;
            return Some(Err(Status::unavailable("this answer is lost")));
        }
        Some(Ok(answer))
    }
}

type Events = Pin<Box<dyn tokio_stream::Stream<Item = Result<v1::MapEventsResponse, Status>> + Send>>;

#[tonic::async_trait]
impl WorkerService for Service {
    async fn register(&self, request: Request<v1::RegisterRequest>) -> Result<Response<v1::RegisterResponse>, Status> {
        let mut received = self.0.lock();
        received.registrations.push(request.into_inner());
        received.last_id = 0;
        let start = received.start;
        let protocol = received.protocol.unwrap_or(howdah_proto::PROTOCOL);
        drop(received);
        self.0.changed.send_modify(|n| *n += 1);
        Ok(Response::new(v1::RegisterResponse {
            worker: 3,
            cluster_id: CLUSTER.0,
            interval_ms: 100,
            protocol,
            start,
            ..v1::RegisterResponse::default()
        }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let request = request.into_inner();
        let response_id = request.response_id;
        let parks = request.may_park;
        let (beat, mut changed) = {
            let mut received = self.0.lock();
            received.beats += 1;
            received.reports.push(request);
            (received.beats, self.0.changed.subscribe())
        };
        self.0.changed.send_modify(|n| *n += 1);
        let deadline = tokio::time::Instant::now() + INTERVAL;
        let mut is_new = true;
        loop {
            if self.0.lock().beats != beat {
                return Err(Status::aborted("a newer report took its place"));
            }
            let overdue = !parks || tokio::time::Instant::now() >= deadline;
            if let Some(answer) = self.0.answer(response_id, is_new, overdue) {
                return answer.map(Response::new);
            }
            is_new = false;
            let _ = tokio::time::timeout_at(deadline, changed.changed()).await;
        }
    }

    async fn get_job_file(
        &self,
        request: Request<v1::GetJobFileRequest>,
    ) -> Result<Response<v1::GetJobFileResponse>, Status> {
        let v1::GetJobFileRequest { job, met } = request.into_inner();
        let start = self.0.calls_start();
        self.0.lock().file_requests.push(met);
        self.0.changed.send_modify(|n| *n += 1);
        if self.0.file.id != CLUSTER.job(howdah_core::job::JobId(job)) {
            return Err(Status::not_found(format!("no job {job}")));
        }
        let json = serde_json::to_vec(&self.0.file).expect("a job file is JSON");
        Ok(Response::new(v1::GetJobFileResponse { json, start }))
    }

    type MapEventsStream = Events;

    async fn map_events(&self, request: Request<v1::MapEventsRequest>) -> Result<Response<Events>, Status> {
        let from = request.into_inner().from;
        self.0.lock().event_requests.push(from);
        self.0.changed.send_modify(|n| *n += 1);
        let (send, receive) = tokio::sync::mpsc::channel(1);
        let (shared, mut changed) = (self.0.clone(), self.0.changed.subscribe());
        tokio::spawn(async move {
            let mut next = from as usize;
            loop {
                let events: Vec<_> = shared.lock().events.iter().skip(next).cloned().collect();
                next += events.len();
                let start = shared.calls_start();
                if !events.is_empty() && send.send(Ok(v1::MapEventsResponse { events, start })).await.is_err() {
                    return;
                }
                tokio::select! {
                    _ = changed.changed() => {}
                    () = send.closed() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receive))))
    }

    async fn saw(&self, _: Request<v1::SawRequest>) -> Result<Response<v1::SawResponse>, Status> {
        Ok(Response::new(v1::SawResponse {}))
    }

    async fn goodbye(&self, request: Request<v1::GoodbyeRequest>) -> Result<Response<v1::GoodbyeResponse>, Status> {
        self.0.lock().goodbyes.push(request.into_inner());
        self.0.changed.send_modify(|n| *n += 1);
        Ok(Response::new(v1::GoodbyeResponse {}))
    }
}

/// Whoever connected from the port meanwhile, as anybody's call may, has it for a moment.
async fn bound(address: &str) -> TcpListener {
    const TRIES: u32 = 200;
    for _ in 1..TRIES {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            bound => return bound.expect("loopback can be listened on"),
        }
    }
    panic!("{address} was not free within ten seconds");
}
