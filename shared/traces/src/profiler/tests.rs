//! One small job, and what becomes of it when its history is odd.

use super::*;

const MAP: TaskKind = TaskKind::Map;
const REDUCE: TaskKind = TaskKind::Reduce;

/// Two maps that end at 40 and 50 and a reduce that starts at 30, has sorted at 65 and ends at 80; the job lasts
/// from 10 to 90. All by one clock.
fn small() -> JobFacts {
    let mut job = JobFacts::new("job_1_0001");
    job.outcome = Some(Ending::Succeeded);
    (job.submit_ms, job.launch_ms, job.finish_ms) = (Some(10), Some(12), Some(90));
    (job.declared_maps, job.declared_reduces) = (Some(2), Some(1));
    for (kind, index, start, sorted, end) in
        [(MAP, 0, 20, None, 40), (MAP, 1, 25, None, 50), (REDUCE, 0, 30, Some(65), 80)]
    {
        let task = job.task(kind, index);
        (task.start_ms, task.finish_ms) = (Some(start), Some(end));
        *job.attempt(kind, index, 0) = won(start, sorted, end);
    }
    job
}

fn won(start: u64, sorted: Option<u64>, end: u64) -> AttemptFacts {
    AttemptFacts {
        result: Some(Ending::Succeeded),
        start_ms: Some(start),
        sorted_ms: sorted,
        finish_ms: Some(end),
        ..AttemptFacts::default()
    }
}

fn template(job: &JobFacts) -> (JobTemplate, Vec<String>) {
    let mut notes = ImportNotes::default();
    let made = profile(job, &mut notes).template;
    (made, notes.lines())
}

#[test]
fn first_shuffle_is_what_follows_the_last_map() {
    let (made, notes) = template(&small());
    assert_eq!((made.n_maps, made.n_reduces), (2, 1));
    assert_eq!(made.map_ms, [20, 25]);
    assert_eq!((made.first_shuffle_ms, made.typical_shuffle_ms, made.reduce_ms), (vec![15], vec![], vec![15]));
    assert_eq!(made.commit_ms, 10);
    assert_eq!(made.measured, Some(Measured { launch_ms: 20, maps_done_ms: 50, finish_ms: 90 }));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn reduce_that_starts_with_the_end_of_the_maps_has_a_typical_shuffle() {
    let mut job = small();
    *job.attempt(REDUCE, 0, 0) = won(50, Some(65), 80);
    let (made, _) = template(&job);
    assert_eq!((made.first_shuffle_ms, made.typical_shuffle_ms, made.reduce_ms), (vec![], vec![15], vec![15]));
}

#[test]
fn worker_whose_clock_is_an_hour_early_changes_nothing() {
    let mut job = small();
    let hour = 3_600_000;
    for (kind, index, start, sorted, end) in
        [(MAP, 0, 20, None, 40), (MAP, 1, 25, None, 50), (REDUCE, 0, 30, Some(65), 80)]
    {
        *job.attempt(kind, index, 0) = won(start + hour, sorted.map(|ms: u64| ms + hour), end + hour);
    }
    assert_eq!(template(&job), template(&small()));
}

#[test]
fn last_success_of_a_task_counts_and_the_others_are_lost() {
    let mut job = small();
    *job.attempt(MAP, 0, 1) = AttemptFacts { result: Some(Ending::Failed), ..won(30, None, 33) };
    *job.attempt(MAP, 0, 2) = AttemptFacts { result: Some(Ending::Killed), ..won(41, None, 42) };
    *job.attempt(MAP, 0, 3) = won(43, None, 46);
    let (made, _) = template(&job);
    assert_eq!(made.map_ms, [3, 25]);
    let lost: Vec<_> = made.lost_attempts.iter().map(|l| (l.number, l.failed, l.speculative, l.ms)).collect();
    assert_eq!(lost, [(0, false, false, 20), (1, true, true, 3), (2, false, false, 1)]);
}

#[test]
fn impossible_times_are_counted_and_never_wrap() {
    let mut job = small();
    job.task(MAP, 0).finish_ms = Some(u64::MAX);
    *job.attempt(MAP, 0, 0) = won(u64::MAX, None, 7);
    *job.attempt(MAP, 1, 0) = won(50, None, 25);
    *job.attempt(REDUCE, 0, 0) = won(30, Some(u64::MAX - 3), 80);
    (job.submit_ms, job.finish_ms) = (Some(1_000), Some(u64::MAX));
    let (made, notes) = template(&job);
    assert_eq!(made.map_ms, [0]);
    assert_eq!((made.first_shuffle_ms, made.reduce_ms), (vec![0], vec![30]));
    assert_eq!(
        notes,
        [
            "1 attempt ends before it starts: its time counts 0",
            "2 attempt starts before its job on its worker's clock: only differences of its times count",
            "1 attempt succeeded at unknown times: left out of the times",
            "1 instant of the job is beyond the year 9999: counts as unknown",
            "1 job ends before it is submitted: its end counts as its submission",
            "1 job without an end: the end of its last task counts",
            "1 reduce without the end of its sort: all after the maps counts as reduce time",
        ]
    );
}

#[test]
fn job_of_which_nothing_ended_well_keeps_its_tasks() {
    let mut job = small();
    job.declared_reduces = Some(u64::MAX);
    job.declared_maps = Some(3);
    for (kind, index) in [(MAP, 0), (MAP, 1), (REDUCE, 0)] {
        job.attempt(kind, index, 0).result = Some(Ending::Failed);
    }
    let (made, notes) = template(&job);
    assert_eq!((made.n_maps, made.n_reduces), (3, 1));
    assert_eq!((made.map_ms.len(), made.reduce_ms.len(), made.lost_attempts.len()), (0, 0, 3));
    assert_eq!(
        notes,
        [
            "1 declared number of tasks is beyond belief: the listed ones count",
            "1 no map of the job ended well: its maps take 0 ms",
            "1 no reduce of the job ended well: its reduces take 0 ms",
            "1 task declared but not listed: kept, without times",
            "3 task of which no attempt succeeded: kept, without times",
        ]
    );
}

#[test]
fn hosts_and_racks_tell_how_close_a_map_ran() {
    let mut job = small();
    job.task(MAP, 0).preferred = vec![Place::parse("/r1/a").unwrap(), Place::parse("/r2/b").unwrap()];
    for (number, ran) in ["/r1/a", "/r2/c", "/r3/d", "e", "b"].into_iter().enumerate() {
        job.attempt(MAP, 0, number as u32).place = Place::parse(ran);
        job.attempt(MAP, 0, number as u32).result = Some(Ending::Killed);
    }
    job.attempt(MAP, 1, 0).locality = Some(Locality::OffRack);
    let (made, _) = template(&job);
    assert_eq!(made.maps_by_locality, [2, 1, 2, 1]);
    assert_eq!(made.split_hosts.of(0).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(made.split_hosts.of(1).count(), 0);
}

#[test]
fn bytes_of_splits_are_all_known_or_left_out() {
    let mut job = small();
    job.task(MAP, 0).input_bytes = Some(100);
    job.attempt(MAP, 1, 0).bytes_in = Some(u64::MAX);
    (job.attempt(REDUCE, 0, 0).bytes_in, job.attempt(REDUCE, 0, 0).bytes_out) = (Some(70), Some(7));
    let (made, _) = template(&job);
    assert_eq!(made.map_input_bytes, [100, u64::MAX]);
    assert_eq!((made.input_bytes, made.shuffle_bytes, made.output_bytes), (Some(u64::MAX), Some(70), Some(7)));
    job.attempt(MAP, 1, 0).bytes_in = None;
    let (made, notes) = template(&job);
    assert_eq!((made.map_input_bytes.len(), made.input_bytes), (0, None));
    assert_eq!(notes, ["1 input bytes are known of some maps only: left out"]);
}
