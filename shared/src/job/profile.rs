//! Job templates: what a run of a job tells about how long its parts take, whatever slots it had.
//!
//! This is the project's own trace format, schema `howdah/trace/v1`: one JSON document with the cluster that
//! was measured and one [`JobTemplate`] per job in order of submission. All durations are milliseconds of
//! occupied slot time on the master's clock, all instants milliseconds from the trace's start. Fields are only
//! added; readers ignore none, so a typing error in a hand-written trace is an error.
//! Source: SimMR §III-A (job template), where the first shuffle is its non-overlapping part only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Priority;

/// Value of `schema` in every trace.
pub const TRACE_SCHEMA: &str = "howdah/trace/v1";

/// A trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// [`TRACE_SCHEMA`].
    pub schema: String,
    /// Where it comes from, for people.
    pub source: String,
    /// When the trace starts, in milliseconds since the epoch; `None` for made-up traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms_epoch: Option<u64>,
    /// The cluster that was measured; `None` for made-up traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<TraceCluster>,
    /// In order of submission.
    pub jobs: Vec<JobTemplate>,
}

/// The cluster on which a trace was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceCluster {
    /// The policy.
    pub scheduler: String,
    /// Its parameters.
    #[serde(default)]
    pub scheduler_params: BTreeMap<String, String>,
    /// In order of registration.
    pub workers: Vec<TraceWorker>,
}

/// One worker of the measured cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceWorker {
    /// Unique in the cluster.
    pub name: String,
    /// As split locations name it.
    pub host: String,
    /// Rack path.
    pub rack: String,
    /// Map slots.
    pub map_slots: u16,
    /// Reduce slots.
    pub reduce_slots: u16,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobTemplate {
    /// Printed id on the cluster that ran it; empty for made-up jobs.
    pub id: String,
    /// For people; jobs of one kind share it.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    /// Queue or pool.
    pub queue: String,
    /// At submission.
    pub priority: Priority,
    /// Instant of submission.
    pub submit_ms: u64,
    /// From submission; `None` when it had no deadline.
    pub deadline_ms: Option<u64>,
    /// Maps.
    pub n_maps: u32,
    /// Reduces.
    pub n_reduces: u32,
    /// Share of maps that must have finished before reduces are scheduled, in millionths.
    pub slowstart_ppm: u32,
    /// Winning maps, by map index; a map that never finished is missing.
    pub map_ms: Vec<u64>,
    /// First-wave reduces (assigned before the last map finished), by reduce index: from the end of the map
    /// stage to the end of their sort. The part that overlaps with maps is left out.
    pub first_shuffle_ms: Vec<u64>,
    /// Later reduces, by reduce index: from assignment to the end of their sort.
    pub typical_shuffle_ms: Vec<u64>,
    /// Winning reduces, by reduce index: from the end of their sort to their end.
    pub reduce_ms: Vec<u64>,
    /// Input bytes by map index; empty when unknown.
    pub map_input_bytes: Vec<u64>,
    /// Hosts of each map's split, by map index; empty when unknown.
    pub map_hosts: Vec<Vec<String>>,
    /// Attempts that did not win.
    pub lost_attempts: Vec<LostAttempt>,
    /// Launched maps by locality: node, rack, off-rack, unknown.
    pub maps_by_locality: [u32; 4],
    /// How the job ended: SUCCEEDED, FAILED or KILLED; empty for made-up jobs.
    pub outcome: String,
    /// Measured instants; `None` for made-up jobs.
    pub measured: Option<Measured>,
}

/// An attempt that took a slot and did not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LostAttempt {
    /// True for a reduce.
    pub reduce: bool,
    /// Of its task.
    pub index: u32,
    /// Which try.
    pub number: u16,
    /// True if it FAILED and counted against its task, false if it was KILLED.
    pub failed: bool,
    /// Whether another attempt of the task ran when it was launched.
    pub speculative: bool,
    /// Slot time.
    pub ms: u64,
}

/// Instants of a measured job, from the trace's start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Measured {
    /// First launch.
    pub launch_ms: u64,
    /// Last map finished; 0 for jobs without maps.
    pub maps_done_ms: u64,
    /// Output promoted, or failure or kill complete.
    pub finish_ms: u64,
}

impl JobTemplate {
    /// Completion time as measured: from submission to finish.
    pub fn completion_ms(&self) -> Option<u64> {
        self.measured.as_ref().map(|measured| measured.finish_ms.saturating_sub(self.submit_ms))
    }
}
