//! The size-based policies of the slowdown paper: FBQ, TAGS, SITA and COMP.
//!
//! All have K queues that are served in the order of arrival, and combine two mechanisms in all four ways:
//!
//! ```text
//!                      one cluster for all queues     a partition for each queue
//!  moved on by use      fbq                            tags
//!  placed by size       comp                           sita
//! ```
//!
//! Without partitions the queue with the lower number goes first for every free slot. A job that has received the
//! service of its queue's time limit is appended to the next queue: what runs of it goes on where it is and what is
//! done stays done, only its waiting tasks wait there from now on.
//! Source: slowdown-variability §IV. Within a queue Hadoop's five priorities go first, as in the FIFO of §II.

mod entry;
mod line;
mod made;
mod params;
mod partitions;
mod placement;
mod policy;
mod prediction;
mod service;

pub use line::{Line, Points};
pub use partitions::whole_slots;
pub use service::WaitingReduces;

use self::policy::SizeBased;
use super::Scheduler;
use super::params::{Reader, SchedulerError};

/// Feedback queues: parameters `queues`, `limits`, `service` (`queue` or `total`), `waiting.reduces` (`free` or
/// `count`) and `speculation`.
pub(super) fn fbq(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(SizeBased::made("fbq", params)?))
}

/// Feedback queues with a partition each: as [`fbq`], and `partitions`.
pub(super) fn tags(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(SizeBased::made("tags", params)?))
}

/// A partition for each range of predicted sizes: parameters `queues`, `limits`, `partitions`, `prediction` (`input`
/// or `trace`), `fit`, `waiting.reduces` and `speculation`.
pub(super) fn sita(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(SizeBased::made("sita", params)?))
}

/// A job's queue by the number of the last K − 1 jobs that it will be larger than: parameters `queues`, `departed`
/// (`size` or `prediction`), `prediction`, `fit`, `waiting.reduces` and `speculation`.
pub(super) fn comp(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(SizeBased::made("comp", params)?))
}
