//! Scenarios of attempts that fail, are killed, or are lost on their way.

mod kit;

use howdah_core::job::{JobId, JobState, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, EndCause, Input, Rejection};
use kit::*;

/// How attempts ended: id, state, cause.
#[test]
fn a_failed_map_is_retried_on_another_worker_and_first_of_all() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(3, 0));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (0, map(1, 1, 0))], "not again on the worker where it failed");
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(1, 0, 1))], "failed maps go first");
}

#[test]
fn a_map_that_failed_everywhere_may_run_anywhere() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(1, 0));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    c.beat(1);
    c.report(1, &[(map(1, 0, 1), Failed)]);
    assert_eq!(c.launches().last(), Some(&(1, map(1, 0, 2))));
}

#[test]
fn a_task_that_fails_four_times_fails_its_job() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job(2, 0));
    c.beat(0);
    for number in 0..4 {
        c.report(0, &[(map(1, 0, number), Failed)]);
    }
    assert_eq!(c.job_states(), [(1, JobState::Prep), (1, JobState::Running), (1, JobState::Failed)]);
    c.expect(Effect::TaskFailed { task: map(1, 0, 0).task() });
    c.expect(Effect::AbortJob { job });
    assert_eq!(c.running_on(0), [], "nothing of it runs any more");
    let summary = c.state().ended_job(job).expect("remembered");
    assert_eq!((summary.failed_attempts, summary.killed_attempts), (4, 0));
}

#[test]
fn a_failure_that_no_attempt_can_mend_is_its_tasks_last() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job(2, 0));
    c.beat(0);
    c.fail_for_good(0, map(1, 0, 0));
    assert_eq!(c.job_states(), [(1, JobState::Prep), (1, JobState::Running), (1, JobState::Failed)]);
    c.expect(Effect::TaskFailed { task: map(1, 0, 0).task() });
    c.expect(Effect::AbortJob { job });
    assert_eq!(c.state().ended_job(job).expect("remembered").failed_attempts, 1);
}

#[test]
fn a_job_that_tolerates_failed_maps_tolerates_one_that_nothing_can_mend() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(2, 0, |conf| conf.max_map_failures_percent = 50));
    c.beat(0);
    c.fail_for_good(0, map(1, 0, 0));
    assert_eq!(c.running_on(0), [map(1, 1, 0)]);
    c.report(0, &[(map(1, 1, 0), CommitPending)]);
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(c.job_state(job), JobState::Committing);
}

#[test]
fn a_failing_job_ends_when_its_last_attempt_is_gone() {
    let mut c = Cluster::new().workers(2, 1, 0);
    let job = c.submit(job_with(2, 0, |conf| conf.max_map_attempts = 1));
    c.beat(0);
    c.beat(1);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(c.state().job(job).expect("not over").ending(), Some(JobState::Failed));
    c.effects.clear();
    c.beat(1);
    c.expect(Effect::Kill { worker: WorkerId(1), attempt: map(1, 1, 0), cause: EndCause::JobEnded });
    c.nothing_else();
    c.beat(1);
    c.expect(Effect::Kill { worker: WorkerId(1), attempt: map(1, 1, 0), cause: EndCause::JobEnded });
    c.report(1, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(c.ends(), [(map(1, 1, 0), Killed, EndCause::JobEnded)]);
    assert_eq!(c.job_states(), [(1, JobState::Failed)]);
}

#[test]
fn a_job_may_tolerate_failed_maps() {
    let mut c = Cluster::new().workers(1, 2, 1);
    let job = c.submit(job_with(2, 1, |conf| {
        conf.max_map_attempts = 1;
        conf.max_map_failures_percent = 50;
        conf.slowstart_ppm = 1_000_000;
    }));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed), (map(1, 1, 0), Succeeded)]);
    assert_eq!(c.launches().last(), Some(&(0, reduce(1, 0, 0))), "failed maps count for slow start");
    c.report(0, &[(reduce(1, 0, 0), CommitPending)]);
    c.report(0, &[(reduce(1, 0, 0), Succeeded)]);
    assert_eq!(c.job_state(job), JobState::Committing);
}

#[test]
fn killed_attempts_do_not_count() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.max_map_attempts = 1));
    c.beat(0);
    for number in 0..6 {
        c.apply(&[Input::KillAttempt { attempt: map(1, 0, number), fail: false }]);
        c.beat(0);
        c.report(0, &[(map(1, 0, number), Killed)]);
    }
    assert_eq!(c.job_state(job), JobState::Running);
    assert_eq!(c.state().job(job).expect("runs").tasks(TaskKind::Map).attempts_killed(), 6);
}

#[test]
fn an_attempt_that_is_failed_by_request_counts() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.max_map_attempts = 1));
    c.beat(0);
    c.apply(&[Input::KillAttempt { attempt: map(1, 0, 0), fail: true }]);
    c.effects.clear();
    c.report(0, &[(map(1, 0, 0), Killed)]);
    assert_eq!(c.ends(), [(map(1, 0, 0), Failed, EndCause::Requested)]);
    assert_eq!(c.job_state(job), JobState::Failed);
}

#[test]
fn a_launch_that_is_never_reported_fails_after_ten_minutes() {
    let mut c = Cluster::with(|config| config.expiry_ms = 10_000_000).workers(1, 1, 0);
    c.submit(job(1, 0));
    c.beat(0);
    c.puppets[0].attempts.clear();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)); 2], "a launch is repeated until a report confirms it");
    c.puppets[0].attempts.clear();
    c.advance(599_999);
    assert_eq!(c.ends(), []);
    c.advance(1);
    assert_eq!(c.ends(), [(map(1, 0, 0), Failed, EndCause::LaunchExpired)]);
}

#[test]
fn an_attempt_that_vanishes_from_the_reports_is_killed_and_runs_again() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.submit(job(1, 0));
    c.beat(0);
    c.beat(0);
    c.puppets[0].attempts.clear();
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.ends(), [(map(1, 0, 0), Killed, EndCause::Vanished)]);
    assert_eq!(c.launches(), [(0, map(1, 0, 1))]);
}

#[test]
fn the_kill_of_a_launch_that_never_arrived_is_confirmed_by_its_absence() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job(1, 0));
    c.puppets[0].deaf = true;
    c.beat(0);
    c.apply(&[Input::KillJob { job }]);
    c.beat(0);
    assert_eq!(c.job_state(job), JobState::Running, "the answer was lost, so it is sent again first");
    c.beat(0);
    assert_eq!(c.job_state(job), JobState::Running, "under a number that also an answer without the order had");
    c.beat(0);
    assert_eq!(c.job_state(job), JobState::Killed);
}

#[test]
fn the_first_to_succeed_wins_and_the_other_is_over_at_once() {
    let mut c = Cluster::eager().workers(2, 1, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.beat(1);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (1, map(1, 0, 1))]);
    c.report(1, &[(map(1, 0, 1), Succeeded)]);
    assert_eq!(c.ends(), [(map(1, 0, 1), Succeeded, EndCause::Reported), (map(1, 0, 0), Killed, EndCause::LostRace)]);
    c.apply(&[Input::JobCommitted { job, ok: true }]);
    assert_eq!(c.job_state(job), JobState::Succeeded, "the job does not wait for the loser to stop");
    assert_eq!(c.running_on(0), [map(1, 0, 0)], "which fills its slot until then");
    c.effects.clear();
    c.beat(0);
    c.expect(Effect::Kill { worker: WorkerId(0), attempt: map(1, 0, 0), cause: EndCause::LostRace });
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.ends(), []);
    assert_eq!(c.running_on(0), []);
}

#[test]
fn one_attempt_of_a_task_may_commit_and_another_only_after_it_failed() {
    let mut c = Cluster::eager().workers(2, 1, 0);
    c.submit(job(1, 0));
    c.beat(0);
    c.beat(1);
    let grants = |c: &mut Cluster| {
        c.take(|effect| match *effect {
            Effect::Commit { attempt, .. } => Some(attempt),
            _ => None,
        })
    };
    c.report(1, &[(map(1, 0, 1), CommitPending)]);
    c.report(0, &[(map(1, 0, 0), CommitPending)]);
    assert_eq!(grants(&mut c), [map(1, 0, 1)]);
    c.report(1, &[(map(1, 0, 1), Failed)]);
    c.beat(0);
    assert_eq!(grants(&mut c), [map(1, 0, 0)]);
}

#[test]
fn a_kill_that_comes_after_the_end_is_too_late() {
    let mut c = Cluster::new().workers(1, 2, 0);
    c.submit(job(2, 0));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), CommitPending)]);
    for index in 0..2 {
        c.apply(&[Input::KillAttempt { attempt: map(1, index, 0), fail: true }]);
    }
    c.effects.clear();
    c.report(0, &[(map(1, 0, 0), Succeeded), (map(1, 1, 0), Succeeded)]);
    let expected = [(map(1, 0, 0), Succeeded, EndCause::Reported), (map(1, 1, 0), Failed, EndCause::Requested)];
    assert_eq!(c.ends(), expected, "the second one had no grant");
}

#[test]
fn impossible_statuses_are_rejected() {
    let mut c = Cluster::new().workers(1, 3, 1);
    c.submit(job(1, 1));
    c.submit(job(1, 0));
    c.beat(0);
    let why = |c: &mut Cluster| {
        c.take(|effect| match *effect {
            Effect::Rejected { why, .. } => Some(why),
            _ => None,
        })
    };
    let impossible = |attempt, from, to| Rejection::ImpossibleTransition { attempt, from, to };
    c.report(0, &[(map(1, 0, 0), CommitPending)]);
    let launching = AttemptState::Launching;
    assert_eq!(
        why(&mut c),
        [impossible(map(1, 0, 0), launching, CommitPending)],
        "maps of a job with reduces do not commit"
    );
    c.report(0, &[(map(1, 0, 0), Running), (map(2, 0, 0), Succeeded)]);
    assert_eq!(why(&mut c), [impossible(map(2, 0, 0), Running, Succeeded)], "nobody allowed it to commit");
    c.apply(&[Input::KillAttempt { attempt: map(9, 9, 9), fail: true }]);
    assert_eq!(why(&mut c), [Rejection::UnknownAttempt(map(9, 9, 9))]);
    c.apply(&[Input::KillJob { job: JobId(7) }, Input::JobCommitted { job: JobId(1), ok: true }]);
    assert_eq!(why(&mut c), [Rejection::UnknownJob(JobId(7)), Rejection::NotCommitting(JobId(1))]);
}
