//! MRProfiler's job: from what a run left to the templates of its jobs.
//!
//! The journal tells which workers there were, its snapshot of those whose registration is gone, the histories tell the
//! rest. All durations are slot time on the
//! master's clock, from assignment to the report of the end; the only numbers taken from a worker's clock are
//! differences (how long a reduce ran after its sort), so that skewed clocks do no harm.
//! Source: SimMR §III-A.

use std::collections::BTreeMap;
use std::path::Path;

use howdah_core::job::profile::{
    AttributeChange, Follows, JobTemplate, LostAttempt, Measured, TRACE_SCHEMA, Trace, TraceCluster, TraceWorker,
};
use howdah_core::job::{AttemptState, TaskKind};
use howdah_proto::v1;
use howdah_proto::v1::journal_input::Kind;

use crate::history::{self, AttemptHistory, HistoryError, JobHistory};
use crate::journal::{JournalError, JournalReader, find_run};

/// A run without a readable record.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The journal does not read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A history does not read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// The trace of the run in `dir` (a run, a master's directory or a cluster's: the latest run).
///
/// Jobs that were not over when the run ended have no history and are left out.
///
/// # Errors
/// When the journal or a history does not read.
pub fn record(dir: &Path) -> Result<Trace, TraceError> {
    record_with_causes(dir).map(|(trace, _)| trace)
}

/// Why attempts of a job did not count, by the cause's words, and how many.
pub type Causes = BTreeMap<String, usize>;

/// As [`record`], with the causes by the job's id, where a job has any.
///
/// # Errors
/// As [`record`].
pub fn record_with_causes(dir: &Path) -> Result<(Trace, BTreeMap<String, Causes>), TraceError> {
    let run = find_run(dir)?;
    let mut reader = JournalReader::open(&run)?;
    let header = reader.header().clone();
    let mut workers = Workers::default();
    if let Some(since) = reader.began() {
        for (number, worker) in since.snapshot.workers.iter().enumerate() {
            let register = v1::JournalRegister { worker: number as u32, request: worker.request.clone() };
            workers.register(since.time_us / 1_000, register);
        }
    }
    while let Some(frame) = reader.next_frame()? {
        let now_ms = frame.time_us / 1_000;
        for input in frame.inputs {
            match input.kind {
                Some(Kind::Register(register)) => workers.register(now_ms, register),
                Some(Kind::Report(report)) => workers.report(now_ms, report),
                _ => {}
            }
        }
    }
    let mut histories = history::read_all(&run)?;
    histories.retain(|history| history.state.is_final());
    histories.sort_by(|a, b| (a.submit_ms_epoch, &a.id).cmp(&(b.submit_ms_epoch, &b.id)));
    let start = histories.first().map_or(header.started_ms_epoch, |first| first.submit_ms_epoch);
    let ends: BTreeMap<&str, u64> =
        histories.iter().map(|history| (history.id.as_str(), history.finish_ms_epoch)).collect();
    let mut jobs: Vec<JobTemplate> = histories.iter().map(|history| template(history, start)).collect();
    for (job, history) in jobs.iter_mut().zip(&histories) {
        chain(job, history, |id| ends.get(id).copied());
    }
    let causes = histories.iter().map(|history| (history.id.clone(), causes(history)));
    let causes = causes.filter(|(_, causes)| !causes.is_empty()).collect();
    let trace = Trace {
        schema: TRACE_SCHEMA.to_owned(),
        source: format!("recorded run {} of cluster {}", run.display(), header.cluster_id),
        start_ms_epoch: Some(start),
        cluster: Some(TraceCluster {
            scheduler: header.scheduler,
            scheduler_params: header.scheduler_params.into_iter().collect(),
            workers: workers.since(start),
        }),
        jobs,
    };
    Ok((trace, causes))
}

fn causes(history: &JobHistory) -> Causes {
    let mut causes = Causes::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.state != AttemptState::Succeeded) {
        *causes.entry(attempt.cause.clone()).or_default() += 1;
    }
    causes
}

/// Notes that a job's submitter held it back until another one was over, and for how long beyond. `end_of` tells when the
/// job of an id was over, in milliseconds since the epoch.
pub fn chain(job: &mut JobTemplate, history: &JobHistory, end_of: impl Fn(&str) -> Option<u64>) {
    let before = history.spec.conf.follows.as_deref();
    // A submitter may name whatever it likes; what came before the end waited for nothing.
    let after_ms = before.and_then(|id| history.submit_ms_epoch.checked_sub(end_of(id)?));
    job.follows = before.zip(after_ms).map(|(id, after_ms)| Box::new(Follows { job: id.to_owned(), after_ms }));
}

/// In order of their first registration.
#[derive(Default)]
struct Workers(Vec<Known>);

/// A worker by its last registration, and all that it ever said of itself.
struct Known {
    number: u32,
    worker: TraceWorker,
    /// By ascending instants, in milliseconds since the epoch; never empty.
    said: Vec<(u64, BTreeMap<String, String>)>,
}

impl Workers {
    fn register(&mut self, now_ms: u64, register: v1::JournalRegister) {
        let Some(request) = register.request else { return };
        let worker = TraceWorker {
            name: request.name,
            host: request.host,
            rack: request.rack,
            map_slots: u16::try_from(request.map_slots).unwrap_or(u16::MAX),
            reduce_slots: u16::try_from(request.reduce_slots).unwrap_or(u16::MAX),
            ..TraceWorker::default()
        };
        let attributes = request.attributes.into_iter().collect();
        match self.0.iter_mut().find(|known| known.worker.name == worker.name) {
            Some(known) => {
                (known.number, known.worker) = (register.worker, worker);
                known.says(now_ms, attributes);
            }
            None => self.0.push(Known { number: register.worker, worker, said: vec![(now_ms, attributes)] }),
        }
    }

    fn report(&mut self, now_ms: u64, report: v1::HeartbeatRequest) {
        let Some(set) = report.attributes else { return };
        if let Some(known) = self.0.iter_mut().find(|known| known.number == report.worker) {
            known.says(now_ms, set.attributes.into_iter().collect());
        }
    }

    /// With their attributes at an instant and the changes after it. A worker that came later had its first ones from
    /// the start: a trace does not say when workers came.
    fn since(self, start_ms: u64) -> Vec<TraceWorker> {
        let since = |Known { worker, mut said, .. }: Known| {
            let passed = said.partition_point(|&(at, _)| at <= start_ms).max(1);
            let later = said.split_off(passed);
            let changes =
                later.into_iter().map(|(at, attributes)| AttributeChange { at_ms: at - start_ms, attributes });
            TraceWorker {
                attributes: said.pop().map(|(_, attributes)| attributes).unwrap_or_default(),
                attribute_changes: changes.collect(),
                ..worker
            }
        };
        self.0.into_iter().map(since).collect()
    }
}

impl Known {
    /// A change is reported again until it is confirmed, and of several within a millisecond the last one counts.
    fn says(&mut self, now_ms: u64, attributes: BTreeMap<String, String>) {
        match self.said.last_mut() {
            Some((_, last)) if *last == attributes => {}
            Some((at, last)) if *at == now_ms => *last = attributes,
            _ => self.said.push((now_ms, attributes)),
        }
    }
}

/// One job's template, with instants from `start_ms_epoch`.
pub fn template(history: &JobHistory, start_ms_epoch: u64) -> JobTemplate {
    let spec = &history.spec;
    let from_start = |ms: u64| ms.saturating_sub(start_ms_epoch);
    let places = &history.maps_by_locality;
    let mut template = JobTemplate {
        id: history.id.clone(),
        name: spec.name.to_string(),
        user: spec.user.to_string(),
        queue: spec.queue.to_string(),
        priority: spec.priority,
        submit_ms: from_start(history.submit_ms_epoch),
        deadline_ms: spec.conf.deadline.map(|span| span.as_ms()),
        profile: spec.profile.as_deref().copied(),
        n_maps: spec.n_maps,
        n_reduces: spec.n_reduces,
        slots_per_map: more_than_one(spec.conf.slots_per_map),
        slots_per_reduce: more_than_one(spec.conf.slots_per_reduce),
        requires: spec.conf.requires.clone(),
        pool: spec.conf.pool.clone().unwrap_or_default(),
        slowstart_ppm: Some(spec.conf.slowstart_ppm),
        map_input_bytes: spec.map_input_bytes.clone(),
        split_hosts: spec.split_hosts.clone(),
        maps_by_locality: [places.node, places.rack, places.off_rack, places.unknown],
        outcome: history.state.name().to_owned(),
        measured: Some(Measured {
            launch_ms: from_start(history.launch_ms_epoch),
            maps_done_ms: from_start(history.maps_done_ms_epoch),
            finish_ms: from_start(history.finish_ms_epoch),
        }),
        input_bytes: (!spec.map_input_bytes.is_empty()).then(|| spec.map_input_bytes.iter().sum()),
        commit_ms: commit_ms(history),
        ..JobTemplate::default()
    };
    // By kind, index and number: of several succeeded attempts of a task the last one counts.
    let mut attempts = history.attempts.iter().peekable();
    while let Some(attempt) = attempts.next() {
        let superseded =
            attempts.peek().is_some_and(|next| next.task == attempt.task && next.state == AttemptState::Succeeded);
        if attempt.state != AttemptState::Succeeded || superseded {
            template.lost_attempts.push(lost(attempt));
        } else if attempt.kind == TaskKind::Map {
            template.map_ms.push(slot_ms(attempt));
        } else {
            add_reduce(&mut template, attempt, history.maps_done_ms_epoch);
        }
    }
    template
}

/// One slot is what a template without a number means.
fn more_than_one(slots: u16) -> u16 {
    if slots > 1 { slots } else { 0 }
}

/// From the last task's end to the job's.
fn commit_ms(history: &JobHistory) -> u64 {
    let succeeded = history.attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded);
    let last = succeeded.map(|attempt| attempt.ended_ms_epoch).max();
    last.map_or(0, |last| history.finish_ms_epoch.saturating_sub(last))
}

fn slot_ms(attempt: &AttemptHistory) -> u64 {
    attempt.ended_ms_epoch.saturating_sub(attempt.assigned_ms_epoch)
}

fn lost(attempt: &AttemptHistory) -> LostAttempt {
    LostAttempt {
        reduce: attempt.kind == TaskKind::Reduce,
        index: attempt.index,
        number: attempt.number,
        failed: attempt.state == AttemptState::Failed,
        speculative: attempt.speculative,
        ms: slot_ms(attempt),
    }
}

fn add_reduce(template: &mut JobTemplate, attempt: &AttemptHistory, maps_done_ms_epoch: u64) {
    let whole = slot_ms(attempt);
    // A worker that did not report the end of the sort: all of it is reduce time.
    let after_sort = match attempt.sort_done_ms_epoch {
        0 => whole,
        sorted => attempt.finished_ms_epoch.saturating_sub(sorted).min(whole),
    };
    template.reduce_ms.push(after_sort);
    let sorted = attempt.ended_ms_epoch - after_sort;
    if attempt.assigned_ms_epoch < maps_done_ms_epoch {
        template.first_shuffle_ms.push(sorted.saturating_sub(maps_done_ms_epoch));
    } else {
        template.typical_shuffle_ms.push(sorted - attempt.assigned_ms_epoch);
    }
}
