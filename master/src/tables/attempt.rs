//! One attempt as people see it, while it runs and afterwards.

use std::sync::Arc;

use howdah_core::job::counters::Counters;
use howdah_core::job::{AttemptId, AttemptState, ClusterId, Locality, Phase, Progress, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::EndCause;
use howdah_proto::convert::cause_text;
use howdah_proto::v1;

use super::WorkerRow;
use crate::history::AttemptHistory;

/// What a report says of an attempt beyond what decisions read.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) attempt: AttemptId,
    pub(crate) counters: Option<Counters>,
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
    pub(crate) counters: Counters,
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
            counters: Counters::default(),
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

    /// As the history stores it.
    pub(crate) fn history(&self, cluster: ClusterId) -> AttemptHistory {
        let end = self.end.as_deref();
        AttemptHistory {
            attempt: cluster.attempt(self.id),
            task: cluster.task(self.id.task()),
            kind: self.id.kind,
            index: self.id.index,
            number: self.id.number,
            state: self.state,
            phase: self.phase,
            progress: self.progress.fraction(),
            worker: self.worker.to_string(),
            host: self.host.to_string(),
            rack: self.rack.to_string(),
            locality: self.locality,
            speculative: self.speculative,
            assigned_ms_epoch: self.assigned.as_ms(),
            ended_ms_epoch: self.ended.as_ms(),
            cause: self.cause.map_or_else(String::new, |cause| cause_text(cause).to_owned()),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal),
            diagnostics: end.map_or_else(String::new, |end| end.diagnostics.clone()),
            stderr_tail: end.map_or_else(String::new, |end| end.stderr_tail.clone()),
            cpu_us: end.map_or(0, |end| end.cpu_us),
            peak_memory_kib: end.map_or(0, |end| end.peak_memory_kib),
            started_ms_epoch: end.map_or(0, |end| end.started_ms_epoch),
            shuffle_done_ms_epoch: end.map_or(0, |end| end.shuffle_done_ms_epoch),
            sort_done_ms_epoch: end.map_or(0, |end| end.sort_done_ms_epoch),
            finished_ms_epoch: end.map_or(0, |end| end.finished_ms_epoch),
            message: self.message.clone(),
            counters: self.counters.clone(),
        }
    }
}
