//! Scenarios of heartbeats: response ids, parking, directives, unknown workers.

mod kit;

use howdah_core::job::{JobId, JobState, WorkerId};
use howdah_core::tracker::{Effect, EndCause, HeartbeatRule, Input, Rejection, WorkerState};
use kit::*;

#[test]
fn a_report_whose_answer_was_lost_gets_it_again() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.submit(job(2, 0));
    c.puppets[0].deaf = true;
    c.beat(0);
    let answer = |c: &mut Cluster| {
        c.take(|effect| match *effect {
            Effect::Answer { response_id, interval_ms, .. } => Some((response_id, interval_ms)),
            _ => None,
        })
    };
    assert_eq!(answer(&mut c), [(1, 3_000)]);
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))], "the same launch, no other");
    assert_eq!(answer(&mut c), [(1, 3_000)], "under the same number");
    c.nothing_else();
}

#[test]
fn a_report_that_crossed_an_answer_has_its_free_slots_filled_too() {
    let mut c = Cluster::new().parking().workers(1, 2, 0);
    c.submit(job_with(4, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.effects.clear();
    // The second map ends while the answer to the end of the first is on its way.
    c.puppets[0].deaf = true;
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 0))]);
    c.effects.clear();
    c.report(0, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 0)), (0, map(1, 3, 0))], "the one before again, and one for the new slot");
    assert_eq!(c.puppets[0].response_id, 2, "the answer is the last one, with what has come since");
    // The worker had the first of the two when it wrote this: what the second brings is on its way.
    c.effects.clear();
    let mut report = c.report_of(0);
    report.attempts.retain(|status| status.attempt == map(1, 2, 0));
    report.free_maps = 1;
    c.apply(&[Input::Report(Box::new(report))]);
    assert_eq!(c.launches(), [], "its slot is taken");
    assert!(c.state().workers()[0].is_parked());
}

#[test]
fn a_crossing_report_without_a_use_for_its_slots_is_answered_all_the_same() {
    let mut c = Cluster::new().parking().workers(1, 2, 0);
    c.submit(job(1, 0));
    c.puppets[0].deaf = true;
    c.beat(0);
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))], "the first answer may be lost");
    assert_eq!(c.answers(), [0]);
}

#[test]
fn what_a_number_confirms_is_repeated_if_it_came_after_the_first_answer_under_it() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    c.submit(job(1, 0));
    c.puppets[0].deaf = true;
    c.beat(0);
    c.apply(&[Input::KillJob { job: JobId(1) }]);
    c.effects.clear();
    c.beat(0);
    let kill = Effect::Kill { worker: WorkerId(0), attempt: map(1, 0, 0), cause: EndCause::JobEnded };
    c.expect(kill);
    assert_eq!(c.puppets[0].response_id, 1);
    // The first answer under 1 had no such order, so a report that names 1 does not say that it was obeyed.
    c.effects.clear();
    c.beat(0);
    c.expect(kill);
    assert_eq!((c.answers(), c.puppets[0].response_id), (vec![0], 2), "at once");
    let ends = |effect: &Effect| matches!(effect, Effect::AttemptEnded { .. }).then_some(());
    assert_eq!(c.take(ends), []);
    c.beat(0);
    assert_eq!(c.take(ends), [()], "never launched, and told to stop under the number that it names");
}

#[test]
fn a_job_is_forgotten_under_a_number_that_tells_of_it_from_the_start() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.puppets[0].deaf = true;
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.apply(&[Input::JobCommitted { job, ok: true }]);
    let forgets = |c: &mut Cluster| {
        c.take(|effect| matches!(effect, Effect::ForgetJob { .. }).then_some(()));
        let before = c.puppets[0].response_id;
        c.beat(0);
        let forget_count = c.take(|effect| matches!(effect, Effect::ForgetJob { .. }).then_some(())).len();
        (before, forget_count)
    };
    assert_eq!(forgets(&mut c), (1, 1), "with the answer that is given again");
    assert_eq!(forgets(&mut c), (2, 1), "2 also names an answer that did not tell");
    assert_eq!(forgets(&mut c), (3, 0));
}

#[test]
fn the_end_of_an_attempt_may_be_reported_twice() {
    let mut c = Cluster::new().workers(1, 1, 0);
    let job = c.submit(job_with(2, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.puppets[0].deaf = true;
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 1, 0))]);
    c.nothing_else();
    assert_eq!(c.state().job(job).expect("runs").tasks(howdah_core::job::TaskKind::Map).n_succeeded(), 1);
}

#[test]
fn a_wrong_response_id_sends_the_worker_back_to_register() {
    let mut c = Cluster::new().workers(1, 1, 0);
    for wrong in [7, u32::MAX] {
        let mut report = c.report_of(0);
        report.response_id = wrong;
        c.apply(&[Input::Report(Box::new(report))]);
        let why = Rejection::WrongResponseId { reported: wrong, last: 0 };
        c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why });
        c.expect(Effect::Reinit { worker: WorkerId(0) });
        c.nothing_else();
    }
}

#[test]
fn a_newer_report_takes_the_place_of_a_parked_one() {
    let mut c = Cluster::new().parking().workers(1, 2, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.commits_output = false));
    c.beat(0);
    c.beat(0);
    assert_eq!(c.answers(), [0], "the launch was answered, then the report with a free slot is parked");
    assert!(c.state().workers()[0].is_parked());
    c.effects.clear();
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.job_state(job), JobState::Committing);
    assert_eq!(c.answers(), [0_u32; 0], "parked again: nothing is to be said");
    c.advance(2_999);
    assert_eq!(c.answers(), [0_u32; 0]);
    c.advance(1);
    assert_eq!(c.answers(), [0], "one answer, to the newer one");
}

#[test]
fn a_parked_worker_hears_of_a_kill_at_once_and_only_once() {
    let mut c = Cluster::new().parking().workers(1, 2, 0);
    c.submit(job(1, 0));
    c.beat(0);
    c.beat(0);
    c.effects.clear();
    c.apply(&[Input::KillAttempt { attempt: map(1, 0, 0), fail: false }]);
    c.expect(Effect::Kill { worker: WorkerId(0), attempt: map(1, 0, 0), cause: EndCause::Requested });
    assert_eq!(c.answers(), [0]);
    c.beat(0);
    assert_eq!(
        c.answers(),
        [0_u32; 0],
        "still stopping: the directive is repeated with the next answer, not in circles"
    );
    c.advance(3_000);
    c.expect(Effect::Kill { worker: WorkerId(0), attempt: map(1, 0, 0), cause: EndCause::Requested });
}

#[test]
fn work_that_becomes_possible_is_offered_to_parked_workers() {
    let mut c = Cluster::new().parking().workers(2, 1, 1);
    c.submit(job_with(2, 1, |conf| conf.slowstart_ppm = 500_000));
    for worker in [0, 1, 1, 0] {
        c.beat(worker);
    }
    assert_eq!(c.launches().len(), 2);
    c.effects.clear();
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [(1, reduce(1, 0, 0))], "slow start is reached: worker 1 has been parked longer");
    assert_eq!(c.answers(), [1]);
}

#[test]
fn work_that_comes_with_the_end_of_the_parking_is_still_given_to_the_parked_worker() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    c.beat(0);
    assert!(c.state().workers()[0].is_parked());
    c.now += howdah_core::time::Span::from_secs(3);
    let spec = std::sync::Arc::new(job(1, 0));
    c.apply(&[Input::Submit { job: JobId(1), spec }, Input::Tick]);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))]);
    assert_eq!(c.answers(), [0], "once");
}

#[test]
fn a_drained_worker_gets_nothing_until_it_is_taken_back() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    c.beat(0);
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }]);
    c.submit(job(1, 0));
    assert_eq!(c.launches(), []);
    assert_eq!(c.tracker.explain(JobId(1)).to_string(), "No worker takes tasks: 0 blacklisted, 1 draining.");
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: false }]);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))]);
}

#[test]
fn a_lost_worker_that_was_parked_is_told_to_register() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    c.beat(0);
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    c.expect(Effect::Reinit { worker: WorkerId(0) });
    assert_eq!(c.answers(), [0]);
    c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Lost });
    c.nothing_else();
}

#[test]
fn a_worker_that_runs_what_nobody_waits_for_is_told_to_stop_it() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    c.report(0, &[(map(5, 3, 2), Running)]);
    c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::UnknownAttempt(map(5, 3, 2)) });
    c.expect(Effect::Kill { worker: WorkerId(0), attempt: map(5, 3, 2), cause: EndCause::JobEnded });
    assert_eq!(c.answers(), [0]);
    c.beat(0);
    assert_eq!(c.answers(), [0_u32; 0], "sent once; the next time with the next answer");
    c.puppets[0].attempts.clear();
    c.beat(0);
    c.effects.clear();
    c.advance(3_000);
    c.nothing_else();
}

#[test]
fn a_worker_that_claims_to_run_very_many_unknown_attempts_is_told_to_stop_them_in_batches() {
    let mut c = Cluster::new().parking().workers(1, 1, 0);
    let claims: Vec<_> = (0..65_536).map(|index| kit::status(map(5, index, 2), Running)).collect();
    let mut report = c.report_of(0);
    report.attempts.clone_from(&claims);
    c.apply(&[Input::Report(Box::new(report))]);
    let kills = |effect: &Effect| matches!(effect, Effect::Kill { .. }).then_some(());
    assert_eq!(c.take(kills).len(), 256);
    // The worker stopped those: one report shows it, the next one brings more.
    for _ in 0..2 {
        let mut report = c.report_of(0);
        report.attempts = claims[256..].to_vec();
        c.apply(&[Input::Report(Box::new(report))]);
    }
    assert_eq!(c.take(kills).len(), 256);
}

#[test]
fn launches_on_their_way_take_slots_that_the_worker_still_reports_free() {
    let mut c = Cluster::new().workers(1, 2, 0);
    c.submit(job(4, 0));
    c.puppets[0].deaf = true;
    c.beat(0);
    assert_eq!(c.launches().len(), 2);
    let mut report = c.report_of(0);
    report.response_id = 1;
    c.apply(&[Input::Report(Box::new(report))]);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (0, map(1, 1, 0))], "repeated, nothing more");
}

#[test]
fn the_interval_of_an_answer_follows_the_rule() {
    let mut c = Cluster::with(|config| config.heartbeat = HeartbeatRule::Hadoop0202).workers(1, 1, 0);
    c.beat(0);
    c.expect(Effect::Answer { worker: WorkerId(0), response_id: 1, interval_ms: 3_000 });
    assert_eq!(c.tracker.interval_ms(), 3_000);
}

#[test]
fn workers_are_numbered_in_order_and_by_name() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.puppets.push(c.puppets[0].clone());
    c.puppets.push(c.puppets[0].clone());
    let wrong = c.registration(WorkerId(3), "h", "/r");
    c.apply(&[wrong]);
    c.expect(Effect::Rejected { worker: None, why: Rejection::WorkerOutOfOrder(WorkerId(3)) });
    c.nothing_else();
}
