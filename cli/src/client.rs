//! The connection to a master: which one, how to reach it, and the calls that several commands share.

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use howdah_core::job::{ClusterId, JobId};
use howdah_proto::names::{HostPort, MASTER_PORT};
use howdah_proto::v1::client_service_client::ClientServiceClient;
use howdah_proto::v1::{GetClusterRequest, GetJobRequest, GetJobResponse, JobStatus};
use howdah_proto::{MAX_MESSAGE_BYTES, dial};
use tonic::transport::{Channel, Endpoint};

use crate::config::ClientConfig;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::access::Access;

/// A connected client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) rpc: ClientServiceClient<Channel>,
    address: String,
}

impl Client {
    /// Connects to the cluster that the settings name.
    pub(crate) async fn connect(config: &ClientConfig) -> Outcome<Client> {
        let address = address_of(config)?;
        Client::connect_to(&address, Duration::from_millis(config.connect_timeout_ms)).await
    }

    pub(crate) async fn connect_to(address: &str, patience: Duration) -> Outcome<Client> {
        let bare = address.trim_start_matches("http://");
        let parsed = bare.parse::<HostPort>();
        let bare = &parsed.map_err(|error| Failure::usage(format!("master address: {error}")))?.with_port(MASTER_PORT);
        let endpoint = Endpoint::from_shared(format!("http://{bare}"))
            .map_err(|error| Failure::usage(format!("master address `{address}`: {error}")))?
            .connect_timeout(patience);
        let channel = dial::channel(&endpoint).await.map_err(|error| {
            let cause = innermost(&error);
            Failure::broke(format!("no master answers at {bare}: {cause}")).help(
                "start one with `howdah up --dir DIR` or `howdah master --dir DIR`, or name another with --master",
            )
        })?;
        let rpc = ClientServiceClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Client { rpc, address: bare.clone() })
    }

    /// `host:port` of the master.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A job as people may name it: its printed id, or its last number alone.
    pub(crate) async fn job_id(&mut self, text: &str) -> Outcome<String> {
        let Ok(number) = text.parse::<u32>() else { return Ok(text.to_owned()) };
        let cluster = self.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
        Ok(ClusterId(cluster.cluster_id).job(JobId(number)))
    }

    /// Everything about a job.
    pub(crate) async fn job(&mut self, text: &str) -> Outcome<GetJobResponse> {
        let job = self.job_id(text).await?;
        Ok(self.rpc.get_job(GetJobRequest { job, brief: false }).await?.into_inner())
    }

    /// A job without its attempts.
    pub(crate) async fn brief(&mut self, text: &str) -> Outcome<GetJobResponse> {
        let job = self.job_id(text).await?;
        Ok(self.rpc.get_job(GetJobRequest { job, brief: true }).await?.into_inner())
    }

    pub(crate) async fn status(&mut self, text: &str) -> Outcome<JobStatus> {
        let answer = self.brief(text).await?;
        answer.status.ok_or_else(|| Failure::broke(format!("the master answered without a status for `{text}`")))
    }

    /// Follows a job to its end; `show` gets every status on the way and the last one is returned. A master that goes
    /// away meanwhile is waited for: started again on its directory it has the job.
    pub(crate) async fn watch(
        &mut self,
        job: &str,
        mut show: impl FnMut(&JobStatus) -> std::io::Result<()>,
    ) -> Outcome<JobStatus> {
        let mut away: Option<Instant> = None;
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.follow(job, &mut show, &mut away).await? {
                Followed::Over(status) => return Ok(*status),
                Followed::Broken(status) => status,
            };
            let since = *away.get_or_insert_with(|| {
                crate::output::note("the master is away; waiting for it to come back");
                pause = FIRST_PAUSE;
                Instant::now()
            });
            if since.elapsed() > AWAY_PATIENCE {
                return Err(Failure::from(failure).help(format!(
                    "`howdah job wait {job}` waits on, once the master is back: its journal keeps the job"
                )));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Reads one stream of the job's statuses; `away` is taken back as soon as the master answers.
    async fn follow(
        &mut self,
        job: &str,
        show: &mut impl FnMut(&JobStatus) -> std::io::Result<()>,
        away: &mut Option<Instant>,
    ) -> Outcome<Followed> {
        let request = GetJobRequest { job: job.to_owned(), brief: true };
        let mut stream = match self.rpc.watch_job(request.clone()).await {
            Ok(stream) => stream.into_inner(),
            Err(status) if is_away(&status) => return Ok(Followed::Broken(status)),
            Err(status) => return Err(status.into()),
        };
        loop {
            let status = match stream.message().await {
                Ok(Some(status)) => status,
                // The stream ended early, as when the master stopped; its own word decides.
                Ok(None) => match self.rpc.get_job(request).await {
                    Ok(answer) => match answer.into_inner().status {
                        Some(status) if is_final(&status.state) => return Ok(Followed::Over(Box::new(status))),
                        _ => return Ok(Followed::Broken(tonic::Status::unavailable("the master is stopping"))),
                    },
                    Err(status) if is_away(&status) => return Ok(Followed::Broken(status)),
                    Err(status) => return Err(status.into()),
                },
                Err(status) if is_away(&status) => return Ok(Followed::Broken(status)),
                Err(status) => return Err(status.into()),
            };
            *away = None;
            show(&status)?;
            if is_final(&status.state) {
                return Ok(Followed::Over(Box::new(status)));
            }
        }
    }
}

/// What became of a stream of statuses.
enum Followed {
    Over(Box<JobStatus>),
    Broken(tonic::Status),
}

/// How long a master may be away while someone waits for a job.
const AWAY_PATIENCE: Duration = Duration::from_secs(600);
/// Between two tries to reach it: the first pause, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Whether a call failed because the master is away or stopping, not because of what was asked. A connection that broke
/// in the middle of a stream has no code of its own.
fn is_away(status: &tonic::Status) -> bool {
    use tonic::Code;
    let broken = status.code() == Code::Internal && status.message().contains("h2 protocol error");
    broken || matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown)
}

/// What `work` answers, unless Ctrl-C comes first: then what stays, and how to be rid of it.
pub(crate) async fn unless_interrupted<T>(work: impl Future<Output = Outcome<T>>, jobs: &[String]) -> Outcome<T> {
    tokio::select! {
        answer = work => answer,
        _ = tokio::signal::ctrl_c() => Err(stays(jobs)),
    }
}

fn stays(jobs: &[String]) -> Failure {
    let (named, verb) = (jobs.join(" "), if jobs.len() == 1 { "goes" } else { "go" });
    let noun = if jobs.len() == 1 { "job" } else { "jobs" };
    Failure::new(Exit::Interrupted, format!("interrupted; {noun} {named} {verb} on running"))
        .help(format!("`howdah job kill {named}` ends what still runs"))
        .help(format!("`howdah job wait {named}` waits again"))
}

/// Whether a state, of a job or of an attempt, is its last.
pub(crate) fn is_final(state: &str) -> bool {
    matches!(state, "SUCCEEDED" | "FAILED" | "KILLED")
}

/// Whether the job is over and well.
pub(crate) fn succeeded(status: &JobStatus) -> bool {
    status.state == "SUCCEEDED"
}

/// The master's address from flag, variable or file, else from the access file of the directory named there.
fn address_of(config: &ClientConfig) -> Outcome<String> {
    if let Some(master) = &config.master {
        return Ok(master.clone());
    }
    match &config.dir {
        Some(dir) => Ok(access_in(dir)?.master),
        None => Err(Failure::usage("which cluster? no master was named")
            .help("name it with --master ADDR or HOWDAH_MASTER, or its directory with --dir DIR or HOWDAH_DIR")
            .help("`howdah up --dir DIR` starts one here")),
    }
}

fn access_in(dir: &Path) -> Outcome<Access> {
    match Access::find(dir)? {
        Some(access) => Ok(access),
        None => {
            // A slip, or a cluster that is not there yet or any more.
            let exit = if dir.is_dir() { Exit::Broke } else { Exit::Usage };
            Err(Failure::new(exit, format!("no cluster runs in `{}`: it has no access.json", dir.display()))
                .help(format!("start one with `howdah up --dir {}`", dir.display())))
        }
    }
}

/// What an error comes from in the end, in lower case.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string().to_lowercase()
}
