//! Reads job histories, one event in memory at a time.
//!
//! What stands above the line `Avro-Json`, such as a licence, is skipped. A file that breaks off is used as far as it
//! goes. The binary form of the same events is refused by name. Fields that may be null come bare or wrapped in their
//! type's name; both are taken. What a job's configuration knows beside it completes the job ([`Configuration`]).

use std::collections::BTreeMap;
use std::io::BufRead;

use howdah_core::job::profile::Trace;
use howdah_core::job::{Locality, TaskKind};
use serde::Deserialize;
use serde_json::Value;

use super::super::facts::{AttemptFacts, Ending, JobFacts, Place, known_bytes, parse_attempt_id, parse_task_id};
use super::super::json::{Text, Whole, object, reason};
use super::super::lines::{Lines, shortened};
use super::super::{ImportNotes, TraceBuilder, TraceError};
use super::configuration::Configuration;
use super::mark::MARK;

/// Longest line that is taken for an event: counters of one attempt are some kilobytes.
const LONGEST_LINE: usize = 1 << 26;

/// A line: an event, or the schema, which has no `event`.
#[derive(Deserialize)]
struct Line {
    #[serde(default, rename = "type")]
    name: Text,
    event: Option<BTreeMap<String, Event>>,
}

/// The fields of all events, as far as a template needs them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    jobid: Text,
    job_name: Text,
    user_name: Text,
    job_queue_name: Text,
    job_status: Text,
    priority: Text,
    submit_time: Whole,
    launch_time: Whole,
    total_maps: Whole,
    total_reduces: Whole,
    taskid: Text,
    task_type: Text,
    split_locations: Text,
    attempt_id: Text,
    start_time: Whole,
    shuffle_finish_time: Whole,
    sort_finish_time: Whole,
    finish_time: Whole,
    tracker_name: Text,
    hostname: Text,
    rackname: Text,
    locality: Text,
    avataar: Text,
    status: Text,
    counters: Value,
}

/// Reads the history of one job, or of several.
///
/// # Errors
/// When the source breaks, is no history or a binary one, or has a line in its middle that is no event.
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    Ok(read_jobs(source, &mut |_| None, notes)?.finish("Hadoop job history (.jhist)", notes))
}

/// As [`read`], its jobs alone, for one who has more of them. `configuration` has the one of a job by its id, which is
/// as the history says it: any text.
///
/// # Errors
/// As [`read`].
pub fn read_jobs(
    source: impl BufRead,
    configuration: &mut dyn FnMut(&str) -> Option<Configuration>,
    notes: &mut ImportNotes,
) -> Result<TraceBuilder, TraceError> {
    let mut lines = Lines::new(source, LONGEST_LINE, 0);
    skip_to_mark(&mut lines)?;
    let mut history = History {
        builder: TraceBuilder::default(),
        job: JobFacts::default(),
        priority_known: false,
        over: false,
        events: 0,
        configuration,
        notes,
    };
    let mut broken = None;
    while lines.advance()? {
        let text = lines.text();
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(error) = broken {
            return Err(error);
        }
        if text == MARK {
            history.end_job();
            continue;
        }
        match object::<Line>(text) {
            Ok(Line { event: None, .. }) => (),
            Ok(Line { name, event: Some(records) }) => {
                for event in records.into_values() {
                    history.add(name.as_str(), event);
                }
            }
            // Only the last line may be half a line.
            Err(error) => {
                let place = lines.place();
                broken = Some(TraceError::Malformed { place, found: reason(&error), expected: "an event".to_owned() });
            }
        }
    }
    if broken.is_some() {
        history.notes.add("file breaks off within a line: what is above it counts", || lines.place());
    }
    history.end_job();
    if history.builder.is_empty() {
        return Err(TraceError::Format { found: "no event".to_owned(), expected: "a job history".to_owned() });
    }
    Ok(history.builder)
}

fn skip_to_mark(lines: &mut Lines<impl BufRead>) -> Result<(), TraceError> {
    let expected = || format!("a line `{MARK}`");
    let mut first = None;
    while lines.advance()? {
        let text = lines.text();
        let text = text.trim_start_matches('\u{feff}').trim();
        if text == MARK {
            return Ok(());
        }
        if text == "Avro-Binary" {
            let found = "a binary history (`Avro-Binary`)".to_owned();
            return Err(TraceError::Format { found, expected: "one of JSON lines (`Avro-Json`)".to_owned() });
        }
        if first.is_none() && !text.is_empty() {
            first = Some(shortened(text));
        }
    }
    Err(TraceError::Format { found: first.unwrap_or_else(|| "nothing".to_owned()), expected: expected() })
}

struct History<'a> {
    builder: TraceBuilder,
    /// The job whose events come now.
    job: JobFacts,
    /// Whether its priority was stated.
    priority_known: bool,
    /// Whether its end was stated.
    over: bool,
    /// Of this job, so far.
    events: u64,
    configuration: &'a mut dyn FnMut(&str) -> Option<Configuration>,
    notes: &'a mut ImportNotes,
}

impl History<'_> {
    fn end_job(&mut self) {
        if self.events > 0 {
            let mut job = std::mem::take(&mut self.job);
            if let Some(configuration) = (self.configuration)(&job.id) {
                configuration.complete(&mut job, self.priority_known, self.notes);
            }
            if !self.over {
                self.notes.add("history breaks off before the end of its job", || job.id.clone());
            }
            self.builder.add(&job, self.notes);
        }
        (self.over, self.events, self.priority_known) = (false, 0, false);
    }

    fn add(&mut self, name: &str, event: Event) {
        if name == "JOB_SUBMITTED" && !self.job.id.is_empty() && self.job.id != event.jobid.as_str() {
            self.end_job();
        }
        self.events += 1;
        match name {
            "JOB_SUBMITTED" | "JOB_INITED" | "JOB_INFO_CHANGED" | "JOB_QUEUE_CHANGED" | "JOB_PRIORITY_CHANGED" => {
                self.describe(event);
            }
            "JOB_FINISHED" => self.finish(event, Ending::Succeeded),
            "JOB_FAILED" | "JOB_ERROR" => self.finish(event, Ending::Failed),
            "JOB_KILLED" => self.finish(event, Ending::Killed),
            "TASK_STARTED" | "TASK_FINISHED" => self.add_task(name, event),
            _ if name.contains("_ATTEMPT_") => self.add_attempt(name, event),
            // The end of a failed task says nothing that its attempts do not say.
            "TASK_FAILED" | "TASK_UPDATED" | "JOB_STATUS_CHANGED" | "AM_STARTED" | "NORMALIZED_RESOURCE" => (),
            _ => self.notes.add("event of an unknown type: left out", || name.to_owned()),
        }
    }

    fn describe(&mut self, event: Event) {
        let job = &mut self.job;
        let replace = |known: &mut String, stated: Text| {
            if let Some(stated) = stated.0.filter(|stated| !stated.is_empty()) {
                *known = stated;
            }
        };
        replace(&mut job.id, event.jobid);
        replace(&mut job.name, event.job_name);
        replace(&mut job.user, event.user_name);
        replace(&mut job.queue, event.job_queue_name);
        job.submit_ms = event.submit_time.instant().or(job.submit_ms);
        job.launch_ms = event.launch_time.instant().or(job.launch_ms);
        job.declared_maps = event.total_maps.count().or(job.declared_maps);
        job.declared_reduces = event.total_reduces.count().or(job.declared_reduces);
        if let Some(priority) = event.priority.0 {
            self.priority_known = true;
            job.priority = priority.parse().unwrap_or_else(|_| {
                self.notes.add("unknown priority: counts as before", || job.id.clone());
                job.priority
            });
        }
    }

    fn finish(&mut self, event: Event, ending: Ending) {
        self.job.outcome = Some(Ending::from_name(event.job_status.as_str()).unwrap_or(ending));
        self.job.finish_ms = event.finish_time.instant();
        self.over = true;
    }

    fn add_task(&mut self, name: &str, event: Event) {
        if is_aside(&event) {
            self.job.aside += u64::from(name == "TASK_STARTED");
            return;
        }
        let Some((kind, index)) = parse_task_id(event.taskid.as_str()) else {
            self.notes.add("task with an unreadable id: left out", || self.job.id.clone());
            return;
        };
        let task = self.job.task(kind, index);
        task.start_ms = task.start_ms.or(event.start_time.instant());
        task.finish_ms = event.finish_time.instant().or(task.finish_ms);
        if kind == TaskKind::Map && task.preferred.is_empty() {
            task.preferred = event.split_locations.as_str().split(',').filter_map(Place::parse).collect();
        }
    }

    fn add_attempt(&mut self, name: &str, event: Event) {
        if is_aside(&event) {
            return;
        }
        let Some((kind, index, number)) = parse_attempt_id(event.attempt_id.as_str()) else {
            self.notes.add("attempt with an unreadable id: left out", || self.job.id.clone());
            return;
        };
        let attempt = self.job.attempt(kind, index, number);
        match name.rsplit('_').next() {
            Some("STARTED") => start(attempt, &event),
            Some("FINISHED") => end(attempt, kind, &event, Ending::Succeeded),
            Some("FAILED") => end(attempt, kind, &event, Ending::Failed),
            Some("KILLED") => end(attempt, kind, &event, Ending::Killed),
            _ => self.notes.add("event of an unknown type: left out", || name.to_owned()),
        }
    }
}

fn is_aside(event: &Event) -> bool {
    let kind = event.task_type.as_str();
    kind.contains("SETUP") || kind.contains("CLEANUP")
}

fn start(attempt: &mut AttemptFacts, event: &Event) {
    attempt.start_ms = event.start_time.instant();
    attempt.place = Place::parse(event.tracker_name.as_str());
    attempt.locality = match event.locality.as_str() {
        "NODE_LOCAL" => Some(Locality::Node),
        "RACK_LOCAL" => Some(Locality::Rack),
        "OFF_SWITCH" => Some(Locality::OffRack),
        _ => None,
    };
    attempt.speculative = match event.avataar.as_str() {
        "SPECULATIVE" => Some(true),
        "VIRGIN" => Some(false),
        _ => None,
    };
}

fn end(attempt: &mut AttemptFacts, kind: TaskKind, event: &Event, ending: Ending) {
    // A map that was done and is lost later held its slot until it was done.
    let again = attempt.result == Some(Ending::Succeeded);
    attempt.result = Some(Ending::from_name(event.status.as_str()).filter(|_| !again).unwrap_or(ending));
    if again {
        return;
    }
    attempt.finish_ms = event.finish_time.instant();
    attempt.shuffled_ms = event.shuffle_finish_time.instant();
    attempt.sorted_ms = event.sort_finish_time.instant();
    attempt.place = Place::of(event.rackname.as_str(), event.hostname.as_str()).or(attempt.place.take());
    attempt.bytes_in = counter(
        &event.counters,
        match kind {
            TaskKind::Map => "HDFS_BYTES_READ",
            TaskKind::Reduce => "REDUCE_SHUFFLE_BYTES",
        },
    );
    attempt.bytes_out = counter(&event.counters, "HDFS_BYTES_WRITTEN");
}

/// The value of a counter of any group.
fn counter(counters: &Value, name: &str) -> Option<u64> {
    let fields = counters.as_object()?;
    // A nullable record is wrapped in its type's name.
    let groups = fields.get("groups").or_else(|| fields.values().next()?.get("groups"))?;
    let counts = groups.as_array()?.iter().filter_map(|group| group.get("counts")?.as_array()).flatten();
    let found = counts.into_iter().find(|count| count.get("name").and_then(Value::as_str) == Some(name))?;
    known_bytes(found.get("value")?.as_i64()?)
}
