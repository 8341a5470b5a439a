//! What reaches the prediction thread, and what it answers.

use std::time::Duration;

use howdah_core::tracker::JobTracker;
use howdah_planning::prediction::{Changes, ChangesError, Forecast, ForecastOptions, Score};
use tokio::sync::oneshot;

use super::applications::Applications;

/// One request.
pub(crate) struct Ask {
    pub(crate) fork: Box<JobTracker>,
    pub(crate) applications: Applications,
    pub(crate) options: ForecastOptions,
    /// By name.
    pub(crate) model: String,
    /// Beside the present course, each by its own.
    pub(crate) others: Vec<(Changes, ForecastOptions)>,
    /// What a job that is only thought of runs, in the order of the changes.
    pub(crate) hypothetical: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct ForecastAnswer {
    pub(crate) present: Forecast,
    /// In the order in which they were asked for.
    pub(crate) others: Vec<Forecast>,
    pub(crate) took: Duration,
    pub(crate) learnt: u64,
    pub(crate) score: Score,
    pub(crate) unseen: u64,
}

/// What wakes the thread.
pub(super) enum Message {
    Ask { ask: Box<Ask>, reply: oneshot::Sender<Result<ForecastAnswer, ChangesError>> },
    Stop,
}
