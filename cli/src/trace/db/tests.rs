//! The database on a real file.

use howdah_core::job::profile::{JobTemplate, LostAttempt, Measured, Trace, TraceCluster};
use serde_json::json;

use super::*;

fn trace() -> Trace {
    let job = |name: &str, submit_ms| JobTemplate {
        name: name.to_owned(),
        submit_ms,
        n_maps: 3,
        n_reduces: 1,
        map_ms: vec![100, 200],
        typical_shuffle_ms: vec![30],
        reduce_ms: vec![40],
        input_bytes: Some(u64::MAX),
        lost_attempts: vec![LostAttempt { failed: true, ..LostAttempt::default() }],
        measured: Some(Measured { launch_ms: submit_ms, maps_done_ms: 300, finish_ms: submit_ms + 400 }),
        ..JobTemplate::default()
    };
    Trace {
        source: "a test".to_owned(),
        start_ms_epoch: Some(5),
        cluster: Some(TraceCluster { scheduler: "fifo".to_owned(), ..TraceCluster::default() }),
        jobs: vec![job("one", 0), job("two", 50)],
        ..Trace::default()
    }
}

#[test]
fn a_trace_comes_out_as_it_went_in() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("traces.db");
    TraceDb::open(&path).unwrap().add("mine", &trace(), 77, false).unwrap();
    let db = TraceDb::open_to_read(&path).unwrap();
    assert_eq!(db.get("mine").unwrap(), trace());
    let list = db.list().unwrap();
    assert_eq!((list.len(), list[0].jobs, list[0].maps, list[0].added_ms_epoch), (1, 2, 6, 77));
    assert!(db.get("yours").unwrap_err().to_string().contains("has no trace `yours`"));
}

#[test]
fn a_name_is_taken_until_it_is_replaced_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("traces.db");
    let mut db = TraceDb::open(&path).unwrap();
    db.add("mine", &trace(), 1, false).unwrap();
    assert!(db.add("mine", &trace(), 2, false).unwrap_err().to_string().contains("one of this name already"));
    db.add("mine", &Trace::default(), 3, true).unwrap();
    assert_eq!(db.ask("SELECT count(*) FROM jobs").unwrap().rows, [[json!(0)]]);
    db.add("other", &trace(), 4, false).unwrap();
    db.remove("other").unwrap();
    assert_eq!(db.ask("SELECT count(*) FROM tasks").unwrap().rows, [[json!(0)]]);
    assert!(db.remove("other").is_err());
}

#[test]
fn questions_see_traces_jobs_and_how_often_durations_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("traces.db");
    TraceDb::open(&path).unwrap().add("mine", &trace(), 1, false).unwrap();
    let db = TraceDb::open_to_read(&path).unwrap();
    let answer = db
        .ask(
            "SELECT name, phase, sum(ms * uses) AS work FROM jobs JOIN tasks USING (trace_id, job_index) \
              GROUP BY name, phase ORDER BY name, phase",
        )
        .unwrap();
    assert_eq!(answer.columns, ["name", "phase", "work"]);
    assert_eq!(answer.rows[0], [json!("one"), json!("map"), json!(400)]);
    assert_eq!(answer.rows.len(), 6);
    let job = db.ask("SELECT completion_ms, failed_attempts, input_bytes, queue FROM jobs LIMIT 1").unwrap();
    assert_eq!(job.rows[0], [json!(400), json!(1), json!(i64::MAX), json!(null)]);
}

#[test]
fn no_question_changes_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("traces.db");
    TraceDb::open(&path).unwrap().add("mine", &trace(), 1, false).unwrap();
    let db = TraceDb::open_to_read(&path).unwrap();
    for sql in
        ["DELETE FROM traces", "DROP TABLE jobs", "UPDATE jobs SET name = ''", "VACUUM", "SELECT 1; DELETE FROM jobs"]
    {
        assert!(db.ask(sql).unwrap_err().to_string().starts_with("error: query: "), "{sql}");
    }
    assert!(db.ask("SELECT nonsense").unwrap_err().to_string().contains("help: tables: traces, jobs, tasks"));
    assert_eq!(db.get("mine").unwrap(), trace());
}

#[test]
fn other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text");
    std::fs::write(&text, "this is no database, however long it may be made to look").unwrap();
    assert!(TraceDb::open(&text).unwrap_err().to_string().contains("found no SQLite file"));
    assert!(TraceDb::open_to_read(&dir.path().join("nothing")).unwrap_err().to_string().contains("does not exist"));
    let foreign = dir.path().join("foreign");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert!(TraceDb::open(&foreign).unwrap_err().to_string().contains("another program's database"));
}
