//! Scenarios of the life of a job: order, slow start, commit, end.

mod kit;

use howdah_core::job::{JobConf, JobId, JobState, Locality, Priority, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, EndCause, Input, Rejection, SchedulerChoice};
use kit::*;

#[test]
fn a_job_runs_commits_and_succeeds() {
    let mut c = Cluster::new().workers(1, 2, 1);
    let job = c.submit(job(2, 1));
    c.expect(Effect::JobState { job, state: JobState::Prep });
    c.nothing_else();

    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (0, map(1, 1, 0))]);
    c.expect(Effect::JobState { job, state: JobState::Running });
    c.nothing_else();

    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [(0, reduce(1, 0, 0))], "slow start of 5 % is reached with the first map");
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    for index in 0..2 {
        let attempt = map(1, index, 0);
        c.expect(Effect::AttemptEnded {
            attempt,
            worker: WorkerId(0),
            state: Succeeded,
            cause: EndCause::Reported,
            started: c.now,
        });
        c.expect(Effect::MapOutputReady { attempt, worker: WorkerId(0) });
    }
    c.nothing_else();

    c.report(0, &[(reduce(1, 0, 0), CommitPending)]);
    c.expect(Effect::Commit { worker: WorkerId(0), attempt: reduce(1, 0, 0) });
    c.nothing_else();
    c.report(0, &[(reduce(1, 0, 0), Succeeded)]);
    assert_eq!(c.job_states(), [(1, JobState::Committing)]);
    c.expect(Effect::CommitJob { job });
    c.apply(&[Input::JobCommitted { job, ok: true }]);
    assert_eq!(c.job_states(), [(1, JobState::Succeeded)]);
    c.beat(0);
    c.expect(Effect::ForgetJob { worker: WorkerId(0), job });
    c.expect(Effect::AttemptEnded {
        attempt: reduce(1, 0, 0),
        worker: WorkerId(0),
        state: Succeeded,
        cause: EndCause::Reported,
        started: c.now,
    });
    c.nothing_else();
    c.beat(0);
    c.nothing_else();
    assert_eq!(c.state().n_jobs(), 0);
}

#[test]
fn an_idle_cluster_of_parked_workers_starts_a_job_at_once() {
    let mut c = Cluster::new().parking().workers(2, 1, 0);
    c.beat(1);
    c.beat(0);
    c.nothing_else();
    c.submit(job(1, 0));
    assert_eq!(c.launches(), [(1, map(1, 0, 0))], "the longest parked worker goes first");
    assert_eq!(c.answers(), [1]);
    c.advance(3_000);
    assert_eq!(c.answers(), [0], "the other one is released after the heartbeat interval");
}

#[test]
fn jobs_run_by_priority_then_by_time() {
    let mut c = Cluster::new().workers(1, 1, 0);
    for priority in [Priority::Low, Priority::Normal, Priority::VeryHigh] {
        c.submit(howdah_core::job::JobSpec { priority, ..job(1, 0) });
    }
    c.apply(&[Input::SetPriority { job: howdah_core::job::JobId(1), priority: Priority::High }]);
    let mut order = Vec::new();
    c.beat(0);
    while let Some((_, attempt)) = c.launches().pop() {
        order.push(attempt.job.0);
        c.report(0, &[(attempt, CommitPending)]);
        c.report(0, &[(attempt, Succeeded)]);
    }
    assert_eq!(order, [3, 1, 2]);
}

#[test]
fn maps_run_where_their_data_is() {
    let mut c = Cluster::new();
    for (host, rack) in [("a", "/x"), ("b", "/x"), ("c", "/y")] {
        c.add_worker(host, rack, 1, 0);
    }
    c.submit(job_on(&[&["c"], &["b"], &["a"], &["d"]]));
    c.effects.clear();
    c.beat(0);
    let local = |c: &mut Cluster| {
        c.take(|e| match *e {
            Effect::Launch { attempt, locality, .. } => Some((attempt.index, locality)),
            _ => None,
        })
    };
    assert_eq!(local(&mut c), [(2, Locality::Node)]);
    c.report(0, &[(map(1, 2, 0), Failed)]);
    assert_eq!(local(&mut c), [(1, Locality::Rack)], "the failed one avoids the worker, the next best is in the rack");
    c.beat(2);
    assert_eq!(local(&mut c), [(2, Locality::OffRack)], "failed first, whatever its place");
}

#[test]
fn a_policy_can_be_exchanged_while_jobs_run() {
    let mut c = Cluster::new().parking().workers(2, 1, 0);
    c.submit(job(1, 0));
    c.submit(job(3, 0));
    c.beat(0);
    c.launches();
    let choice = |name: &str| SchedulerChoice { name: name.to_owned(), ..SchedulerChoice::default() };
    let nobody = c.tracker.check_scheduler(&choice("nobody")).expect_err("no such policy").to_string();
    assert!(nobody.starts_with("scheduler `nobody`: no such scheduler"), "{nobody}");
    c.apply(&[Input::SetScheduler(Box::new(choice("nobody")))]);
    c.expect(Effect::Rejected { worker: None, why: Rejection::BadScheduler });
    c.apply(&[Input::SetScheduler(Box::new(choice("fifo")))]);
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(2, 0, 0))], "the new one knows what waits");
}

#[test]
fn a_job_without_tasks_goes_straight_to_its_commit() {
    let mut c = Cluster::new();
    let job = c.submit(job(0, 0));
    assert_eq!(c.job_states(), [(1, JobState::Prep), (1, JobState::Committing)]);
    c.expect(Effect::CommitJob { job });
    c.nothing_else();
    c.apply(&[Input::KillJob { job }, Input::JobCommitted { job, ok: true }]);
    assert_eq!(c.job_states(), [(1, JobState::Succeeded)], "the kill came too late");
}

#[test]
fn a_job_of_reduces_only_runs() {
    let mut c = Cluster::new().workers(1, 0, 1);
    c.submit(job(0, 1));
    c.beat(0);
    assert_eq!(c.launches(), [(0, reduce(1, 0, 0))]);
}

#[test]
fn a_commit_that_fails_fails_the_job() {
    let mut c = Cluster::new();
    let job = c.submit(job(0, 0));
    c.apply(&[Input::JobCommitted { job, ok: false }]);
    c.expect(Effect::AbortJob { job });
    assert_eq!(c.job_state(job), JobState::Failed);
}

/// A job of a map on one worker and a reduce on the other, which waits for its promotion.
fn committing() -> (Cluster, JobId) {
    committing_with(|_| {})
}

fn committing_with(change: impl FnOnce(&mut JobConf)) -> (Cluster, JobId) {
    let mut c = Cluster::new();
    c.add_worker("h0", "/r", 1, 0);
    c.add_worker("h1", "/r", 1, 1);
    let id = c.submit(job_with(1, 1, change));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    finish_reduce(&mut c, 0);
    c.effects.clear();
    (c, id)
}

/// The reduce runs on the second worker, as the first has no slot for it, and ends well.
fn finish_reduce(c: &mut Cluster, number: u16) {
    let attempt = reduce(1, 0, number);
    c.beat(1);
    assert!(c.running_on(1).contains(&attempt), "{attempt:?} does not run");
    c.report(1, &[(attempt, CommitPending)]);
    c.report(1, &[(attempt, Succeeded)]);
}

#[test]
fn a_task_whose_output_is_gone_when_it_is_to_be_promoted_runs_again_and_the_job_is_promoted_then() {
    let (mut c, id) = committing();
    let gone = |number: u16| Input::OutputGone { job: id, attempts: [reduce(1, 0, number); 2].into() };
    c.apply(&[gone(0)]);
    assert_eq!(c.job_states(), [(1, JobState::Running)]);
    c.expect(Effect::OutputGone { attempt: reduce(1, 0, 0), worker: WorkerId(1) });
    c.nothing_else();
    let reduces = c.state().job(id).expect("it runs").tasks(TaskKind::Reduce);
    assert_eq!((reduces.n_succeeded(), reduces.attempts_failed()), (0, 1), "named twice, it is lost once");
    finish_reduce(&mut c, 1);
    c.expect(Effect::CommitJob { job: id });
    // An old word does nothing for the new winner, and what nobody knows is a failure.
    let mut other = c.fork();
    other.apply(&[gone(0)]);
    assert_eq!(other.job_state(id), JobState::Failed);
    c.apply(&[Input::JobCommitted { job: id, ok: true }]);
    assert_eq!(c.job_state(id), JobState::Succeeded);
    c.effects.clear();
    c.apply(&[gone(1)]);
    c.expect(Effect::Rejected { worker: None, why: Rejection::NotCommitting(id) });
}

#[test]
fn who_removes_parts_does_not_have_the_workers_that_made_them_blamed() {
    // One failure on a worker is a fault of it when the job succeeds.
    let (mut c, id) = committing_with(|conf| conf.max_tracker_failures = 1);
    c.apply(&[Input::OutputGone { job: id, attempts: [reduce(1, 0, 0)].into() }]);
    finish_reduce(&mut c, 1);
    c.apply(&[Input::JobCommitted { job: id, ok: true }]);
    assert_eq!(c.job_state(id), JobState::Succeeded);
    assert_eq!(c.state().workers()[1].n_faults(), 0);
}

#[test]
fn a_task_whose_output_is_gone_again_and_again_fails_its_job_after_four_attempts() {
    let (mut c, id) = committing();
    for number in 0..4 {
        c.apply(&[Input::OutputGone { job: id, attempts: [reduce(1, 0, number)].into() }]);
        if number < 3 {
            assert_eq!(c.job_state(id), JobState::Running);
            finish_reduce(&mut c, number + 1);
        }
    }
    c.expect(Effect::AbortJob { job: id });
    assert_eq!(c.job_state(id), JobState::Failed);
}

#[test]
fn a_job_that_was_killed_while_its_output_was_promoted_does_not_run_again() {
    let (mut c, id) = committing();
    c.apply(&[Input::KillJob { job: id }]);
    c.apply(&[Input::OutputGone { job: id, attempts: [reduce(1, 0, 0)].into() }]);
    c.expect(Effect::AbortJob { job: id });
    assert_eq!(c.job_state(id), JobState::Killed);
}

#[test]
fn map_output_that_went_with_its_worker_during_the_promotion_is_missed_by_a_reduce_that_runs_again() {
    let (mut c, id) = committing();
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    c.effects.clear();
    c.apply(&[Input::OutputGone { job: id, attempts: [reduce(1, 0, 0)].into() }]);
    c.expect(Effect::MapOutputLost { attempt: map(1, 0, 0), worker: WorkerId(0), cause: EndCause::WorkerLost });
    c.beat(1);
    assert!(c.running_on(1).contains(&map(1, 0, 1)));
}

#[test]
fn a_waiting_job_says_what_it_waits_for() {
    let mut c = Cluster::new().workers(1, 1, 1);
    let text = |c: &Cluster, job| c.tracker.explain(howdah_core::job::JobId(job)).to_string();
    for _ in 0..3 {
        c.submit(job(2, 1));
    }
    assert_eq!(text(&c, 1), "It is next and map slots are free: it starts with the next heartbeat of their workers.");
    c.beat(0);
    assert_eq!(text(&c, 1), "It is next, but 1 map slot is taken.");
    assert_eq!(text(&c, 2), "It is behind job 1, which still has maps waiting.");
    assert_eq!(text(&c, 3), "It is behind 2 jobs with maps waiting; the first of them is job 1.");
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    assert_eq!(text(&c, 1), "No worker is there: 1 worker is lost.");
    assert_eq!(text(&c, 9), "There is no such job.");
}

#[test]
fn reduces_wait_for_slow_start() {
    let mut c = Cluster::new().workers(1, 2, 1);
    c.submit(job_with(2, 1, |conf| conf.slowstart_ppm = 1_000_000));
    c.beat(0);
    assert_eq!(c.launches().len(), 2);
    let explained = c.tracker.explain(howdah_core::job::JobId(1)).to_string();
    assert_eq!(explained, "Its reduces wait for maps: 0 of the 2 that slow start wants are done.");
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), []);
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(c.launches(), [(0, reduce(1, 0, 0))]);
}
