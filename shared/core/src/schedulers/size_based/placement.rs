//! How jobs come into the queues of a size-based policy: by what they have used, or by what they will probably use.

use std::collections::VecDeque;

use super::entry::{Entry, Limits};
use super::prediction::Prediction;
use crate::cluster::Job;

/// How jobs come into queues.
#[derive(Clone, Debug)]
pub(super) enum Placement {
    /// Into the first, and on from there by the service that they receive.
    Used(Limits),
    /// By their predicted sizes: above so many of the cutoffs.
    Predicted { cutoffs_us: Vec<u64>, prediction: Prediction },
    /// By their predicted sizes: larger than so many of the last jobs that succeeded, at most one fewer than there are
    /// queues. While fewer have, they are all that a job is compared with.
    Compared { queues: usize, last_us: VecDeque<u64>, by_prediction: bool, prediction: Prediction },
}

impl Placement {
    /// K.
    pub(super) fn queues(&self) -> usize {
        match self {
            Placement::Used(limits) => limits.us.len() + 1,
            Placement::Predicted { cutoffs_us, .. } => cutoffs_us.len() + 1,
            Placement::Compared { queues, .. } => *queues,
        }
    }

    /// The queue of a job that comes now, from 0, and its predicted size.
    pub(super) fn place(&self, job: &Job) -> (usize, u64) {
        let larger = |sizes: &mut dyn Iterator<Item = &u64>, size| sizes.filter(|&&other| size > other).count();
        match self {
            Placement::Used(_) => (0, 0),
            Placement::Predicted { cutoffs_us, prediction } => {
                let size = prediction.of(job);
                (larger(&mut cutoffs_us.iter(), size), size)
            }
            Placement::Compared { last_us, prediction, .. } => {
                let size = prediction.of(job);
                (larger(&mut last_us.iter(), size), size)
            }
        }
    }

    pub(super) fn limit(&self, queue: usize, so_far_us: u64) -> u64 {
        match self {
            Placement::Used(limits) => limits.of(queue, so_far_us),
            _ => u64::MAX,
        }
    }

    /// A job has succeeded.
    pub(super) fn departed(&mut self, job: &Job, size_us: u64, predicted_us: u64) {
        match self {
            Placement::Used(_) => {}
            Placement::Predicted { prediction, .. } => prediction.learn(job, size_us),
            Placement::Compared { queues, last_us, by_prediction, prediction } => {
                last_us.push_back(if *by_prediction { predicted_us } else { size_us });
                if last_us.len() >= *queues {
                    last_us.pop_front();
                }
                prediction.learn(job, size_us);
            }
        }
    }

    /// Goes on with what another one of the same policy has seen.
    pub(super) fn inherit(&mut self, old: &Placement) {
        match (self, old) {
            (Placement::Predicted { prediction, .. }, Placement::Predicted { prediction: old, .. }) => {
                prediction.inherit(old);
            }
            (
                Placement::Compared { queues, last_us, by_prediction, prediction },
                Placement::Compared { last_us: old_us, by_prediction: as_old, prediction: old, .. },
            ) => {
                if by_prediction == as_old {
                    let skipped = (old_us.len() + 1).saturating_sub(*queues);
                    *last_us = old_us.iter().copied().skip(skipped).collect();
                }
                prediction.inherit(old);
            }
            _ => {}
        }
    }

    /// The queue and the limit of a job that came under other parameters and has received so much.
    pub(super) fn place_again(&self, entry: &Entry, received_us: u64) -> (usize, u64) {
        match self {
            Placement::Used(limits) => {
                let (mut queue, mut limit_us) = (0, limits.of(0, 0));
                while limit_us != u64::MAX && received_us >= limit_us {
                    queue += 1;
                    limit_us = limits.of(queue, limit_us);
                }
                (queue, limit_us)
            }
            Placement::Predicted { cutoffs_us, .. } => {
                (cutoffs_us.iter().filter(|&&cutoff| entry.predicted_us > cutoff).count(), u64::MAX)
            }
            // What it was compared with when it came is gone.
            Placement::Compared { queues, .. } => (entry.queue.min(queues - 1), u64::MAX),
        }
    }

    pub(super) fn forget(&mut self) {
        match self {
            Placement::Used(_) => {}
            Placement::Predicted { prediction, .. } => prediction.forget(),
            Placement::Compared { last_us, prediction, .. } => {
                last_us.clear();
                prediction.forget();
            }
        }
    }
}
