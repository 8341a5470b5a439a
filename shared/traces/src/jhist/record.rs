//! Writes the history of one job that ran here, as Hadoop 3 would have: hosts, racks, counters, real instants.
//!
//! Only tasks that started are listed. The file's name and its directory follow Hadoop's rules, so that a history server
//! and the programs that look for histories find it. Source: `docs/hadoop.md#files-that-are-read-and-written`; names of
//! files as in Hadoop's
//! FileNameIndexUtils and JobHistoryUtils.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use howdah_core::job::counters::Counters;
use howdah_core::job::{AttemptState, JobState, Locality, TaskKind, counters};
use serde_json::{Value, json};

use super::mark::MARK;
use super::schema::schema;
use super::write::{capitals, long};

/// Longest job name in a file's name.
const NAME_CHARS: usize = 50;

/// A job that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// `job_<cluster>_<number>`
    pub id: String,
    /// For people.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    pub queue: String,
    /// Hadoop's name of it.
    pub priority: &'static str,
    /// A final one.
    pub state: JobState,
    /// Milliseconds since the epoch, as are the following.
    pub submit_ms: u64,
    /// 0 when nothing was launched.
    pub launch_ms: u64,
    /// All over.
    pub finish_ms: u64,
    /// Of the job.
    pub n_maps: u32,
    /// Of the job.
    pub n_reduces: u32,
    /// Failures of attempts that fail a map, and a reduce.
    pub max_attempts: [u16; 2],
    /// Host names of each map's split, by map; may be empty.
    pub split_hosts: Vec<Vec<String>>,
    /// Where its configuration lies; may be empty.
    pub conf_path: String,
    /// Why it failed; empty otherwise.
    pub why: String,
    /// Of the whole job.
    pub counters: Counters,
    /// Tasks of each kind that were done.
    pub n_done: [u32; 2],
}

#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRecord {
    /// Map or reduce.
    pub kind: TaskKind,
    /// Of its task.
    pub index: u32,
    /// Which try.
    pub number: u16,
    /// A final one.
    pub state: AttemptState,
    /// Of its worker.
    pub host: String,
    /// Of its worker, such as `/default-rack`.
    pub rack: String,
    pub worker: String,
    /// Of a map.
    pub locality: Locality,
    /// A second one.
    pub speculative: bool,
    /// Milliseconds since the epoch, as are the following.
    pub start_ms: u64,
    /// Of a reduce: all map output was there.
    pub shuffled_ms: u64,
    /// Of a reduce: the merge was over.
    pub sorted_ms: u64,
    /// Over.
    pub finish_ms: u64,
    /// Why, unless it succeeded.
    pub error: String,
    /// Of it alone.
    pub counters: Counters,
}

impl JobRecord {
    /// The name of the job's history file, by which Hadoop's tools list jobs without opening it.
    pub fn file_name(&self) -> String {
        let [maps, reduces] = self.n_done;
        let name: String = self.name.chars().take(NAME_CHARS).collect();
        format!(
            "{}-{}-{}-{}-{}-{maps}-{reduces}-{}-{}-{}.jhist",
            self.id,
            self.submit_ms,
            encoded(&self.user),
            encoded(&name),
            self.finish_ms,
            self.state.name(),
            encoded(&self.queue),
            self.launch_ms
        )
    }

    /// The name of the file with its configuration, beside it.
    pub fn conf_name(&self) -> String {
        format!("{}_conf.xml", self.id)
    }

    /// The last directory of its place: Hadoop puts a thousand jobs into each.
    pub fn serial_directory(&self) -> String {
        let number = self.id.rsplit('_').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        format!("{number:09}")[..6].to_owned()
    }

    /// Writes the history with the job's attempts, which are over and come by kind, index and number.
    ///
    /// # Errors
    /// When the target breaks.
    pub fn write(&self, target: &mut dyn Write, attempts: impl IntoIterator<Item = AttemptRecord>) -> io::Result<()> {
        writeln!(target, "{MARK}\n{}", schema())?;
        let numbers = self.id.strip_prefix("job").unwrap_or(&self.id);
        Writer { job: self, numbers, n_containers: 0, target }.all(attempts.into_iter())
    }
}

/// Hadoop's encoding of a part of a file's name: `-` separates parts.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut done, byte| {
        match byte {
            b' ' => done.push('+'),
            _ if byte.is_ascii_alphanumeric() || b"._*".contains(&byte) => done.push(char::from(byte)),
            _ => done.push_str(&format!("%{byte:02X}")),
        }
        done
    })
}

/// How the tasks of one kind ended.
#[derive(Default)]
struct Ends {
    done: u64,
    failed: u64,
    killed: u64,
    counters: Counters,
}

struct Writer<'a> {
    job: &'a JobRecord,
    /// The end of all ids.
    numbers: &'a str,
    n_containers: u32,
    target: &'a mut dyn Write,
}

impl Writer<'_> {
    fn all(mut self, attempts: impl Iterator<Item = AttemptRecord>) -> io::Result<()> {
        let job = self.job;
        let launch_ms = if job.launch_ms == 0 { job.submit_ms } else { job.launch_ms };
        let container = self.container();
        let master = json!({
            "applicationAttemptId": format!("appattempt{}_000001", self.numbers), "startTime": long(job.submit_ms),
            "containerId": container, "nodeManagerHost": "", "nodeManagerPort": -1, "nodeManagerHttpPort": -1,
        });
        self.event("AM_STARTED", "AMStarted", &master)?;
        let submitted = json!({
            "jobid": job.id, "jobName": job.name, "userName": job.user, "submitTime": long(job.submit_ms),
            "jobConfPath": job.conf_path, "acls": {}, "jobQueueName": job.queue, "workflowId": null,
            "workflowName": null, "workflowNodeName": null, "workflowAdjacencies": null, "workflowTags": null,
        });
        self.event("JOB_SUBMITTED", "JobSubmitted", &submitted)?;
        let priority = json!({ "jobid": job.id, "priority": job.priority });
        self.event("JOB_PRIORITY_CHANGED", "JobPriorityChange", &priority)?;
        let inited = json!({
            "jobid": job.id, "launchTime": long(launch_ms), "totalMaps": job.n_maps, "totalReduces": job.n_reduces,
            "jobStatus": "INITED", "uberized": false,
        });
        self.event("JOB_INITED", "JobInited", &inited)?;
        let info = json!({ "jobid": job.id, "submitTime": long(job.submit_ms), "launchTime": long(launch_ms) });
        self.event("JOB_INFO_CHANGED", "JobInfoChange", &info)?;
        let mut ends = [Ends::default(), Ends::default()];
        // Of one task at a time: a job may have a million.
        let mut task: Vec<AttemptRecord> = Vec::new();
        for attempt in attempts {
            if task.first().is_some_and(|first| (first.kind, first.index) != (attempt.kind, attempt.index)) {
                self.task(&task, &mut ends[task[0].kind])?;
                task.clear();
            }
            task.push(attempt);
        }
        if let Some(first) = task.first() {
            self.task(&task, &mut ends[first.kind])?;
        }
        self.end(&ends)
    }

    fn end(&mut self, [maps, reduces]: &[Ends; 2]) -> io::Result<()> {
        let job = self.job;
        let mut fields = json!({
            "jobid": job.id, "finishTime": long(job.finish_ms), "finishedMaps": maps.done,
            "finishedReduces": reduces.done, "failedMaps": maps.failed, "failedReduces": reduces.failed,
            "killedMaps": maps.killed, "killedReduces": reduces.killed,
        });
        let name = match job.state {
            JobState::Failed => "JOB_FAILED",
            JobState::Killed => "JOB_KILLED",
            _ => {
                fields["totalCounters"] = jh_counters("TOTAL_COUNTERS", &job.counters);
                fields["mapCounters"] = jh_counters("MAP_COUNTERS", &maps.counters);
                fields["reduceCounters"] = jh_counters("REDUCE_COUNTERS", &reduces.counters);
                return self.event("JOB_FINISHED", "JobFinished", &fields);
            }
        };
        fields["jobStatus"] = job.state.name().into();
        fields["diagnostics"] = json!({ "string": job.why });
        self.event(name, "JobUnsuccessfulCompletion", &fields)
    }

    fn task(&mut self, attempts: &[AttemptRecord], ends: &mut Ends) -> io::Result<()> {
        let (job, first) = (self.job, &attempts[0]);
        let name = format!("{}_{}_{:06}", self.numbers, first.kind.letter(), first.index);
        let (task, kind) = (format!("task{name}"), capitals(first.kind));
        let hosts = job.split_hosts.get(first.index as usize).filter(|_| first.kind == TaskKind::Map);
        let started = json!({
            "taskid": task, "taskType": kind, "startTime": long(attempts.iter().map(|a| a.start_ms).min().unwrap_or(0)),
            "splitLocations": hosts.map(|hosts| hosts.join(",")).unwrap_or_default(),
        });
        self.event("TASK_STARTED", "TaskStarted", &started)?;
        for attempt in attempts {
            self.attempt(attempt, &name)?;
        }
        let finish_ms = attempts.iter().map(|attempt| attempt.finish_ms).max().unwrap_or(0);
        let named = |attempt: &AttemptRecord| json!({ "string": format!("attempt{name}_{}", attempt.number) });
        if let Some(winner) = attempts.iter().find(|attempt| attempt.state == AttemptState::Succeeded) {
            ends.done += 1;
            ends.counters.merge(&winner.counters);
            let fields = json!({
                "taskid": task, "taskType": kind, "finishTime": long(winner.finish_ms), "status": "SUCCEEDED",
                "counters": jh_counters("COUNTERS", &winner.counters), "successfulAttemptId": named(winner),
            });
            return self.event("TASK_FINISHED", "TaskFinished", &fields);
        }
        let failures: Vec<&AttemptRecord> = attempts.iter().filter(|a| a.state == AttemptState::Failed).collect();
        let failed = failures.len() >= usize::from(job.max_attempts[first.kind]);
        let last = failures.last().filter(|_| failed);
        *(if failed { &mut ends.failed } else { &mut ends.killed }) += 1;
        let fields = json!({
            "taskid": task, "taskType": kind, "finishTime": long(finish_ms),
            "error": last.map_or("", |attempt| attempt.error.as_str()),
            "failedDueToAttempt": last.map(|attempt| named(attempt)),
            "status": if failed { "FAILED" } else { "KILLED" }, "counters": null,
        });
        self.event("TASK_FAILED", "TaskFailed", &fields)
    }

    fn attempt(&mut self, attempt: &AttemptRecord, task: &str) -> io::Result<()> {
        let kind = capitals(attempt.kind);
        let (id, container) = (format!("attempt{task}_{}", attempt.number), self.container());
        let locality = match (attempt.kind, attempt.locality) {
            (TaskKind::Map, Locality::Node) => json!({ "string": "NODE_LOCAL" }),
            (TaskKind::Map, Locality::Rack) => json!({ "string": "RACK_LOCAL" }),
            (TaskKind::Map, Locality::OffRack) => json!({ "string": "OFF_SWITCH" }),
            _ => Value::Null,
        };
        let started = json!({
            "taskid": format!("task{task}"), "taskType": kind, "attemptId": id, "startTime": long(attempt.start_ms),
            "trackerName": attempt.worker, "httpPort": -1, "shufflePort": -1, "containerId": container,
            "locality": locality,
            "avataar": { "string": if attempt.speculative { "SPECULATIVE" } else { "VIRGIN" } },
        });
        self.event(&format!("{kind}_ATTEMPT_STARTED"), "TaskAttemptStarted", &started)?;
        let mut fields = json!({
            "taskid": format!("task{task}"), "attemptId": id, "taskType": kind,
            "finishTime": long(attempt.finish_ms), "hostname": attempt.host, "port": -1, "rackname": attempt.rack,
            "clockSplits": [], "cpuUsages": [], "vMemKbytes": [], "physMemKbytes": [],
        });
        let counted = jh_counters("COUNTERS", &attempt.counters);
        if attempt.state != AttemptState::Succeeded {
            let status = if attempt.state == AttemptState::Failed { "FAILED" } else { "KILLED" };
            fields["status"] = status.into();
            fields["error"] = attempt.error.as_str().into();
            fields["counters"] = json!({ "org.apache.hadoop.mapreduce.jobhistory.JhCounters": counted });
            let name = format!("{kind}_ATTEMPT_{status}");
            return self.event(&name, "TaskAttemptUnsuccessfulCompletion", &fields);
        }
        fields["taskStatus"] = "SUCCEEDED".into();
        fields["state"] = "".into();
        fields["counters"] = counted;
        if attempt.kind == TaskKind::Map {
            fields["mapFinishTime"] = long(attempt.finish_ms).into();
            return self.event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", &fields);
        }
        fields["shuffleFinishTime"] = long(attempt.shuffled_ms).into();
        fields["sortFinishTime"] = long(attempt.sorted_ms).into();
        self.event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", &fields)
    }

    fn container(&mut self) -> String {
        self.n_containers += 1;
        format!("container{}_01_{:06}", self.numbers, self.n_containers)
    }

    fn event(&mut self, name: &str, record: &str, fields: &Value) -> io::Result<()> {
        let record = format!("org.apache.hadoop.mapreduce.jobhistory.{record}");
        writeln!(self.target, "{{\"type\":\"{name}\",\"event\":{{\"{record}\":{fields}}}}}\n")
    }
}

/// Counters under Hadoop's own names. What tasks read and wrote of the job's files is given as HDFS's too, as it would be.
fn jh_counters(name: &str, counters: &Counters) -> Value {
    let mut counters = counters.clone();
    let as_hdfs = [
        (counters::FILE_INPUT, "Bytes Read", "HDFS_BYTES_READ"),
        (counters::FILE_OUTPUT, "Bytes Written", "HDFS_BYTES_WRITTEN"),
    ];
    for (group, own, hdfs) in as_hdfs {
        if let Some(&bytes) = counters.0.get(group).and_then(|values| values.get(own)) {
            counters.add(counters::FILE_SYSTEM, hdfs, bytes);
        }
    }
    let groups: Vec<Value> = counters
        .0
        .iter()
        .map(|(group, values)| {
            let class = class_of(group);
            let counts: Vec<Value> = values
                .iter()
                .map(|(name, value)| json!({ "name": constant(group, name), "displayName": name, "value": value }))
                .collect();
            json!({ "name": class, "displayName": group.trim_end(), "counts": counts })
        })
        .collect();
    json!({ "name": name, "groups": groups })
}

/// The class that a group is named after; groups of programs keep their names.
pub fn class_of(group: &str) -> &str {
    match group {
        counters::FRAMEWORK => "org.apache.hadoop.mapreduce.TaskCounter",
        counters::JOB => "org.apache.hadoop.mapreduce.JobCounter",
        counters::FILE_INPUT => "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter",
        counters::FILE_OUTPUT => "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter",
        counters::FILE_SYSTEM => "org.apache.hadoop.mapreduce.FileSystemCounter",
        other => other,
    }
}

/// The constant that a counter is named after.
pub fn constant(group: &str, name: &str) -> String {
    if class_of(group) == group {
        return name.to_owned();
    }
    let irregular = BTreeMap::from([
        ("CPU time spent (ms)", "CPU_MILLISECONDS"),
        ("Physical memory (bytes) snapshot", "PHYSICAL_MEMORY_BYTES"),
        ("Launched map tasks", "TOTAL_LAUNCHED_MAPS"),
        ("Launched reduce tasks", "TOTAL_LAUNCHED_REDUCES"),
        ("Failed map tasks", "NUM_FAILED_MAPS"),
        ("Failed reduce tasks", "NUM_FAILED_REDUCES"),
        ("Killed map tasks", "NUM_KILLED_MAPS"),
        ("Killed reduce tasks", "NUM_KILLED_REDUCES"),
        ("Data-local map tasks", "DATA_LOCAL_MAPS"),
        ("Rack-local map tasks", "RACK_LOCAL_MAPS"),
        ("Other local map tasks", "OTHER_LOCAL_MAPS"),
    ]);
    irregular.get(name).map_or_else(|| name.to_ascii_uppercase().replace([' ', '-'], "_"), |&known| known.to_owned())
}
