//! Histories of all three kinds, of our own making.

use super::*;

/// 1.x: two maps, one of which fails first, a reduce, set-up in a reduce slot.
const NEW: &str = include_str!("../../tests/fixtures/hadoop1-1x.log");

/// 0.18: no Meta, no dots, no backslashes, other ids, other counters.
const OLD: &str = include_str!("../../tests/fixtures/hadoop1-018.log");

fn from(text: &str) -> (Trace, ImportNotes) {
    let mut notes = ImportNotes::default();
    let trace = read(text.as_bytes(), &mut notes).unwrap();
    (trace, notes)
}

fn reasons(notes: &ImportNotes) -> Vec<(&str, u64)> {
    notes.iter().map(|(reason, note)| (reason, note.count)).collect()
}

#[test]
fn a_history_of_1x_becomes_a_template() {
    let (trace, notes) = from(NEW);
    assert_eq!(reasons(&notes), [("set-up or clean-up task: left out, its time is not a slot's in a replay", 1)]);
    let job = &trace.jobs[0];
    assert_eq!((job.id.as_str(), job.name.as_str(), job.queue.as_str()), ("job_202011_0007", "words.jar", "q"));
    assert_eq!((job.priority, job.outcome.as_str(), trace.start_ms_epoch), (Priority::High, "SUCCEEDED", Some(1_000)));
    assert_eq!((job.n_maps, job.n_reduces, &job.map_ms[..]), (2, 1, &[500, 300][..]));
    assert_eq!((&job.first_shuffle_ms[..], &job.reduce_ms[..], job.commit_ms), (&[150][..], &[150][..], 200));
    let lost = &job.lost_attempts[0];
    assert_eq!((job.lost_attempts.len(), lost.failed, lost.ms), (1, true, 100));
    assert_eq!((job.input_bytes, job.shuffle_bytes, job.output_bytes), (Some(700), Some(77), Some(99)));
    assert_eq!(job.split_hosts.of(0).collect::<Vec<_>>(), ["a.b", "c"]);
    assert_eq!(job.completion_ms(), Some(2_200));
}

#[test]
fn a_history_of_018_becomes_a_template() {
    let (trace, notes) = from(OLD);
    assert!(notes.is_empty(), "{notes:?}");
    let job = &trace.jobs[0];
    assert_eq!((job.name.as_str(), &job.map_ms[..], job.lost_attempts[0].ms), ("say \"hi\"", &[250][..], 50));
    assert_eq!((job.maps_by_locality, job.commit_ms), ([2, 0, 0, 0], 50));
}

#[test]
fn counters_are_found_in_both_spellings() {
    assert_eq!(counter("{(a)(b)[(X)(x y)(12)][(Y)(y)(13)]}", "Y"), Some(13));
    assert_eq!(
        counter("File Systems.HDFS bytes read:12,Map-Reduce Framework.Map input bytes:13", "Map input bytes"),
        Some(13)
    );
    assert_eq!(counter("{(a)(b)[(X)(x y)(", "X"), None);
}

#[test]
fn several_jobs_of_one_file_stay_apart() {
    let other = NEW.replace("_0007", "_0008").replace("SUBMIT_TIME=\"1000\"", "SUBMIT_TIME=\"1500\"");
    let (trace, _) = from(&format!("{other}{NEW}"));
    let jobs: Vec<_> = trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms, job.map_ms.len())).collect();
    assert_eq!(jobs, [("job_202011_0007", 0, 2), ("job_202011_0008", 500, 2)]);
}

#[test]
fn a_history_that_breaks_off_keeps_what_it_told() {
    let cut = NEW.find("(77)").unwrap();
    let (trace, notes) = from(&NEW[..cut]);
    assert!(reasons(&notes).contains(&("last record is cut off: left out", 1)), "{notes:?}");
    assert_eq!((trace.jobs[0].map_ms.len(), trace.jobs[0].reduce_ms.len(), trace.jobs[0].outcome.as_str()), (2, 0, ""));
}

#[test]
fn a_wrong_record_is_named_with_its_line_and_key() {
    let error = |text: &str| read(text.as_bytes(), &mut ImportNotes::default()).unwrap_err().to_string();
    assert_eq!(
        error(&NEW.replace("FINISH_TIME=\"2700\"", "FINISH_TIME=\"late\"")),
        "line 13, MapAttempt FINISH_TIME: found `late`, expected a whole number"
    );
    assert_eq!(
        error(&NEW.replace("TASK_TYPE=\"SETUP\"", "TASK_TYPE=\"NAP\"")),
        "line 5, Task TASK_TYPE: found `NAP`, expected MAP, REDUCE, SETUP or CLEANUP"
    );
    assert_eq!(error("Task A=\"1\" .\n"), "line 1: found a Task record without TASKID, expected one with it");
    assert_eq!(error("hello\n"), "line 1: found a line that is no record, expected records such as Job JOBID=\"…\"");
    assert_eq!(error("Meta VERSION=\"1\" .\n"), "end of the file: found no job, expected records of at least one");
}
