//! The own format: what is written reads back, and what is wrong is named.

use rstest::rstest;

use super::*;
use howdah_core::job::Requirements;
use howdah_core::job::profile::{AttributeChange, LostAttempt, Measured, TraceWorker};

const HEADER: &str = r#"{"schema":"howdah/trace/v1","source":"by hand"}"#;

fn from(text: &str) -> Result<Trace, TraceError> {
    read(text.as_bytes(), &mut ImportNotes::default())
}

fn full_trace() -> Trace {
    let worker = |n: u32| TraceWorker {
        name: format!("worker-{n}"),
        host: format!("host-{n}"),
        rack: "/rack".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        attributes: [("gpu".to_owned(), n.to_string())].into(),
        attribute_changes: vec![AttributeChange { at_ms: 5, attributes: [].into() }],
    };
    let job = JobTemplate {
        id: "job_1_0001".to_owned(),
        name: "ä \"quoted\"\nname".to_owned(),
        pool: "research".to_owned(),
        submit_ms: 5,
        deadline_ms: Some(9),
        n_maps: 3,
        n_reduces: 2,
        requires: Requirements::parse(&["gpu>=1", "rack=/rack"]).unwrap(),
        map_ms: vec![10, 20, 30],
        first_shuffle_ms: vec![4],
        typical_shuffle_ms: vec![6],
        reduce_ms: vec![7],
        map_input_bytes: vec![1, 2, 3],
        split_hosts: SplitHosts::new([vec!["host-1"], vec![], vec!["host-2", "host-1"]]),
        lost_attempts: vec![LostAttempt { index: 2, ms: 8, failed: true, ..LostAttempt::default() }],
        outcome: "SUCCEEDED".to_owned(),
        measured: Some(Measured { launch_ms: 6, maps_done_ms: 40, finish_ms: 60 }),
        ..JobTemplate::default()
    };
    Trace {
        source: "a test".to_owned(),
        start_ms_epoch: Some(1_700_000_000_000),
        cluster: Some(TraceCluster {
            scheduler: "fifo".to_owned(),
            workers: vec![worker(1), worker(2)],
            ..TraceCluster::default()
        }),
        jobs: vec![job, JobTemplate { submit_ms: 6, ..JobTemplate::default() }],
        ..Trace::default()
    }
}

#[test]
fn what_is_written_reads_back_with_one_line_per_job() {
    let trace = full_trace();
    let mut text = Vec::new();
    write(&trace, &mut text).unwrap();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 3);
    let mut notes = ImportNotes::default();
    assert_eq!(read(&text[..], &mut notes).unwrap(), trace);
    assert!(notes.is_empty());
}

#[test]
fn jobs_inside_a_header_of_many_lines_read_as_well() {
    let text = serde_json::to_string_pretty(&full_trace()).unwrap();
    assert_eq!(from(&text).unwrap(), full_trace());
    let both = format!("{text}\n\n  {{\"submit_ms\":7,\"n_maps\":1}}  \r\n");
    let trace = from(&both).unwrap();
    assert_eq!((trace.jobs.len(), trace.jobs[2].n_maps), (3, 1));
}

#[test]
fn jobs_out_of_order_are_sorted_and_counted() {
    let mut notes = ImportNotes::default();
    let text = format!("{HEADER}\n{{\"name\":\"late\",\"submit_ms\":9}}\n{{\"name\":\"early\"}}\n");
    let trace = read(text.as_bytes(), &mut notes).unwrap();
    assert_eq!(trace.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["early", "late"]);
    let (reason, note) = notes.iter().next().unwrap();
    assert_eq!(
        (reason, note.count, note.first.as_str()),
        ("job submitted before the one above it: jobs were sorted", 1, "job 2")
    );
}

#[test]
fn jobs_that_tell_no_durations_are_counted_by_kind_of_task() {
    let jobs = [
        r#"{"n_maps":2,"n_reduces":1,"map_ms":[5]}"#,
        r#"{"name":"words","n_maps":2}"#,
        r#"{"id":"job_1_0003","n_maps":2,"n_reduces":1,"reduce_ms":[5]}"#,
        r#"{"n_maps":1,"n_reduces":1,"map_ms":[0],"first_shuffle_ms":[0]}"#,
        "{}",
    ];
    let mut notes = ImportNotes::default();
    let trace = read(format!("{HEADER}\n{}", jobs.join("\n")).as_bytes(), &mut notes).unwrap();
    assert_eq!(trace.jobs.len(), 5);
    let found: Vec<_> = notes.iter().map(|(reason, note)| (reason, note.count, note.first.as_str())).collect();
    assert_eq!(
        found,
        [
            ("job without durations of its maps: they take 0 ms", 2, "job 2, `words`"),
            ("job without durations of its reduces: they take 0 ms", 1, "job 1"),
        ]
    );
}

#[rstest]
#[case::not_ours(
    r#"{"schema":"howdah/trace/v2","source":""}"#,
    "header, field `schema`: found `howdah/trace/v2`, expected `howdah/trace/v1`"
)]
#[case::no_json("hello", "line 1, column 1 (header): found no value, expected a JSON object")]
#[case::nothing("", "line 1, column 0 (header): found the end in the middle of it, expected a whole JSON object")]
#[case::too_many(
    r#"{"schema":"howdah/trace/v1","source":"","jobs":[{"n_maps":1,"n_reduces":3,"reduce_ms":[1,2,3,4,5]}]}"#,
    "job 1: found 5 reduce durations, expected at most 3, one per task"
)]
fn a_wrong_header_is_named(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(from(text).unwrap_err().to_string(), expected);
}

#[rstest]
#[case::a_typing_error(
    r#"{"n_mops":3}"#,
    "line 3, column 9 (job 2): found unknown field `n_mops`, expected one of `id`, "
)]
#[case::text_for_a_number(
    r#"{"n_maps":"3"}"#,
    "line 3, column 13 (job 2): found invalid type: string \"3\", expected a whole number up to 4294967295"
)]
#[case::a_negative_time(
    r#"{"n_maps":1,"map_ms":[-5]}"#,
    "line 3, column 24 (job 2): found invalid value: integer `-5`, expected a whole number"
)]
#[case::no_number(
    r#"{"n_maps":1,"map_ms":[NaN]}"#,
    "line 3, column 23 (job 2): found no value, expected a JSON object"
)]
#[case::torn(
    r#"{"n_maps":3"#,
    "line 3, column 11 (job 2): found the end in the middle of it, expected a whole JSON object"
)]
#[case::two_on_a_line("{} {}", "line 3, column 4 (job 2): found trailing characters, expected a JSON object")]
#[case::durations(r#"{"n_maps":1,"map_ms":[1,2]}"#, "job 2: found 2 map durations, expected at most 1, one per task")]
#[case::a_long_wait(
    r#"{"submit_ms":253402300800000}"#,
    "job 2, field `submit_ms`: found 253402300800000, expected at most 253402300799999 ms"
)]
#[case::sizes(
    r#"{"n_maps":2,"map_input_bytes":[1]}"#,
    "job 2, field `map_input_bytes`: found 1 sizes, expected 2 or none, one per map"
)]
#[case::outcome(r#"{"outcome":"FINE"}"#, "job 2, field `outcome`: found `FINE`, expected SUCCEEDED, FAILED or KILLED")]
#[case::slow_start(
    r#"{"slowstart_ppm":1000001}"#,
    "job 2, field `slowstart_ppm`: found 1000001, expected at most 1000000, which is all maps"
)]
#[case::lost(
    r#"{"lost_attempts":[{"reduce":true}]}"#,
    "job 2, field `lost_attempts`: found index 0, expected less than the 0 reduces"
)]
#[case::offsets(
    r#"{"n_maps":1,"split_hosts":{"hosts":["a"],"entries":[0],"offsets":[0]}}"#,
    "job 2, field `split_hosts`: found 1 offsets, expected 2, one more than maps"
)]
#[case::entries(
    r#"{"n_maps":1,"split_hosts":{"hosts":["a"],"entries":[4],"offsets":[0,1]}}"#,
    "job 2, field `split_hosts`: found entry 4, expected less than the 1 hosts"
)]
fn a_wrong_job_is_named_with_what_was_expected(#[case] job: &str, #[case] expected: &str) {
    let error = from(&format!("{HEADER}\n{{}}\n{job}\n")).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_worker_named_twice_is_refused() {
    let mut trace = full_trace();
    trace.cluster.as_mut().unwrap().workers[1].name = "worker-1".to_owned();
    let error = from(&serde_json::to_string(&trace).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "header, field `workers`: found `worker-1` twice, expected every worker's name once");
}

#[test]
fn changes_of_attributes_that_do_not_ascend_are_refused() {
    for instants in [&[0][..], &[7, 7], &[8, 7]] {
        let mut trace = full_trace();
        let changes = instants.iter().map(|&at_ms| AttributeChange { at_ms, ..AttributeChange::default() });
        trace.cluster.as_mut().unwrap().workers[1].attribute_changes = changes.collect();
        let error = from(&serde_json::to_string(&trace).unwrap()).unwrap_err().to_string();
        let place = "header, worker `worker-2`, field `attribute_changes`: found instants";
        assert!(error.starts_with(place) && error.contains("expected ascending ones from 1 to"), "{error}");
    }
}

/// Fields are only added: what the first version wrote reads, without requirements and attributes.
#[test]
fn a_trace_of_before_requirements_reads_as_one_without() {
    let text = r#"{"schema":"howdah/trace/v1","cluster":{"scheduler":"fifo","workers":[{"name":"w","host":"h","rack":"/r","map_slots":1,"reduce_slots":1}]},"jobs":[{"n_maps":1,"map_ms":[5]}]}"#;
    let trace = from(text).expect("it reads");
    assert!(trace.jobs[0].requires.is_empty() && trace.jobs[0].pool().is_none());
    let worker = &trace.cluster.as_ref().expect("a cluster").workers[0];
    assert!(worker.attributes.is_empty() && worker.attribute_changes.is_empty());
    let mut written = Vec::new();
    write(&trace, &mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    let newer = ["requires", "attribute", "pool", "follows"];
    assert!(!newer.iter().any(|field| written.contains(field)), "an earlier version reads it: {written}");
    let error = from(&text.replace("\"n_maps\":1", "\"requires\":[\"gpu>=x\"]")).unwrap_err().to_string();
    assert!(error.contains("`x` is no number"), "{error}");
}

#[test]
fn a_trace_written_by_hand_needs_its_schema_and_jobs_only() {
    let text = r#"{"schema":"howdah/trace/v1","jobs":[{"submit_ms":0,"n_maps":2,"map_ms":[5]}]}"#;
    let trace = from(text).expect("it reads");
    assert_eq!((trace.source.as_str(), trace.jobs.len(), trace.jobs[0].n_maps), ("", 1, 2));
}
