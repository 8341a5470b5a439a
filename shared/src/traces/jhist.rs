//! Job histories of Hadoop 0.23 and later (`.jhist`): one JSON event per line below an Avro schema.
//!
//! A file is one job; several one after another are several. What stands above the line `Avro-Json`, such as a
//! licence, is skipped. A file that breaks off is used as far as it goes. The binary form of the same events is
//! refused by name. Fields that may be null come bare or wrapped in their type's name; both are taken.
//! Source: the event records of `org.apache.hadoop.mapreduce.jobhistory`, and the real histories beside the project.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::facts::{AttemptFacts, Ending, JobFacts, Place, known_bytes, parse_attempt_id, parse_task_id};
use super::json::{Text, Whole, object, reason};
use super::lines::{Lines, shortened};
use super::{ImportNotes, TraceBuilder, TraceError};
use crate::job::profile::Trace;
use crate::job::{Locality, TaskKind};

/// Longest line that is taken for an event: counters of one attempt are some kilobytes.
const LONGEST_LINE: usize = 1 << 26;

/// First line of the events.
const MARK: &str = "Avro-Json";

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
    let mut lines = Lines::new(source, LONGEST_LINE, 0);
    skip_to_mark(&mut lines)?;
    let mut history =
        History { builder: TraceBuilder::default(), job: JobFacts::default(), over: false, events: 0, notes };
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
    Ok(history.builder.finish("Hadoop job history (.jhist)", history.notes))
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
    /// Whether its end was told.
    over: bool,
    /// Of this job, so far.
    events: u64,
    notes: &'a mut ImportNotes,
}

impl History<'_> {
    fn end_job(&mut self) {
        if self.events > 0 {
            let job = std::mem::take(&mut self.job);
            if !self.over {
                self.notes.add("history breaks off before the end of its job", || job.id.clone());
            }
            self.builder.add(&job, self.notes);
        }
        (self.over, self.events) = (false, 0);
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
        let replace = |known: &mut String, told: Text| {
            if let Some(told) = told.0.filter(|told| !told.is_empty()) {
                *known = told;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::job::profile::{JobTemplate, LostAttempt};

    /// Three maps, of which one is tried again and one beside the first try, and a reduce.
    const SMALL: &str = include_str!("../../tests/fixtures/small.jhist");

    fn imported(text: &str) -> Result<(Trace, Vec<String>), String> {
        let mut notes = ImportNotes::default();
        let trace = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
        Ok((trace, notes.lines()))
    }

    fn small_job() -> JobTemplate {
        imported(SMALL).unwrap().0.jobs.remove(0)
    }

    #[test]
    fn small_history_is_read_whole() {
        let (trace, notes) = imported(SMALL).unwrap();
        assert_eq!((trace.start_ms_epoch, trace.jobs.len()), (Some(1_700_000_000_000), 1));
        let job = &trace.jobs[0];
        assert_eq!((job.id.as_str(), job.name.as_str(), job.user.as_str()), ("job_1699999999999_0007", "sort", "ada"));
        assert_eq!((job.queue.as_str(), job.outcome.as_str()), ("root.etl", "SUCCEEDED"));
        assert_eq!((job.n_maps, job.n_reduces), (3, 1));
        assert_eq!(job.map_ms, [4_000, 3_000, 2_500]);
        assert_eq!((&job.first_shuffle_ms[..], &job.reduce_ms[..]), (&[500][..], &[1_500][..]));
        let lost = |index, failed, speculative, ms| LostAttempt {
            index,
            number: u16::from(speculative),
            failed,
            speculative,
            ms,
            ..LostAttempt::default()
        };
        assert_eq!(job.lost_attempts, [lost(1, true, false, 800), lost(2, false, true, 900)]);
        assert_eq!(job.maps_by_locality, [2, 1, 1, 1]);
        assert_eq!(job.split_hosts.of(0).collect::<Vec<_>>(), ["a.example", "b.example"]);
        assert_eq!(
            (&job.map_input_bytes[..], job.shuffle_bytes, job.output_bytes),
            (&[64, 65, 66][..], Some(30), Some(12))
        );
        assert_eq!((job.commit_ms, job.completion_ms()), (100, Some(9_200)));
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn history_that_breaks_off_is_used_as_far_as_it_goes() {
        let cut = SMALL.find("\"REDUCE_ATTEMPT_FINISHED\"").unwrap();
        let (trace, notes) = imported(&SMALL[..cut + 40]).unwrap();
        assert_eq!((&trace.jobs[0].map_ms[..], trace.jobs[0].outcome.as_str()), (&[4_000, 3_000, 2_500][..], ""));
        assert_eq!(
            notes,
            [
                "1 attempt has no end: left out",
                "1 file breaks off within a line: what is above it counts",
                "1 history breaks off before the end of its job",
                "1 job without an end: the end of its last task counts",
                "1 no reduce of the job ended well: its reduces take 0 ms",
                "1 task of which no attempt succeeded: kept, without times",
            ]
        );
    }

    #[test]
    fn broken_line_in_the_middle_is_an_error_with_its_place() {
        let text = SMALL.replacen("\"submitTime\":", "\"submitTime\" ", 1);
        let error = imported(&text).unwrap_err();
        assert_eq!(error, "line 6: found no `:`, expected an event");
    }

    #[test]
    fn histories_one_after_another_are_jobs_of_one_trace() {
        let other = SMALL.replace("0007", "0008").replace("1700000", "1700001");
        let other = &other[other.find(MARK).unwrap()..];
        let (trace, notes) = imported(&format!("{SMALL}{other}")).unwrap();
        let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms)).collect();
        assert_eq!(jobs, [("job_1699999999999_0007", 0), ("job_1699999999999_0008", 1_000_000)]);
        assert_eq!((trace.jobs[1].map_ms.len(), notes.len()), (3, 0));
    }

    #[test]
    fn map_that_was_done_and_is_lost_later_held_its_slot_until_it_was_done() {
        let lost = r#"{"type":"MAP_ATTEMPT_KILLED","event":{"x":{"taskType":"MAP","status":"KILLED",
            "attemptId":"attempt_1699999999999_0007_m_000000_0","finishTime":1700000009000}}}"#
            .replace('\n', " ");
        let end = SMALL.find("{\"type\":\"JOB_FINISHED\"").unwrap();
        let (trace, _) = imported(&format!("{}{lost}\n{}", &SMALL[..end], &SMALL[end..])).unwrap();
        assert_eq!(trace.jobs[0].map_ms, [3_000, 2_500]);
        assert_eq!((trace.jobs[0].lost_attempts[0].ms, trace.jobs[0].lost_attempts[0].failed), (4_000, false));
    }

    #[test]
    fn what_is_no_history_is_refused() {
        let error = |text: &str| imported(text).unwrap_err();
        assert_eq!(
            error("Avro-Binary\n{}"),
            "format: found a binary history (`Avro-Binary`), expected one of JSON lines (`Avro-Json`)"
        );
        assert_eq!(error("hello\n"), "format: found `hello`, expected a line `Avro-Json`");
        assert_eq!(error(""), "format: found nothing, expected a line `Avro-Json`");
        assert_eq!(error("Avro-Json\n{\"type\":\"record\"}\n"), "format: found no event, expected a job history");
    }

    #[test]
    fn unknown_events_and_unreadable_ids_are_counted() {
        let odd = "{\"type\":\"TEA_SERVED\",\"event\":{\"a\":{}}}\n{\"type\":\"TASK_STARTED\",\"event\":{\"a\":{}}}\n\
            {\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"a\":{\"attemptId\":null}}}\n{\"type\":\"AM_STARTED\",\"event\":{}}\n";
        let end = SMALL.find("{\"type\":\"JOB_FINISHED\"").unwrap();
        let (trace, notes) = imported(&format!("{}{odd}{}", &SMALL[..end], &SMALL[end..])).unwrap();
        assert_eq!(trace.jobs[0], small_job());
        assert_eq!(
            notes,
            [
                "1 attempt with an unreadable id: left out",
                "1 event of an unknown type: left out",
                "1 task with an unreadable id: left out",
            ]
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&[b"Avro-Json\n".as_slice(), &bytes].concat()[..], &mut ImportNotes::default());
        }

        #[test]
        fn no_damage_makes_the_reader_panic(at in 0..SMALL.len(), byte in any::<u8>(), until in 0..SMALL.len()) {
            let mut bytes = SMALL.as_bytes().to_vec();
            bytes[at] = byte;
            bytes.truncate(until.max(at));
            let _ = read(&bytes[..], &mut ImportNotes::default());
        }
    }
}
