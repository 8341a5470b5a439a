//! A size-based policy from its parameters.

use super::entry::{Counted, Limits};
use super::params;
use super::partitions::Partitions;
use super::placement::Placement;
use super::policy::SizeBased;
use crate::schedulers::Offer;
use crate::schedulers::params::{Reader, SchedulerError};

/// The best limits that the paper's §VI-A found for its cluster and workload, in seconds.
const FBQ_S: u64 = 12_000;
const TAGS_S: u64 = 14_000;
const SITA_S: u64 = 18_000;
/// And the sizes of partition 1 that it settled on, in percent.
const TAGS_PERCENT: u32 = 50;
const SITA_PERCENT: u32 = 30;

impl SizeBased {
    /// One of the four, by its name.
    pub(super) fn made(name: &'static str, params: &mut Reader<'_>) -> Result<SizeBased, SchedulerError> {
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
}

fn feedback(params: &mut Reader<'_>, default_s: u64) -> Result<Placement, SchedulerError> {
    let counted = match params.word("service", &["queue", "total"])? {
        "queue" => Counted::InQueue,
        _ => Counted::InAll,
    };
    let us = params::limits(params, default_s, counted == Counted::InAll)?;
    Ok(Placement::Used(Limits { us, counted }))
}
