//! The gRPC services: what workers and clients may ask of the master.

mod client;
mod logs;
mod splits;
mod status;
mod submit;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use howdah_proto::stop::Stop;
use howdah_shared::job::ClusterId;

use crate::config::MasterConfig;
use crate::engine::{Clearing, CoreHandle};

pub(crate) use client::ClientApi;
pub(crate) use worker::WorkerApi;

/// What both services share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) core: CoreHandle,
    pub(crate) cluster: ClusterId,
    pub(crate) run_dir: PathBuf,
    pub(crate) config: MasterConfig,
    pub(crate) stop: Stop,
    /// Streams end: the core stops.
    pub(crate) closing: tokio_util::sync::CancellationToken,
    pub(crate) started_ms_epoch: u64,
    /// Output of failed jobs that is not gone yet.
    pub(crate) clearing: Clearing,
    /// Number of the next job; held while a job's file is written, so that jobs enter the core in order.
    pub(crate) next_job: tokio::sync::Mutex<u32>,
    /// Someone has put a scheduler in charge: what the configuration says of it holds no more.
    pub(crate) scheduler_set: Arc<AtomicBool>,
}

impl Shared {
    /// Where a job's file lies.
    pub(crate) fn job_path(&self, job: howdah_shared::job::JobId) -> PathBuf {
        self.run_dir.join("jobs").join(format!("{}.json", self.cluster.job(job)))
    }
}

pub(crate) type SharedRef = Arc<Shared>;
