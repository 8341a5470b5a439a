//! Scenarios of workers that fall silent, restart or say goodbye, and of map output that cannot be fetched.

mod kit;

use howdah_core::job::{AttemptId, JobState, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, EndCause, Input, Rejection, WorkerState};
use kit::*;

fn lost_outputs(c: &mut Cluster) -> Vec<(AttemptId, EndCause)> {
    c.take(|effect| match *effect {
        Effect::MapOutputLost { attempt, cause, .. } => Some((attempt, cause)),
        _ => None,
    })
}

/// Two workers; worker 0 has finished map 0 and runs map 1, worker 1 runs the reduce.
fn half_done() -> Cluster {
    let mut c = Cluster::new().workers(2, 1, 1);
    c.submit(job(2, 1));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    // Worker 0 has taken map 1 and, as slow start is reached, the reduce as well; move it.
    c.apply(&[
        Input::KillAttempt { attempt: reduce(1, 0, 0), fail: false },
        Input::Drain { worker: WorkerId(0), drain: true },
    ]);
    c.report(0, &[(reduce(1, 0, 0), Killed)]);
    c.beat(1);
    c.beat(0);
    c.beat(1);
    assert_eq!((c.running_on(0), c.running_on(1)), (vec![map(1, 1, 0)], vec![reduce(1, 0, 1)]));
    c.effects.clear();
    c
}

#[test]
fn a_silent_worker_expires_after_exactly_ten_minutes() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.advance(599_999);
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live);
    c.advance(1);
    c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Lost });
    c.beat(0);
    c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::UnknownWorker(WorkerId(0)) });
    c.expect(Effect::Reinit { worker: WorkerId(0) });
    c.nothing_else();
    c.restart(0);
    c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Live });
}

#[test]
fn the_intervals_of_a_large_cluster_stretch_a_short_expiry() {
    let mut c = Cluster::with(|config| (config.expiry_ms, config.expiry_beats) = (10_000, 5)).workers(1, 1, 0);
    c.advance(14_999);
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live, "five intervals of three seconds");
    c.advance(1);
    c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Lost });
}

#[test]
fn a_lost_workers_name_is_free_for_lower_runs_only_where_that_is_set() {
    for free in [false, true] {
        let mut c = Cluster::with(|config| config.free_lost_names = free).workers(1, 1, 0);
        let Input::Register(highest) = c.registration(WorkerId(0), "host0", "/default-rack") else { unreachable!() };
        let run = |incarnation| {
            Input::Register(Box::new(howdah_core::tracker::Registration { incarnation, ..(*highest).clone() }))
        };
        c.apply(&[run(u64::MAX)]);
        c.apply(&[run(7)]);
        c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::StaleIncarnation(WorkerId(0)) });
        c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: u64::MAX }, run(7)]);
        let wanted = if free { WorkerState::Live } else { WorkerState::Lost };
        // Hellos come before goodbyes in a batch, so once more.
        c.apply(&[run(7)]);
        assert_eq!(c.state().workers()[0].state(), wanted);
    }
}

#[test]
fn a_lost_workers_attempts_and_needed_map_output_run_again_at_no_ones_expense() {
    let mut c = half_done();
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    assert_eq!(c.ends(), [(map(1, 1, 0), Killed, EndCause::WorkerLost)]);
    assert_eq!(lost_outputs(&mut c), [(map(1, 0, 0), EndCause::WorkerLost)]);
    let job = c.state().job(howdah_core::job::JobId(1)).expect("runs");
    let maps = job.tasks(TaskKind::Map);
    assert_eq!((maps.attempts_failed(), maps.attempts_killed(), maps.pending().count()), (0, 2, 2));
    assert_eq!(job.failures_on(WorkerId(0)), 1, "the worker is charged once per job");
    c.effects.clear();
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(1, 0, 1))]);
}

#[test]
fn finished_maps_are_kept_when_all_reduces_are_done() {
    let mut c = half_done();
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    c.report(1, &[(reduce(1, 0, 1), CommitPending)]);
    c.report(1, &[(reduce(1, 0, 1), Succeeded)]);
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    assert_eq!(lost_outputs(&mut c), []);
    assert_eq!(c.job_state(howdah_core::job::JobId(1)), JobState::Committing);
}

#[test]
fn finished_maps_of_a_job_without_reduces_are_kept() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(2, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    assert_eq!(lost_outputs(&mut c), []);
    assert_eq!(c.state().job(job).expect("runs").tasks(TaskKind::Map).n_succeeded(), 1);
}

#[test]
fn a_job_does_not_wait_for_maps_that_no_reduce_needs_any_more() {
    let mut c = half_done();
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    assert_eq!(lost_outputs(&mut c).len(), 2);
    c.effects.clear();
    c.report(1, &[(reduce(1, 0, 1), CommitPending)]);
    c.report(1, &[(reduce(1, 0, 1), Succeeded)]);
    assert_eq!(c.job_state(howdah_core::job::JobId(1)), JobState::Committing);
    assert_eq!(c.ends().last(), Some(&(map(1, 0, 1), Killed, EndCause::JobEnded)));
    assert_eq!(c.running_on(1), [map(1, 0, 1)], "it fills its slot until its worker has stopped it");
    c.apply(&[Input::JobCommitted { job: howdah_core::job::JobId(1), ok: true }]);
    c.effects.clear();
    c.report(1, &[(map(1, 0, 1), Killed)]);
    assert_eq!(c.ends(), []);
    assert_eq!(c.running_on(1), []);
}

#[test]
fn a_younger_run_of_a_worker_loses_the_older_one_at_once() {
    let mut c = half_done();
    c.restart(0);
    assert_eq!(c.ends(), [(map(1, 1, 0), Killed, EndCause::WorkerLost)]);
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live, "a new run is not draining");
    c.puppets[0].incarnation = 1;
    c.effects.clear();
    c.apply(&[c.registration(WorkerId(0), "h0", "/r")]);
    c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::StaleIncarnation(WorkerId(0)) });
    c.beat(0);
    c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::StaleIncarnation(WorkerId(0)) });
    c.nothing_else();
}

/// One more report of the reduce on worker 1 that could not fetch this map.
fn cannot_fetch(c: &mut Cluster, attempt: AttemptId) {
    let mut report = c.report_of(1);
    report.attempts.iter_mut().for_each(|a| a.fetch_failures = vec![attempt]);
    c.puppets[1].waiting = true;
    c.apply(&[Input::Report(Box::new(report))]);
}

#[test]
fn the_third_failed_fetch_of_a_map_fails_it() {
    let mut c = half_done();
    cannot_fetch(&mut c, map(1, 0, 0));
    cannot_fetch(&mut c, map(1, 0, 0));
    assert_eq!(lost_outputs(&mut c), []);
    cannot_fetch(&mut c, map(1, 0, 0));
    assert_eq!(lost_outputs(&mut c), [(map(1, 0, 0), EndCause::TooManyFetchFailures)]);
    let job = c.state().job(howdah_core::job::JobId(1)).expect("runs");
    assert_eq!(job.tasks(TaskKind::Map).failures(0), 1);
    assert_eq!(c.launches(), [(1, map(1, 0, 1))], "it runs again elsewhere");
    cannot_fetch(&mut c, map(1, 0, 0));
    assert_eq!(c.state().job(howdah_core::job::JobId(1)).expect("runs").fetch_failures(0), 0, "old news");
}

#[test]
fn a_few_failed_fetches_among_many_reduces_are_no_failure() {
    let mut c = Cluster::new().workers(2, 1, 7);
    c.submit(job(2, 7));
    c.beat(0);
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }]);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.beat(1);
    c.beat(1);
    assert_eq!(c.running_on(1).len(), 8);
    c.effects.clear();
    let mut report = c.report_of(1);
    let first = report.attempts.iter_mut().find(|a| a.attempt.kind == TaskKind::Reduce).expect("runs");
    first.fetch_failures = vec![map(1, 0, 0); 3];
    c.apply(&[Input::Report(Box::new(report))]);
    assert_eq!(lost_outputs(&mut c), [], "3 of 7 is less than half");
    cannot_fetch(&mut c, map(1, 0, 0));
    assert_eq!(lost_outputs(&mut c).len(), 1);
}

#[test]
fn after_a_recovery_nobody_is_late_and_attempt_numbers_start_beyond_the_old_ones() {
    let mut c = half_done();
    c.advance(599_000);
    c.apply(&[Input::Recovered]);
    c.advance(599_000);
    assert_eq!(c.state().workers()[1].state(), WorkerState::Live);
    c.effects.clear();
    c.report(0, &[(map(1, 1, 0), Failed)]);
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(1, 1, 1_000))]);
}
