//! Reads a Rumen trace, one job in memory at a time.

use std::io::BufRead;

use serde::Deserialize;

use super::super::facts::{AttemptFacts, Ending, JobFacts, Place, parse_attempt_id, parse_task_id};
use super::super::json::{List, Text, Whole, for_each};
use super::super::numbers::share_ppm;
use super::super::{ImportNotes, TraceBuilder, TraceError};
use howdah_core::job::TaskKind;
use howdah_core::job::profile::Trace;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LoggedJob {
    #[serde(rename = "jobID")]
    job_id: Text,
    user: Text,
    job_name: Text,
    queue: Text,
    priority: Text,
    outcome: Text,
    submit_time: Whole,
    launch_time: Whole,
    finish_time: Whole,
    total_maps: Whole,
    total_reduces: Whole,
    map_tasks: List<LoggedTask>,
    reduce_tasks: List<LoggedTask>,
    other_tasks: List<serde::de::IgnoredAny>,
    job_properties: Option<Properties>,
}

/// The few properties of a job's configuration that a template holds.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Properties {
    #[serde(rename = "mapreduce.job.reduce.slowstart.completedmaps")]
    slowstart: Text,
    #[serde(rename = "mapred.reduce.slowstart.completed.maps")]
    old_slowstart: Text,
    #[serde(rename = "howdah.job.deadline.ms")]
    deadline_ms: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LoggedTask {
    #[serde(rename = "taskID")]
    task_id: Text,
    task_type: Text,
    start_time: Whole,
    finish_time: Whole,
    input_bytes: Whole,
    preferred_locations: List<Option<LoggedLocation>>,
    attempts: List<LoggedAttempt>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LoggedLocation {
    layers: List<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    attempt_id: Text,
    result: Text,
    start_time: Whole,
    finish_time: Whole,
    shuffle_finished: Whole,
    sort_finished: Whole,
    host_name: Text,
    location: Option<LoggedLocation>,
    hdfs_bytes_read: Whole,
    hdfs_bytes_written: Whole,
    map_input_bytes: Whole,
    reduce_shuffle_bytes: Whole,
}

/// Reads a trace.
///
/// # Errors
/// When the source breaks, holds no job, or holds something that is none.
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut builder = TraceBuilder::default();
    let jobs = for_each(source, "a Rumen job (an object with jobID)", |number, job: LoggedJob| {
        if job.job_id.as_str().is_empty() {
            return Err(TraceError::Malformed {
                place: format!("record {number}"),
                found: "an object without jobID".to_owned(),
                expected: "a Rumen job".to_owned(),
            });
        }
        builder.add(&facts(job, notes), notes);
        Ok(())
    })?;
    if jobs == 0 {
        return Err(TraceError::Format { found: "no record".to_owned(), expected: "Rumen jobs".to_owned() });
    }
    Ok(builder.finish("Rumen trace", notes))
}

fn facts(logged: LoggedJob, notes: &mut ImportNotes) -> JobFacts {
    let properties = logged.job_properties.unwrap_or_default();
    let slowstart = properties.slowstart.0.or(properties.old_slowstart.0);
    let mut job = JobFacts::new(logged.job_id.or_empty());
    job.name = logged.job_name.or_empty();
    job.user = logged.user.or_empty();
    job.queue = logged.queue.or_empty();
    job.submit_ms = logged.submit_time.instant();
    job.launch_ms = logged.launch_time.instant();
    job.finish_ms = logged.finish_time.instant();
    job.outcome = Ending::from_name(logged.outcome.as_str());
    job.declared_maps = logged.total_maps.count();
    job.declared_reduces = logged.total_reduces.count();
    job.deadline_ms = properties.deadline_ms.as_str().parse().ok();
    job.slowstart_ppm = slowstart.as_deref().and_then(share_ppm);
    job.aside = logged.other_tasks.0.len() as u64;
    if let Some(priority) = logged.priority.0 {
        job.priority = priority.parse().unwrap_or_else(|_| {
            notes.add("unknown priority: counts as NORMAL", || job.id.clone());
            job.priority
        });
    }
    for (kind, tasks) in [(TaskKind::Map, logged.map_tasks), (TaskKind::Reduce, logged.reduce_tasks)] {
        for task in tasks.0 {
            add_task(&mut job, kind, task, notes);
        }
    }
    job
}

fn add_task(job: &mut JobFacts, kind: TaskKind, logged: LoggedTask, notes: &mut ImportNotes) {
    if matches!(logged.task_type.as_str(), "SETUP" | "CLEANUP") {
        job.aside += 1;
        return;
    }
    let Some((_, index)) = parse_task_id(logged.task_id.as_str()) else {
        notes.add("task with an unreadable id: left out", || job.id.clone());
        return;
    };
    if job.lists(kind, index) {
        notes.add("task listed twice: its records are merged", || format!("{}, {} {index}", job.id, kind.name()));
    }
    let task = job.task(kind, index);
    task.start_ms = logged.start_time.instant();
    task.finish_ms = logged.finish_time.instant();
    if kind == TaskKind::Map {
        task.input_bytes = logged.input_bytes.count();
        task.preferred = logged.preferred_locations.0.into_iter().flatten().filter_map(place).collect();
    }
    for (position, attempt) in logged.attempts.0.into_iter().enumerate() {
        let number = match parse_attempt_id(attempt.attempt_id.as_str()) {
            Some((_, _, number)) => number,
            None => {
                notes.add("attempt with an unreadable id: its place in the list counts", || job.id.clone());
                u32::try_from(position).unwrap_or(u32::MAX)
            }
        };
        *job.attempt(kind, index, number) = attempt_facts(kind, attempt);
    }
}

fn attempt_facts(kind: TaskKind, logged: LoggedAttempt) -> AttemptFacts {
    AttemptFacts {
        result: Ending::from_name(logged.result.as_str()),
        start_ms: logged.start_time.instant(),
        shuffled_ms: logged.shuffle_finished.instant(),
        sorted_ms: logged.sort_finished.instant(),
        finish_ms: logged.finish_time.instant(),
        place: logged.location.and_then(place).or_else(|| Place::parse(logged.host_name.as_str())),
        bytes_in: match kind {
            TaskKind::Map => logged.map_input_bytes.count().or(logged.hdfs_bytes_read.count()),
            TaskKind::Reduce => logged.reduce_shuffle_bytes.count(),
        },
        bytes_out: logged.hdfs_bytes_written.count(),
        ..AttemptFacts::default()
    }
}

/// The last layer is the host, those before it are the path of its rack.
fn place(logged: LoggedLocation) -> Option<Place> {
    let (host, racks) = logged.layers.0.split_last()?;
    let rack: Vec<&str> = racks.iter().map(|rack| rack.as_str().trim_start_matches('/')).collect();
    Place::of(&rack.join("/"), host.as_str())
}
