//! Reading one record of a simulator's trace after another.

use howdah_core::job::profile::{JobTemplate, Measured, TraceCluster, TraceWorker};
use howdah_core::job::{SplitHosts, TaskKind};
use serde::Deserialize;

use super::super::json::{List, Text, Whole};
use super::super::profiler::MAX_INSTANT_MS;
use super::super::{ImportNotes, TraceError};
use super::workload::Workload;

/// Tasks that counts in one file may stand for; a repeated job weighs 100 more. A count costs a few bytes, what it
/// stands for may cost any memory.
pub const MOST_REPEATED: u64 = 1_000_000;

/// Nodes that a file may announce.
pub(super) const MOST_NODES: u64 = 100_000;

/// Priority of reduce containers where their type is not stated.
pub(super) const REDUCE_PRIORITY: i64 = 10;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    #[serde(rename = "am.type")]
    pub(super) am: Text,
    #[serde(rename = "yarn.sls.am.type")]
    pub(super) old_am: Text,
    #[serde(rename = "job.id")]
    pub(super) id: Text,
    #[serde(rename = "job.user")]
    pub(super) user: Text,
    #[serde(rename = "job.queue.name")]
    pub(super) queue: Text,
    #[serde(rename = "job.start.ms")]
    pub(super) start_ms: Whole,
    #[serde(rename = "job.end.ms")]
    pub(super) end_ms: Whole,
    #[serde(rename = "job.count")]
    pub(super) count: Whole,
    #[serde(rename = "job.tasks")]
    pub(super) tasks: Option<List<Container>>,
    #[serde(rename = "num.nodes")]
    pub(super) nodes: Whole,
    #[serde(rename = "num.racks")]
    pub(super) racks: Whole,
    // Of the synthetic kind.
    pub(super) num_nodes: Whole,
    pub(super) nodes_per_rack: Whole,
    pub(super) num_jobs: Whole,
    pub(super) rand_seed: Whole,
    pub(super) workloads: Option<List<Workload>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Container {
    pub(super) count: Whole,
    #[serde(rename = "container.host")]
    pub(super) host: Text,
    #[serde(rename = "container.start.ms")]
    pub(super) start_ms: Whole,
    #[serde(rename = "container.end.ms")]
    pub(super) end_ms: Whole,
    #[serde(rename = "container.duration.ms")]
    pub(super) duration_ms: Whole,
    #[serde(rename = "duration.ms")]
    pub(super) old_duration_ms: Whole,
    #[serde(rename = "container.priority")]
    pub(super) priority: Whole,
    #[serde(rename = "container.type")]
    pub(super) kind: Text,
}

/// A run of equal tasks.
pub(super) struct Run {
    pub(super) kind: TaskKind,
    pub(super) count: u64,
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
    pub(super) host: String,
}

/// Nodes as SLS names them, one of each rack in turn.
pub(super) fn cluster(key: &str, nodes: u64, racks: u64) -> Result<TraceCluster, TraceError> {
    if nodes > MOST_NODES {
        return Err(TraceError::Malformed {
            place: key.to_owned(),
            found: nodes.to_string(),
            expected: format!("at most {MOST_NODES} nodes"),
        });
    }
    let worker = |number: u64| {
        let host = format!("node{}", number + 1);
        let rack = format!("/rack{}", number % racks + 1);
        TraceWorker { name: host.clone(), host, rack, ..TraceWorker::default() }
    };
    Ok(TraceCluster { workers: (0..nodes).map(worker).collect(), ..TraceCluster::default() })
}

pub(super) struct Reader<'a> {
    pub(super) notes: &'a mut ImportNotes,
    /// Of [`MOST_REPEATED`].
    pub(super) left: u64,
}

impl Reader<'_> {
    pub(super) fn add_job(
        &mut self,
        number: u64,
        record: Record,
        jobs: &mut Vec<JobTemplate>,
    ) -> Result<(), TraceError> {
        let id = record.id.as_str();
        let id = if id.is_empty() { format!("job_{number}") } else { id.to_owned() };
        let am = record.am.0.or(record.old_am.0).unwrap_or_default();
        if !am.is_empty() && am != "mapreduce" {
            self.notes
                .add("job of another kind than mapreduce: its containers count as tasks", || format!("{id}, {am}"));
        }
        let submit_ms = self.instant(record.start_ms, "start of the job", &id).unwrap_or(0);
        let mut runs = Vec::new();
        for container in record.tasks.unwrap_or_default().0 {
            runs.push(self.run(container, submit_ms, &id)?);
        }
        let mut template = template(&runs);
        template.submit_ms = submit_ms;
        template.user = record.user.or_empty();
        template.queue = record.queue.or_empty();
        let first_start = runs.iter().map(|run| run.start_ms).min();
        let last_end = runs.iter().map(|run| run.end_ms).max().unwrap_or(submit_ms).max(submit_ms);
        if let Some(end_ms) = self.instant(record.end_ms, "end of the job", &id) {
            if end_ms < last_end {
                self.notes.add("job ends before its last container: its last container's end counts", || id.clone());
            }
            template.outcome = "SUCCEEDED".to_owned();
            template.commit_ms = end_ms.saturating_sub(last_end);
            template.measured = Some(Measured {
                launch_ms: first_start.unwrap_or(submit_ms).max(submit_ms),
                maps_done_ms: maps_done_ms(&runs).unwrap_or(0),
                finish_ms: end_ms.max(last_end),
            });
        }
        let copies = record.count.count().unwrap_or(1);
        let tasks = u64::from(template.n_maps) + u64::from(template.n_reduces);
        self.spend(copies.saturating_sub(1).saturating_mul(tasks + 100), &id)?;
        for copy in 0..copies {
            let id = if copy == 0 { id.clone() } else { format!("{id}-{}", copy + 1) };
            jobs.push(JobTemplate { id, ..template.clone() });
        }
        Ok(())
    }

    pub(super) fn run(&mut self, container: Container, submit_ms: u64, id: &str) -> Result<Run, TraceError> {
        let start_ms = self.instant(container.start_ms, "start of a container", id).unwrap_or(submit_ms);
        let end_ms = self.instant(container.end_ms, "end of a container", id);
        let stated = container.duration_ms.0.or(container.old_duration_ms.0);
        let duration_ms = self.instant(Whole(stated), "duration of a container", id);
        if start_ms < submit_ms {
            self.notes.add("container starts before its job: only its duration counts", || id.to_owned());
        }
        let end_ms = match (duration_ms, end_ms) {
            (Some(duration), _) => (start_ms + duration).min(MAX_INSTANT_MS),
            (None, Some(end)) if end >= start_ms => end,
            (None, Some(_)) => {
                self.notes.add("container ends before it starts: its time counts 0", || id.to_owned());
                start_ms
            }
            (None, None) => {
                self.notes.add("container without an end or a duration: its time counts 0", || id.to_owned());
                start_ms
            }
        };
        let kind = match container.kind.as_str() {
            "map" => TaskKind::Map,
            "reduce" => TaskKind::Reduce,
            "" if container.priority.0 == Some(REDUCE_PRIORITY) => TaskKind::Reduce,
            "" => TaskKind::Map,
            other => {
                self.notes
                    .add("container of another type than map and reduce: counts as a map", || format!("{id}, {other}"));
                TaskKind::Map
            }
        };
        let count = container.count.count().unwrap_or(1);
        self.spend(count.saturating_sub(1), id)?;
        Ok(Run { kind, count, start_ms, end_ms, host: container.host.or_empty() })
    }

    pub(super) fn spend(&mut self, tasks: u64, id: &str) -> Result<(), TraceError> {
        self.left = self.left.checked_sub(tasks).ok_or_else(|| TraceError::Malformed {
            place: id.to_owned(),
            found: format!("counts that stand for {tasks} more tasks"),
            expected: format!("at most {MOST_REPEATED} in the file"),
        })?;
        Ok(())
    }

    /// Zero is an instant here: SLS counts from its own start.
    pub(super) fn instant(&mut self, stated: Whole, what: &str, id: &str) -> Option<u64> {
        let known = stated.count().filter(|&ms| ms <= MAX_INSTANT_MS);
        if known.is_none() && stated.0.is_some() {
            self.notes.add("time that cannot be: counts as unknown", || format!("{id}, {what}"));
        }
        known
    }
}

pub(super) fn maps_done_ms(runs: &[Run]) -> Option<u64> {
    runs.iter().filter(|run| run.kind == TaskKind::Map && run.count > 0).map(|run| run.end_ms).max()
}

pub(super) fn template(runs: &[Run]) -> JobTemplate {
    let mut template = JobTemplate::default();
    let done_ms = maps_done_ms(runs);
    for run in runs {
        let times = run.count as usize;
        // Counts are bounded; what is listed one by one cannot reach the end of 32 bits in any memory.
        let count = u32::try_from(run.count).unwrap_or(u32::MAX);
        if run.kind == TaskKind::Map {
            template.map_ms.extend(std::iter::repeat_n(run.end_ms - run.start_ms, times));
            template.n_maps = template.n_maps.saturating_add(count);
            continue;
        }
        template.n_reduces = template.n_reduces.saturating_add(count);
        let beside = done_ms.filter(|&done| run.start_ms < done);
        let from_ms = beside.unwrap_or(run.start_ms).min(run.end_ms);
        let shuffle = if beside.is_some() { &mut template.first_shuffle_ms } else { &mut template.typical_shuffle_ms };
        shuffle.extend(std::iter::repeat_n(0, times));
        template.reduce_ms.extend(std::iter::repeat_n(run.end_ms - from_ms, times));
    }
    let maps = runs.iter().filter(|run| run.kind == TaskKind::Map);
    let hosts = maps.flat_map(|run| std::iter::repeat_n(host(&run.host), run.count as usize));
    template.split_hosts = SplitHosts::new(hosts);
    template
}

/// The host of `/rack/host`.
pub(super) fn host(place: &str) -> Option<&str> {
    place.rsplit('/').next().filter(|host| !host.is_empty())
}
