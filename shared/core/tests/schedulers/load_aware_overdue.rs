//! Load-Aware where an attempt is past the end that was estimated for it, and where a job's own slots take no more of
//! it: both must not keep what would help from the job, nor what was declined once be reported for ever.

use howdah_core::job::{AttemptId, JobId, JobState, WorkerId};
use howdah_core::tracker::Input;

use rstest::rstest;

use crate::kit::*;
use crate::load_aware::{MINUTE, Stage, simple};

/// Two workers as fast as each other, and three maps of a minute. The first worker's map would end with minute 1 and
/// hangs; it is late by more than a copy takes ten seconds after minute 2, when the second worker is free.
#[rstest]
#[case::before_it_said_anything(0, false)]
#[case::midway(48_000, false)]
#[case::with_its_worker(48_000, true)]
fn a_map_that_hangs_gets_its_copy_once_it_is_late_by_as_much_as_that_takes(#[case] ms: u64, #[case] silent: bool) {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, MINUTE]);
    stage.submit(3);
    stage.until(ms);
    stage.until(ms);
    stage.hang(0);
    if silent {
        stage.silence(0);
    }
    stage.beating_until(120_000);
    assert_eq!(stage.copies(), [], "it is a minute late, and may take one more: no earlier than a copy");
    stage.beating_until(200_000);
    assert_eq!(stage.at(130_000), [(1, map(1, 0, 1))]);
    assert_eq!(stage.copies().len(), 1);
    assert_eq!(stage.c.job_state(JobId(1)), JobState::Committing, "all maps are done");
}

/// The first worker takes a minute for a map and the second three. The first one's third map hangs, and may end at any
/// time: for so long the last map waits for its slot, but not until the attempt is given up after ten minutes.
#[test]
fn a_slot_whose_map_hangs_does_not_keep_other_workers_from_the_job() {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, 3 * MINUTE]);
    stage.submit(4);
    stage.until(MINUTE);
    assert_eq!(stage.at(MINUTE), [(0, map(1, 2, 0))]);
    stage.hang(0);
    stage.beating_until(3 * MINUTE);
    assert_eq!(stage.at(3 * MINUTE), [], "a minute late, done at minute 4: the last map there until 5, here until 6");
    let why = stage.c.tracker.explain(JobId(1)).to_string();
    assert!(why.starts_with("Load-Aware declined worker `w1`: "), "{why}");
    stage.beating_until(5 * MINUTE);
    assert_eq!(stage.at(4 * MINUTE), [(1, map(1, 3, 0))], "two minutes late: there until minute 7, as here");
}

/// The first worker takes a minute for a map and the second two and a half. After those the second one is not to have the
/// last map, which the first one's slot does until minute 4, unless that gets none.
#[rstest]
#[case::it_goes_on(false, &[])]
#[case::it_is_drained(true, &[(1, map(1, 4, 0))])]
fn a_slot_that_takes_no_more_keeps_no_other_worker_from_the_job(
    #[case] drain: bool,
    #[case] expected: &[(u32, AttemptId)],
) {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, MINUTE * 5 / 2]);
    stage.submit(5);
    stage.until(130_000);
    stage.c.apply(&[Input::Drain { worker: WorkerId(0), drain }]);
    stage.until(170_000);
    assert_eq!(stage.at(150_000), expected);
}

/// Until minute 4 the second worker's core is shared with three others. It is declined then, as the first one does both
/// maps that are left until minute 7, and once the load has gone it gets one of them.
#[test]
fn a_worker_that_was_declined_and_then_got_a_map_is_not_reported() {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, MINUTE]);
    stage.load(1, 3_000, 4 * MINUTE);
    stage.submit(8);
    stage.until(245_000);
    let why = |stage: &Stage| stage.c.tracker.explain(JobId(1)).to_string();
    assert!(
        why(&stage).contains("Load-Aware declined worker `w1`: a map would end there in 240.000 s"),
        "{}",
        why(&stage)
    );
    stage.load(1, 0, MINUTE);
    stage.until(246_000);
    assert_eq!(stage.at(245_000), [(1, map(1, 6, 0))]);
    assert_eq!(why(&stage), "It is next, but 2 map slots are taken.");
}
