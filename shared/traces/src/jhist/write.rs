//! Writes job histories as Hadoop 3 does, one event in memory at a time.
//!
//! Each job is a history of its own with the schema above it: Hadoop's tools read one a file, which a trace of one job
//! is; a longer one falls into such files at the lines `Avro-Json`. Instants are made up (see the timeline). Events
//! stand task by task and not in order of time, which readers do not ask for. Where attempts ran is not in a template,
//! and deadline and slow start stand in a job's configuration, so neither is written.
//! Hadoop's reader asks for every field of every record, also for those with defaults.

use std::io;
use std::io::Write;

use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};
use serde_json::{Value, json};

use super::super::timeline::{TaskTimes, Timeline, WinnerTimes, base_ms, map_input_bytes, part};
use super::mark::MARK;
use super::schema::schema;

const FILE_SYSTEM: &str = "org.apache.hadoop.mapreduce.FileSystemCounter";
const TASK: &str = "org.apache.hadoop.mapreduce.TaskCounter";

/// Writes the histories of all jobs, one after another.
///
/// # Errors
/// When the target breaks.
pub fn write(trace: &Trace, target: &mut dyn Write) -> io::Result<()> {
    let (base_ms, schema) = (base_ms(trace), schema());
    for (place, job) in trace.jobs.iter().enumerate() {
        writeln!(target, "{MARK}\n{schema}")?;
        let id = id_of(job, base_ms, place);
        let numbers = id.strip_prefix("job").unwrap_or(&id);
        let timeline = Timeline::new(job, base_ms);
        History { job, id: &id, numbers, containers: 0, target: &mut *target }.write(&timeline)?;
    }
    Ok(())
}

/// Hadoop reads ids of two numbers only: `job_<start of the cluster>_<number>`.
fn id_of(job: &JobTemplate, base_ms: u64, place: usize) -> String {
    let numbers: Vec<&str> = job.id.split('_').skip(1).collect();
    let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_ok();
    let fits = job.id.starts_with("job_") && numbers.len() == 2 && numbers.iter().all(is_number);
    if fits { job.id.clone() } else { format!("job_{base_ms}_{:04}", place + 1) }
}

/// One job's history while it is written.
struct History<'a> {
    job: &'a JobTemplate,
    id: &'a str,
    /// The end of all ids.
    numbers: &'a str,
    /// Given away so far.
    containers: u32,
    target: &'a mut dyn Write,
}

/// How the tasks of one kind ended.
#[derive(Default)]
struct Ends {
    done: u64,
    failed: u64,
}

impl History<'_> {
    fn write(mut self, timeline: &Timeline<'_>) -> io::Result<()> {
        let (job, id) = (self.job, self.id);
        let container = self.container();
        self.event(
            "AM_STARTED",
            "AMStarted",
            json!({
                "applicationAttemptId": format!("appattempt{}_000001", self.numbers),
                "startTime": long(timeline.launch_ms), "containerId": container,
                "nodeManagerHost": "", "nodeManagerPort": -1, "nodeManagerHttpPort": -1,
            }),
        )?;
        self.event(
            "JOB_SUBMITTED",
            "JobSubmitted",
            json!({
                "jobid": id, "jobName": job.name, "userName": job.user, "submitTime": long(timeline.submit_ms),
                "jobConfPath": "", "acls": {}, "jobQueueName": job.queue, "workflowId": null, "workflowName": null,
                "workflowNodeName": null, "workflowAdjacencies": null, "workflowTags": null,
            }),
        )?;
        if job.priority != howdah_core::job::Priority::default() {
            let fields = json!({ "jobid": id, "priority": job.priority.name() });
            self.event("JOB_PRIORITY_CHANGED", "JobPriorityChange", fields)?;
        }
        self.event(
            "JOB_INITED",
            "JobInited",
            json!({
                "jobid": id, "launchTime": long(timeline.launch_ms), "totalMaps": job.n_maps,
                "totalReduces": job.n_reduces, "jobStatus": "INITED", "uberized": false,
            }),
        )?;
        let maps = self.tasks(TaskKind::Map, &timeline.maps, timeline.launch_ms)?;
        let reduces = self.tasks(TaskKind::Reduce, &timeline.reduces, timeline.launch_ms)?;
        self.end(timeline.finish_ms, &maps, &reduces)
    }

    fn end(&mut self, finish_ms: u64, maps: &Ends, reduces: &Ends) -> io::Result<()> {
        let mut fields = json!({
            "jobid": self.id, "finishTime": long(finish_ms),
            "finishedMaps": maps.done, "finishedReduces": reduces.done,
            "failedMaps": maps.failed, "failedReduces": reduces.failed, "killedMaps": 0, "killedReduces": 0,
        });
        let (name, record) = match self.job.outcome.as_str() {
            "FAILED" => ("JOB_FAILED", "JobUnsuccessfulCompletion"),
            "KILLED" => ("JOB_KILLED", "JobUnsuccessfulCompletion"),
            _ => ("JOB_FINISHED", "JobFinished"),
        };
        if name == "JOB_FINISHED" {
            for (field, name) in [("totalCounters", "TOTAL"), ("mapCounters", "MAP"), ("reduceCounters", "REDUCE")] {
                fields[field] = counters(&format!("{name}_COUNTERS"), &[]);
            }
        } else {
            fields["jobStatus"] = self.job.outcome.as_str().into();
            fields["diagnostics"] = Value::Null;
        }
        self.event(name, record, fields)
    }

    fn tasks(&mut self, kind: TaskKind, all: &[TaskTimes<'_>], launch_ms: u64) -> io::Result<Ends> {
        let mut ends = Ends::default();
        for (index, task) in (0..).zip(all) {
            let name = format!("{}_{}_{index:06}", self.numbers, kind.letter());
            let hosts: Vec<&str> = self.job.split_hosts.of(index).collect();
            let is_map = kind == TaskKind::Map;
            self.event(
                "TASK_STARTED",
                "TaskStarted",
                json!({
                    "taskid": format!("task{name}"), "taskType": capitals(kind), "startTime": long(launch_ms),
                    "splitLocations": if is_map { hosts.join(",") } else { String::new() },
                }),
            )?;
            self.task(kind, index, &name, task, &mut ends)?;
        }
        Ok(ends)
    }

    fn task(
        &mut self,
        kind: TaskKind,
        index: u32,
        name: &str,
        task: &TaskTimes<'_>,
        ends: &mut Ends,
    ) -> io::Result<()> {
        let won = task.winner.map(|winner| winner.number);
        let mut before = task.lost.iter().peekable();
        // In order of number, the winner among the others.
        while let Some((lost, start_ms)) = before.next_if(|(lost, _)| won.is_none_or(|won| lost.number < won)) {
            self.lost(kind, name, lost, *start_ms)?;
        }
        if let Some(winner) = &task.winner {
            self.winner(kind, index, name, winner)?;
        }
        for (lost, start_ms) in before {
            self.lost(kind, name, lost, *start_ms)?;
        }
        let attempt = |number: u16| json!({ "string": format!("attempt{name}_{number}") });
        let (task_id, kind) = (format!("task{name}"), capitals(kind));
        if let Some(winner) = &task.winner {
            ends.done += 1;
            let fields = json!({
                "taskid": task_id, "taskType": kind, "finishTime": long(winner.finish_ms), "status": "SUCCEEDED",
                "counters": counters("COUNTERS", &[]), "successfulAttemptId": attempt(winner.number),
            });
            return self.event("TASK_FINISHED", "TaskFinished", fields);
        }
        let Some((lost, start_ms)) = task.lost.iter().rev().find(|(lost, _)| lost.failed) else { return Ok(()) };
        ends.failed += 1;
        let fields = json!({
            "taskid": task_id, "taskType": kind, "finishTime": long(start_ms.saturating_add(lost.ms)), "error": "",
            "failedDueToAttempt": attempt(lost.number), "status": "FAILED", "counters": null,
        });
        self.event("TASK_FAILED", "TaskFailed", fields)
    }

    fn winner(&mut self, kind: TaskKind, index: u32, name: &str, times: &WinnerTimes) -> io::Result<()> {
        self.start(kind, name, times.number, times.start_ms, false)?;
        let job = self.job;
        let n_last = if job.n_reduces == 0 { job.n_maps } else { job.n_reduces };
        let written = part(job.output_bytes, n_last, index);
        let written = (FILE_SYSTEM, "HDFS_BYTES_WRITTEN", "HDFS: Number of bytes written", written);
        let mut fields = attempt(kind, name, times.number, times.finish_ms);
        fields["taskStatus"] = "SUCCEEDED".into();
        fields["state"] = "".into();
        if kind == TaskKind::Map {
            let read = map_input_bytes(job, index);
            let read = (FILE_SYSTEM, "HDFS_BYTES_READ", "HDFS: Number of bytes read", read);
            let known = [read, written];
            // With reduces a map's output goes to them.
            let n_known = if job.n_reduces == 0 { 2 } else { 1 };
            fields["mapFinishTime"] = long(times.finish_ms).into();
            fields["counters"] = counters("COUNTERS", &known[..n_known]);
            return self.event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", fields);
        }
        let shuffled = part(job.shuffle_bytes, job.n_reduces, index);
        let shuffled = (TASK, "REDUCE_SHUFFLE_BYTES", "Reduce shuffle bytes", shuffled);
        fields["shuffleFinishTime"] = long(times.sorted_ms).into();
        fields["sortFinishTime"] = long(times.sorted_ms).into();
        fields["counters"] = counters("COUNTERS", &[written, shuffled]);
        self.event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", fields)
    }

    fn lost(&mut self, kind: TaskKind, name: &str, lost: &LostAttempt, start_ms: u64) -> io::Result<()> {
        self.start(kind, name, lost.number, start_ms, lost.speculative)?;
        let status = if lost.failed { "FAILED" } else { "KILLED" };
        let mut fields = attempt(kind, name, lost.number, start_ms.saturating_add(lost.ms));
        fields["status"] = status.into();
        fields["error"] = "".into();
        fields["counters"] = Value::Null;
        let event = format!("{}_ATTEMPT_{status}", capitals(kind));
        self.event(&event, "TaskAttemptUnsuccessfulCompletion", fields)
    }

    fn start(&mut self, kind: TaskKind, name: &str, number: u16, at_ms: u64, speculative: bool) -> io::Result<()> {
        let container = self.container();
        self.event(
            &format!("{}_ATTEMPT_STARTED", capitals(kind)),
            "TaskAttemptStarted",
            json!({
                "taskid": format!("task{name}"), "taskType": capitals(kind),
                "attemptId": format!("attempt{name}_{number}"), "startTime": long(at_ms), "trackerName": "",
                "httpPort": -1, "shufflePort": -1, "containerId": container, "locality": null,
                "avataar": { "string": if speculative { "SPECULATIVE" } else { "VIRGIN" } },
            }),
        )
    }

    fn container(&mut self) -> String {
        self.containers += 1;
        format!("container{}_01_{:06}", self.numbers, self.containers)
    }

    fn event(&mut self, name: &str, record: &str, fields: Value) -> io::Result<()> {
        let record = format!("org.apache.hadoop.mapreduce.jobhistory.{record}");
        writeln!(self.target, r#"{{"type":"{name}","event":{{"{record}":{fields}}}}}"#)
    }
}

/// What the ends of all attempts have.
fn attempt(kind: TaskKind, name: &str, number: u16, finish_ms: u64) -> Value {
    json!({
        "taskid": format!("task{name}"), "attemptId": format!("attempt{name}_{number}"), "taskType": capitals(kind),
        "finishTime": long(finish_ms), "hostname": "", "port": -1, "rackname": "",
        "clockSplits": [], "cpuUsages": [], "vMemKbytes": [], "physMemKbytes": [],
    })
}

/// Group, name, name for people, value where it is known; each in a group of its own.
type Counter = (&'static str, &'static str, &'static str, Option<u64>);

fn counters(name: &str, known: &[Counter]) -> Value {
    let group = |(group, name, shown, value): &Counter| {
        let value = long((*value)?);
        let counts = json!([{ "name": name, "displayName": shown, "value": value }]);
        Some(json!({ "name": group, "displayName": group, "counts": counts }))
    };
    json!({ "name": name, "groups": known.iter().filter_map(group).collect::<Vec<Value>>() })
}

pub(super) fn capitals(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Map => "MAP",
        TaskKind::Reduce => "REDUCE",
    }
}

/// Avro's numbers are signed.
pub(super) fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
