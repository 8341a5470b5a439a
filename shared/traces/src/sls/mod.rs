//! YARN's scheduler load simulator: its native job files.
//!
//! One JSON object per job, one after another, with dotted keys. Containers tell when they ran and for how long, not
//! what they waited for, so a reduce has no shuffle here: one that ran beside maps gets what is left of it after the
//! last map, the others all of it. `container.host` is what SLS asks the scheduler for, so it is the split's place.
//! Numbers may be quoted. `count` stands for equal containers, `job.count` for equal jobs; both are written out, up
//! to [`MOST_REPEATED`] tasks in a file. From SLS's *synthetic* files, which describe distributions, jobs are drawn.
//! Source: the SLSRunner of Hadoop 3 and the format's notes there.

mod synthetic;

use std::io::BufRead;

use serde::Deserialize;

use synthetic::{Workload, draw};

use super::json::{List, Text, Whole, for_each};
use super::profiler::MAX_INSTANT_MS;
use super::{ImportNotes, TraceError};
use howdah_core::job::SplitHosts;
use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, Measured, Trace, TraceCluster, TraceWorker};

/// Tasks that counts in one file may stand for; a repeated job weighs 100 more. A count costs a few bytes, what it
/// stands for may cost any memory.
pub const MOST_REPEATED: u64 = 1_000_000;

/// Nodes that a file may announce.
const MOST_NODES: u64 = 100_000;

/// Priority of reduce containers where their type is not told.
const REDUCE_PRIORITY: i64 = 10;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record {
    #[serde(rename = "am.type")]
    am: Text,
    #[serde(rename = "yarn.sls.am.type")]
    old_am: Text,
    #[serde(rename = "job.id")]
    id: Text,
    #[serde(rename = "job.user")]
    user: Text,
    #[serde(rename = "job.queue.name")]
    queue: Text,
    #[serde(rename = "job.start.ms")]
    start_ms: Whole,
    #[serde(rename = "job.end.ms")]
    end_ms: Whole,
    #[serde(rename = "job.count")]
    count: Whole,
    #[serde(rename = "job.tasks")]
    tasks: Option<List<Container>>,
    #[serde(rename = "num.nodes")]
    nodes: Whole,
    #[serde(rename = "num.racks")]
    racks: Whole,
    // Of the synthetic kind.
    num_nodes: Whole,
    nodes_per_rack: Whole,
    num_jobs: Whole,
    rand_seed: Whole,
    workloads: Option<List<Workload>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Container {
    count: Whole,
    #[serde(rename = "container.host")]
    host: Text,
    #[serde(rename = "container.start.ms")]
    start_ms: Whole,
    #[serde(rename = "container.end.ms")]
    end_ms: Whole,
    #[serde(rename = "container.duration.ms")]
    duration_ms: Whole,
    #[serde(rename = "duration.ms")]
    old_duration_ms: Whole,
    #[serde(rename = "container.priority")]
    priority: Whole,
    #[serde(rename = "container.type")]
    kind: Text,
}

/// A run of equal tasks.
struct Run {
    kind: TaskKind,
    count: u64,
    start_ms: u64,
    end_ms: u64,
    host: String,
}

/// Reads a trace. Its cluster is that of the first object, where there is one, with 0 slots per worker.
///
/// # Errors
/// When the source breaks, holds no job or another format, or counts beyond [`MOST_REPEATED`].
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut trace = Trace { source: "SLS job file".to_owned(), ..Trace::default() };
    let mut reader = Reader { notes, left: MOST_REPEATED };
    let expected = "an SLS job (an object with job.tasks)";
    for_each(source, expected, |number, record: Record| {
        if let Some(workloads) = record.workloads {
            let seed = record.rand_seed.0.unwrap_or(0);
            trace.source = format!("SLS synthetic workload, seed {seed}");
            trace.jobs.extend(draw(&workloads.0, record.num_jobs.count().unwrap_or(0), seed, &mut reader)?);
            let nodes = record.num_nodes.count().unwrap_or(0);
            if nodes > 0 {
                let racks = nodes.div_ceil(record.nodes_per_rack.count().unwrap_or(1).max(1));
                trace.cluster = Some(cluster("num_nodes", nodes, racks)?);
            }
            return Ok(());
        }
        match (&record.tasks, record.nodes.count()) {
            (Some(_), _) => reader.add_job(number, record, &mut trace.jobs)?,
            (None, Some(nodes)) if trace.cluster.is_none() => {
                trace.cluster = Some(cluster("num.nodes", nodes, record.racks.count().unwrap_or(1).max(1))?);
            }
            (None, _) => {
                return Err(TraceError::Malformed {
                    place: format!("record {number}"),
                    found: "an object without job.tasks".to_owned(),
                    expected: expected.to_owned(),
                });
            }
        }
        Ok(())
    })?;
    if trace.jobs.is_empty() {
        return Err(TraceError::Format { found: "no job".to_owned(), expected: "SLS jobs".to_owned() });
    }
    let behind = trace.jobs.windows(2).filter(|pair| pair[1].submit_ms < pair[0].submit_ms).count() as u64;
    let reason = "job submitted before the job above it: sorted by submission";
    reader.notes.add_many(reason, behind, || trace.source.clone());
    trace.jobs.sort_by_key(|job| job.submit_ms);
    Ok(trace)
}

/// Nodes as SLS names them, one of each rack in turn.
fn cluster(key: &str, nodes: u64, racks: u64) -> Result<TraceCluster, TraceError> {
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

struct Reader<'a> {
    notes: &'a mut ImportNotes,
    /// Of [`MOST_REPEATED`].
    left: u64,
}

impl Reader<'_> {
    fn add_job(&mut self, number: u64, record: Record, jobs: &mut Vec<JobTemplate>) -> Result<(), TraceError> {
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

    fn run(&mut self, container: Container, submit_ms: u64, id: &str) -> Result<Run, TraceError> {
        let start_ms = self.instant(container.start_ms, "start of a container", id).unwrap_or(submit_ms);
        let end_ms = self.instant(container.end_ms, "end of a container", id);
        let told = container.duration_ms.0.or(container.old_duration_ms.0);
        let duration_ms = self.instant(Whole(told), "duration of a container", id);
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

    fn spend(&mut self, tasks: u64, id: &str) -> Result<(), TraceError> {
        self.left = self.left.checked_sub(tasks).ok_or_else(|| TraceError::Malformed {
            place: id.to_owned(),
            found: format!("counts that stand for {tasks} more tasks"),
            expected: format!("at most {MOST_REPEATED} in the file"),
        })?;
        Ok(())
    }

    /// Zero is an instant here: SLS counts from its own start.
    fn instant(&mut self, told: Whole, what: &str, id: &str) -> Option<u64> {
        let known = told.count().filter(|&ms| ms <= MAX_INSTANT_MS);
        if known.is_none() && told.0.is_some() {
            self.notes.add("time that cannot be: counts as unknown", || format!("{id}, {what}"));
        }
        known
    }
}

fn maps_done_ms(runs: &[Run]) -> Option<u64> {
    runs.iter().filter(|run| run.kind == TaskKind::Map && run.count > 0).map(|run| run.end_ms).max()
}

fn template(runs: &[Run]) -> JobTemplate {
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
fn host(place: &str) -> Option<&str> {
    place.rsplit('/').next().filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::arbitrary::damaged;

    const SMALL: &str = include_str!("../../tests/fixtures/sls-small.json");

    fn imported(text: &str) -> Result<(Trace, Vec<String>), String> {
        let mut notes = ImportNotes::default();
        let trace = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
        Ok((trace, notes.lines()))
    }

    #[test]
    fn small_file_is_read_whole() {
        let (trace, notes) = imported(SMALL).unwrap();
        let workers = &trace.cluster.as_ref().unwrap().workers;
        let racks: Vec<_> = workers.iter().map(|worker| format!("{}/{}", worker.rack, worker.host)).collect();
        assert_eq!(racks, ["/rack1/node1", "/rack2/node2", "/rack1/node3"]);
        let [first, second, third] = &trace.jobs[..] else { panic!("{} jobs", trace.jobs.len()) };
        assert_eq!((first.id.as_str(), first.user.as_str(), first.queue.as_str()), ("job_1", "ada", "etl"));
        assert_eq!((first.submit_ms, first.n_maps, first.n_reduces), (0, 3, 2));
        assert_eq!(first.map_ms, [4_000, 2_500, 2_500]);
        assert_eq!((&first.first_shuffle_ms[..], &first.typical_shuffle_ms[..]), (&[0][..], &[0][..]));
        assert_eq!(first.reduce_ms, [3_000, 2_000]);
        assert_eq!((first.commit_ms, first.completion_ms()), (500, Some(9_500)));
        assert_eq!(first.split_hosts.of(0).collect::<Vec<_>>(), ["node3"]);
        assert_eq!(first.split_hosts.of(1).count(), 0);
        assert_eq!((second.id.as_str(), third.id.as_str()), ("job_2", "job_2-2"));
        assert_eq!((second.submit_ms, &second.map_ms[..], &second.measured), (10_000, &[700][..], &None));
        assert_eq!(JobTemplate { id: second.id.clone(), ..third.clone() }, *second);
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn odd_times_kinds_and_orders_are_counted() {
        let text = r#"{"job.start.ms":50,"yarn.sls.am.type":"dag","job.end.ms":40,"job.tasks":[
            {"container.start.ms":60,"container.end.ms":55},{"container.type":"vertex","duration.ms":-5},
            {"container.start.ms":10,"duration.ms":"7","container.priority":10}]}
            {"job.start.ms":20,"job.tasks":[]}"#;
        let (trace, notes) = imported(text).unwrap();
        assert_eq!(
            trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms)).collect::<Vec<_>>(),
            [("job_2", 20), ("job_1", 50)]
        );
        assert_eq!((&trace.jobs[1].map_ms[..], &trace.jobs[1].reduce_ms[..]), (&[0, 0][..], &[0][..]));
        assert_eq!(
            notes,
            [
                "1 container ends before it starts: its time counts 0",
                "1 container of another type than map and reduce: counts as a map",
                "1 container starts before its job: only its duration counts",
                "1 container without an end or a duration: its time counts 0",
                "1 job ends before its last container: its last container's end counts",
                "1 job of another kind than mapreduce: its containers count as tasks",
                "1 job submitted before the job above it: sorted by submission",
                "1 time that cannot be: counts as unknown",
            ]
        );
    }

    #[rstest]
    #[case("", "format: found no job, expected SLS jobs")]
    #[case(r#"{"jobID":"x"}"#, "record 1: found an object without job.tasks, expected an SLS job")]
    #[case(r#"{"num.nodes":100001}"#, "num.nodes: found 100001, expected at most 100000 nodes")]
    #[case(
        r#"{"job.id":"j","job.tasks":[{"count":9000000000}]}"#,
        "j: found counts that stand for 8999999999 more tasks"
    )]
    #[case(r#"{"job.id":"j","job.count":99999999,"job.tasks":[]}"#, "expected at most 1000000 in the file")]
    #[case(r#"{"job.tasks":[{"container.start.ms":"soon"}]}"#, "expected a whole number or null")]
    fn what_cannot_be_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = imported(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(bytes in damaged(SMALL)) {
            let _ = read(&bytes[..], &mut ImportNotes::default());
        }
    }
}
