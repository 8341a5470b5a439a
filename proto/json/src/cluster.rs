//! The cluster on one screen.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetClusterResponse, SpeculationRule};
use schemars::JsonSchema;
use serde::Serialize;

use crate::job::Speculation;
use crate::listing::{Shape, reached};

/// The cluster as programs see it: schema `howdah/cluster/v1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cluster {
    pub master: String,
    pub cluster_id: u64,
    pub version: String,
    pub scheduler: String,
    /// As they were given; all others have their defaults.
    pub scheduler_params: BTreeMap<String, String>,
    pub second_attempts: SpeculationPolicy,
    pub started_ms_epoch: Option<u64>,
    pub live_workers: u32,
    pub lost_workers: u32,
    pub blacklisted_workers: u32,
    pub draining_workers: u32,
    /// Without a message for some heartbeats, and not lost yet.
    pub silent_workers: u32,
    pub map_slots: u32,
    pub reduce_slots: u32,
    pub maps_running: u32,
    pub reduces_running: u32,
    pub jobs_prep: u32,
    pub jobs_running: u32,
    pub jobs_done: u32,
    pub interval_ms: u32,
    /// Of all jobs since the master started.
    pub speculation: Speculation,
    /// What the scheduler noted last, oldest first.
    pub notes: Vec<Note>,
    /// What it promises and the cluster as it is has not.
    pub warnings: Vec<String>,
}

impl Shape for Cluster {
    const NAME: &'static str = "cluster";
}

/// When a task that runs gets a speculative attempt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpeculationPolicy {
    /// none, hadoop, hadoop-0.21, late or load-aware.
    pub rule: String,
    /// none, a number of attempts, or a share of the slots.
    pub cap: String,
    pub dry_run: bool,
}

impl From<SpeculationRule> for SpeculationPolicy {
    fn from(SpeculationRule { rule, cap, dry_run }: SpeculationRule) -> SpeculationPolicy {
        SpeculationPolicy { rule, cap, dry_run }
    }
}

/// What a scheduler noted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note {
    pub at_ms_epoch: u64,
    pub text: String,
}

impl Cluster {
    /// As the master at `address` answered.
    pub fn new(address: &str, c: &GetClusterResponse) -> Cluster {
        Cluster {
            master: address.to_owned(),
            cluster_id: c.cluster_id,
            version: c.version.clone(),
            scheduler: c.scheduler.clone(),
            scheduler_params: c.scheduler_params.clone().into_iter().collect(),
            second_attempts: SpeculationPolicy::from(c.second_attempts.clone().unwrap_or_default()),
            started_ms_epoch: reached(c.started_ms_epoch),
            live_workers: c.live_workers,
            lost_workers: c.lost_workers,
            blacklisted_workers: c.blacklisted_workers,
            draining_workers: c.draining_workers,
            silent_workers: c.silent_workers,
            map_slots: c.map_slots,
            reduce_slots: c.reduce_slots,
            maps_running: c.maps_running,
            reduces_running: c.reduces_running,
            jobs_prep: c.jobs_prep,
            jobs_running: c.jobs_running,
            jobs_done: c.jobs_done,
            interval_ms: c.interval_ms,
            speculation: c.speculation.into(),
            notes: c.notes.iter().map(|n| Note { at_ms_epoch: n.at_ms_epoch, text: n.text.clone() }).collect(),
            warnings: c.warnings.clone(),
        }
    }
}
