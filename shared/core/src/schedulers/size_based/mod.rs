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
mod params;
mod partitions;
mod placement;
mod policy;
mod prediction;
mod service;

pub use line::{Line, Points};
pub use service::WaitingReduces;

use self::entry::{Counted, Limits};
use self::partitions::Partitions;
use self::placement::Placement;
use self::policy::SizeBased;
use super::registry::{Reader, SchedulerError};
use super::{Offer, Scheduler};

/// The best limits that the paper's §VI-A found for its cluster and workload, in seconds.
const FBQ_S: u64 = 12_000;
const TAGS_S: u64 = 14_000;
const SITA_S: u64 = 18_000;
/// And the sizes of partition 1 that it settled on, in percent.
const TAGS_PERCENT: u32 = 50;
const SITA_PERCENT: u32 = 30;

/// Feedback queues: parameters `queues`, `limits`, `service` (`queue` or `total`), `waiting.reduces` (`free` or
/// `count`) and `speculation`.
pub(super) fn fbq(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(made("fbq", params)?))
}

/// Feedback queues with a partition each: as [`fbq`], and `partitions`.
pub(super) fn tags(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(made("tags", params)?))
}

/// A partition for each range of predicted sizes: parameters `queues`, `limits`, `partitions`, `prediction` (`input`
/// or `trace`), `fit`, `waiting.reduces` and `speculation`.
pub(super) fn sita(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(made("sita", params)?))
}

/// A job's queue by the number of the last K − 1 jobs that it will be larger than: parameters `queues`, `departed`
/// (`size` or `prediction`), `prediction`, `fit`, `waiting.reduces` and `speculation`.
pub(super) fn comp(params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(made("comp", params)?))
}

/// One of the four, by its name.
fn made(name: &'static str, params: &mut Reader<'_>) -> Result<SizeBased, SchedulerError> {
    let (placement, shares) = match name {
        "fbq" => (feedback(params, FBQ_S)?, None),
        "tags" => {
            let placement = feedback(params, TAGS_S)?;
            let shares = params::partitions(params, placement.queues(), TAGS_PERCENT)?;
            (placement, Some(shares))
        }
        "sita" => {
            let cutoffs_us = params::limits(params, SITA_S, true)?;
            let shares = params::partitions(params, cutoffs_us.len() + 1, SITA_PERCENT)?;
            (Placement::Predicted { cutoffs_us, prediction: params::prediction(params)? }, Some(shares))
        }
        _ => {
            let queues = params::queues(params)?;
            let by_prediction = params.word("departed", &["size", "prediction"])? == "prediction";
            let prediction = params::prediction(params)?;
            (Placement::Compared { queues, last_us: Default::default(), by_prediction, prediction }, None)
        }
    };
    let (waiting, offer) = (params::waiting_reduces(params)?, Offer::from_params(params)?);
    Ok(SizeBased::new(name, placement, shares.map(Partitions::new), waiting, offer))
}

fn feedback(params: &mut Reader<'_>, default_s: u64) -> Result<Placement, SchedulerError> {
    let counted = match params.word("service", &["queue", "total"])? {
        "queue" => Counted::InQueue,
        _ => Counted::InAll,
    };
    let us = params::limits(params, default_s, counted == Counted::InAll)?;
    Ok(Placement::Used(Limits { us, counted }))
}
