//! Intervals that hold what they state: earlier forecasts of jobs' ends are held against the ends that came, and new intervals
//! are made as wide as nine of ten of the earlier ones had needed to be.
//!
//! An error is counted in widths of its own interval, so that forecasts far ahead and close by tell of each other. The scale
//! is the quantile of the counted errors of the last jobs (split conformal prediction). Each policy has its own, as an
//! order of jobs that is fixed is predicted better than one that depends on which task ends first. Until enough jobs have
//! ended, and for jobs of which nothing was seen, intervals stay as wide as they are drawn.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// The share of truths that every interval states to hold.
pub const STATED: f64 = 0.9;

/// Jobs whose errors are kept, of each policy.
const JOBS: usize = 100;
/// With fewer jobs than this there is no scale.
pub(super) const ENOUGH: usize = 8;
/// Policies that are told apart.
const POLICIES: usize = 16;
/// Errors that are kept of one job: its forecasts, evenly thinned out.
pub(super) const OF_ONE_JOB: usize = 64;

/// The least value that the stated share of these stays within; `None` of none.
pub(super) fn quantile(mut scores: Vec<f64>) -> Option<f64> {
    scores.sort_by(f64::total_cmp);
    // One more than there are: the next one is as likely to lie in each gap between them.
    let rank = (STATED * (scores.len() + 1) as f64).ceil() as usize;
    scores.get(rank.clamp(1, scores.len().max(1)) - 1).copied()
}

/// The errors of earlier forecasts of ends, in widths of their intervals, by policy and job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct EndErrors(BTreeMap<String, VecDeque<Vec<f64>>>);

impl EndErrors {
    /// As if they had been added one by one; what is no error of a forecast is left out.
    pub(super) fn within_bounds(self) -> EndErrors {
        let bounded = self.0.into_iter().take(POLICIES).map(|(policy, mut jobs)| {
            jobs.drain(..jobs.len().saturating_sub(JOBS));
            for errors in &mut jobs {
                errors.retain(|error| error.is_finite() && *error >= 0.0);
                errors.truncate(OF_ONE_JOB);
            }
            (policy, jobs)
        });
        EndErrors(bounded.collect())
    }

    /// By which drawn intervals are scaled under a policy; `None` while too few jobs have ended.
    pub(super) fn scale(&self, policy: &str) -> Option<f64> {
        let jobs = self.0.get(policy).filter(|jobs| jobs.len() >= ENOUGH)?;
        quantile(jobs.iter().flatten().copied().collect())
    }

    /// A job has ended under a policy, with these errors of its forecasts.
    pub(super) fn add(&mut self, policy: String, errors: Vec<f64>) {
        if !self.0.contains_key(&policy) && self.0.len() >= POLICIES {
            return;
        }
        let jobs = self.0.entry(policy).or_default();
        if jobs.len() >= JOBS {
            jobs.pop_front();
        }
        jobs.push_back(errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_ten_scores_stay_within_the_quantile() {
        assert_eq!(quantile((1..=99).map(f64::from).collect()), Some(90.0));
        assert_eq!(quantile(vec![3.0, 1.0]), Some(3.0), "two do not tell a tenth");
        assert_eq!(quantile(Vec::new()), None);
    }
}
