//! Scenarios of tasks that take one worker after another down, and of losses that are no task's fault.

mod kit;

use howdah_core::job::{JobId, JobState, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, EndCause, Input, WorkerState};
use kit::*;

/// Workers with two map slots each, in a cluster where a task may take three of them down.
fn cluster(workers: u32) -> Cluster {
    Cluster::with(|config| {
        config.max_worker_losses = 3;
        config.expiry_ms = 30_000;
    })
    .workers(workers, 2, 0)
}

/// All workers but one send heartbeats for so many seconds.
fn without(c: &mut Cluster, silent: Option<u32>, seconds: u64) {
    for _ in 0..seconds {
        c.advance(1_000);
        for worker in 0..c.puppets.len() as u32 {
            let there = c.state().workers()[worker as usize].state() != WorkerState::Lost;
            if Some(worker) != silent && there {
                c.beat(worker);
            }
        }
    }
}

/// Where an attempt of the first map of the first job runs.
fn place(c: &Cluster) -> Option<u32> {
    c.state().attempts_of(map(1, 0, 0).task()).next().map(|attempt| attempt.worker().0)
}

/// The worker of that attempt dies, its connection closes, and it comes back some seconds later.
fn takes_down(c: &mut Cluster) {
    let worker = place(c).expect("it runs");
    without(c, Some(worker), 10);
    let incarnation = c.puppets[worker as usize].incarnation;
    c.apply(&[Input::Gone { worker: WorkerId(worker), incarnation }]);
    c.restart(worker);
    without(c, None, 10);
}

fn losses(c: &Cluster) -> u16 {
    c.state().job(JobId(1)).map_or(0, |job| job.worker_losses(TaskKind::Map, 0))
}

#[test]
fn a_task_that_takes_three_workers_down_fails_its_job() {
    for workers in [2, 5] {
        let mut c = cluster(workers);
        let job = c.submit(job(1, 0));
        without(&mut c, None, 4);
        takes_down(&mut c);
        takes_down(&mut c);
        assert_eq!((losses(&c), c.job_state(job)), (2, JobState::Running));
        takes_down(&mut c);
        assert_eq!(c.job_state(job), JobState::Failed);
        let killed = |number| (map(1, 0, number), Killed, EndCause::WorkerLost);
        let failed = (map(1, 0, 2), Failed, EndCause::TooManyWorkerLosses);
        assert_eq!(c.ends(), [killed(0), killed(1), failed]);
        c.expect(Effect::TaskFailed { task: map(1, 0, 0).task() });
        let summary = c.state().ended_job(job).expect("remembered");
        assert_eq!((summary.failed_attempts, summary.killed_attempts), (1, 2));
    }
}

#[test]
fn a_job_says_how_many_and_tolerates_the_task_as_any_other() {
    let mut c = Cluster::new().workers(3, 1, 0);
    let job = c.submit(job_with(2, 0, |conf| {
        conf.max_worker_losses = Some(1);
        conf.max_map_failures_percent = 50;
    }));
    c.beat(0);
    c.beat(1);
    assert_eq!((c.running_on(0), c.running_on(1)), (vec![map(1, 0, 0)], vec![map(1, 1, 0)]));
    takes_down(&mut c);
    assert_eq!(c.ends(), [(map(1, 0, 0), Failed, EndCause::TooManyWorkerLosses)]);
    assert_eq!(c.job_state(job), JobState::Running);
    c.report(1, &[(map(1, 1, 0), CommitPending)]);
    c.report(1, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(c.job_state(job), JobState::Committing);
}

#[test]
fn any_number_of_losses_is_nothing_where_that_is_said_and_in_recordings_of_before() {
    let mut c = cluster(3);
    c.submit(job_with(1, 0, |conf| conf.max_worker_losses = Some(0)));
    let mut old = Cluster::new().workers(3, 2, 0);
    old.submit(job(1, 0));
    for c in [&mut c, &mut old] {
        without(c, None, 4);
        for _ in 0..6 {
            takes_down(c);
        }
        assert_eq!((losses(c), c.job_state(JobId(1))), (0, JobState::Running));
    }
}

#[test]
fn what_ran_beside_it_is_spared_by_one_loss() {
    let mut c = cluster(2);
    let innocent = c.submit(job(1, 0));
    let poison = c.submit(job(1, 0));
    for number in 0..3 {
        without(&mut c, None, 4);
        let worker = place(&c).expect("it runs");
        // Both ran there each time, and the poison was started last.
        let task = map(2, 0, 0).task();
        let beside = c.state().attempts_of(task).next().expect("it runs").worker().0;
        assert_eq!(worker, beside, "loss {number}");
        takes_down(&mut c);
    }
    assert_eq!((c.job_state(innocent), c.job_state(poison)), (JobState::Running, JobState::Failed));
}

#[test]
fn a_power_cut_of_all_workers_counts_for_nobody_however_they_come_back() {
    let mut c = cluster(5);
    let job = c.submit(job(6, 0));
    without(&mut c, None, 4);
    for cut in 0..8 {
        match cut % 3 {
            // Nobody comes back before the expiry.
            0 => c.advance(31_000),
            // One after another, before it.
            1 => c.advance(7_000),
            // Their processes were killed: all connections close.
            _ => {
                c.advance(4_000);
                for worker in 0..5 {
                    let incarnation = c.puppets[worker as usize].incarnation;
                    c.apply(&[Input::Gone { worker: WorkerId(worker), incarnation }]);
                }
            }
        }
        for worker in 0..5 {
            c.restart(worker);
            c.beat(worker);
            c.advance(2_000);
        }
        assert_eq!(losses(&c), 0, "after cut {cut}");
        without(&mut c, None, 20);
    }
    assert_eq!(c.job_state(job), JobState::Running);
}

#[test]
fn a_power_cut_of_the_master_and_most_workers_counts_for_nobody() {
    let mut c = cluster(5);
    c.submit(job(10, 0));
    without(&mut c, None, 4);
    c.advance(120_000 - 1);
    c.apply(&[Input::Recovered]);
    // Two are back at once, and go on; three were started anew.
    for second in 0..20 {
        c.advance(1_000);
        c.beat(3);
        c.beat(4);
        if second >= 8 && second % 4 == 0 && second < 20 {
            c.restart((second - 8) / 4);
        }
    }
    assert_eq!(losses(&c), 0);
}

#[test]
fn a_worker_that_was_asked_to_go_counts_for_nobody() {
    let mut c = cluster(3);
    let job = c.submit(job(1, 0));
    for n in 0..9 {
        without(&mut c, None, 10);
        let worker = place(&c).expect("it runs");
        let id = WorkerId(worker);
        let incarnation = c.puppets[worker as usize].incarnation;
        if n % 3 == 0 {
            without(&mut c, Some(worker), 10);
            c.apply(&[Input::Goodbye { worker: id, incarnation }]);
        } else {
            c.apply(&[Input::Drain { worker: id, drain: true }]);
            without(&mut c, Some(worker), 10);
        }
        // A drained one may be switched off, or started anew.
        if n % 3 == 1 {
            c.apply(&[Input::Gone { worker: id, incarnation }]);
        }
        c.restart(worker);
    }
    assert_eq!((losses(&c), c.job_state(job)), (0, JobState::Running));
}

#[test]
fn a_task_of_which_another_attempt_runs_on_is_left_to_it() {
    let mut c = Cluster::made(|config| config.max_worker_losses = 1, Box::new(odd::Odd::eager())).workers(3, 1, 0);
    let job = c.submit(job(1, 0));
    without(&mut c, None, 2);
    let n = c.state().attempts_of(map(1, 0, 0).task()).count();
    assert!(n > 1, "{n} attempts");
    takes_down(&mut c);
    assert_eq!((losses(&c), c.job_state(job)), (1, JobState::Running));
}

#[test]
fn what_was_counted_survives_a_restart_and_a_snapshot() {
    let mut c = cluster(3);
    let job = c.submit(job(1, 0));
    without(&mut c, None, 4);
    takes_down(&mut c);
    c.apply(&[Input::Recovered]);
    without(&mut c, None, 10);
    takes_down(&mut c);
    assert_eq!(losses(&c), 2);
    c.restart_master();
    assert_eq!(losses(&c), 2);
    without(&mut c, None, 10);
    takes_down(&mut c);
    assert_eq!(c.job_state(job), JobState::Failed);
}

#[test]
fn workers_that_park_their_heartbeats_count_as_going_on() {
    let mut c = Cluster::with(|config| {
        config.heartbeat = howdah_core::tracker::HeartbeatRule::default();
        config.expiry_ms = 30_000;
    })
    .workers(3, 2, 1)
    .parking();
    (0..3).for_each(|worker| c.beat(worker));
    let job = c.submit(job_with(1, 1, |conf| conf.max_worker_losses = Some(2)));
    for n in 1..=2u16 {
        let worker = place(&c).expect("it runs");
        for _ in 0..30 {
            c.advance(100);
            for other in (0..3).filter(|&other| other != worker) {
                let there = c.state().workers()[other as usize].state() != WorkerState::Lost;
                if there && !c.puppets[other as usize].waiting {
                    c.beat(other);
                }
            }
        }
        // Its port is found closed before its connections are missed.
        c.apply(&[Input::Reach { worker: WorkerId(worker), reachable: false }]);
        c.apply(&[Input::Gone { worker: WorkerId(worker), incarnation: 1 }]);
        assert_eq!(losses(&c), if n == 1 { 1 } else { 0 }, "loss {n}");
    }
    assert_eq!(c.job_state(job), JobState::Failed);
}
