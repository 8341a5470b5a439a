//! One attempt as people see it, while it runs and afterwards.

use std::sync::Arc;

use howdah_core::job::{AttemptId, AttemptState, Locality, Phase, Progress, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::EndCause;
use howdah_proto::v1;

use super::{PackedCounters, WorkerRow};

/// What a report says of an attempt beyond what decisions read.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) attempt: AttemptId,
    pub(crate) counters: Option<PackedCounters>,
    pub(crate) end: Option<v1::AttemptEnd>,
    /// Empty when it did not change.
    pub(crate) message: String,
}

/// An attempt that is not over.
#[derive(Clone, Debug)]
pub(crate) struct LiveAttempt {
    pub(crate) worker_id: WorkerId,
    pub(crate) record: AttemptRecord,
}

/// Everything that is known of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct AttemptRecord {
    pub(crate) id: AttemptId,
    pub(crate) state: AttemptState,
    pub(crate) phase: Phase,
    pub(crate) progress: Progress,
    pub(crate) worker: Arc<str>,
    pub(crate) host: Arc<str>,
    pub(crate) rack: Arc<str>,
    pub(crate) locality: Locality,
    pub(crate) speculative: bool,
    pub(crate) assigned: Time,
    /// On the master's clock; zero while it runs.
    pub(crate) ended: Time,
    pub(crate) cause: Option<EndCause>,
    pub(crate) end: Option<Box<v1::AttemptEnd>>,
    pub(crate) counters: PackedCounters,
    pub(crate) message: String,
}

impl LiveAttempt {
    pub(crate) fn new(
        id: AttemptId,
        worker_id: WorkerId,
        worker: &WorkerRow,
        locality: Locality,
        speculative: bool,
        now: Time,
    ) -> LiveAttempt {
        let record = AttemptRecord {
            id,
            state: AttemptState::Launching,
            phase: Phase::Starting,
            progress: Progress::ZERO,
            worker: Arc::clone(&worker.name),
            host: Arc::clone(&worker.host),
            rack: Arc::clone(&worker.rack),
            locality,
            speculative,
            assigned: now,
            ended: Time::ZERO,
            cause: None,
            end: None,
            counters: PackedCounters::default(),
            message: String::new(),
        };
        LiveAttempt { worker_id, record }
    }
}

impl AttemptRecord {
    /// Takes in what only people read.
    pub(crate) fn take(&mut self, extra: Extra) {
        if let Some(counters) = extra.counters {
            self.counters = counters;
        }
        if let Some(end) = extra.end {
            self.end = Some(Box::new(end));
        }
        if !extra.message.is_empty() {
            self.message = extra.message;
        }
    }
}
