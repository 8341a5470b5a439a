//! What the progress of running tasks said, kept until they end and it can be held against what they took.
//!
//! A forecast notes what it was told of each running task; of an attempt that ends without doing its task's work nothing is
//! learnt.

use std::collections::{BTreeMap, VecDeque};

use super::forecast::Forecast;
use super::history::TaskHistory;
use super::progress::Look;
use howdah_core::job::{AttemptId, JobId};
use howdah_core::time::Span;

/// Looks at one attempt, the last ones.
const OF_ONE: usize = 8;
/// Attempts whose looks wait for their ends.
const ATTEMPTS: usize = 10_000;

/// Looks at tasks that have not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks(BTreeMap<AttemptId, VecDeque<Look>>);

impl Looks {
    /// A forecast was made. What no longer ends, as its job is over, is forgotten.
    pub(super) fn add(&mut self, forecast: &Forecast) {
        let live = |job: JobId| forecast.jobs.binary_search_by_key(&job, |known| known.job).is_ok();
        self.0.retain(|attempt, _| live(attempt.job));
        for look in &forecast.running {
            if self.0.len() >= ATTEMPTS && !self.0.contains_key(&look.attempt) {
                continue;
            }
            let looks = self.0.entry(look.attempt).or_default();
            if looks.len() >= OF_ONE {
                looks.pop_front();
            }
            looks.push_back(look.clone());
        }
    }

    /// An attempt has done its task's work in so long.
    pub(super) fn ended(&mut self, attempt: AttemptId, time: Span, history: &mut TaskHistory) {
        for look in self.0.remove(&attempt).into_iter().flatten() {
            history.evidence(&look.class, look.third).ended(&look, time.as_us() as f64);
        }
    }
}
