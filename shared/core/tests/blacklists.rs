//! Scenarios of workers that fail too often, for one job and for the cluster.

mod kit;

use howdah_core::job::{AttemptId, JobId, WorkerId};
use howdah_core::tracker::{Effect, FaultMemory, Input, Rejection, WorkerState};
use kit::*;

/// Worker 0 fails the first `failures` attempts it gets of a job of so many maps; then the job succeeds.
fn run_with_failures(c: &mut Cluster, n_maps: u32, failures: u32) -> JobId {
    let job = c.submit(job_with(n_maps, 0, |conf| {
        conf.commits_output = false;
        conf.max_tracker_failures = 2;
    }));
    let mut left = failures;
    for _ in 0..200 {
        for worker in 0..c.puppets.len() as u32 {
            let running: Vec<AttemptId> = c.puppets[worker as usize].attempts.keys().copied().collect();
            let changes: Vec<_> = running
                .into_iter()
                .map(|id| {
                    let fails = worker == 0 && left > 0 && id.job == job;
                    left -= u32::from(fails);
                    (id, if fails { Failed } else { Succeeded })
                })
                .collect();
            c.report(worker, &changes);
        }
        if c.state().job(job).is_some_and(|j| j.state() == howdah_core::job::JobState::Committing) {
            c.apply(&[Input::JobCommitted { job, ok: true }]);
            return job;
        }
    }
    panic!("the job does not end");
}

#[test]
fn a_job_avoids_a_worker_where_it_failed_often_while_such_workers_are_few() {
    let mut c = Cluster::new().workers(5, 1, 0);
    let job = c.submit(job_with(10, 0, |conf| conf.max_tracker_failures = 2));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    c.report(0, &[(map(1, 1, 0), Failed)]);
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.launches(), [], "one of five is less than a quarter");
    let live = c.state().job(job).expect("runs");
    assert!(c.state().job_avoids(live, howdah_core::job::TaskKind::Map, WorkerId(0)));
    c.apply(&[Input::Goodbye { worker: WorkerId(4), incarnation: 1 }]);
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 2, 0))], "one of four is not");
}

#[test]
fn two_workers_cannot_lock_a_job_out() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job_with(4, 0, |conf| conf.max_tracker_failures = 1));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(c.launches().last(), Some(&(0, map(1, 1, 0))));
}

#[test]
fn a_worker_is_blacklisted_after_faults_in_four_jobs_that_succeeded_and_comes_back_with_time() {
    let mut c = Cluster::new().workers(3, 1, 0);
    c.now = howdah_core::time::Time::from_ms(15 * 60_000 * 100);
    for n in 1..=4 {
        assert_eq!(c.state().workers()[0].state(), WorkerState::Live, "after {n} jobs");
        run_with_failures(&mut c, 6, 2);
        assert_eq!(c.state().workers()[0].n_faults(), n);
    }
    c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Blacklisted });
    c.submit(job(1, 0));
    c.launches();
    c.beat(0);
    assert_eq!(c.launches(), []);
    for _ in 0..180 * 60 / 100 {
        assert_eq!(c.state().workers()[0].state(), WorkerState::Blacklisted);
        c.advance(100_000);
        for worker in 0..3 {
            c.beat(worker);
        }
    }
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live, "the window is over");
}

#[test]
fn failures_of_a_job_that_fails_are_no_faults() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job_with(1, 0, |conf| {
        conf.max_map_attempts = 1;
        conf.max_tracker_failures = 1;
    }));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(c.state().workers()[0].n_faults(), 0);
}

#[test]
fn an_advisory_blacklist_counts_and_does_nothing() {
    let mut c = Cluster::with(|config| {
        config.blacklist.enforced = false;
        config.blacklist.memory = FaultMemory::Forgive { every_ms: 1_000 };
    })
    .workers(3, 1, 0);
    for _ in 0..5 {
        run_with_failures(&mut c, 6, 2);
    }
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live);
    assert_eq!(c.state().workers()[0].n_faults(), 5);
    c.advance(2_000);
    assert_eq!(c.state().workers()[0].n_faults(), 3, "one is forgiven each time");
}

#[test]
fn the_last_worker_with_slots_is_never_blacklisted() {
    let mut c = Cluster::with(|config| config.blacklist.max_faults = 1).workers(1, 1, 0);
    c.add_worker("h9", "/r", 0, 1);
    run_with_failures(&mut c, 6, 2);
    assert_eq!(c.state().workers()[0].state(), WorkerState::Live);
}

#[test]
fn a_worker_that_is_enabled_or_started_anew_is_off_the_list_with_no_faults() {
    let mut c = Cluster::new().workers(3, 1, 0);
    c.now = howdah_core::time::Time::from_ms(15 * 60_000 * 100);
    for starts in [true, false] {
        for _ in 0..4 {
            run_with_failures(&mut c, 6, 2);
        }
        assert_eq!(c.state().workers()[0].state(), WorkerState::Blacklisted);
        c.effects.clear();
        if starts {
            c.restart(0);
        } else {
            c.apply(&[Input::Enable { worker: WorkerId(0) }]);
        }
        c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Live });
        assert_eq!(c.state().workers()[0].n_faults(), 0);
    }
    c.apply(&[Input::Enable { worker: WorkerId(9) }]);
    c.expect(Effect::Rejected { worker: None, why: Rejection::UnknownWorker(WorkerId(9)) });
}

#[test]
fn a_blacklisted_worker_is_still_that_after_a_restart_and_a_snapshot_and_comes_back_when_it_would_have() {
    let mut c = Cluster::new().workers(3, 1, 0);
    c.now = howdah_core::time::Time::from_ms(15 * 60_000 * 100);
    for _ in 0..4 {
        run_with_failures(&mut c, 6, 2);
    }
    assert_eq!(c.state().workers()[0].state(), WorkerState::Blacklisted);
    let forgiven = c.now.as_us() / 1_000 + 180 * 60_000;
    let fifo = howdah_core::tracker::SchedulerChoice { name: "fifo".to_owned(), params: Default::default() };
    for start in 0..3 {
        match start {
            0 => c.apply(&[Input::Recovered]),
            1 => c.apply(&[Input::Snapshot(Box::new(fifo.clone()))]),
            _ => c.restart_master(),
        }
        let worker = &c.state().workers()[0];
        assert_eq!((worker.state(), worker.n_faults()), (WorkerState::Blacklisted, 4), "start {start}");
        assert_eq!(c.state().totals().blacklisted, 1);
        c.submit(job(1, 0));
        c.launches();
        c.beat(0);
        assert_eq!(c.launches(), [], "start {start}");
        c.register_again(0);
        assert_eq!(c.state().workers()[0].state(), WorkerState::Blacklisted, "that it lost the master changes nothing");
    }
    while c.now.as_us() / 1_000 + 100_000 < forgiven {
        assert_eq!(c.state().workers()[0].state(), WorkerState::Blacklisted);
        c.advance(100_000);
        (0..3).for_each(|worker| c.beat(worker));
    }
    c.advance(15 * 60_000);
    assert_eq!(c.state().workers()[0].n_faults(), 0);
}
