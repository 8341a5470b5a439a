//! The worker's calls to the master.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_core::job::{JobFile, JobId};
use howdah_proto::names::{HostPort, MASTER_PORT};
use howdah_proto::v1::worker_service_client::WorkerServiceClient;
use howdah_proto::{PROTOCOL, dial, v1};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::fence::Fence;

/// A job file may be large: a hundred thousand splits take some twenty megabytes.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// How long the master may take to send a job's file.
const JOB_FILE_CALL: Duration = Duration::from_secs(120);
/// How long a master that is away is asked for it again, and the pause between two tries.
const JOB_FILE_PATIENCE: Duration = Duration::from_secs(600);
const JOB_FILE_PAUSE: Duration = Duration::from_millis(500);

/// Whether the call failed because the master is away, not because of what was asked. One that another has taken over from,
/// which it says or the fence does, is not the one that was asked.
fn is_away(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable
            | Code::Unknown
            | Code::Cancelled
            | Code::Internal
            | Code::DeadlineExceeded
            | Code::FailedPrecondition
            | Code::PermissionDenied
    )
}

/// A connection that makes and mends itself.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    client: WorkerServiceClient<Channel>,
    fence: Arc<Fence>,
}

impl Link {
    /// Nothing is sent yet. Must be called in the runtime that is to carry the calls.
    pub(crate) fn new(master: &str, fence: Fence) -> anyhow::Result<Link> {
        let target = master.parse::<HostPort>().context("setting `master`")?.with_port(MASTER_PORT);
        let endpoint = Endpoint::from_shared(format!("http://{target}"))
            .with_context(|| format!("setting `master`: `{master}` is no address, expected host:port"))?
            .connect_timeout(Duration::from_secs(5))
            // A master that froze or whose host is gone must not hold a parked heartbeat for ever.
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(20))
            .keep_alive_while_idle(true);
        let client =
            WorkerServiceClient::new(dial::channel_lazy(&endpoint)).max_decoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Link { client, fence: Arc::new(fence) })
    }

    pub(crate) async fn register(&self, mut request: v1::RegisterRequest) -> Result<v1::RegisterResponse, Status> {
        request.met = self.fence.met();
        let call = self.client.clone();
        let answer =
            tokio::time::timeout(Duration::from_secs(30), async move { { call }.register(request).await }).await;
        let answer = answer.map_err(|_| Status::deadline_exceeded("the master did not answer for 30 s"))??.into_inner();
        if answer.protocol != PROTOCOL {
            let (version, protocol, own) = (&answer.version, answer.protocol, env!("CARGO_PKG_VERSION"));
            let version = if version.is_empty() { "of an older version" } else { version };
            return Err(Status::failed_precondition(format!(
                "the master is howdah {version} with protocol {protocol}, this worker is howdah {own} with protocol {PROTOCOL}"
            )));
        }
        self.fence.admit(answer.start)?;
        Ok(answer)
    }

    pub(crate) async fn heartbeat(&self, mut request: v1::HeartbeatRequest) -> Result<v1::HeartbeatResponse, Status> {
        request.met = self.fence.met();
        let answer = self.client.clone().heartbeat(request).await?.into_inner();
        self.fence.admit(answer.start)?;
        Ok(answer)
    }

    /// A master that is away for a while is no reason to fail the attempts that wait for the file.
    pub(crate) async fn job_file(&self, job: JobId) -> anyhow::Result<JobFile> {
        let until = Instant::now() + JOB_FILE_PATIENCE;
        loop {
            match self.ask_job_file(job).await {
                Ok(json) => return serde_json::from_slice(&json).context("read the job's file"),
                Err(status) if is_away(&status) && Instant::now() < until => {
                    tokio::time::sleep(JOB_FILE_PAUSE).await;
                }
                Err(status) => return Err(status).context("fetch the job's file"),
            }
        }
    }

    /// `None` if the master has no such job, or cannot read its file: that must keep no worker from registering.
    ///
    /// # Errors
    /// When the master is away; it is not waited for.
    pub(crate) async fn job_file_now(&self, job: JobId) -> Result<Option<JobFile>, Status> {
        match self.ask_job_file(job).await {
            Ok(json) => Ok(serde_json::from_slice(&json).ok()),
            Err(status) if is_away(&status) && status.code() != Code::Internal => Err(status),
            Err(_) => Ok(None),
        }
    }

    /// Asks once.
    async fn ask_job_file(&self, job: JobId) -> Result<Vec<u8>, Status> {
        let request = v1::GetJobFileRequest { job: job.0, met: self.fence.met() };
        let call = self.client.clone();
        let answer = tokio::time::timeout(JOB_FILE_CALL, async move { { call }.get_job_file(request).await }).await;
        let late = |_| Status::deadline_exceeded("the master did not answer");
        let answer = answer.map_err(late)??.into_inner();
        self.fence.admit(answer.start)?;
        Ok(answer.json)
    }

    pub(crate) async fn map_events(&self, job: JobId, from: u64) -> Result<MapEventStream, Status> {
        let request = v1::MapEventsRequest { job: job.0, from, met: self.fence.met() };
        let answers = self.client.clone().map_events(request).await?.into_inner();
        Ok(MapEventStream { answers, fence: Arc::clone(&self.fence) })
    }

    /// Best effort: what gets lost is asked again when somebody wants to know.
    pub(crate) async fn saw(&self, mut saw: v1::SawRequest) {
        saw.met = self.fence.met();
        let call = self.client.clone();
        let _ = tokio::time::timeout(Duration::from_secs(5), async move { { call }.saw(saw).await }).await;
    }

    /// Best effort: a master that is away will notice by itself.
    pub(crate) async fn goodbye(&self, worker: u32, incarnation: u64) {
        let call = self.client.clone();
        let request = v1::GoodbyeRequest { worker, incarnation };
        let _ = tokio::time::timeout(Duration::from_secs(2), async move { { call }.goodbye(request).await }).await;
    }
}

/// Events of map outputs as one master tells them.
pub(crate) struct MapEventStream {
    answers: Streaming<v1::MapEventsResponse>,
    fence: Arc<Fence>,
}

impl MapEventStream {
    /// The next events; `None` when the stream is over or broken, or the master is not to be listened to any more, as another one
    /// has taken over from it meanwhile.
    pub(crate) async fn next(&mut self) -> Option<Vec<v1::MapEvent>> {
        let answer = self.answers.message().await.ok()??;
        self.fence.admit(answer.start).ok()?;
        Some(answer.events)
    }
}
