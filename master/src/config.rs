//! What a master can be told.
//!
//! Every field has a default, unknown fields are errors; the command layers a file, variables and flags.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use howdah_shared::tracker::ClusterConfig;
use serde::{Deserialize, Serialize};

/// Configuration of the JobTracker daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MasterConfig {
    /// Where it listens for workers and clients; port 0 takes any.
    pub listen: SocketAddr,
    /// Its directory; made if missing. No two masters may share one.
    pub dir: PathBuf,
    /// Name of the scheduler.
    pub scheduler: String,
    /// The scheduler's own parameters.
    pub scheduler_params: BTreeMap<String, String>,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// What the core reads: expiry, heartbeat rule, blacklists, parking.
    pub cluster: ClusterConfig,
    /// Sizes that nobody may exceed.
    pub limits: Limits,
    /// Size of one segment of the journal.
    pub journal_segment_bytes: u64,
    /// How long a kind stop waits for running jobs, in milliseconds. New jobs are refused meanwhile.
    pub drain_grace_ms: u64,
    /// The name of this host in split locations; empty when local files have no known place.
    pub split_host: String,
}

/// Sizes that nobody may exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maps and reduces of one job (`mapred.jobtracker.maxtasks.per.job`).
    pub tasks_per_job: u32,
    /// Reduces of one job.
    pub reduces_per_job: u32,
    /// Workers, by name, those that left included: a worker's number is never given again.
    pub workers: u32,
    /// Jobs that are not over.
    pub live_jobs: u32,
    /// Finished jobs whose attempts stay in memory; older ones are read from the history
    /// (`mapred.jobtracker.completeuserjobs.maximum`).
    pub finished_jobs: u32,
    /// Finished jobs that are still listed.
    pub listed_jobs: u32,
    /// Inputs waiting for the core.
    pub inbox: u32,
    /// Bytes of one message in either direction.
    pub message_bytes: u64,
}

impl Default for MasterConfig {
    fn default() -> MasterConfig {
        MasterConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            dir: PathBuf::from("howdah-master"),
            scheduler: "fifo".to_owned(),
            scheduler_params: BTreeMap::new(),
            seed: 0,
            cluster: ClusterConfig::default(),
            limits: Limits::default(),
            journal_segment_bytes: 16 << 20,
            drain_grace_ms: 10_000,
            split_host: String::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            tasks_per_job: 200_000,
            reduces_per_job: 20_000,
            workers: 100_000,
            live_jobs: 10_000,
            finished_jobs: 100,
            listed_jobs: 10_000,
            inbox: 16_384,
            message_bytes: howdah_proto::MAX_MESSAGE_BYTES as u64,
        }
    }
}
