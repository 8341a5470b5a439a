//! Which running tasks may get a speculative attempt at all, whatever the rule, and the rules' thresholds to the point.
//! Source: `docs/hadoop.md#speculative-execution`.

use howdah_core::job::{AttemptState, JobId};
use howdah_core::tracker::Input;

use crate::kit::*;
use crate::load_aware::{MINUTE, Stage, simple};
use crate::speculation::{cluster, progress, uncommitted};

/// Hadoop's rule, three hosts with a map each, so much later: the second is at 90 % and the third at 5 %.
fn straggling(after_ms: u64) -> Cluster {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    c.submit(uncommitted(3));
    (0..3).for_each(|worker| c.beat(worker));
    c.advance(after_ms);
    progress(&mut c, 1, &[(map(1, 1, 0), 90)]);
    progress(&mut c, 2, &[(map(1, 2, 0), 5)]);
    c.launches();
    c
}

// docs/hadoop.md#speculative-execution: "never ran on this host".
#[test]
fn a_task_gets_no_second_attempt_where_it_failed() {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    c.submit(uncommitted(3));
    (0..3).for_each(|worker| c.beat(worker));
    c.report(2, &[(map(1, 2, 0), Failed)]);
    c.launches();
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))]);
    c.advance(61_000);
    progress(&mut c, 1, &[(map(1, 1, 0), 90)]);
    progress(&mut c, 0, &[(map(1, 2, 1), 5)]);
    c.beat(2);
    assert_eq!(c.launches(), [], "it failed there");
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [(1, map(1, 2, 2))]);
}

// docs/hadoop.md#speculative-execution: "never ran on this host": another worker of the host is no other machine.
#[test]
fn a_task_gets_no_second_attempt_on_its_host() {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]);
    for host in ["h0", "h1", "h0"] {
        c.add_worker(host, "/r", 1, 0);
    }
    c.effects.clear();
    c.submit(uncommitted(3));
    (0..3).for_each(|worker| c.beat(worker));
    c.launches();
    c.advance(61_000);
    progress(&mut c, 1, &[(map(1, 1, 0), 90)]);
    progress(&mut c, 2, &[(map(1, 2, 0), 5)]);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [], "its host runs it already");
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [(1, map(1, 2, 1))]);
}

// docs/hadoop.md#speculative-execution: not only-commit-pending.
#[test]
fn a_task_that_waits_for_its_commit_gets_no_second_attempt() {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    c.submit(job_with(3, 0, |_| {}));
    (0..3).for_each(|worker| c.beat(worker));
    c.launches();
    c.advance(61_000);
    // It says that it is done and is as far as it was.
    for worker in 0..3 {
        c.report(worker, &[(map(1, worker, 0), AttemptState::CommitPending)]);
    }
    (0..2).for_each(|worker| c.report(worker, &[(map(1, worker, 0), Succeeded)]));
    assert_eq!(c.job_state(JobId(1)), howdah_core::job::JobState::Running);
    assert_eq!(c.launches(), []);
}

// docs/hadoop.md#speculative-execution: one that is being stopped runs again anyway.
#[test]
fn a_task_that_is_being_stopped_gets_no_second_attempt() {
    let mut c = straggling(61_000);
    c.apply(&[Input::KillAttempt { attempt: map(1, 2, 0), fail: false }]);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), []);
    let mut c = straggling(61_000);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))], "otherwise it would");
}

// docs/hadoop.md#speculative-execution: now − startTime ≥ 60 s.
#[test]
fn hadoops_age_is_reached_at_the_minute_itself() {
    let mut c = straggling(59_999);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), []);
    c.advance(1);
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))]);
}

// docs/hadoop.md#speculative-execution, paper LATE: SlowTaskThreshold, the 25th percentile of rates: among equals
// nobody is below it.
#[test]
fn late_copies_nothing_where_all_tasks_are_equally_fast() {
    let mut c = cluster("fifo", &[("speculation", "late"), ("speculation.cap", "5")]).workers(5, 1, 0);
    c.submit(uncommitted(5));
    (0..5).for_each(|worker| c.beat(worker));
    c.launches();
    c.advance(61_000);
    for worker in 1..5 {
        progress(&mut c, worker, &[(map(1, worker, 0), 50)]);
    }
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), []);
}

// Load-Aware thesis, Alg. 2: the task whose original ends last.
#[test]
fn of_two_tasks_that_a_copy_would_help_the_one_that_ends_last_gets_it() {
    let mut stage = Stage::new("fifo", &simple("load-aware"), &[MINUTE, 4 * MINUTE, 5 * MINUTE]);
    stage.submit(3);
    stage.until(MINUTE);
    assert_eq!(stage.at(MINUTE), [(0, map(1, 2, 1))]);
}

// Load-Aware thesis §3.3: a finished task of the same worker says more than one of another.
#[test]
fn a_workers_own_finished_task_is_what_its_next_one_is_estimated_from() {
    // Times that do not follow frequencies at all: only its own map tells that the second worker takes three minutes.
    let fixed = ("load-aware.frequency", "fixed=1,khz=1000");
    let pairs = [simple("load-aware"), vec![fixed]].concat();
    let mut stage = Stage::new("fifo", &pairs, &[MINUTE, 3 * MINUTE]);
    stage.submit(6);
    stage.until(4 * MINUTE);
    assert_eq!(stage.at(3 * MINUTE), [(0, map(1, 4, 0))], "the last one would end there in minute 6, here in minute 5");
    assert_eq!(stage.at(4 * MINUTE), [(0, map(1, 5, 0))]);
}

// A dry run changes nothing: it keeps no pending task from a worker either.
#[test]
fn load_aware_declines_nothing_in_a_dry_run() {
    for (dry, expected) in [("true", vec![(2, map(1, 4, 0))]), ("false", vec![])] {
        let pairs = [simple("load-aware"), vec![("speculation.dry-run", dry)]].concat();
        let mut stage = Stage::new("fifo", &pairs, &[MINUTE, 3 * MINUTE, MINUTE * 9 / 5]);
        stage.submit(5);
        stage.until(MINUTE * 19 / 10);
        assert_eq!(stage.at(MINUTE * 9 / 5), expected, "{dry}");
    }
}
