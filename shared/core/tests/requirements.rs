//! Jobs that require something of their workers, and workers whose attributes change while they run.

mod kit;

use howdah_core::job::requirement::MAX_ATTRIBUTES;
use howdah_core::job::{JobId, WorkerId};
use howdah_core::schedulers::{Reason, by_name};
use howdah_core::tracker::{AttributeSet, Effect, Input, Rejection};
use kit::*;

fn said(c: &Cluster, job: JobId) -> String {
    c.tracker.explain(job).to_string()
}

fn attributes(c: &Cluster, worker: u32) -> Vec<(&str, &str)> {
    let worker = c.state().worker(WorkerId(worker)).expect("it registered");
    worker.attributes().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn a_job_waits_for_a_worker_that_meets_it_and_the_page_says_what_is_missing() {
    let mut c = Cluster::new().workers(3, 1, 0);
    let job = c.submit(job_for(2, &["gpu>=1"]));
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches(), []);
    assert_eq!(said(&c, job), "No live worker meets gpu>=1 (of 3: 3 have no gpu).");
    c.tell(2, &[("gpu", "0")]);
    assert_eq!(said(&c, job), "No live worker meets gpu>=1 (of 3: 2 have no gpu, 1 has gpu=0).");
    c.tell(2, &[("gpu", "1")]);
    assert_eq!(c.launches(), [(2, map(1, 0, 0))], "the report that tells of it gets the task");
    assert_eq!(
        said(&c, job),
        "It waits for 1 worker that meets what it requires (of 3 live ones): no map slot is free there."
    );
    c.report(2, &[(map(1, 0, 0), CommitPending)]);
    c.report(2, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [(2, map(1, 1, 0))]);
    assert!(c.running_on(0).is_empty() && c.running_on(1).is_empty());
}

#[test]
fn requirements_that_nobody_meets_together_are_named_together() {
    let mut c = Cluster::new().workers(3, 1, 0);
    c.tell(0, &[("gpu", "2")]);
    c.tell(1, &[("ssd", "yes")]);
    c.tell(2, &[("ssd", "no")]);
    let job = c.submit(job_for(1, &["gpu>=1", "ssd"]));
    let expected = "No live worker meets gpu>=1 and ssd together (of 3: 2 miss gpu>=1, 2 miss ssd).";
    assert_eq!(said(&c, job), expected);
    let job = c.submit(job_for(1, &["gpu>4", "tape", "ssd"]));
    let expected = "No live worker meets gpu>4 (of 3: 2 have no gpu, 1 has gpu=2). No live worker meets tape (of 3: 3 \
                    have no tape).";
    assert_eq!(said(&c, job), expected, "what somebody meets is left out");
    assert!(
        matches!(c.tracker.explain(job), Reason::Requirements(unmet) if !unmet.together && unmet.missing.len() == 2)
    );
}

#[test]
fn name_host_and_rack_need_no_probe_and_an_attribute_of_that_name_goes_first() {
    let mut c = Cluster::new().workers(2, 4, 0);
    c.add_worker("h2", "/r2", 4, 0);
    for requires in ["name=w1", "host=h1", "host!=h0"] {
        c.submit(job_for(1, &[requires, "rack=r"]));
    }
    for requires in ["rack=r2", "rack=/r2", "rack!=/r"] {
        c.submit(job_for(1, &[requires]));
    }
    (0..3).for_each(|worker| c.beat(worker));
    let launched: Vec<(u32, u32)> = c.launches().iter().map(|&(worker, attempt)| (worker, attempt.job.0)).collect();
    assert_eq!(launched, [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (2, 6)]);
    c.submit(job_for(1, &["rack=basement"]));
    c.tell(0, &[("rack", "basement")]);
    assert_eq!(c.launches(), [(0, map(7, 0, 0))]);
}

#[test]
fn what_runs_goes_on_when_an_attribute_disappears_and_nothing_new_starts() {
    let mut c = Cluster::new().workers(1, 2, 0);
    c.tell(0, &[("gpu", "1")]);
    let job = c.submit(job_for(3, &["gpu"]));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (0, map(1, 1, 0))]);
    c.tell(0, &[]);
    c.report(0, &[(map(1, 0, 0), CommitPending)]);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [], "the third waits");
    assert_eq!(c.running_on(0), [map(1, 1, 0)], "and the second runs on");
    assert_eq!(said(&c, job), "No live worker meets gpu (of 1: 1 has no gpu).");
    c.tell(0, &[("gpu", "2")]);
    assert_eq!(c.launches(), [(0, map(1, 2, 0))]);
}

#[test]
fn a_job_that_waits_for_an_attribute_holds_up_nobody_behind_it() {
    let mut c = Cluster::new().workers(1, 2, 0);
    c.submit(job_for(5, &["gpu"]));
    c.submit(job(2, 0));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(2, 0, 0)), (0, map(2, 1, 0))]);
}

#[test]
fn a_parked_workers_report_of_an_attribute_gets_the_task_at_once() {
    let mut c = Cluster::new().workers(2, 1, 0).parking();
    c.beat(0);
    c.beat(1);
    c.submit(job_for(1, &["gpu"]));
    assert_eq!(c.launches(), [], "both stay parked");
    assert!(c.state().workers().iter().all(|worker| worker.is_parked()));
    c.effects.clear();
    c.tell(1, &[("gpu", "1")]);
    assert_eq!(c.launches(), [(1, map(1, 0, 0))]);
    assert_eq!(c.answers(), [1]);
    assert!(c.state().workers()[0].is_parked());
}

#[test]
fn a_parked_worker_gets_what_failed_on_it_when_the_other_one_no_longer_will_do() {
    let mut c = Cluster::new().workers(2, 1, 0).parking();
    c.tell(0, &[("gpu", "1")]);
    c.tell(1, &[("gpu", "1")]);
    c.submit(job_for(2, &["gpu"]));
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (1, map(1, 1, 0))]);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(c.launches(), [], "the other worker may run it");
    assert!(c.state().workers()[0].is_parked());
    c.tell(1, &[]);
    assert_eq!(c.launches(), [(0, map(1, 0, 1))], "there is no other any more");
}

#[test]
fn a_repeated_report_changes_nothing_and_a_late_one_undoes_nothing() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.puppets[0].deaf = true;
    c.tell(0, &[("gpu", "1")]);
    assert_eq!(attributes(&c, 0), [("gpu", "1")]);
    let lost = c.report_of(0);
    c.beat(0);
    assert_eq!(attributes(&c, 0), [("gpu", "1")], "its answer was lost, so it came again");
    c.tell(0, &[("gpu", "2")]);
    let older = Input::Report(Box::new(howdah_core::tracker::Report { response_id: c.puppets[0].response_id, ..lost }));
    c.apply(&[older]);
    assert_eq!(attributes(&c, 0), [("gpu", "2")]);
    assert!(!c.effects.iter().any(|effect| matches!(effect, Effect::Rejected { .. })), "{:?}", c.effects);
}

#[test]
fn a_registration_starts_the_count_again() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.tell(0, &[("gpu", "1")]);
    c.tell(0, &[("gpu", "2")]);
    c.restart(0);
    assert_eq!(attributes(&c, 0), [], "what the run before had is gone");
    c.tell(0, &[("gpu", "3")]);
    assert_eq!(attributes(&c, 0), [("gpu", "3")]);
}

#[test]
fn sets_come_in_any_order_and_one_that_is_too_long_is_dropped() {
    let mut c = Cluster::new().workers(1, 1, 0);
    c.tell(0, &[("b", "2"), ("a", "9"), ("b", "1"), ("c", "")]);
    assert_eq!(attributes(&c, 0), [("a", "9"), ("b", "1"), ("c", "")]);
    c.effects.clear();
    let many = (0..=MAX_ATTRIBUTES).map(|n| (format!("n{n}"), String::new())).collect();
    c.puppets[0].attributes = Some(AttributeSet { version: 9, attributes: many });
    c.beat(0);
    c.expect(Effect::Rejected { worker: Some(WorkerId(0)), why: Rejection::MalformedReport(WorkerId(0)) });
    assert_eq!(attributes(&c, 0).len(), 3, "the rest of the report holds, and the old set");
    c.nothing_else();
}

#[test]
fn a_second_attempt_that_a_worker_may_not_run_does_not_end_its_turn() {
    let policy = by_name("fifo", &[("speculation".into(), "hadoop".into())].into()).expect("the rule exists");
    let mut c = Cluster::made(|_| {}, policy).workers(3, 1, 0);
    (0..2).for_each(|worker| c.tell(worker, &[("gpu", "1")]));
    let mut spec = job_for(2, &["gpu"]);
    spec.conf.commits_output = false;
    c.submit(spec);
    (0..2).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (1, map(1, 1, 0))]);
    c.advance(61_000);
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }]);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.submit(job(1, 0));
    c.beat(2);
    assert_eq!(c.launches(), [(2, map(2, 0, 0))], "the worker without gpu takes the next job");
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: false }]);
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 1, 1))], "and the straggler gets a speculative attempt where it may");
}
