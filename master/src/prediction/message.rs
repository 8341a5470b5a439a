//! What reaches the prediction thread, and what it answers.

use std::collections::BTreeMap;
use std::time::Duration;

use howdah_core::tracker::JobTracker;
use howdah_planning::prediction::{
    Changes, ChangesError, EndScore, Forecast, ForecastOptions, ModelName, Score, StartScore,
};
use tokio::sync::oneshot;

use super::applications::Applications;

/// One request.
pub(crate) struct Ask {
    pub(crate) fork: Box<JobTracker>,
    pub(crate) applications: Applications,
    pub(crate) options: ForecastOptions,
    /// `None` for the master's own.
    pub(crate) model: Option<ModelName>,
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
    pub(crate) coverage: Coverage,
}

/// How far what was told can be relied on, since the master's start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// Share of the scored tasks that took what their intervals said; `None` of none.
    pub(crate) tasks: Option<f64>,
    /// Forecasts of jobs' ends by the policy under which they were made.
    pub(crate) ends: BTreeMap<String, EndScore>,
    /// Starts beside the last forecast before each, by the same.
    pub(crate) starts: BTreeMap<String, StartScore>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error("the prediction thread has too much to do")]
    Full,
    #[error("the master is stopping")]
    Stopped,
    #[error(transparent)]
    Changes(#[from] ChangesError),
}

/// Who waits for an answer.
pub(super) type Reply = oneshot::Sender<Result<ForecastAnswer, AskError>>;

/// What wakes the thread.
pub(super) enum Message {
    Ask { ask: Box<Ask>, reply: Reply },
    Stop,
}
