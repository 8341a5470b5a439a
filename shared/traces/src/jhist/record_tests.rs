//! What is written of a job that ran is what Hadoop's schema asks for, names its file as Hadoop does, and is read back.

use serde_json::Value;

use super::write_tests::{check, records_of};
use super::{AttemptRecord, JobRecord, read};
use crate::ImportNotes;
use howdah_core::job::counters::{Counters, FILE_INPUT, FRAMEWORK};
use howdah_core::job::profile::Trace;
use howdah_core::job::{AttemptState, JobState, Locality, TaskKind};

fn attempt(kind: TaskKind, index: u32, number: u16, state: AttemptState, start_ms: u64, ms: u64) -> AttemptRecord {
    let mut counters = Counters::default();
    counters.add(FRAMEWORK, "Map input records", 5);
    counters.add(FILE_INPUT, "Bytes Read", 70);
    AttemptRecord {
        kind,
        index,
        number,
        state,
        host: format!("host-{index}"),
        rack: "/rack-a".to_owned(),
        worker: format!("worker-{index}"),
        locality: Locality::Node,
        speculative: number > 0,
        start_ms,
        shuffled_ms: start_ms + ms / 4,
        sorted_ms: start_ms + ms / 2,
        finish_ms: start_ms + ms,
        error: if state == AttemptState::Failed { "it \"broke\"".to_owned() } else { String::new() },
        counters,
    }
}

type Recorded = (JobRecord, Vec<AttemptRecord>);

fn job(state: JobState, n_done: [u32; 2], attempts: Vec<AttemptRecord>) -> Recorded {
    let record = JobRecord {
        id: "job_202611241200_0007".to_owned(),
        name: "a-b c/d".to_owned(),
        user: "ann".to_owned(),
        queue: "default".to_owned(),
        priority: "NORMAL",
        state,
        submit_ms: 1_000_000,
        launch_ms: 1_000_100,
        finish_ms: 1_009_000,
        n_maps: 2,
        n_reduces: 1,
        max_attempts: [2, 2],
        split_hosts: vec![vec!["host-0".to_owned(), "host-1".to_owned()], Vec::new()],
        conf_path: String::new(),
        why: "a reason".to_owned(),
        counters: Counters::default(),
        n_done,
    };
    (record, attempts)
}

fn done() -> Recorded {
    use AttemptState::{Failed, Killed, Succeeded};
    use TaskKind::{Map, Reduce};
    job(
        JobState::Succeeded,
        [2, 1],
        vec![
            attempt(Map, 0, 0, Failed, 1_000_100, 400),
            attempt(Map, 0, 1, Succeeded, 1_000_600, 500),
            attempt(Map, 1, 0, Succeeded, 1_000_100, 700),
            attempt(Map, 1, 1, Killed, 1_000_300, 200),
            attempt(Reduce, 0, 0, Succeeded, 1_001_100, 800),
        ],
    )
}

fn failed() -> Recorded {
    let attempts = [(0, 0), (0, 1)].map(|(index, number)| {
        attempt(TaskKind::Map, index, number, AttemptState::Failed, 1_000_100 + 500 * u64::from(number), 400)
    });
    let killed = attempt(TaskKind::Map, 1, 0, AttemptState::Killed, 1_000_100, 900);
    job(JobState::Failed, [0; 2], attempts.into_iter().chain([killed]).collect())
}

fn written((job, attempts): &Recorded) -> String {
    let mut text = Vec::new();
    job.write(&mut text, attempts.iter().cloned()).unwrap();
    String::from_utf8(text).unwrap()
}

fn events(text: &str) -> Vec<Value> {
    text.lines().skip(2).filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn imported(text: &str) -> Trace {
    let mut notes = ImportNotes::default();
    let trace = read(text.as_bytes(), &mut notes).unwrap();
    assert_eq!(notes.lines(), Vec::<String>::new());
    trace
}

#[test]
fn every_event_of_every_ending_has_what_the_schema_asks_for() {
    for job in [done(), failed(), job(JobState::Killed, [0; 2], Vec::new())] {
        let text = written(&job);
        let schema: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        let mut records = Vec::new();
        records_of(&schema, &mut records);
        for event in events(&text) {
            check(&schema, &event, &records).unwrap_or_else(|error| panic!("{error} in {event}"));
        }
    }
}

#[test]
fn a_finished_job_is_read_back_with_its_times_and_its_lost_attempts() {
    let trace = imported(&written(&done()));
    let job = &trace.jobs[0];
    assert_eq!((job.name.as_str(), job.user.as_str(), job.outcome.as_str()), ("a-b c/d", "ann", "SUCCEEDED"));
    assert_eq!((job.n_maps, job.n_reduces), (2, 1));
    assert_eq!(job.map_ms, [500, 700]);
    assert_eq!(job.input_bytes, Some(140));
    let lost: Vec<_> = job.lost_attempts.iter().map(|l| (l.index, l.number, l.failed, l.ms, l.speculative)).collect();
    assert_eq!(lost, [(0, 0, true, 400, false), (1, 1, false, 200, true)]);
    assert_eq!(job.split_hosts.of(0).collect::<Vec<_>>(), ["host-0", "host-1"]);
}

#[test]
fn a_task_that_never_started_is_not_listed_and_the_others_end_as_they_did() {
    let events = events(&written(&failed()));
    let of = |name: &str| -> Vec<Value> {
        let found = events.iter().filter(|event| event["type"] == name);
        found.map(|event| event["event"].as_object().unwrap().values().next().unwrap().clone()).collect()
    };
    assert_eq!(of("TASK_STARTED").len(), 2, "the reduce never started");
    let ends = of("TASK_FAILED");
    assert_eq!(ends.iter().map(|end| end["status"].as_str().unwrap()).collect::<Vec<_>>(), ["FAILED", "KILLED"]);
    assert_eq!(ends[0]["failedDueToAttempt"]["string"], "attempt_202611241200_0007_m_000000_1");
    let end = &of("JOB_FAILED")[0];
    assert_eq!((&end["failedMaps"], &end["killedMaps"], &end["finishedMaps"]), (&1.into(), &1.into(), &0.into()));
    assert_eq!(end["diagnostics"]["string"], "a reason");
    let attempt = &of("MAP_ATTEMPT_FAILED")[0];
    assert_eq!((attempt["hostname"].as_str(), attempt["rackname"].as_str()), (Some("host-0"), Some("/rack-a")));
}

#[test]
fn files_are_named_as_hadoop_names_them() {
    let (job, _) = done();
    let name = "job_202611241200_0007-1000000-ann-a%2Db+c%2Fd-1009000-2-1-SUCCEEDED-default-1000100.jhist";
    assert_eq!(job.file_name(), name);
    assert_eq!(job.conf_name(), "job_202611241200_0007_conf.xml");
    assert_eq!(job.serial_directory(), "000000");
    assert_eq!(JobRecord { id: "job_1_12345678".to_owned(), ..job }.serial_directory(), "012345");
}
