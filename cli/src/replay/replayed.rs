//! What a replay came to, for all forms of the answer.

use howdah_core::job::ClusterId;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::summary::{PartitionUsage, QueueUsage, Summary};
use howdah_core::replay::{ReplayOptions, ReplayReport};
use howdah_core::time::Time;

/// What a replay came to, for all forms of the answer.
pub(super) struct Replayed<'a> {
    pub(super) trace: &'a Trace,
    pub(super) options: &'a ReplayOptions,
    pub(super) report: ReplayReport,
    pub(super) summary: Summary,
    /// By name; empty when all jobs share one queue.
    pub(super) queues: Vec<QueueUsage>,
    /// By name; empty under policies that do not divide the slots.
    pub(super) partitions: Vec<PartitionUsage>,
    pub(super) wall_s: f64,
    /// The instant reached, if it was interrupted.
    pub(super) stopped_at: Option<Time>,
    /// If jobs are left that cannot go on: one of them and why, in the policy's words.
    pub(super) stuck: Option<String>,
}

/// A job's printed id: the trace's, or one made of its place in the trace.
pub(super) fn job_id(template: &JobTemplate, place: u32) -> String {
    if template.id.is_empty() { MADE_UP.job(howdah_core::job::JobId(place + 1)) } else { template.id.clone() }
}

/// The cluster in made-up ids.
pub(super) const MADE_UP: ClusterId = ClusterId(0);
