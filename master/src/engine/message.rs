//! What reaches the core's thread, and who waits for it.

use std::collections::HashMap;

use howdah_core::job::{AttemptId, AttemptState, JobId, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::{AttemptReport, Input, Report};
use howdah_proto::v1;
use tokio::sync::oneshot;

use super::{CoreError, View};
use crate::tables::{Extra, JobMeta, PageVitals, Tables};

pub(crate) type RegisterReply = oneshot::Sender<Result<Registered, CoreError>>;
pub(crate) type SubmitReply = oneshot::Sender<Result<(), CoreError>>;
pub(super) type Query = Box<dyn FnOnce(&View<'_>) + Send>;
pub(super) type Change = Box<dyn FnOnce(&mut Tables) + Send>;

/// What a worker that registered is told.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) worker: WorkerId,
    /// The map outputs that it goes on serving.
    pub(crate) keep: Vec<AttemptId>,
}

/// Through what someone speaks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Caller {
    /// Number of the connection; 0 when unknown.
    pub(crate) connection: u64,
    /// The other end's address.
    pub(crate) address: Option<std::net::IpAddr>,
}

/// One message; small, since thousands may wait.
pub(crate) enum Message {
    /// A heartbeat.
    Beat(Box<Beat>),
    /// A worker says hello.
    Register { request: Box<v1::RegisterRequest>, from: Caller, reply: RegisterReply },
    /// Jobs whose files are on disk, in the order of their numbers.
    Submit { jobs: Vec<(NewJob, SubmitReply)> },
    /// Another input; the reply comes when it is on disk and applied.
    Request { input: Input, reply: oneshot::Sender<Result<(), CoreError>> },
    /// Others can fetch from a run of a worker, or `problem` says why not.
    Reach { worker: WorkerId, incarnation: u64, problem: Option<String> },
    /// A worker tried another one in vain.
    Unreached(Unreached),
    /// A job's output was promoted, or `problem` says why not; nothing was moved if that of these winners is `gone`.
    Committed { job: JobId, problem: Option<String>, gone: Vec<AttemptId> },
    /// The history of a job that is over is on disk, or `problem` says why not.
    History { job: JobId, problem: Option<String> },
    /// Looks at the settled state.
    Query(Query),
    /// Changes what only people see.
    Change(Change),
    /// A connection closed, through which workers may have spoken.
    Closed { connection: u64 },
    /// Time to check which workers are silent.
    Look,
    /// No batch after this one.
    Stop,
}

/// A heartbeat, taken apart.
pub(crate) struct Beat {
    /// As it came, without what only people read: this is what the journal keeps.
    pub(crate) request: v1::HeartbeatRequest,
    pub(crate) report: Box<Report>,
    pub(crate) extras: Vec<Extra>,
    /// Of its vitals what only pages show.
    pub(crate) pages: PageVitals,
    /// Of the worker's probes, with the number of the set of attributes that they came with; for pages.
    pub(crate) warnings: Option<(u32, HashMap<String, String>)>,
    /// Through which connection it came.
    pub(crate) connection: u64,
    /// Why the worker takes no tasks, for pages.
    pub(crate) refusal: v1::Refusal,
    /// Of the request in the journal.
    pub(crate) bytes: usize,
    pub(crate) reply: oneshot::Sender<v1::HeartbeatResponse>,
}

impl Beat {
    /// Whether it tells of nothing but progress of running attempts, and so leaves no one waiting.
    pub(super) fn is_progress(&self) -> bool {
        let running =
            |status: &AttemptReport| status.state == AttemptState::Running && status.fetch_failures.is_empty();
        self.report.attributes.is_none() && !self.report.attempts.is_empty() && self.report.attempts.iter().all(running)
    }
}

/// A worker tried another one in vain.
#[derive(Clone, Debug)]
pub(crate) struct Unreached {
    pub(crate) of: WorkerId,
    /// Of the one that was tried.
    pub(crate) incarnation: u64,
    pub(crate) by: WorkerId,
    /// From when on it was tried.
    pub(crate) asked: Time,
    /// How that ended.
    pub(crate) problem: String,
}

/// An accepted job.
pub(crate) struct NewJob {
    pub(crate) meta: JobMeta,
    /// Of the job's file; it takes less in the journal.
    pub(crate) bytes: usize,
}

impl Message {
    /// About how much it adds to its batch's frame.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Message::Beat(beat) => beat.bytes,
            Message::Submit { jobs } => jobs.iter().map(|(new, _)| new.bytes).sum(),
            Message::Register { request, .. } => {
                let attributes = request.attributes.iter().map(|(key, value)| key.len() + value.len());
                let kept = request.kept.iter().map(|outputs| 8 * outputs.maps.len()).sum::<usize>();
                request.name.len() + request.host.len() + request.rack.len() + attributes.sum::<usize>() + kept
            }
            Message::Committed { gone, .. } => gone.len() * 16,
            Message::Request { .. }
            | Message::Reach { .. }
            | Message::Unreached(_)
            | Message::History { .. }
            | Message::Query(_)
            | Message::Change(_)
            | Message::Closed { .. }
            | Message::Look
            | Message::Stop => 0,
        }
    }
}

/// Is notified when the batch is done.
pub(super) enum Pending {
    Unknown {
        worker: WorkerId,
        reply: oneshot::Sender<v1::HeartbeatResponse>,
    },
    /// `stale` if the core refuses it as an earlier run of the worker.
    Register {
        worker: WorkerId,
        stale: bool,
        reply: RegisterReply,
    },
    Submit {
        job: JobId,
        meta: Option<Box<JobMeta>>,
        reply: SubmitReply,
    },
    Request {
        reply: oneshot::Sender<Result<(), CoreError>>,
    },
}
