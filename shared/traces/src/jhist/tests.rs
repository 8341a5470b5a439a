//! What histories tell, what damage does to them, and the way out and back.

use proptest::prelude::*;

use super::mark::MARK;
use super::read;
use crate::ImportNotes;
use crate::arbitrary::damaged;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};

/// Three maps, of which one is tried again and one beside the first try, and a reduce.
const SMALL: &str = include_str!("../../tests/fixtures/small.jhist");

fn imported(text: &str) -> Result<(Trace, Vec<String>), String> {
    let mut notes = ImportNotes::default();
    let trace = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
    Ok((trace, notes.lines()))
}

fn small_job() -> JobTemplate {
    imported(SMALL).unwrap().0.jobs.remove(0)
}

#[test]
fn small_history_is_read_whole() {
    let (trace, notes) = imported(SMALL).unwrap();
    assert_eq!((trace.start_ms_epoch, trace.jobs.len()), (Some(1_700_000_000_000), 1));
    let job = &trace.jobs[0];
    assert_eq!((job.id.as_str(), job.name.as_str(), job.user.as_str()), ("job_1699999999999_0007", "sort", "ada"));
    assert_eq!((job.queue.as_str(), job.outcome.as_str()), ("root.etl", "SUCCEEDED"));
    assert_eq!((job.n_maps, job.n_reduces), (3, 1));
    assert_eq!(job.map_ms, [4_000, 3_000, 2_500]);
    assert_eq!((&job.first_shuffle_ms[..], &job.reduce_ms[..]), (&[500][..], &[1_500][..]));
    let lost = |index, failed, speculative, ms| LostAttempt {
        index,
        number: u16::from(speculative),
        failed,
        speculative,
        ms,
        ..LostAttempt::default()
    };
    assert_eq!(job.lost_attempts, [lost(1, true, false, 800), lost(2, false, true, 900)]);
    assert_eq!(job.maps_by_locality, [2, 1, 1, 1]);
    assert_eq!(job.split_hosts.of(0).collect::<Vec<_>>(), ["a.example", "b.example"]);
    assert_eq!(
        (&job.map_input_bytes[..], job.shuffle_bytes, job.output_bytes),
        (&[64, 65, 66][..], Some(30), Some(12))
    );
    assert_eq!((job.commit_ms, job.completion_ms()), (100, Some(9_200)));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn history_that_breaks_off_is_used_as_far_as_it_goes() {
    let cut = SMALL.find("\"REDUCE_ATTEMPT_FINISHED\"").unwrap();
    let (trace, notes) = imported(&SMALL[..cut + 40]).unwrap();
    assert_eq!((&trace.jobs[0].map_ms[..], trace.jobs[0].outcome.as_str()), (&[4_000, 3_000, 2_500][..], ""));
    assert_eq!(
        notes,
        [
            "1 attempt has no end: left out",
            "1 file breaks off within a line: what is above it counts",
            "1 history breaks off before the end of its job",
            "1 job without an end: the end of its last task counts",
            "1 no reduce of the job ended well: its reduces take 0 ms",
            "1 task of which no attempt succeeded: kept, without times",
        ]
    );
}

#[test]
fn broken_line_in_the_middle_is_an_error_with_its_place() {
    let text = SMALL.replacen("\"submitTime\":", "\"submitTime\" ", 1);
    let error = imported(&text).unwrap_err();
    assert_eq!(error, "line 6: found no `:`, expected an event");
}

#[test]
fn histories_one_after_another_are_jobs_of_one_trace() {
    let other = SMALL.replace("0007", "0008").replace("1700000", "1700001");
    let other = &other[other.find(MARK).unwrap()..];
    let (trace, notes) = imported(&format!("{SMALL}{other}")).unwrap();
    let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms)).collect();
    assert_eq!(jobs, [("job_1699999999999_0007", 0), ("job_1699999999999_0008", 1_000_000)]);
    assert_eq!((trace.jobs[1].map_ms.len(), notes.len()), (3, 0));
}

#[test]
fn map_that_was_done_and_is_lost_later_held_its_slot_until_it_was_done() {
    let lost = r#"{"type":"MAP_ATTEMPT_KILLED","event":{"x":{"taskType":"MAP","status":"KILLED",
        "attemptId":"attempt_1699999999999_0007_m_000000_0","finishTime":1700000009000}}}"#
        .replace('\n', " ");
    let end = SMALL.find("{\"type\":\"JOB_FINISHED\"").unwrap();
    let (trace, _) = imported(&format!("{}{lost}\n{}", &SMALL[..end], &SMALL[end..])).unwrap();
    assert_eq!(trace.jobs[0].map_ms, [3_000, 2_500]);
    assert_eq!((trace.jobs[0].lost_attempts[0].ms, trace.jobs[0].lost_attempts[0].failed), (4_000, false));
}

#[test]
fn what_is_no_history_is_refused() {
    let error = |text: &str| imported(text).unwrap_err();
    assert_eq!(
        error("Avro-Binary\n{}"),
        "format: found a binary history (`Avro-Binary`), expected one of JSON lines (`Avro-Json`)"
    );
    assert_eq!(error("hello\n"), "format: found `hello`, expected a line `Avro-Json`");
    assert_eq!(error(""), "format: found nothing, expected a line `Avro-Json`");
    assert_eq!(error("Avro-Json\n{\"type\":\"record\"}\n"), "format: found no event, expected a job history");
}

#[test]
fn unknown_events_and_unreadable_ids_are_counted() {
    let odd = "{\"type\":\"TEA_SERVED\",\"event\":{\"a\":{}}}\n{\"type\":\"TASK_STARTED\",\"event\":{\"a\":{}}}\n\
        {\"type\":\"MAP_ATTEMPT_STARTED\",\"event\":{\"a\":{\"attemptId\":null}}}\n{\"type\":\"AM_STARTED\",\"event\":{}}\n";
    let end = SMALL.find("{\"type\":\"JOB_FINISHED\"").unwrap();
    let (trace, notes) = imported(&format!("{}{odd}{}", &SMALL[..end], &SMALL[end..])).unwrap();
    assert_eq!(trace.jobs[0], small_job());
    assert_eq!(
        notes,
        [
            "1 attempt with an unreadable id: left out",
            "1 event of an unknown type: left out",
            "1 task with an unreadable id: left out",
        ]
    );
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&[b"Avro-Json\n".as_slice(), &bytes].concat()[..], &mut ImportNotes::default());
    }

    #[test]
    fn no_damage_makes_the_reader_panic(bytes in damaged(SMALL)) {
        let _ = read(&bytes[..], &mut ImportNotes::default());
    }
}
