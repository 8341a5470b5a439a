//! The map outputs of one job as they appear and vanish, for any number of readers.

use std::sync::Mutex;

use howdah_core::job::{AttemptId, JobId, TaskId, TaskKind};
use howdah_proto::v1;
use tokio::sync::watch;

/// How far the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) len: usize,
    pub(crate) closed: bool,
}

/// One event in 16 bytes: a job has at least one for each of its maps, and keeps them to its end.
#[derive(Clone, Copy, Debug)]
struct Event {
    attempt: AttemptId,
    /// Index among the addresses, or one of the two below.
    at: u32,
}

/// The output is gone.
const GONE: u32 = u32::MAX;
/// There will be none.
const FAILED: u32 = u32::MAX - 1;

#[derive(Debug, Default)]
struct Log {
    events: Vec<Event>,
    /// Where outputs were; few, as the workers that had maps of the job are.
    addresses: Vec<String>,
}

/// Grows only; readers follow by index.
#[derive(Debug)]
pub(crate) struct EventLog {
    log: Mutex<Log>,
    mark: watch::Sender<Mark>,
}

impl EventLog {
    pub(crate) fn new() -> EventLog {
        EventLog { log: Mutex::default(), mark: watch::Sender::new(Mark::default()) }
    }

    /// The output of `attempt` can be fetched at `address`, or, if that is empty, is gone.
    pub(crate) fn push(&self, attempt: AttemptId, address: String) {
        let at = if address.is_empty() { GONE } else { self.place(address) };
        self.append(Event { attempt, at });
    }

    /// This map will have no output; the job goes on without it.
    pub(crate) fn push_failed(&self, task: TaskId) {
        self.append(Event { attempt: task.attempt(0), at: FAILED });
    }

    /// The number of an address. The last ones first: a worker that moved is found where it is now.
    fn place(&self, address: String) -> u32 {
        let addresses = &mut self.log.lock().expect("no holder panics").addresses;
        let known = addresses.iter().rposition(|known| *known == address);
        known.unwrap_or_else(|| {
            addresses.push(address);
            addresses.len() - 1
        }) as u32
    }

    fn append(&self, event: Event) {
        let len = {
            let events = &mut self.log.lock().expect("no holder panics").events;
            events.push(event);
            events.len()
        };
        self.mark.send_modify(|mark| mark.len = len);
    }

    /// All of it: where outputs were, and the events.
    pub(super) fn stored(&self) -> (Vec<String>, Vec<v1::SnapshotMapEvent>) {
        let Log { events, addresses } = &*self.log.lock().expect("no holder panics");
        let event = |Event { attempt, at }: &Event| v1::SnapshotMapEvent {
            map: attempt.index,
            number: attempt.number.into(),
            at: match *at {
                GONE => 0,
                FAILED => 1,
                at => at + 2,
            },
        };
        (addresses.clone(), events.iter().map(event).collect())
    }

    /// With all that there was; readers go on where they were.
    pub(super) fn restored(job: JobId, addresses: Vec<String>, stored: &[v1::SnapshotMapEvent]) -> EventLog {
        let event = |event: &v1::SnapshotMapEvent| {
            let task = TaskId { job, kind: TaskKind::Map, index: event.map };
            let at = match event.at {
                0 => GONE,
                1 => FAILED,
                at => at - 2,
            };
            Event { attempt: task.attempt(event.number as u16), at }
        };
        let events: Vec<Event> = stored.iter().map(event).collect();
        let mark = watch::Sender::new(Mark { len: events.len(), closed: false });
        EventLog { log: Mutex::new(Log { events, addresses }), mark }
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
        let Log { events, addresses } = &*self.log.lock().expect("no holder panics");
        let from = from.min(events.len());
        let to = from.saturating_add(max).min(events.len());
        let event = |Event { attempt, at }: &Event| v1::MapEvent {
            map: attempt.index,
            attempt: Some((*attempt).into()),
            address: addresses.get(*at as usize).cloned().unwrap_or_default(),
            failed: *at == FAILED,
        };
        events[from..to].iter().map(event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_come_go_and_will_never_be_are_told_apart() {
        let log = EventLog::new();
        let task = |index| TaskId { job: JobId(1), kind: TaskKind::Map, index };
        for (index, worker) in [(0, "a:1"), (1, "b:1"), (2, "a:1")] {
            log.push(task(index).attempt(0), worker.to_owned());
        }
        log.push(task(1).attempt(0), String::new());
        log.push_failed(task(3));
        let told = |from, max| {
            let events = log.read(from, max).into_iter();
            events.map(|event| (event.map, event.address, event.failed)).collect::<Vec<_>>()
        };
        let [a, b] = ["a:1", "b:1"].map(str::to_owned);
        let none = String::new;
        assert_eq!(told(0, 3), [(0, a.clone(), false), (1, b, false), (2, a, false)]);
        assert_eq!(told(3, usize::MAX), [(1, none(), false), (3, none(), true)]);
        assert_eq!(told(9, 9), []);
        assert_eq!(log.log.lock().expect("no holder panics").addresses.len(), 2);
    }
}
