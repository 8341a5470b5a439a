//! Writes a Rumen trace, the instants of one job and one task in memory at a time.
//!
//! Instants are made up (see the timeline); durations, counts, places, bytes and lost attempts are the template's.
//! A duration that stands for many tasks is written for each. Jobs without an id get one of a cluster `howdah`; a
//! job without an outcome is a success. Where attempts ran is not in a template, so it is not written either.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Serialize, Serializer};

use super::super::timeline::{TaskTimes, Timeline, base_ms, map_input_bytes, part};
use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, Trace};

/// Rack of hosts that no worker of the trace names; Hadoop's own default.
const DEFAULT_RACK: &str = "/default-rack";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedJob<'a, 'b> {
    #[serde(rename = "jobID")]
    job_id: &'b str,
    job_name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    priority: &'static str,
    outcome: &'a str,
    jobtype: &'static str,
    submit_time: u64,
    launch_time: u64,
    finish_time: u64,
    total_maps: u32,
    total_reduces: u32,
    job_properties: BTreeMap<&'static str, String>,
    map_tasks: Tasks<'a, 'b>,
    reduce_tasks: Tasks<'a, 'b>,
    other_tasks: [(); 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedTask<'a> {
    #[serde(rename = "taskID")]
    task_id: String,
    task_type: &'static str,
    task_status: Option<&'static str>,
    start_time: u64,
    finish_time: i64,
    input_bytes: i64,
    preferred_locations: Vec<Location<'a>>,
    attempts: Vec<LoggedAttempt>,
}

#[derive(Serialize)]
struct Location<'a> {
    /// Rack and host.
    layers: [&'a str; 2],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedAttempt {
    #[serde(rename = "attemptID")]
    attempt_id: String,
    result: &'static str,
    start_time: u64,
    finish_time: u64,
    shuffle_finished: i64,
    sort_finished: i64,
    host_name: Option<&'static str>,
    location: Option<&'static str>,
    hdfs_bytes_written: i64,
    reduce_shuffle_bytes: i64,
}

/// Writes `trace`, one job per line.
///
/// # Errors
/// When the target breaks.
pub fn write(trace: &Trace, target: &mut dyn Write) -> std::io::Result<()> {
    let workers = trace.cluster.iter().flat_map(|cluster| &cluster.workers);
    let racks: BTreeMap<&str, &str> = workers.map(|worker| (worker.host.as_str(), worker.rack.as_str())).collect();
    let base_ms = base_ms(trace);
    for (place, template) in trace.jobs.iter().enumerate() {
        let id = id_of(template, place);
        let timeline = Timeline::new(template, base_ms);
        serde_json::to_writer(&mut *target, &job(template, &id, &timeline, &racks))?;
        target.write_all(b"\n")?;
    }
    Ok(())
}

fn job<'a, 'b>(
    template: &'a JobTemplate,
    id: &'b str,
    timeline: &'b Timeline<'a>,
    racks: &'b BTreeMap<&'a str, &'a str>,
) -> LoggedJob<'a, 'b> {
    let mut properties = BTreeMap::new();
    if let Some(ppm) = template.slowstart_ppm {
        let share = format!("{}.{:06}", ppm / 1_000_000, ppm % 1_000_000);
        properties.insert("mapreduce.job.reduce.slowstart.completedmaps", share);
    }
    if let Some(ms) = template.deadline_ms {
        properties.insert("howdah.job.deadline.ms", ms.to_string());
    }
    let text = |text: &'a str| (!text.is_empty()).then_some(text);
    let tasks = |kind, times| Tasks { id, kind, launch_ms: timeline.launch_ms, racks, template, times };
    LoggedJob {
        job_id: id,
        job_name: text(&template.name),
        user: text(&template.user),
        queue: text(&template.queue),
        priority: template.priority.name(),
        outcome: match template.outcome.as_str() {
            "SUCCEEDED" | "" => "SUCCESS",
            other => other,
        },
        jobtype: "JAVA",
        submit_time: timeline.submit_ms,
        launch_time: timeline.launch_ms,
        finish_time: timeline.finish_ms,
        total_maps: template.n_maps,
        total_reduces: template.n_reduces,
        job_properties: properties,
        map_tasks: tasks(TaskKind::Map, &timeline.maps),
        reduce_tasks: tasks(TaskKind::Reduce, &timeline.reduces),
        other_tasks: [],
    }
}

/// Hadoop reads ids of the form `job_<cluster>_<number>` only.
fn id_of(template: &JobTemplate, place: usize) -> String {
    let mut parts = template.id.split('_');
    let plain = |part: Option<&str>| part.is_some_and(|part| !part.is_empty());
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    let fits = parts.next() == Some("job") && plain(parts.next()) && number(parts.next()) && parts.next().is_none();
    if fits { template.id.clone() } else { format!("job_howdah_{:04}", place + 1) }
}

/// The tasks of one kind, each made when it is written.
struct Tasks<'a, 'b> {
    id: &'b str,
    kind: TaskKind,
    launch_ms: u64,
    racks: &'b BTreeMap<&'a str, &'a str>,
    template: &'a JobTemplate,
    times: &'b [TaskTimes<'a>],
}

impl Serialize for Tasks<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.times.iter().zip(0..).map(|(times, index)| self.task(index, times)))
    }
}

impl<'a> Tasks<'a, '_> {
    fn task(&self, index: u32, times: &TaskTimes<'a>) -> LoggedTask<'a> {
        let numbers = self.id.strip_prefix("job").unwrap_or(self.id);
        let name = format!("{numbers}_{}_{index:06}", self.kind.letter());
        let map = self.kind == TaskKind::Map;
        let mut attempts: Vec<(u16, LoggedAttempt)> = Vec::new();
        for (lost, start_ms) in &times.lost {
            let result = if lost.failed { "FAILED" } else { "KILLED" };
            let finish_ms = start_ms.saturating_add(lost.ms);
            attempts.push((lost.number, attempt(&name, lost.number, result, *start_ms, finish_ms)));
        }
        if let Some(winner) = times.winner {
            let mut won = attempt(&name, winner.number, "SUCCESS", winner.start_ms, winner.finish_ms);
            if !map {
                won.shuffle_finished = signed(Some(winner.sorted_ms));
                won.sort_finished = won.shuffle_finished;
                won.reduce_shuffle_bytes = signed(part(self.template.shuffle_bytes, self.template.n_reduces, index));
            }
            if !map || self.template.n_reduces == 0 {
                let n = if map { self.template.n_maps } else { self.template.n_reduces };
                won.hdfs_bytes_written = signed(part(self.template.output_bytes, n, index));
            }
            attempts.push((winner.number, won));
        }
        attempts.sort_by_key(|(number, _)| *number);
        LoggedTask {
            task_id: format!("task{name}"),
            task_type: if map { "MAP" } else { "REDUCE" },
            task_status: times.winner.map(|_| "SUCCESS"),
            start_time: self.launch_ms,
            finish_time: signed(times.winner.map(|winner| winner.finish_ms)),
            input_bytes: if map { signed(map_input_bytes(self.template, index)) } else { -1 },
            preferred_locations: if map { self.locations(index) } else { Vec::new() },
            attempts: attempts.into_iter().map(|(_, attempt)| attempt).collect(),
        }
    }

    fn locations(&self, index: u32) -> Vec<Location<'a>> {
        let hosts = self.template.split_hosts.of(index);
        hosts
            .map(|host| {
                let rack = self.racks.get(host).copied().unwrap_or(DEFAULT_RACK);
                Location { layers: [rack.trim_start_matches('/'), host] }
            })
            .collect()
    }
}

fn attempt(name: &str, number: u16, result: &'static str, start_ms: u64, finish_ms: u64) -> LoggedAttempt {
    LoggedAttempt {
        attempt_id: format!("attempt{name}_{number}"),
        result,
        start_time: start_ms,
        finish_time: finish_ms,
        shuffle_finished: -1,
        sort_finished: -1,
        host_name: None,
        location: None,
        hdfs_bytes_written: -1,
        reduce_shuffle_bytes: -1,
    }
}

/// As Rumen writes what is not known.
fn signed(value: Option<u64>) -> i64 {
    value.map_or(-1, |value| i64::try_from(value).unwrap_or(i64::MAX))
}
