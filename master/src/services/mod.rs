//! The gRPC services: what workers and clients may ask of the master.

mod admit;
mod client;
pub(crate) mod connections;
mod entrance;
mod examine;
mod input_error;
mod line_splits;
pub(crate) mod logs;
mod meeting;
mod names;
mod own_machine;
mod places;
mod predict;
mod questions;
mod remote_files;
mod remote_store;
mod resubmit;
mod room;
mod shown;
mod silence;
mod splits;
pub(crate) mod status;
mod submit;
mod turns;
mod viewer;
mod walk;
mod worker;
mod workers;

pub(crate) use client::ClientApi;
pub(crate) use worker::WorkerApi;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use howdah_core::job::ClusterId;
use howdah_proto::stop::Stop;
use howdah_proto::v1::MasterStart;

use crate::config::MasterConfig;
use crate::engine::{Clearer, Clearing, CoreHandle};
use crate::history::job_file_path;
use crate::looks::Looks;
use crate::prediction::{PredictionHandle, RoundCosts, Switches};
use crate::reload::InForce;

/// What both services share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) core: CoreHandle,
    pub(crate) prediction: PredictionHandle,
    pub(crate) round_costs: Arc<RoundCosts>,
    pub(crate) switches: Switches,
    pub(crate) cluster: ClusterId,
    pub(crate) run_dir: PathBuf,
    pub(crate) config: MasterConfig,
    pub(crate) stop: Stop,
    /// Streams end: the core stops.
    pub(crate) closing: tokio_util::sync::CancellationToken,
    pub(crate) started_ms_epoch: u64,
    /// Which start of its cluster this master is.
    pub(crate) start: MasterStart,
    /// A worker has met a newer one.
    pub(crate) superseded: AtomicBool,
    /// Output of failed jobs that is not gone yet.
    pub(crate) clearing: Clearing,
    /// Clears away what lies elsewhere, and keeps notes of it.
    pub(crate) clearer: Clearer,
    /// Gives numbers to submissions, which enter the core in their order.
    pub(crate) entrance: Entrance,
    /// The scheduler in charge.
    pub(crate) in_force: InForce,
    /// Who works on this machine's file systems for submissions.
    pub(crate) local_turns: Turns<PathBuf>,
    /// Outputs that clients may look at a time before their jobs enter.
    pub(crate) views: tokio::sync::Semaphore,
    /// The same of inputs that lie in an HDFS or in buckets.
    pub(crate) remote_turns: Turns<String>,
    /// What clients ask of the core's thread.
    pub(crate) questions: Questions,
    /// Log files that may be read at a time.
    pub(crate) logs: Arc<tokio::sync::Semaphore>,
    /// What workers are to look at.
    pub(crate) looks: Looks,
    /// Examinations at a time.
    pub(crate) examinations: tokio::sync::Semaphore,
    /// The last warning about the cluster's slots that was logged, so that each is logged once.
    pub(crate) warned: std::sync::Mutex<String>,
}

pub(crate) use entrance::{Entrance, Registrar};
pub(crate) use questions::Questions;
pub(crate) use submit::{LOCAL_SUBMISSIONS, REMOTE_SUBMISSIONS};
pub(crate) use turns::Turns;
pub(crate) use viewer::VIEWS;

impl Shared {
    /// Logs what is doubtful about the cluster's slots, unless that was the last thing logged.
    pub(crate) fn warn(&self, doubt: Option<String>) {
        let doubt = doubt.unwrap_or_default();
        let mut warned = self.warned.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *warned != doubt {
            if !doubt.is_empty() {
                tracing::warn!("{doubt}");
            }
            *warned = doubt;
        }
    }

    /// Where a job's file lies.
    pub(crate) fn job_path(&self, job: howdah_core::job::JobId) -> PathBuf {
        job_file_path(&self.run_dir, self.cluster, job)
    }
}

pub(crate) type SharedRef = Arc<Shared>;

/// Does what takes a file system's time on a thread for such work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, tonic::Status> {
    tokio::task::spawn_blocking(work).await.map_err(|e| status::internal("finish a file operation", e))
}
