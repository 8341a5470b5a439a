//! What is written is what Hadoop's schema asks for, and what was read.

use proptest::prelude::*;
use serde_json::Value;

use super::mark::MARK;
use super::{read, write};
use crate::ImportNotes;
use crate::arbitrary::a_job;
use howdah_core::job::Priority;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};

const SMALL: &str = include_str!("../../tests/fixtures/small.jhist");

fn written(trace: &Trace) -> String {
    let mut text = Vec::new();
    write(trace, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn imported(text: &str) -> (Trace, Vec<String>) {
    let mut notes = ImportNotes::default();
    let trace = read(text.as_bytes(), &mut notes).unwrap();
    (trace, notes.lines())
}

/// Jobs of every ending, with lost attempts of both kinds and tasks that never ended well.
fn all_endings() -> Trace {
    let lost =
        |reduce, index, number, failed| LostAttempt { reduce, index, number, failed, ms: 9, speculative: !failed };
    let job = |outcome: &str| JobTemplate {
        outcome: outcome.to_owned(),
        priority: Priority::High,
        n_maps: 2,
        n_reduces: 1,
        lost_attempts: vec![lost(false, 0, 0, true), lost(false, 1, 1, false), lost(true, 0, 0, true)],
        ..JobTemplate::default()
    };
    let sizes = JobTemplate { input_bytes: Some(7), shuffle_bytes: Some(5), output_bytes: Some(3), ..job("") };
    let done = JobTemplate { map_ms: vec![5, 6], first_shuffle_ms: vec![3], reduce_ms: vec![4], ..sizes };
    let map_only = JobTemplate { n_reduces: 0, lost_attempts: Vec::new(), ..done.clone() };
    Trace { jobs: vec![done, map_only, job("FAILED"), job("KILLED"), job("SUCCEEDED")], ..Trace::default() }
}

/// Whether `value` is the JSON of a `kind`, with all fields of every record and no other; says where it is not.
pub(super) fn check(kind: &Value, value: &Value, records: &[Value]) -> Result<(), String> {
    let fits = match kind {
        Value::String(name) => match name.as_str() {
            "string" => value.is_string(),
            "int" => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
            "long" => value.is_i64(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            // Named before: of the shared records there is one.
            _ => {
                let known = records.iter().find(|known| known["name"] == *kind).ok_or(format!("no type {name}"))?;
                return check(known, value, records);
            }
        },
        Value::Array(choices) if value.is_null() => choices.iter().any(|choice| choice == "null"),
        Value::Array(choices) => {
            let (name, inner) = value.as_object().and_then(|one| one.iter().next()).ok_or(format!("bare {value}"))?;
            let short = name.rsplit('.').next().unwrap_or_default();
            let is_it = |choice: &&Value| choice.as_str().or(choice["name"].as_str()) == Some(short);
            let choice = choices.iter().find(is_it).ok_or(format!("{name} is no choice"))?;
            return check(choice, inner, records);
        }
        Value::Object(fields) => match fields["type"].as_str() {
            Some("array") => {
                let items = value.as_array().ok_or(format!("{value} is no list"))?;
                return items.iter().try_for_each(|item| check(&fields["items"], item, records));
            }
            Some("map") => value.is_object(),
            Some("enum") => fields["symbols"].as_array().is_some_and(|symbols| symbols.contains(value)),
            Some("record") => return check_record(kind, value, records),
            _ => return check(&fields["type"], value, records),
        },
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{value} is no {kind}")) }
}

fn check_record(kind: &Value, value: &Value, records: &[Value]) -> Result<(), String> {
    let fields = kind["fields"].as_array().expect("a record has fields");
    let found = value.as_object().ok_or(format!("{value} is no record"))?;
    for field in fields {
        let name = field["name"].as_str().expect("a field has a name");
        let value = found.get(name).ok_or(format!("{} without {name}", kind["name"]))?;
        check(&field["type"], value, records).map_err(|error| format!("{name}: {error}"))?;
    }
    if found.len() == fields.len() { Ok(()) } else { Err(format!("{value} has more fields than {}", kind["name"])) }
}

/// All records of the schema, also those inside others.
pub(super) fn records_of(kind: &Value, found: &mut Vec<Value>) {
    if kind["type"] == "record" {
        found.push(kind.clone());
    }
    match kind {
        Value::Array(all) => all.iter().for_each(|one| records_of(one, found)),
        Value::Object(all) => all.values().for_each(|one| records_of(one, found)),
        _ => {}
    }
}

#[test]
fn every_event_has_what_hadoops_schema_asks_for() {
    let text = written(&all_endings());
    let schema: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let mut records = Vec::new();
    records_of(&schema, &mut records);
    let mut names = std::collections::BTreeSet::new();
    let events =
        text.lines().filter(|line| line.starts_with("{\"type\":\"") && !line.starts_with("{\"type\":\"record"));
    for line in events {
        let event: Value = serde_json::from_str(line).unwrap();
        check(&schema, &event, &records).unwrap_or_else(|error| panic!("{error} in {line}"));
        names.insert(event["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "AM_STARTED",
            "JOB_FAILED",
            "JOB_FINISHED",
            "JOB_INITED",
            "JOB_KILLED",
            "JOB_PRIORITY_CHANGED",
            "JOB_SUBMITTED",
            "MAP_ATTEMPT_FAILED",
            "MAP_ATTEMPT_FINISHED",
            "MAP_ATTEMPT_KILLED",
            "MAP_ATTEMPT_STARTED",
            "REDUCE_ATTEMPT_FAILED",
            "REDUCE_ATTEMPT_FINISHED",
            "REDUCE_ATTEMPT_STARTED",
            "TASK_FAILED",
            "TASK_FINISHED",
            "TASK_STARTED",
        ]
    );
    // Each job is a whole file of Hadoop's.
    assert_eq!(text.lines().filter(|line| *line == MARK).count(), 5);
}

#[test]
fn what_was_read_is_written_and_read_again() {
    let (mut trace, _) = imported(SMALL);
    let (again, notes) = imported(&written(&trace));
    // Where attempts ran is not in a template.
    trace.jobs[0].maps_by_locality = [0, 0, 0, 5];
    assert_eq!((again, notes), (trace, Vec::new()));
}

#[test]
fn ids_are_two_numbers_and_what_is_known_of_bytes_and_endings_stays() {
    let (trace, _) = imported(&written(&all_endings()));
    let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.outcome.as_str(), job.priority)).collect();
    let high = Priority::High;
    assert_eq!(
        jobs,
        [
            ("job_1262304000000_0001", "SUCCEEDED", high),
            ("job_1262304000000_0002", "SUCCEEDED", high),
            ("job_1262304000000_0003", "FAILED", high),
            ("job_1262304000000_0004", "KILLED", high),
            ("job_1262304000000_0005", "SUCCEEDED", high),
        ]
    );
    let bytes = |job: &JobTemplate| (job.map_input_bytes.clone(), job.shuffle_bytes, job.output_bytes);
    assert_eq!(bytes(&trace.jobs[0]), (vec![4, 3], Some(5), Some(3)));
    assert_eq!(bytes(&trace.jobs[1]), (vec![4, 3], None, Some(3)));
    assert_eq!(trace.jobs[0].lost_attempts, all_endings().jobs[0].lost_attempts);
}

proptest! {
    #[test]
    fn every_template_survives_the_way_out_and_back(job in a_job()) {
        let trace = Trace { start_ms_epoch: Some(1_700_000_000_000), jobs: vec![job], ..Trace::default() };
        let (mut again, notes) = imported(&written(&trace));
        // Instants are made up where the measured ones are too early for the durations.
        again.jobs[0].measured = None;
        let mut wanted = trace.jobs;
        // These stand in a job's configuration, which is a file of its own.
        (wanted[0].measured, wanted[0].deadline_ms, wanted[0].slowstart_ppm) = (None, None, None);
        prop_assert_eq!(&again.jobs, &wanted);
        prop_assert_eq!(notes, [""; 0]);
    }
}
