//! Job templates: what a run of a job tells about how long its parts take, whatever slots it had.
//!
//! These types are also the project's own trace format, schema `howdah/trace/v1`: a JSON object with the header
//! and the cluster that was measured, then one JSON object per job, in order of submission, one per line. (A
//! reader also takes the jobs inside the header object, which is nicer to write by hand.) All durations are
//! milliseconds of occupied slot time on the master's clock, all instants milliseconds from the trace's start.
//! Fields are only added, so that every version reads what earlier ones wrote; readers ignore none, so that a typing
//! error in a hand-written trace is an error, and an earlier version refuses a trace with a field that it does not know.
//! Source: SimMR §III-A (job template), where the first shuffle is its non-overlapping part only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{JobProfile, PhaseTimes, Priority, Requirements, SplitHosts};

/// Value of `schema` in every trace.
pub const TRACE_SCHEMA: &str = "howdah/trace/v1";

/// A trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// [`TRACE_SCHEMA`].
    pub schema: String,
    /// Where it comes from, for people; may be left out.
    #[serde(default)]
    pub source: String,
    /// When the trace starts, in milliseconds since the epoch; `None` for made-up traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms_epoch: Option<u64>,
    /// The cluster that was measured; `None` for made-up traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<TraceCluster>,
    /// In order of submission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobTemplate>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            schema: TRACE_SCHEMA.to_owned(),
            source: String::new(),
            start_ms_epoch: None,
            cluster: None,
            jobs: Vec::new(),
        }
    }
}

impl Trace {
    /// All but the jobs.
    pub fn header(&self) -> Trace {
        Trace {
            schema: self.schema.clone(),
            source: self.source.clone(),
            start_ms_epoch: self.start_ms_epoch,
            cluster: self.cluster.clone(),
            jobs: Vec::new(),
        }
    }
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
    /// Its attributes when the trace starts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// What they were changed to while it was measured, by ascending instants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attribute_changes: Vec<AttributeChange>,
}

/// A worker's attributes from an instant on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeChange {
    /// From the trace's start; later than 0.
    pub at_ms: u64,
    /// All of them.
    pub attributes: BTreeMap<String, String>,
}

/// One job. Fields that are empty or zero are left out of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobTemplate {
    /// Printed id on the cluster that ran it; empty for made-up jobs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// For people; jobs of one kind share it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Who submitted it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// Queue or pool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub queue: String,
    /// The Fair scheduler's pool that the job named, or that a property of it named where it ran; empty where neither
    /// did. It goes before user and queue, as live.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pool: String,
    /// At submission.
    #[serde(skip_serializing_if = "is_default")]
    pub priority: Priority,
    /// Instant of submission.
    pub submit_ms: u64,
    /// The job that it was submitted after, as the second job of an application that is a chain of them. A replay then
    /// does the same, whatever `submit_ms` says, if that job is above it in the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<Box<Follows>>,
    /// From submission; `None` when it had no deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// As submitted with the job, for policies that plan; `None` when it came without. A replay takes the durations'
    /// own where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<JobProfile>,
    /// Maps.
    pub n_maps: u32,
    /// Reduces.
    pub n_reduces: u32,
    /// Slots that one map takes; 0 stands for 1.
    #[serde(skip_serializing_if = "is_default")]
    pub slots_per_map: u16,
    /// Slots that one reduce takes; 0 stands for 1.
    #[serde(skip_serializing_if = "is_default")]
    pub slots_per_reduce: u16,
    /// What it requires of a worker's attributes; empty where any worker will do.
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    pub requires: Requirements,
    /// Share of maps that must have finished before reduces are scheduled, in millionths; `None` when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowstart_ppm: Option<u32>,
    /// Winning maps, by map index; a map that never finished is missing. Map `i` of a replay takes entry
    /// `i mod len`, so one entry stands for any number of equal maps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub map_ms: Vec<u64>,
    /// First-wave reduces (assigned before the last map finished), by reduce index: from the end of the map
    /// stage to the end of their sort. The part that overlaps with maps is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_shuffle_ms: Vec<u64>,
    /// Later reduces, by reduce index: from assignment to the end of their sort.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub typical_shuffle_ms: Vec<u64>,
    /// Winning reduces, by reduce index: from the end of their sort to their end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reduce_ms: Vec<u64>,
    /// From the end of the last task to the end of the job, when the output is promoted; no slot is held.
    #[serde(skip_serializing_if = "is_default")]
    pub commit_ms: u64,
    /// Input bytes by map index; empty when unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub map_input_bytes: Vec<u64>,
    /// All input; `None` when unknown. Where `map_input_bytes` is known, its sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// From maps to reduces; `None` when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle_bytes: Option<u64>,
    /// Written by the last stage; `None` when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Hosts of each map's split; empty when unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub split_hosts: SplitHosts,
    /// Attempts that did not win.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_attempts: Vec<LostAttempt>,
    /// Launched maps by locality: node, rack, off-rack, unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub maps_by_locality: [u32; 4],
    /// How the job ended: SUCCEEDED, FAILED or KILLED; empty for made-up jobs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// Measured instants; `None` for made-up jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a job waited for before it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follows {
    /// The id of the job that was over first.
    pub job: String,
    /// From that job's end to the submission.
    #[serde(default)]
    pub after_ms: u64,
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
    /// The Fair scheduler's pool, where there is one.
    pub fn pool(&self) -> Option<String> {
        (!self.pool.is_empty()).then(|| self.pool.clone())
    }

    /// Completion time as measured: from submission to finish.
    pub fn completion_ms(&self) -> Option<u64> {
        self.measured.as_ref().map(|measured| measured.finish_ms.saturating_sub(self.submit_ms))
    }
}
impl JobProfile {
    /// The profile of a measured or made-up job; `None` when the template lacks the durations of its maps or of its
    /// reduces. Where it knows shuffles of one wave only, they stand in for the other's, as in a replay.
    pub fn of(template: &JobTemplate) -> Option<JobProfile> {
        let unknown = |n: u32, list: &[u64]| n > 0 && list.is_empty();
        if unknown(template.n_maps, &template.map_ms) || unknown(template.n_reduces, &template.reduce_ms) {
            return None;
        }
        let shuffle = |known: &[u64], other: &[u64]| {
            let list = if known.is_empty() { other } else { known };
            // Waves depend on the slots, so that each list counts as it is.
            PhaseTimes::of(list, (list.len() as u32).min(template.n_reduces))
        };
        Some(JobProfile {
            map: PhaseTimes::of(&template.map_ms, template.n_maps),
            first_shuffle: shuffle(&template.first_shuffle_ms, &template.typical_shuffle_ms),
            typical_shuffle: shuffle(&template.typical_shuffle_ms, &template.first_shuffle_ms),
            reduce: PhaseTimes::of(&template.reduce_ms, template.n_reduces),
        })
    }
}
