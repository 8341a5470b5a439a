//! The attempts of one job that are over, in a few bytes each.
//!
//! A job may have a million of them, and until it is over the master keeps all. So what has a fixed size lies in the index, what
//! has not (how it ended, counters, the user's words) is encoded into pages, and names of workers are kept once. A record in
//! pieces of its own would take three times the room, most of it in gaps: its parts come from other threads, among what
//! lives for a moment.
//!
//! **Invariant: every entry of the index leads to a whole encoding in a page.** Pages are shared with snapshots; one that is
//! written on is copied then, once for each snapshot.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use howdah_core::job::{AttemptId, AttemptState, JobId, Locality, Phase, Progress, TaskId, TaskKind};
use howdah_core::time::Time;
use howdah_core::tracker::EndCause;
use howdah_proto::v1;
use prost::Message;

use super::index::{Index, Key};
use super::{AttemptRecord, LiveAttempt, PackedCounters};

/// A page takes records until it has so many bytes; it has more only if its last record is large.
const PAGE_BYTES: usize = 64 << 10;

pub(super) fn key(attempt: AttemptId) -> Key {
    (attempt.kind, attempt.index, attempt.number)
}

/// What every ended attempt has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    assigned: Time,
    ended: Time,
    page: u32,
    offset: u32,
    /// Index among the places.
    place: u32,
    progress: Progress,
    pub(super) state: AttemptState,
    phase: Phase,
    locality: Locality,
    speculative: bool,
    cause: Option<EndCause>,
}

const _: () = assert!(std::mem::size_of::<Option<Fixed>>() <= 40, "a job may have a million of them");

/// What only some have, and what is of any length.
#[derive(Clone, PartialEq, Message)]
struct Words {
    #[prost(message, optional, tag = "1")]
    end: Option<v1::AttemptEnd>,
    #[prost(bytes = "vec", tag = "2")]
    counters: Vec<u8>,
    #[prost(string, tag = "3")]
    message: String,
}

/// Where attempts ran, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    worker: Arc<str>,
    host: Arc<str>,
    rack: Arc<str>,
}

/// What the index leads to.
#[derive(Clone, Debug, Default)]
struct Store {
    pages: Vec<Arc<Vec<u8>>>,
    /// As many as workers had attempts of the job, or more if workers changed their hosts.
    places: Arc<Vec<Place>>,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Ended {
    index: Index<Fixed>,
    store: Store,
}

impl Ended {
    pub(super) fn contains(&self, key: &Key) -> bool {
        self.index.get(key).is_some()
    }

    pub(super) fn get(&self, attempt: AttemptId) -> Option<AttemptRecord> {
        Some(self.store.record(attempt, self.index.get(&key(attempt))?))
    }

    /// Keeps a record, in the place of an earlier one of the same attempt.
    pub(super) fn put(&mut self, record: AttemptRecord) {
        let fixed = self.store.keep(&record);
        self.index.insert(key(record.id), fixed);
    }

    /// All of them as a snapshot has them.
    pub(super) fn stored(&self) -> (Vec<v1::SnapshotPlace>, Vec<v1::SnapshotAttempt>) {
        self.store.stored(&self.index)
    }

    /// An attempt ended in another way than was believed. `why` is what people are told beside the cause, if anything.
    pub(super) fn correct(&mut self, attempt: AttemptId, state: AttemptState, cause: Option<EndCause>, why: &str) {
        let Some(fixed) = self.index.get_mut(&key(attempt)) else { return };
        fixed.state = state;
        fixed.cause = cause;
        // One that counts again has nothing to explain any more.
        let is_told = !why.is_empty() || state == AttemptState::Succeeded;
        if is_told
            && let Some(mut record) = self.get(attempt)
            && record.end.as_ref().map_or("", |end| &end.diagnostics) != why
        {
            why.clone_into(&mut record.end.get_or_insert_default().diagnostics);
            self.put(record);
        }
    }

    /// Attempts of the job that FAILED: all, or those of one task.
    pub(super) fn failed(&self, job: JobId, task: Option<TaskId>) -> impl Iterator<Item = AttemptRecord> + '_ {
        let wanted = move |kind: TaskKind, index: u32| task.is_none_or(|task| (task.kind, task.index) == (kind, index));
        let failed = self
            .index
            .iter()
            .filter(move |((kind, index, _), fixed)| fixed.state == AttemptState::Failed && wanted(*kind, *index));
        failed.map(move |(key, fixed)| self.store.record(attempt(job, key), fixed))
    }

    /// All of them as they are now, beside the `live` ones of the same job, which are in order.
    pub(super) fn beside(&self, job: JobId, live: Vec<AttemptRecord>) -> Attempts {
        Attempts { job, ended: Over::All(self.index.clone()), store: self.store.clone(), live }
    }

    /// Of all of them and the `live` ones, in their order, those of these places.
    pub(super) fn page(&self, job: JobId, live: &BTreeMap<Key, LiveAttempt>, places: Range<usize>) -> Attempts {
        let (mut over, mut running) = (self.index.iter().peekable(), live.iter().peekable());
        let (mut ended, mut shown) = (Vec::new(), Vec::new());
        for place in 0..places.end {
            let live_is_next = match (over.peek(), running.peek()) {
                (Some((over, _)), Some((running, _))) => *running < over,
                (None, None) => break,
                (over, _) => over.is_none(),
            };
            if live_is_next {
                let next = running.next().filter(|_| places.contains(&place));
                shown.extend(next.map(|(_, live)| live.record.clone()));
            } else {
                let next = over.next().filter(|_| places.contains(&place));
                ended.extend(next.map(|(key, fixed)| (key, *fixed)));
            }
        }
        Attempts { job, ended: Over::Some(ended), store: self.store.clone(), live: shown }
    }
}

fn attempt(job: JobId, (kind, index, number): Key) -> AttemptId {
    AttemptId { job, index, number, kind }
}

/// What a record says beyond its fixed parts, as it is kept.
pub(super) fn words_of(record: &AttemptRecord) -> Vec<u8> {
    Words::of(record).encode_to_vec()
}

/// Puts back what [`words_of`] gave; of bytes that are none it puts back nothing.
pub(super) fn put_words(record: &mut AttemptRecord, bytes: &[u8]) {
    let Words { end, counters, message } = Words::decode(bytes).unwrap_or_default();
    record.end = end.map(Box::new);
    record.counters = PackedCounters::checked(counters);
    record.message = message;
}

impl Words {
    fn of(record: &AttemptRecord) -> Words {
        Words {
            end: record.end.as_deref().cloned(),
            counters: record.counters.bytes().to_vec(),
            message: record.message.clone(),
        }
    }
}

impl Store {
    fn keep(&mut self, record: &AttemptRecord) -> Fixed {
        let AttemptRecord { worker, host, rack, .. } = record;
        let place = Place { worker: Arc::clone(worker), host: Arc::clone(host), rack: Arc::clone(rack) };
        // The last ones first: a worker that changed is found as it is now.
        let place = self.places.iter().rposition(|known| *known == place).unwrap_or_else(|| {
            let places = Arc::make_mut(&mut self.places);
            places.push(place);
            places.len() - 1
        });
        let words = Words::of(record);
        if self.pages.last().is_none_or(|page| page.len() >= PAGE_BYTES) {
            // The first page of a small job stays small.
            let room = if self.pages.is_empty() { 0 } else { PAGE_BYTES + PAGE_BYTES / 16 };
            self.pages.push(Arc::new(Vec::with_capacity(room)));
        }
        let page = self.pages.len() - 1;
        let bytes = Arc::make_mut(&mut self.pages[page]);
        let offset = bytes.len();
        words.encode_length_delimited(bytes).expect("a vector has room");
        Fixed {
            assigned: record.assigned,
            ended: record.ended,
            page: page as u32,
            offset: offset as u32,
            place: place as u32,
            progress: record.progress,
            state: record.state,
            phase: record.phase,
            locality: record.locality,
            speculative: record.speculative,
            cause: record.cause,
        }
    }

    /// All of them as they are stored, with the places that they name.
    fn stored(&self, index: &Index<Fixed>) -> (Vec<v1::SnapshotPlace>, Vec<v1::SnapshotAttempt>) {
        let place = |Place { worker, host, rack }: &Place| v1::SnapshotPlace {
            worker: worker.to_string(),
            host: host.to_string(),
            rack: rack.to_string(),
        };
        let attempt = |((kind, index, number), fixed): (Key, &Fixed)| v1::SnapshotAttempt {
            reduce: kind == TaskKind::Reduce,
            index,
            number: number.into(),
            state: fixed.state as u32,
            phase: fixed.phase as u32,
            progress_parts: fixed.progress.parts().into(),
            place: fixed.place,
            locality: fixed.locality as u32,
            speculative: fixed.speculative,
            assigned_us: fixed.assigned.as_us(),
            ended_us: fixed.ended.as_us(),
            cause: fixed.cause.map_or(0, |cause| cause as u32 + 1),
            worker: 0,
            words: self.words(fixed).to_vec(),
        };
        (self.places.iter().map(place).collect(), index.iter().map(attempt).collect())
    }

    /// The encoding that an entry leads to, without its length.
    fn words(&self, fixed: &Fixed) -> &[u8] {
        let mut rest = &self.pages[fixed.page as usize][fixed.offset as usize..];
        let length = prost::decode_length_delimiter(&mut rest).expect("encoded by `keep`");
        &rest[..length]
    }

    fn record(&self, id: AttemptId, fixed: &Fixed) -> AttemptRecord {
        let words = Words::decode_length_delimited(&self.pages[fixed.page as usize][fixed.offset as usize..]);
        let Words { end, counters, message } = words.expect("encoded by `keep`");
        let Place { worker, host, rack } = self.places[fixed.place as usize].clone();
        AttemptRecord {
            id,
            state: fixed.state,
            phase: fixed.phase,
            progress: fixed.progress,
            worker,
            host,
            rack,
            locality: fixed.locality,
            speculative: fixed.speculative,
            assigned: fixed.assigned,
            ended: fixed.ended,
            cause: fixed.cause,
            end: end.map(Box::new),
            counters: PackedCounters::from_bytes(counters),
            message,
        }
    }
}

/// A job's attempts at one time, those that are over still packed.
#[derive(Debug)]
pub(crate) struct Attempts {
    job: JobId,
    ended: Over,
    store: Store,
    /// In order.
    live: Vec<AttemptRecord>,
}

/// Those that are over, in order.
#[derive(Debug)]
enum Over {
    All(Index<Fixed>),
    Some(Vec<(Key, Fixed)>),
}

impl Over {
    fn iter(&self) -> Box<dyn Iterator<Item = (Key, &Fixed)> + '_> {
        match self {
            Over::All(index) => Box::new(index.iter()),
            Over::Some(list) => Box::new(list.iter().map(|(key, fixed)| (*key, fixed))),
        }
    }

    fn len(&self) -> usize {
        match self {
            Over::All(index) => index.len(),
            Over::Some(list) => list.len(),
        }
    }
}

impl Attempts {
    /// By kind, index and number; each is unpacked when it is asked for.
    pub(crate) fn iter(&self) -> impl Iterator<Item = AttemptRecord> + '_ {
        let (mut ended, mut live) = (self.ended.iter().peekable(), self.live.iter().peekable());
        std::iter::from_fn(move || {
            let live_is_next = match (ended.peek(), live.peek()) {
                (Some((over, _)), Some(record)) => key(record.id) < *over,
                (over, _) => over.is_none(),
            };
            if live_is_next {
                return live.next().cloned();
            }
            ended.next().map(|(key, fixed)| self.store.record(attempt(self.job, key), fixed))
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ended.len() + self.live.len()
    }

    /// The first attempt of a task that is not over.
    pub(crate) fn first_live(&self, task: TaskId) -> Option<AttemptId> {
        let start = self.live.partition_point(|other| (other.id.kind, other.id.index) < (task.kind, task.index));
        self.live.get(start).map(|first| first.id).filter(|first| first.task() == task)
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::WorkerId;
    use howdah_core::job::counters::{Counters, FRAMEWORK};
    use howdah_proto::convert;

    use super::*;

    fn record(kind: TaskKind, index: u32, number: u16, state: AttemptState) -> AttemptRecord {
        let mut counters = Counters::default();
        counters.add(FRAMEWORK, "Map input records", i64::from(index) + 1);
        AttemptRecord {
            id: AttemptId { job: JobId(7), index, number, kind },
            state,
            phase: Phase::Map,
            progress: Progress::ZERO,
            worker: format!("worker-{}", index % 3).into(),
            host: "h".into(),
            rack: "/r".into(),
            locality: Locality::Node,
            speculative: number > 0,
            assigned: Time::from_ms(1_000 + u64::from(index)),
            ended: Time::from_ms(2_000 + u64::from(index)),
            cause: (state == AttemptState::Failed).then_some(EndCause::Reported),
            end: index.is_multiple_of(2).then(|| {
                let stderr_tail = "x".repeat(index as usize % 5_000);
                Box::new(v1::AttemptEnd { exit_code: Some(3), stderr_tail, ..Default::default() })
            }),
            counters: PackedCounters::new(&convert::numbered(&counters)),
            message: format!("line {index}"),
        }
    }

    fn same(one: &AttemptRecord, other: &AttemptRecord) {
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }

    #[test]
    fn what_is_packed_comes_back_in_order_over_many_pages() {
        let mut ended = Ended::default();
        let all: Vec<AttemptRecord> =
            (0..3_000).map(|index| record(TaskKind::Map, index, 0, AttemptState::Succeeded)).collect();
        // In another order than theirs.
        all.iter().rev().for_each(|record| ended.put(record.clone()));
        assert!(ended.store.pages.len() > 20 && ended.store.places.len() == 3);
        let live = vec![
            record(TaskKind::Map, 2, 1, AttemptState::Running),
            record(TaskKind::Reduce, 0, 0, AttemptState::Running),
        ];
        let attempts = ended.beside(JobId(7), live.clone());
        let seen: Vec<AttemptRecord> = attempts.iter().collect();
        assert_eq!(seen.len(), 3_002);
        assert!(seen.is_sorted_by_key(|record| key(record.id)));
        seen.iter()
            .filter(|record| record.id.number == 0 && record.id.kind == TaskKind::Map)
            .zip(&all)
            .for_each(|(seen, put)| same(seen, put));
        same(&seen[3], &live[0]);
        let task = |kind, index| TaskId { job: JobId(7), kind, index };
        assert_eq!(attempts.first_live(task(TaskKind::Map, 2)), Some(live[0].id));
        assert_eq!(attempts.first_live(task(TaskKind::Map, 3)), None);
        assert_eq!(attempts.first_live(task(TaskKind::Reduce, 0)), Some(live[1].id));
    }

    #[test]
    fn a_page_has_what_stands_at_its_places_among_those_that_are_over_and_those_that_run() {
        let mut ended = Ended::default();
        let is_live = |index: u32| index % 3 == 1;
        let state = |index| if is_live(index) { AttemptState::Running } else { AttemptState::Succeeded };
        let all: Vec<AttemptRecord> = (0..10).map(|index| record(TaskKind::Map, index, 0, state(index))).collect();
        all.iter().filter(|record| !is_live(record.id.index)).for_each(|record| ended.put(record.clone()));
        let live: BTreeMap<Key, LiveAttempt> = all
            .iter()
            .filter(|record| is_live(record.id.index))
            .map(|record| (key(record.id), LiveAttempt { worker_id: WorkerId(0), record: record.clone() }))
            .collect();
        let page = |places| {
            let page = ended.page(JobId(7), &live, places);
            page.iter().map(|record| record.id.index).collect::<Vec<_>>()
        };
        for places in [0..10, 0..1, 2..5, 7..7, 9..20, 15..20, 3..usize::MAX] {
            let wanted: Vec<u32> = (0..10).filter(|index| places.contains(&(*index as usize))).collect();
            assert_eq!(page(places.clone()), wanted, "{places:?}");
        }
    }

    #[test]
    fn a_snapshot_stays_as_it_was_when_attempts_change_and_come() {
        let mut ended = Ended::default();
        let first = record(TaskKind::Map, 0, 0, AttemptState::Succeeded);
        ended.put(first.clone());
        let before = ended.beside(JobId(7), Vec::new());
        ended.correct(first.id, AttemptState::Failed, Some(EndCause::TooManyFetchFailures), "");
        ended.put(AttemptRecord { message: "later".to_owned(), ..ended.get(first.id).expect("it is there") });
        ended.put(record(TaskKind::Map, 1, 0, AttemptState::Failed));
        let was: Vec<AttemptRecord> = before.iter().collect();
        assert_eq!(was.len(), 1);
        same(&was[0], &first);
        let now = ended.get(first.id).expect("it is there");
        assert_eq!((now.state, now.message.as_str()), (AttemptState::Failed, "later"));
        let failed = |task| ended.failed(JobId(7), task).map(|record| record.id.index).collect::<Vec<_>>();
        assert_eq!((failed(None), failed(Some(first.id.task()))), (vec![0, 1], vec![0]));
    }

    #[test]
    fn output_that_nobody_could_fetch_says_who_tried_until_it_counts_again() {
        let mut ended = Ended::default();
        let first = record(TaskKind::Map, 0, 0, AttemptState::Succeeded);
        ended.put(first.clone());
        let said = |ended: &Ended| {
            let record = ended.get(first.id).expect("it is there");
            (record.state, record.cause, record.end.map_or_else(String::new, |end| end.diagnostics))
        };
        let why = "lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`";
        ended.correct(first.id, AttemptState::Killed, Some(EndCause::Unreachable), why);
        assert_eq!(said(&ended), (AttemptState::Killed, Some(EndCause::Unreachable), why.to_owned()));
        ended.correct(first.id, AttemptState::Succeeded, None, "");
        assert_eq!(said(&ended), (AttemptState::Succeeded, None, String::new()));
    }

    #[test]
    fn an_attempt_that_went_well_takes_a_hundred_bytes_beside_its_index() {
        let mut ended = Ended::default();
        for index in 0..1_000 {
            let end = v1::AttemptEnd {
                exit_code: Some(0),
                cpu_us: 12_345,
                peak_memory_kib: 4_567,
                started_ms_epoch: 1_790_000_000_000,
                finished_ms_epoch: 1_790_000_001_000,
                ..Default::default()
            };
            let record = record(TaskKind::Map, index, 0, AttemptState::Succeeded);
            ended.put(AttemptRecord { end: Some(Box::new(end)), message: String::new(), ..record });
        }
        let bytes: usize = ended.store.pages.iter().map(|page| page.len()).sum();
        assert!(bytes <= 100 * 1_000, "{bytes} bytes");
    }
}
