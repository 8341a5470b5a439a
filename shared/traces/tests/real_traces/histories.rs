//! Job histories of Hadoop 1 and 2.

use super::{ASIDE, Counts, NO_ATTEMPT, NO_MAP, NO_REDUCE, assert_replays, import, job};

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn sleep_job_of_hadoop_two_is_read_whole() {
    let file = "jhist/job_1329348432655_0001-10.jhist";
    let (trace, notes) = import(file);
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.maps, counts.reduces, counts.attempts), (1, 10, 1, [11, 0, 0]));
    assert_eq!((trace.jobs[0].completion_ms().unwrap() + 50) / 100, 254);
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn failed_job_of_hadoop_two_keeps_its_failures() {
    let file = "jhist/job_2.0.3-alpha-FAILED.jhist";
    let (trace, notes) = import(file);
    let counts = Counts::of(&trace);
    assert_eq!((counts.failed, counts.maps, counts.reduces, counts.attempts), (1, 2, 1, [0, 4, 0]));
    assert_eq!(trace.jobs[0].queue, "unfunded");
    assert_eq!(trace.jobs[0].lost_attempts.iter().map(|lost| lost.ms).sum::<u64>(), 3_364 + 3_324 + 3_343 + 3_347);
    assert_eq!(
        notes,
        [
            format!("1 {NO_MAP}"),
            format!("1 {NO_REDUCE}"),
            "1 task of which no attempt succeeded: kept, without times".to_owned(),
            // Map 1 and the reduce were killed before they had one.
            format!("2 {NO_ATTEMPT}"),
        ]
    );
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn history_that_breaks_off_is_used_as_far_as_it_goes() {
    let file = "jhist/job_1410289045532_259974-truncated.jhist";
    let (trace, notes) = import(file);
    let job = &trace.jobs[0];
    assert_eq!(
        (job.id.as_str(), job.queue.as_str(), job.outcome.as_str()),
        ("job_1410289045532_259974", "root.someQueueName", "")
    );
    assert_eq!((job.n_maps, job.n_reduces, job.maps_by_locality), (1, 0, [0, 0, 1, 0]));
    assert_eq!(
        notes,
        [
            "1 attempt has no end: left out".to_owned(),
            "1 history breaks off before the end of its job".to_owned(),
            "1 job without an end: the end of its last task counts".to_owned(),
            format!("1 {NO_MAP}"),
            "1 task of which no attempt succeeded: kept, without times".to_owned(),
        ]
    );
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn sleep_job_of_hadoop_one_is_read_whole() {
    let file = "jobhistory/job_201311192236_3583_1386370578196_user1_Sleep+job";
    let (trace, notes) = import(file);
    let counts = Counts::of(&trace);
    // The README's 4 attempts include set-up and clean-up.
    assert_eq!((counts.succeeded, counts.maps, counts.reduces, counts.attempts), (1, 1, 1, [4 - 2, 0, 0]));
    assert_eq!((trace.jobs[0].completion_ms().unwrap() + 50) / 100, 167);
    assert_eq!(notes, [format!("2 {ASIDE}")]);
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn sorter_of_chukwa_is_read_whole() {
    let (trace, notes) = import("jobhistory/chukwa-JobHistory.log");
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.maps, counts.reduces, counts.attempts), (1, 10, 8, [20 - 2, 0, 0]));
    assert_eq!((trace.jobs[0].completion_ms().unwrap() + 50) / 100, 2_281);
    assert_eq!(notes, [format!("2 {ASIDE}")]);
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn word_count_of_a_text_history_is_the_one_of_both_rumen_traces() {
    let (trace, notes) = import("jobhistory/v20-single-input-log.gz");
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.maps, counts.reduces, counts.attempts), (1, 20, 1, [23 - 2, 1, 0]));
    assert_eq!((trace.jobs[0].completion_ms().unwrap() + 50) / 100, 9_268);
    assert_eq!(notes, [format!("2 {ASIDE}")]);
    assert_replays(&trace, 2);

    let text = &trace.jobs[0];
    assert_eq!((text.id.as_str(), text.name.as_str()), ("job_200904211745_0002", "word count"));
    for file in ["rumen/19-jobs.trace.json.gz", "rumen/zombie-input-trace.json"] {
        let (rumen, _) = import(file);
        let mut rumen = job(&rumen, &text.id).clone();
        if file.contains("19") {
            // Hosts and users have other names there.
            rumen.split_hosts.clone_from(&text.split_hosts);
            rumen.user.clone_from(&text.user);
        }
        // Rumen's old traces have no names of jobs, and both are on their traces' clocks.
        rumen.name.clone_from(&text.name);
        rumen.submit_ms = text.submit_ms;
        rumen.measured.clone_from(&text.measured);
        assert_eq!(&rumen, text, "{file}");
    }
}
