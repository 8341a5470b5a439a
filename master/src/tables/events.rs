//! The map outputs of one job as they appear and vanish, for any number of readers.

use std::sync::Mutex;

use howdah_core::job::{AttemptId, TaskId};
use howdah_proto::v1;
use tokio::sync::watch;

/// How far the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) len: usize,
    pub(crate) closed: bool,
}

/// Grows only; readers follow by index.
#[derive(Debug)]
pub(crate) struct EventLog {
    events: Mutex<Vec<v1::MapEvent>>,
    mark: watch::Sender<Mark>,
}

impl EventLog {
    pub(crate) fn new() -> EventLog {
        EventLog { events: Mutex::new(Vec::new()), mark: watch::Sender::new(Mark::default()) }
    }

    /// The output of `attempt` can be fetched at `address`, or, if that is empty, is gone.
    pub(crate) fn push(&self, attempt: AttemptId, address: String) {
        self.append(v1::MapEvent { map: attempt.index, attempt: Some(attempt.into()), address, failed: false });
    }

    /// This map will have no output; the job goes on without it.
    pub(crate) fn push_failed(&self, task: TaskId) {
        let attempt = Some(task.attempt(0).into());
        self.append(v1::MapEvent { map: task.index, attempt, address: String::new(), failed: true });
    }

    fn append(&self, event: v1::MapEvent) {
        let len = {
            let mut events = self.events.lock().expect("no holder panics");
            events.push(event);
            events.len()
        };
        self.mark.send_modify(|mark| mark.len = len);
    }

    /// The job is over: no event will follow.
    pub(crate) fn close(&self) {
        self.mark.send_modify(|mark| mark.closed = true);
    }

    /// Follows the log's growth.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Mark> {
        self.mark.subscribe()
    }

    /// At most `max` events from number `from` on.
    pub(crate) fn read(&self, from: usize, max: usize) -> Vec<v1::MapEvent> {
        let events = self.events.lock().expect("no holder panics");
        let from = from.min(events.len());
        let to = from.saturating_add(max).min(events.len());
        events[from..to].to_vec()
    }
}
