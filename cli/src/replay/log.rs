//! Writes a simulated run's history, in the words of a real one: the log of a replay.
//!
//! Instants are milliseconds since the epoch, as in every history; what the simulation knows more exactly is cut.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use howdah_core::cluster::EndCause;
use howdah_core::job::counters::{Counters, JOB};
use howdah_core::job::profile::{TraceCluster, TraceWorker};
use howdah_core::job::{App, AttemptState, InputFormat, JobSpec, Locality, Phase, TaskKind};
use howdah_core::replay::{AttemptRecord, JobOutcome, View, job_spec};
use howdah_core::time::Time;
use howdah_master::history::{AttemptHistory, JobHistory, LocalityCounts, SCHEMA};
use serde::Serialize;

use super::replayed::{Replayed, job_id};
use crate::replay_log::{LOG_SCHEMA, LogHeader};

/// The origin of traces that have none: the year 2000, as an instant of 0 means "not reached" in a history.
const ORIGIN_MS_EPOCH: u64 = 946_684_800_000;

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
    let mut spec = JobSpec {
        queue: source.queue.as_str().into(),
        ..job_spec(source, replayed.options.slowstart_ppm, job.deadline, false)
    };
    spec.conf.follows = source.follows.as_ref().map(|follows| follows.job.clone());
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
        master_restarts: 0,
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
        spec,
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
        rack: worker.map_or_else(String::new, |worker| worker.rack.clone()),
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
