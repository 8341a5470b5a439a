//! Scenarios of workers that cannot see a job's files, and of workers that nobody can fetch from.

mod kit;

use howdah_core::job::{JobId, JobState, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, EndCause, Input};
use kit::*;

fn blind(worker: u32) -> Input {
    Input::CannotServe { worker: WorkerId(worker), job: JobId(1) }
}

fn reach(worker: u32, reachable: bool) -> Input {
    Input::Reach { worker: WorkerId(worker), reachable }
}

#[test]
fn a_worker_that_cannot_see_a_jobs_files_costs_it_nothing_and_gets_no_more_of_it() {
    let mut c = Cluster::new().workers(2, 2, 0);
    c.submit(job(4, 0));
    c.beat(0);
    assert_eq!(c.running_on(0), [map(1, 0, 0), map(1, 1, 0)]);
    // As the master has it: what the report means, and the report, at once.
    for id in [map(1, 0, 0), map(1, 1, 0)] {
        c.puppets[0].attempts.insert(id, Failed);
    }
    let report = c.report_of(0);
    c.puppets[0].waiting = true;
    c.apply(&[blind(0), Input::Report(Box::new(report))]);
    let unserved = |id| (id, Killed, EndCause::Unserved);
    assert_eq!(c.ends(), [unserved(map(1, 0, 0)), unserved(map(1, 1, 0))]);
    let live = c.state().job(JobId(1)).expect("it lives");
    assert_eq!((live.tasks(TaskKind::Map).attempts_failed(), live.failures_on(WorkerId(0))), (0, 0));
    c.beat(0);
    assert_eq!(c.running_on(0), [], "it is free, and gets nothing of the job");
    c.beat(1);
    assert_eq!(c.running_on(1).len(), 2);
    c.submit(job(1, 0));
    c.beat(0);
    assert_eq!(c.running_on(0), [map(2, 0, 0)], "other jobs are no concern of it");
}

#[test]
fn a_job_whose_files_no_worker_sees_fails() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(1, 0));
    for turn in 0..20 {
        let worker = turn % 2;
        c.beat(worker);
        for attempt in c.running_on(worker) {
            c.apply(&[blind(worker)]);
            c.report(worker, &[(attempt, Failed)]);
        }
    }
    assert_eq!(c.job_states().last(), Some(&(1, JobState::Failed)));
}

#[test]
fn a_worker_that_registers_again_is_tried_again() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(1, 0));
    c.apply(&[blind(0)]);
    c.beat(0);
    assert_eq!(c.running_on(0), []);
    c.restart(0);
    c.beat(0);
    assert_eq!(c.running_on(0).len(), 1);
}

#[test]
fn output_on_a_worker_that_nobody_reaches_is_made_again_elsewhere_at_no_ones_expense() {
    let mut c = Cluster::new().workers(2, 2, 1);
    c.submit(job(3, 1));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.effects.clear();
    c.apply(&[reach(0, false)]);
    let lost = c.take(|effect| match *effect {
        Effect::MapOutputLost { attempt, cause, .. } => Some((attempt, cause)),
        _ => None,
    });
    assert_eq!(lost, [(map(1, 0, 0), EndCause::Unreachable)]);
    let running = c.running_on(0);
    let maps: Vec<_> = running.into_iter().filter(|id| id.kind == TaskKind::Map).map(|id| (id, Killed)).collect();
    c.report(0, &maps);
    assert!(c.ends().iter().all(|(_, state, cause)| (*state, *cause) == (Killed, EndCause::Unreachable)));
    c.beat(0);
    assert!(c.running_on(0).iter().all(|id| id.kind == TaskKind::Reduce), "{:?}", c.running_on(0));
    assert_eq!(c.state().job(JobId(1)).expect("it lives").failures_on(WorkerId(0)), 0);
    c.apply(&[reach(0, true)]);
    c.beat(0);
    assert!(c.running_on(0).iter().any(|id| id.kind == TaskKind::Map), "{:?}", c.running_on(0));
}

#[test]
fn maps_whose_output_nobody_fetches_may_run_on_a_worker_that_nobody_reaches() {
    let mut c = Cluster::new().workers(2, 2, 0);
    c.apply(&[reach(0, false)]);
    c.submit(job(1, 0));
    c.beat(0);
    assert_eq!(c.running_on(0), [map(1, 0, 0)]);
}

#[test]
fn where_nobody_can_be_reached_everything_goes_on() {
    let mut c = Cluster::new().workers(1, 2, 1);
    c.apply(&[reach(0, false)]);
    c.submit(job(1, 1));
    c.beat(0);
    assert!(!c.running_on(0).is_empty());
}

#[test]
fn who_is_of_no_use_is_counted_in_the_jobs_explanation() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(2, 1));
    c.beat(1);
    c.apply(&[blind(0)]);
    let text = c.tracker.explain(JobId(1)).to_string();
    assert_eq!(text, "1 worker does not see its files; it waits for a map slot on another.");
}
