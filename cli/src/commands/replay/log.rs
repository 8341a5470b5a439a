//! A simulated run's history, in the words of a real one.
//!
//! JSON lines: an object that tells of the cluster (`howdah/replay-log/v1`), then one `howdah/history/v1` object per
//! job, in order of submission, as a master writes them into a run's directory. The same extraction that makes a
//! trace of a real run makes one of this, so a log can be replayed. Instants are milliseconds since the epoch, as
//! in every history; what the simulation knows more exactly is cut.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use howdah_master::history::{AttemptHistory, JobHistory, LocalityCounts, SCHEMA};
use howdah_master::trace::template;
use howdah_shared::cluster::EndCause;
use howdah_shared::job::counters::{Counters, JOB};
use howdah_shared::job::profile::{TRACE_SCHEMA, Trace, TraceCluster, TraceWorker};
use howdah_shared::job::{App, AttemptState, InputFormat, JobConf, JobSpec, Locality, Phase, TaskKind};
use howdah_shared::replay::{AttemptRecord, JobOutcome, View};
use howdah_shared::time::Time;
use howdah_shared::traces::howdah::malformed;
use howdah_shared::traces::{ImportNotes, TraceError};
use serde::{Deserialize, Serialize};

use super::{Replayed, job_id};

/// Value of `schema` in the first line.
pub(crate) const LOG_SCHEMA: &str = "howdah/replay-log/v1";
/// The origin of traces that have none: the year 2000, as an instant of 0 means "not reached" in a history.
const ORIGIN_MS_EPOCH: u64 = 946_684_800_000;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LogHeader {
    schema: String,
    source: String,
    start_ms_epoch: u64,
    cluster: TraceCluster,
}

/// Writes header and histories.
pub(super) fn write(replayed: &Replayed<'_>, attempts: &[AttemptRecord], out: &mut dyn Write) -> io::Result<()> {
    let origin = replayed.trace.start_ms_epoch.filter(|ms| *ms > 0).unwrap_or(ORIGIN_MS_EPOCH);
    let cluster = cluster(replayed);
    let header = LogHeader {
        schema: LOG_SCHEMA.to_owned(),
        source: format!("replay of {}", replayed.trace.source),
        start_ms_epoch: origin,
        cluster,
    };
    line(out, &header)?;
    // By job, kind, index and number, as histories have them.
    let mut order: Vec<usize> = (0..attempts.len()).collect();
    order.sort_by_key(|&index| {
        let id = attempts[index].attempt;
        (id.job, id.kind, id.index, id.number)
    });
    let mut rest = order.as_slice();
    for job in &replayed.report.jobs {
        let n = rest.iter().take_while(|&&index| attempts[index].attempt.job == job.id).count();
        let (own, others) = rest.split_at(n);
        rest = others;
        let own: Vec<&AttemptRecord> = own.iter().map(|&index| &attempts[index]).collect();
        line(out, &history(replayed, job, &own, origin, &header.cluster.workers))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The pool of slots is written as one worker.
fn cluster(replayed: &Replayed<'_>) -> TraceCluster {
    let workers = match &replayed.options.view {
        View::Workers(view) => view.workers.iter().map(TraceWorker::from).collect(),
        View::Slots { maps, reduces } => vec![TraceWorker {
            name: "slots".to_owned(),
            host: "slots".to_owned(),
            rack: "/default-rack".to_owned(),
            map_slots: *maps,
            reduce_slots: *reduces,
            ..TraceWorker::default()
        }],
    };
    TraceCluster {
        scheduler: replayed.options.scheduler.clone(),
        scheduler_params: replayed.options.scheduler_params.clone(),
        workers,
    }
}

fn history(
    replayed: &Replayed<'_>,
    job: &JobOutcome,
    attempts: &[&AttemptRecord],
    origin: u64,
    workers: &[TraceWorker],
) -> JobHistory {
    let source = &replayed.trace.jobs[job.template as usize];
    let id = job_id(source, job.template);
    let epoch = |at: Time| origin.saturating_add(at.as_ms());
    let conf = JobConf {
        slowstart_ppm: replayed
            .options
            .slowstart_ppm
            .or(source.slowstart_ppm)
            .unwrap_or(JobConf::default().slowstart_ppm),
        deadline: job.deadline,
        slots_per_map: source.slots_per_map.max(1),
        slots_per_reduce: source.slots_per_reduce.max(1),
        requires: source.requires.clone(),
        pool: source.pool(),
        ..JobConf::default()
    };
    let done = |kind: TaskKind| {
        let won = attempts.iter().filter(|a| a.attempt.kind == kind && a.state == AttemptState::Succeeded);
        won.map(|a| a.attempt.index).collect::<std::collections::BTreeSet<u32>>().len() as u32
    };
    let maps_at = |locality: Locality| {
        attempts.iter().filter(|a| a.attempt.kind == TaskKind::Map && a.locality == locality).count() as u32
    };
    JobHistory {
        schema: SCHEMA.to_owned(),
        state: job.state,
        priority: source.priority,
        submit_ms_epoch: epoch(job.submit),
        launch_ms_epoch: job.start.map_or(0, epoch),
        maps_done_ms_epoch: job.maps_done.map_or(0, epoch),
        finish_ms_epoch: if job.state.is_final() { epoch(job.finish) } else { 0 },
        maps_done: done(TaskKind::Map),
        reduces_done: done(TaskKind::Reduce),
        failed_attempts: job.failed_attempts,
        killed_attempts: job.killed_attempts,
        maps_by_locality: LocalityCounts {
            node: maps_at(Locality::Node),
            rack: maps_at(Locality::Rack),
            off_rack: maps_at(Locality::OffRack),
            unknown: maps_at(Locality::Unknown),
        },
        speculation: job.costs.into(),
        output: String::new(),
        why: String::new(),
        app: App::BuiltIn { name: "replay".to_owned() },
        input_format: InputFormat::Generated { n_maps: source.n_maps },
        spec: JobSpec {
            name: source.name.as_str().into(),
            user: source.user.as_str().into(),
            queue: source.queue.as_str().into(),
            priority: source.priority,
            n_maps: source.n_maps,
            n_reduces: source.n_reduces,
            map_input_bytes: source.map_input_bytes.clone(),
            split_hosts: source.split_hosts.clone(),
            conf,
            profile: source.profile.map(Box::new),
        },
        properties: BTreeMap::new(),
        counters: counters(attempts),
        attempts: attempts.iter().map(|record| attempt(&id, record, epoch, workers)).collect(),
        id,
    }
}

fn attempt(job: &str, record: &AttemptRecord, epoch: impl Fn(Time) -> u64, workers: &[TraceWorker]) -> AttemptHistory {
    let id = record.attempt;
    // Printed ids share the job's digits, whatever cluster made it.
    let digits = job.strip_prefix("job_").unwrap_or(job);
    let task = format!("task_{digits}_{}_{:06}", id.kind.letter(), id.index);
    let worker = workers.get(record.worker.0 as usize);
    let (start, end) = (epoch(record.start), epoch(record.end));
    let reduce = id.kind == TaskKind::Reduce;
    // The engine's shuffle has no sort of its own: both are over at once.
    let sorted = if reduce { record.sorted.map_or(0, &epoch) } else { 0 };
    let won = record.state == AttemptState::Succeeded;
    AttemptHistory {
        attempt: format!("attempt_{digits}_{}_{:06}_{}", id.kind.letter(), id.index, id.number),
        task,
        kind: id.kind,
        index: id.index,
        number: id.number,
        state: record.state,
        phase: match (reduce, record.sorted) {
            (false, _) => Phase::Map,
            (true, None) => Phase::Shuffle,
            (true, Some(_)) => Phase::Reduce,
        },
        progress: if won { 1.0 } else { 0.0 },
        worker: worker.map_or_else(String::new, |worker| worker.name.clone()),
        host: worker.map_or_else(String::new, |worker| worker.host.clone()),
        locality: record.locality,
        speculative: record.speculative,
        assigned_ms_epoch: start,
        ended_ms_epoch: end,
        cause: if won { String::new() } else { cause(record.cause) },
        exit_code: None,
        signal: None,
        diagnostics: String::new(),
        stderr_tail: String::new(),
        cpu_us: 0,
        peak_memory_kib: 0,
        started_ms_epoch: start,
        shuffle_done_ms_epoch: sorted,
        sort_done_ms_epoch: sorted,
        finished_ms_epoch: end,
        message: String::new(),
        counters: Counters::default(),
    }
}

fn cause(cause: EndCause) -> String {
    serde_json::to_value(cause).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Hadoop's counters of a job that a simulation can know.
fn counters(attempts: &[&AttemptRecord]) -> Counters {
    let mut counters = Counters::default();
    for record in attempts {
        let reduce = record.attempt.kind == TaskKind::Reduce;
        let pick = |names: [&'static str; 2]| names[usize::from(reduce)];
        counters.add(JOB, pick(["Launched map tasks", "Launched reduce tasks"]), 1);
        match record.state {
            AttemptState::Failed => counters.add(JOB, pick(["Failed map tasks", "Failed reduce tasks"]), 1),
            AttemptState::Killed => counters.add(JOB, pick(["Killed map tasks", "Killed reduce tasks"]), 1),
            _ => {}
        }
        let held = record.end.since(record.start).as_ms() as i64;
        counters.add(JOB, pick(["SLOTS_MILLIS_MAPS", "SLOTS_MILLIS_REDUCES"]), held);
        let near = match record.locality {
            Locality::Node => "Data-local map tasks",
            Locality::Rack => "Rack-local map tasks",
            Locality::OffRack => "Other local map tasks",
            Locality::Unknown => continue,
        };
        counters.add(JOB, near, 1);
    }
    counters
}

/// Whether a file that begins like this is a log.
pub(crate) fn is_log(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.windows(LOG_SCHEMA.len()).any(|window| window == LOG_SCHEMA.as_bytes())
}

/// Reads a log as a trace. Jobs that were not over are left out, as `trace record` does.
///
/// # Errors
/// Says which line is wrong, and what was expected.
pub(crate) fn read(source: &mut dyn BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut lines = source.lines().enumerate();
    let mut next = || -> Option<Result<(usize, String), TraceError>> {
        let (index, line) = lines.next()?;
        let place = || format!("line {}", index + 1);
        Some(line.map(|line| (index, line)).map_err(|source| TraceError::Io { place: place(), source }))
    };
    let wrong = |place: &str, found: &str, expected: String| TraceError::Malformed {
        place: place.to_owned(),
        found: found.to_owned(),
        expected,
    };
    let header = "the header of a replay's log".to_owned();
    let (_, first) = next().unwrap_or_else(|| Err(wrong("line 1", "nothing", header)))?;
    let header: LogHeader = serde_json::from_str(&first).map_err(|error| malformed(&error, 0, "header"))?;
    if header.schema != LOG_SCHEMA {
        return Err(wrong("header, field `schema`", &format!("`{}`", header.schema), format!("`{LOG_SCHEMA}`")));
    }
    let mut jobs = Vec::new();
    let mut number = 0;
    while let Some(line) = next() {
        let (before, line) = line?;
        if line.trim().is_empty() {
            continue;
        }
        number += 1;
        let history: JobHistory =
            serde_json::from_str(&line).map_err(|error| malformed(&error, before as u64, &format!("job {number}")))?;
        if history.state.is_final() {
            jobs.push(template(&history, header.start_ms_epoch));
        } else {
            notes.add("job that was not over when the replay ended: left out", || history.id.clone());
        }
    }
    Ok(Trace {
        schema: TRACE_SCHEMA.to_owned(),
        source: header.source,
        start_ms_epoch: Some(header.start_ms_epoch),
        cluster: Some(header.cluster),
        jobs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_told_by_its_first_line() {
        assert!(is_log(br#"{"schema":"howdah/replay-log/v1","source":""}"#));
        assert!(!is_log(b"{\"schema\":\"howdah/trace/v1\"}\n\"howdah/replay-log/v1\""));
        assert!(!is_log(b""));
    }

    #[test]
    fn a_log_that_breaks_off_names_its_line() {
        let said =
            |text: &str| read(&mut text.as_bytes(), &mut ImportNotes::default()).expect_err("broken").to_string();
        assert!(said("").starts_with("line 1: found nothing"));
        let header = r#"{"schema":"howdah/replay-log/v1","source":"","start_ms_epoch":1,"cluster":{"scheduler":"fifo","workers":[]}}"#;
        assert_eq!(
            said(&format!("{header}\n\n{{\"schema\":")),
            "line 3, column 10 (job 1): found the end in the middle of it, expected a whole JSON object"
        );
        assert!(said(&header.replace("log/v1", "log/v9")).contains("expected `howdah/replay-log/v1`"));
    }
}
