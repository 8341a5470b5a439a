//! Rumen's oddities, one by one, and the way out and back.

use proptest::prelude::*;

use super::{read, write};
use crate::arbitrary::a_job;
use crate::{ImportNotes, TraceError};
use howdah_core::job::Priority;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};

/// A job of two maps and a reduce, and one that was killed before anything ran.
const SMALL: &str = include_str!("../../tests/fixtures/rumen-small.json");

fn imported(text: &str) -> (Trace, Vec<String>) {
    let mut notes = ImportNotes::default();
    let trace = read(text.as_bytes(), &mut notes).unwrap();
    (trace, notes.lines())
}

fn error(text: &str) -> String {
    read(text.as_bytes(), &mut ImportNotes::default()).unwrap_err().to_string()
}

#[test]
fn small_trace_is_read_whole() {
    let (trace, notes) = imported(SMALL);
    assert_eq!(trace.start_ms_epoch, Some(1_700_000_000_000));
    let [sort, killed] = &trace.jobs[..] else { panic!("{} jobs", trace.jobs.len()) };
    assert_eq!((sort.id.as_str(), sort.name.as_str(), sort.queue.as_str()), ("job_202311142213_0001", "sort", "etl"));
    assert_eq!(
        (sort.priority, sort.slowstart_ppm, sort.outcome.as_str()),
        (Priority::High, Some(250_000), "SUCCEEDED")
    );
    assert_eq!((sort.n_maps, sort.n_reduces), (2, 1));
    assert_eq!(sort.map_ms, [4_000, 5_500]);
    assert_eq!((&sort.first_shuffle_ms[..], &sort.reduce_ms[..]), (&[1_000][..], &[2_000][..]));
    assert_eq!((sort.commit_ms, sort.completion_ms()), (300, Some(10_000)));
    assert_eq!((&sort.map_input_bytes[..], sort.input_bytes), (&[64, 32][..], Some(96)));
    assert_eq!((sort.shuffle_bytes, sort.output_bytes), (Some(40), Some(9)));
    assert_eq!(sort.split_hosts.of(0).collect::<Vec<_>>(), ["a.example", "b.example"]);
    assert_eq!(sort.maps_by_locality, [1, 1, 0, 1]);
    let lost = LostAttempt { reduce: false, index: 1, number: 0, failed: true, speculative: false, ms: 700 };
    assert_eq!(sort.lost_attempts, [lost]);
    assert_eq!((killed.n_maps, killed.n_reduces, killed.outcome.as_str()), (1, 1, "KILLED"));
    assert_eq!(
        notes,
        [
            "1 attempt starts before its job on its worker's clock: only differences of its times count",
            "1 no map of the job ended well: its maps take 0 ms",
            "1 no reduce of the job ended well: its reduces take 0 ms",
            "2 set-up or clean-up task: left out, its time is not a slot's in a replay",
            "2 task declared but not listed: kept, without times",
        ]
    );
}

#[test]
fn ids_that_cannot_be_read_and_tasks_listed_twice_are_counted() {
    let text = r#"{"jobID":"job_1_0001","submitTime":5,"finishTime":50,"priority":"URGENT","mapTasks":[
        {"taskID":"task_1_0001_m_000000","attempts":[{"attemptID":"?","result":"SUCCESS","startTime":6,"finishTime":9}]},
        {"taskID":"task_1_0001_m_000000","preferredLocations":[null,{"layers":[]},{"layers":["d","r","h"]}]},
        {"taskID":"first","attempts":[{}]}]}"#;
    let (trace, notes) = imported(text);
    assert_eq!((trace.jobs[0].n_maps, &trace.jobs[0].map_ms[..]), (1, &[3][..]));
    assert_eq!(trace.jobs[0].split_hosts.of(0).collect::<Vec<_>>(), ["h"]);
    assert_eq!(
        notes,
        [
            "1 attempt with an unreadable id: its place in the list counts",
            "1 task listed twice: its records are merged",
            "1 task with an unreadable id: left out",
            "1 unknown priority: counts as NORMAL",
        ]
    );
}

#[test]
fn what_is_no_rumen_trace_is_refused() {
    assert_eq!(error(""), "format: found no record, expected Rumen jobs");
    assert_eq!(error("{\"name\":\"<root>\"}"), "record 1: found an object without jobID, expected a Rumen job");
    assert!(error(&SMALL[..SMALL.len() - 9]).contains("record 2"), "{}", error(&SMALL[..SMALL.len() - 9]));
    assert!(error("{\"jobID\":\"j\",\"submitTime\":1e99}").contains("expected a whole number"));
    assert!(matches!(
        read(&b"{\"jobID\":\"\xff\"}"[..], &mut ImportNotes::default()),
        Err(TraceError::Malformed { .. })
    ));
}

fn round_trip(trace: &Trace) -> (Trace, Vec<String>) {
    let mut text = Vec::new();
    write(trace, &mut text).unwrap();
    imported(std::str::from_utf8(&text).unwrap())
}

#[test]
fn what_was_read_is_written_and_read_again() {
    let (mut trace, _) = imported(SMALL);
    let (again, notes) = round_trip(&trace);
    // Where attempts ran is not in a template.
    trace.jobs[0].maps_by_locality = [0, 0, 0, 3];
    assert_eq!(again, trace);
    assert_eq!(
        notes,
        [
            "1 no map of the job ended well: its maps take 0 ms",
            "1 no reduce of the job ended well: its reduces take 0 ms",
            "2 task without an attempt: kept, without times",
        ]
    );
}

#[test]
fn made_up_job_of_one_duration_becomes_as_many_tasks_as_it_has() {
    let job = JobTemplate {
        n_maps: 3,
        n_reduces: 4,
        map_ms: vec![10],
        first_shuffle_ms: vec![3],
        reduce_ms: vec![5, 6],
        input_bytes: Some(100),
        ..JobTemplate::default()
    };
    let (trace, notes) = round_trip(&Trace { jobs: vec![job], ..Trace::default() });
    let job = &trace.jobs[0];
    assert_eq!((job.id.as_str(), job.outcome.as_str()), ("job_howdah_0001", "SUCCEEDED"));
    assert_eq!(job.map_ms, [10, 10, 10]);
    assert_eq!((&job.first_shuffle_ms[..], &job.typical_shuffle_ms[..]), (&[3, 3, 3, 3][..], &[][..]));
    assert_eq!(job.reduce_ms, [5, 6, 5, 6]);
    assert_eq!(job.map_input_bytes, [34, 33, 33]);
    assert_eq!(notes, [""; 0]);
}

proptest! {
    #[test]
    fn every_template_survives_the_way_out_and_back(job in a_job()) {
        let trace = Trace { start_ms_epoch: Some(1_700_000_000_000), jobs: vec![job], ..Trace::default() };
        let (mut again, notes) = round_trip(&trace);
        // Instants are made up where the measured ones are too early for the durations.
        let measured = again.jobs[0].measured.take().unwrap();
        let asked = trace.jobs[0].measured.clone().unwrap();
        prop_assert!(measured.launch_ms == asked.launch_ms && measured.maps_done_ms >= asked.maps_done_ms);
        let mut wanted = trace.jobs;
        wanted[0].measured = None;
        prop_assert_eq!(&again.jobs, &wanted);
        prop_assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes[..], &mut ImportNotes::default());
    }
}
