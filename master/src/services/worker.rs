//! What workers say and ask.

use std::pin::Pin;
use std::time::Duration;

use howdah_core::job::{JobId, WorkerId};
use howdah_core::tracker::{Input, Rejection, Report};
use howdah_proto::connections::Peer;
use howdah_proto::names::HostPort;
use howdah_proto::v1;
use howdah_proto::v1::worker_service_server::WorkerService;
use howdah_proto::{PROTOCOL, build, convert};
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::connections::streaming;
use super::{SharedRef, meeting, names, own_machine, status};
use crate::engine::{Beat, Caller, CoreError, Message, Registered};
use crate::reach;
use crate::tables::{PageVitals, extras};

/// Events in one message of a stream.
const EVENTS_PER_MESSAGE: usize = 10_000;
/// A parked heartbeat is answered long before; this only frees what a lost answer would hold for ever.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);

/// The service for workers.
#[derive(Clone, Debug)]
pub(crate) struct WorkerApi(pub(crate) SharedRef);

/// Through which connection a worker speaks; the connection notes that one does.
fn caller<T>(request: &Request<T>) -> Caller {
    request.extensions().get::<Peer>().map_or_else(Caller::default, |peer| {
        peer.carries_worker();
        Caller { connection: peer.number(), address: Some(peer.address()) }
    })
}

type Events = Pin<Box<dyn tokio_stream::Stream<Item = Result<v1::MapEventsResponse, Status>> + Send>>;

#[tonic::async_trait]
impl WorkerService for WorkerApi {
    async fn register(&self, request: Request<v1::RegisterRequest>) -> Result<Response<v1::RegisterResponse>, Status> {
        let from = caller(&request);
        let mut request = request.into_inner();
        meeting::check_protocol(&request)?;
        let met = request.met.take();
        meeting::check_start(&self.0, || format!("worker `{}`", request.name), met)?;
        // Checked here as well, so that nonsense never reaches the core's thread.
        convert::registration(WorkerId(0), &request).map_err(|e| status::convert(&e))?;
        for (what, text) in [("name", &request.name), ("host", &request.host), ("rack", &request.rack)] {
            names::check(&format!("worker's {what}"), text, names::MAX_WORKER_NAME_BYTES)?;
        }
        // Where nobody but this machine gets at the master, all workers are here, too.
        let others = HostPort::others_reach(&self.0.config.listen);
        let own = || if others { own_machine::address_for_others() } else { None };
        request.http_address = meeting::address(&request, from.address, own).await?;
        meeting::note_build(&request);
        let is_of_this_cluster = met.is_none_or(|met| self.0.start.is_of_one_cluster_with(&met));
        if request.kept_of_cluster != self.0.cluster.0 || !is_of_this_cluster {
            // Its ids mean other jobs here.
            request.kept.clear();
        }
        let (name, http_address) = (request.name.clone(), request.http_address.clone());
        let incarnation = request.incarnation;
        // Before it is in the cluster, so that it gets no maps in between.
        let tries = self.0.config.reach_interval_ms > 0;
        let problem = if tries { reach::problem(&http_address).await } else { None };
        let named: usize = request.kept.iter().map(|outputs| outputs.maps.len()).sum();
        let Registered { worker, keep } = self.0.core.register(request, from).await.map_err(|error| match error {
            CoreError::Rejected(Rejection::StaleIncarnation(_)) => {
                let message = format!("a worker `{name}` that was started later is registered");
                Status::failed_precondition(status::with_help(
                    message,
                    "give each worker a name and a --dir of its own",
                ))
            }
            taken @ CoreError::NameTaken { .. } => {
                tracing::warn!(worker = name, "refused a second worker of this name: {taken}");
                let help = "give each worker a name and a --dir of its own";
                Status::failed_precondition(status::with_help(taken, help))
            }
            other => status::core(other),
        })?;
        tracing::info!(worker = name, number = worker.0, http = http_address, "a worker registered");
        if named > 0 {
            tracing::info!(worker = name, named, kept = keep.len(), "the worker has map outputs of an earlier run");
        }
        if problem.is_some() {
            reach::tell(&self.0.core, &name, worker, incarnation, problem).await;
        }
        let response = v1::RegisterResponse {
            worker: worker.0,
            cluster_id: self.0.cluster.0,
            interval_ms: 0,
            http_address,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            build: build::id().to_owned(),
            keep: convert::grouped_outputs(&keep),
            start: Some(self.0.start),
        };
        Ok(Response::new(response))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let connection = caller(&request).connection;
        let mut request = request.into_inner();
        let worker = WorkerId(request.worker);
        let met = request.met.take();
        meeting::check_start(&self.0, || format!("worker number {}", request.worker), met)?;
        let refusal = request.refusal();
        request.refusal = v1::Refusal::Unspecified.into();
        let dropped = convert::drop_bad_fields(&mut request);
        if !dropped.is_empty() {
            tracing::warn!(worker = request.worker, ?dropped, "parts of a report were out of bounds and left out");
        }
        let report = Box::new(Report::try_from(&request).map_err(|e| status::convert(&e))?);
        let extras = extras(&mut request, &report);
        let warnings = request.attributes.as_mut().map(|set| (set.version, std::mem::take(&mut set.probe_warnings)));
        let pages = request.vitals.as_mut().map(PageVitals::take).unwrap_or_default();
        let (reply, answer) = oneshot::channel();
        let bytes = request.encoded_len();
        let beat = Beat { request, report, extras, pages, warnings, connection, refusal, bytes, reply };
        self.0.core.send(Message::Beat(Box::new(beat))).await.map_err(status::core)?;
        match tokio::time::timeout(ANSWER_TIMEOUT, answer).await {
            Ok(Ok(response)) => {
                let looks = self.0.looks.take(worker);
                Ok(Response::new(v1::HeartbeatResponse { looks, start: Some(self.0.start), ..response }))
            }
            Ok(Err(_)) if self.0.closing.is_cancelled() => Err(Status::unavailable("the master is stopping")),
            Ok(Err(_)) => Err(Status::aborted("a newer report or registration of this worker took its place")),
            Err(_) => Err(Status::unavailable("the master has no answer yet")),
        }
    }

    async fn get_job_file(
        &self,
        request: Request<v1::GetJobFileRequest>,
    ) -> Result<Response<v1::GetJobFileResponse>, Status> {
        let v1::GetJobFileRequest { job, met } = request.into_inner();
        meeting::check_start(&self.0, || "a worker".to_owned(), met)?;
        let job = JobId(job);
        match tokio::fs::read(self.0.job_path(job)).await {
            Ok(json) => Ok(Response::new(v1::GetJobFileResponse { json, start: Some(self.0.start) })),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(status::no_job(self.0.cluster, job)),
            Err(e) => Err(status::internal("read a job file", e)),
        }
    }

    type MapEventsStream = Events;

    async fn map_events(&self, request: Request<v1::MapEventsRequest>) -> Result<Response<Events>, Status> {
        let streaming = streaming(&request);
        let v1::MapEventsRequest { job, from, met } = request.into_inner();
        meeting::check_start(&self.0, || "a worker".to_owned(), met)?;
        let (job, start) = (JobId(job), Some(self.0.start));
        let find = move |view: &crate::engine::View<'_>| {
            view.tables.jobs.get(&job).map(|row| std::sync::Arc::clone(&row.events))
        };
        let log = self.0.core.ask(find).await.map_err(status::core)?;
        let log = log.ok_or_else(|| status::no_job(self.0.cluster, job))?;
        let mut next = usize::try_from(from).unwrap_or(usize::MAX);
        let (send, receive) = mpsc::channel(4);
        let closing = self.0.closing.clone();
        tokio::spawn(async move {
            let _streaming = streaming;
            let mut mark = log.subscribe();
            loop {
                let seen = *mark.borrow_and_update();
                while next < seen.len {
                    let events = log.read(next, EVENTS_PER_MESSAGE);
                    next += events.len();
                    if send.send(Ok(v1::MapEventsResponse { events, start })).await.is_err() {
                        return;
                    }
                }
                if seen.closed {
                    return;
                }
                tokio::select! {
                    changed = mark.changed() => if changed.is_err() { return },
                    () = send.closed() => return,
                    () = closing.cancelled() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receive))))
    }

    async fn goodbye(&self, request: Request<v1::GoodbyeRequest>) -> Result<Response<v1::GoodbyeResponse>, Status> {
        let v1::GoodbyeRequest { worker, incarnation } = request.into_inner();
        let input = Input::Goodbye { worker: WorkerId(worker), incarnation };
        self.0.core.request(input).await.map_err(status::core)?;
        Ok(Response::new(v1::GoodbyeResponse {}))
    }

    async fn saw(&self, request: Request<v1::SawRequest>) -> Result<Response<v1::SawResponse>, Status> {
        let mut saw = request.into_inner();
        let met = saw.met.take();
        meeting::check_start(&self.0, || format!("worker number {}", saw.worker), met)?;
        self.0.looks.saw(saw);
        Ok(Response::new(v1::SawResponse {}))
    }
}
