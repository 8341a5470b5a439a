//! What workers say: registrations, reports, vitals.

use std::collections::HashMap;

use howdah_core::job::limits::{self, NAME_BYTES, PATH_BYTES};
use howdah_core::job::{AttemptId, JobId, Progress, TaskKind, WorkerId};
use howdah_core::tracker::{AttemptReport, AttributeSet, Registration, Report, Vitals};

use super::{
    ConvertError, MAX_ATTEMPTS, MAX_ATTRIBUTES, MAX_FETCH_FAILURES, MAX_WARNING_BYTES, at_most, attempt_id,
    attempt_state, name, phase, small,
};
use crate::v1;

impl From<&Vitals> for v1::Vitals {
    /// The use of each core and the details are not part of the domain type; the worker adds them.
    fn from(vitals: &Vitals) -> v1::Vitals {
        v1::Vitals {
            load1_milli: vitals.load1_milli,
            load5_milli: vitals.load5_milli,
            load15_milli: vitals.load15_milli,
            cpu_use_parts: vitals.cpu_use_parts.into(),
            n_cpus: vitals.n_cpus.into(),
            cpus_milli: vitals.cpus_milli,
            run_queue_milli: vitals.run_queue_milli,
            foreign_milli: vitals.foreign_milli,
            cpu_khz: vitals.cpu_khz,
            max_khz: vitals.max_khz,
            effective_khz: vitals.effective_khz,
            memory_total_kib: vitals.memory_total_kib,
            memory_free_kib: vitals.memory_free_kib,
            disk_free_kib: vitals.disk_free_kib,
            core_use_parts: Vec::new(),
            details: None,
        }
    }
}

impl TryFrom<&v1::Vitals> for Vitals {
    type Error = ConvertError;

    fn try_from(wire: &v1::Vitals) -> Result<Vitals, ConvertError> {
        Ok(Vitals {
            load1_milli: wire.load1_milli,
            load5_milli: wire.load5_milli,
            load15_milli: wire.load15_milli,
            cpu_use_parts: small("vitals.cpu_use_parts", wire.cpu_use_parts)?,
            n_cpus: small("vitals.n_cpus", wire.n_cpus)?,
            cpus_milli: wire.cpus_milli,
            run_queue_milli: wire.run_queue_milli,
            foreign_milli: wire.foreign_milli,
            cpu_khz: wire.cpu_khz,
            max_khz: wire.max_khz,
            effective_khz: wire.effective_khz,
            memory_total_kib: wire.memory_total_kib,
            memory_free_kib: wire.memory_free_kib,
            disk_free_kib: wire.disk_free_kib,
        })
    }
}

impl From<&AttemptReport> for v1::AttemptStatus {
    /// Only what decisions read; the worker adds counters, the end and the message.
    fn from(report: &AttemptReport) -> v1::AttemptStatus {
        v1::AttemptStatus {
            attempt: Some(report.attempt.into()),
            state: v1::AttemptState::from(report.state).into(),
            phase: v1::Phase::from(report.phase).into(),
            progress: report.progress.parts().into(),
            fetch_failures: report.fetch_failures.iter().map(|&id| id.into()).collect(),
            counters: None,
            end: None,
            message: String::new(),
            fatal: report.fatal,
        }
    }
}

impl TryFrom<&v1::AttemptStatus> for AttemptReport {
    type Error = ConvertError;

    fn try_from(wire: &v1::AttemptStatus) -> Result<AttemptReport, ConvertError> {
        let progress = small("attempts.progress", wire.progress)?;
        if progress > Progress::DONE.parts() {
            let max = Progress::DONE.parts().into();
            return Err(ConvertError::Range { field: "attempts.progress", value: progress.into(), max });
        }
        at_most("attempts.fetch_failures", wire.fetch_failures.len(), MAX_FETCH_FAILURES)?;
        Ok(AttemptReport {
            attempt: attempt_id("attempts.attempt", wire.attempt)?,
            state: attempt_state(wire.state)?,
            phase: phase(wire.phase)?,
            progress: Progress::from_parts(progress),
            fetch_failures: wire.fetch_failures.iter().map(|&id| id.try_into()).collect::<Result<_, _>>()?,
            fatal: wire.fatal,
        })
    }
}

impl From<&Report> for v1::HeartbeatRequest {
    fn from(report: &Report) -> v1::HeartbeatRequest {
        v1::HeartbeatRequest {
            worker: report.worker.0,
            incarnation: report.incarnation,
            response_id: report.response_id,
            free_maps: report.free_maps.into(),
            free_reduces: report.free_reduces.into(),
            accepts_tasks: report.accepts_tasks,
            may_park: report.may_park,
            attempts: report.attempts.iter().map(v1::AttemptStatus::from).collect(),
            vitals: Some((&report.vitals).into()),
            sequence: 0,
            attributes: report.attributes.as_ref().map(v1::AttributeSet::from),
            refusal: v1::Refusal::Unspecified.into(),
            met: None,
        }
    }
}

impl TryFrom<&v1::HeartbeatRequest> for Report {
    type Error = ConvertError;

    /// Missing vitals read as zeros, which stand for "unknown".
    fn try_from(wire: &v1::HeartbeatRequest) -> Result<Report, ConvertError> {
        at_most("attempts", wire.attempts.len(), MAX_ATTEMPTS)?;
        Ok(Report {
            worker: WorkerId(wire.worker),
            incarnation: wire.incarnation,
            response_id: wire.response_id,
            free_maps: small("free_maps", wire.free_maps)?,
            free_reduces: small("free_reduces", wire.free_reduces)?,
            accepts_tasks: wire.accepts_tasks,
            may_park: wire.may_park,
            attempts: wire.attempts.iter().map(AttemptReport::try_from).collect::<Result<_, _>>()?,
            vitals: wire.vitals.as_ref().map_or(Ok(Vitals::default()), Vitals::try_from)?,
            attributes: wire.attributes.as_ref().map(AttributeSet::try_from).transpose()?,
        })
    }
}

/// Ascending by name.
fn attributes(wire: &HashMap<String, String>) -> Result<Vec<(String, String)>, ConvertError> {
    at_most("attributes", wire.len(), MAX_ATTRIBUTES)?;
    let mut attributes = Vec::with_capacity(wire.len());
    for (key, value) in wire {
        attributes.push((name("attributes", key)?, name("attributes", value)?));
    }
    attributes.sort_unstable();
    Ok(attributes)
}

/// Takes out of a report what a program or a probe may have made too large, so that the rest of it counts; returns the
/// names of the fields. What is recorded is what is left.
pub fn drop_bad_fields(wire: &mut v1::HeartbeatRequest) -> Vec<&'static str> {
    let mut dropped = Vec::new();
    for status in &mut wire.attempts {
        if status.progress > Progress::DONE.parts().into() {
            status.progress = Progress::DONE.parts().into();
            dropped.push("attempts.progress");
        }
        if status.fetch_failures.len() > limits::FETCH_FAILURES {
            status.fetch_failures.truncate(limits::FETCH_FAILURES);
            dropped.push("attempts.fetch_failures");
        }
        let sound = status.fetch_failures.len();
        status.fetch_failures.retain(|&id| AttemptId::try_from(id).is_ok());
        if status.fetch_failures.len() < sound {
            dropped.push("attempts.fetch_failures");
        }
    }
    if let Some(set) = &mut wire.attributes {
        if check_warnings(&set.probe_warnings).is_err() {
            set.probe_warnings.clear();
            dropped.push("attributes.probe_warnings");
        }
        if attributes(&set.attributes).is_err() {
            wire.attributes = None;
            dropped.push("attributes");
        }
    }
    dropped
}

/// Warnings of probes, which are passed on as they are.
///
/// # Errors
/// When there are more than attributes, or one is too long.
pub fn check_warnings(warnings: &HashMap<String, String>) -> Result<(), ConvertError> {
    at_most("probe_warnings", warnings.len(), MAX_ATTRIBUTES)?;
    warnings.iter().try_for_each(|(probe, warning)| {
        at_most("probe_warnings", probe.len(), NAME_BYTES)?;
        at_most("probe_warnings", warning.len(), MAX_WARNING_BYTES)
    })
}

impl From<&AttributeSet> for v1::AttributeSet {
    /// Without warnings, which the worker adds.
    fn from(set: &AttributeSet) -> v1::AttributeSet {
        v1::AttributeSet {
            version: set.version,
            attributes: set.attributes.iter().cloned().collect(),
            probe_warnings: HashMap::new(),
        }
    }
}

impl TryFrom<&v1::AttributeSet> for AttributeSet {
    type Error = ConvertError;

    fn try_from(wire: &v1::AttributeSet) -> Result<AttributeSet, ConvertError> {
        check_warnings(&wire.probe_warnings)?;
        Ok(AttributeSet { version: wire.version, attributes: attributes(&wire.attributes)? })
    }
}

/// A registration under the number that the master gives to its name.
///
/// # Errors
/// When a name is empty or too long, or a number out of range.
pub fn registration(worker: WorkerId, wire: &v1::RegisterRequest) -> Result<Registration, ConvertError> {
    if wire.name.is_empty() {
        return Err(ConvertError::Missing { field: "name" });
    }
    at_most("http_address", wire.http_address.len(), NAME_BYTES)?;
    at_most("version", wire.version.len(), NAME_BYTES)?;
    at_most("directory", wire.directory.len(), PATH_BYTES)?;
    at_most("build", wire.build.len(), NAME_BYTES)?;
    check_warnings(&wire.probe_warnings)?;
    Ok(Registration {
        worker,
        incarnation: wire.incarnation,
        starts: wire.starts,
        name: name("name", &wire.name)?,
        host: name("host", &wire.host)?,
        rack: name("rack", &wire.rack)?,
        map_slots: small("map_slots", wire.map_slots)?,
        reduce_slots: small("reduce_slots", wire.reduce_slots)?,
        attributes: attributes(&wire.attributes)?,
        kept: map_outputs(&wire.kept),
    })
}

/// Map outputs off the wire, as many of them as one registration may name. What cannot be an attempt is left out: the worker
/// has no less of the others for it.
pub fn map_outputs(wire: &[v1::MapOutputs]) -> Vec<AttemptId> {
    let of_job = |outputs: &'_ v1::MapOutputs| {
        let job = JobId(outputs.job);
        let pairs: Vec<(u32, u32)> = outputs.maps.iter().copied().zip(outputs.numbers.iter().copied()).collect();
        pairs.into_iter().filter_map(move |(index, number)| {
            let number = u16::try_from(number).ok()?;
            Some(AttemptId { job, kind: TaskKind::Map, index, number })
        })
    };
    wire.iter().flat_map(of_job).take(limits::KEPT_OUTPUTS).collect()
}

/// Map outputs for the wire; what follows each other of one job is one entry.
pub fn grouped_outputs(outputs: &[AttemptId]) -> Vec<v1::MapOutputs> {
    let group = |outputs: &[AttemptId]| v1::MapOutputs {
        job: outputs[0].job.0,
        maps: outputs.iter().map(|output| output.index).collect(),
        numbers: outputs.iter().map(|output| output.number.into()).collect(),
    };
    outputs.chunk_by(|a, b| a.job == b.job).map(group).collect()
}

impl From<&Registration> for v1::RegisterRequest {
    /// Without the worker's number and its HTTP address, which the core does not know.
    fn from(registration: &Registration) -> v1::RegisterRequest {
        v1::RegisterRequest {
            name: registration.name.clone(),
            host: registration.host.clone(),
            rack: registration.rack.clone(),
            map_slots: registration.map_slots.into(),
            reduce_slots: registration.reduce_slots.into(),
            http_address: String::new(),
            incarnation: registration.incarnation,
            starts: registration.starts,
            attributes: registration.attributes.iter().cloned().collect(),
            version: String::new(),
            directory: String::new(),
            probe_warnings: HashMap::new(),
            advertised: false,
            protocol: 0,
            build: String::new(),
            kept: grouped_outputs(&registration.kept),
            kept_of_cluster: 0,
            met: None,
        }
    }
}
