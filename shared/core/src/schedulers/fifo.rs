//! First in, first out: the plain one, which fills every free slot.
//!
//! Order: priority, then time of submission, then number. Hadoop's own per-heartbeat limits belong to its dialects,
//! not to this one. Source: `docs/hadoop.md#fifo` for the order. `Deviation:` Hadoop orders by start time, which
//! initialisation delays; here it is the time of submission.

use super::{Capabilities, JobOrder};
use crate::cluster::{ClusterState, Job};
use crate::job::Priority;
use crate::time::Time;

/// The order of [`Ordered`](super::Ordered) that is FIFO.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fifo;

impl JobOrder for Fifo {
    type Rank = (Priority, Time);

    fn name(&self) -> &'static str {
        "fifo"
    }

    fn rank(&self, job: &Job, _state: &ClusterState) -> (Priority, Time) {
        (job.priority(), job.submitted())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { follows_attempts: false, has_deadlines: false, reads_profiles: false, ..Capabilities::default() }
    }
}
