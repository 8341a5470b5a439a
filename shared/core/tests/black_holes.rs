//! Scenarios of workers that fail every task at once: which are set aside, and which are not.

mod kit;

use howdah_core::job::{AttemptId, JobId, JobState, WorkerId};
use howdah_core::tracker::{Effect, FaultMemory, Input, WorkerState};
use kit::*;

/// Workers with a map slot each, in a cluster that sets black holes aside.
fn cluster(workers: u32) -> Cluster {
    Cluster::with(|config| config.blacklist.short_failures = 4).workers(workers, 1, 0)
}

fn maps(c: &mut Cluster, n: u32) -> JobId {
    c.submit(job_with(n, 0, |conf| {
        conf.commits_output = false;
        // No fault of the usual kind comes from it.
        conf.max_tracker_failures = 1_000;
    }))
}

/// Every worker ends what it runs, `fails` or not, once in so many seconds; so often. Jobs end as they come.
fn play(c: &mut Cluster, turns: u32, seconds: u64, fails: impl Fn(u32, AttemptId) -> bool) {
    for _ in 0..turns {
        c.advance(seconds * 1_000);
        for worker in 0..c.puppets.len() as u32 {
            let running: Vec<AttemptId> = c.puppets[worker as usize].attempts.keys().copied().collect();
            let end = |id| (id, if fails(worker, id) { Failed } else { Succeeded });
            c.report(worker, &running.into_iter().map(end).collect::<Vec<_>>());
        }
        let committing: Vec<JobId> =
            c.state().jobs().filter(|job| job.state() == JobState::Committing).map(|job| job.id()).collect();
        for job in committing {
            c.apply(&[Input::JobCommitted { job, ok: true }]);
        }
    }
}

fn listed(c: &Cluster) -> Vec<u32> {
    let listed = c.state().workers().iter().filter(|worker| worker.state() == WorkerState::Blacklisted);
    listed.map(|worker| worker.id().0).collect()
}

#[test]
fn a_worker_that_fails_every_task_at_once_is_set_aside_within_seconds_and_the_job_ends() {
    for workers in [2, 3, 8] {
        let mut c = cluster(workers);
        let began = c.now;
        let job = maps(&mut c, 30);
        for _ in 0..20 {
            if listed(&c).is_empty() {
                play(&mut c, 1, 1, |worker, _| worker == 0);
            }
        }
        assert!(c.now.since(began).as_us() < 10_000_000, "{workers} workers: {:?}", c.now.since(began));
        c.expect(Effect::WorkerState { worker: WorkerId(0), state: WorkerState::Blacklisted });
        assert!(c.state().workers()[0].is_black_hole());
        play(&mut c, 30, 1, |worker, _| worker == 0);
        assert_eq!((c.job_state(job), listed(&c)), (JobState::Succeeded, vec![0]));
        let failed = c.state().ended_job(job).expect("remembered").failed_attempts;
        assert!(failed < 10, "{workers} workers: {failed} attempts failed");
    }
}

#[test]
fn many_jobs_of_one_task_show_a_black_hole_as_well() {
    let mut c = cluster(2);
    for _ in 0..6 {
        maps(&mut c, 1);
        play(&mut c, 3, 1, |worker, _| worker == 0);
    }
    assert_eq!(listed(&c), [0]);
}

#[test]
fn while_tasks_are_long_it_counts_that_others_go_on_with_what_it_failed() {
    let mut c = cluster(1);
    c.add_worker("h1", "/r", 20, 0);
    maps(&mut c, 60);
    let fail_one = |c: &mut Cluster| {
        let running = c.running_on(0);
        c.report(0, &running.into_iter().map(|id| (id, Failed)).collect::<Vec<_>>());
        c.advance(1_000);
    };
    c.beat(0);
    (0..3).for_each(|_| fail_one(&mut c));
    // It takes those three first, and never ends what it runs.
    c.beat(1);
    let began = c.now;
    for _ in 0..30 {
        if listed(&c).is_empty() {
            fail_one(&mut c);
            c.beat(1);
        }
    }
    let seconds = c.now.since(began).as_us() / 1_000_000;
    assert!((20..25).contains(&seconds), "after {seconds} s");
}

#[test]
fn a_job_that_fails_everywhere_lists_nobody_also_beside_one_that_goes_well() {
    let mut c = cluster(3);
    let (bad, good) = (maps(&mut c, 40), maps(&mut c, 40));
    play(&mut c, 60, 1, |_, id| id.job == bad);
    assert_eq!(c.job_state(bad), JobState::Failed);
    play(&mut c, 60, 1, |_, id| id.job == bad);
    assert_eq!((c.job_state(good), listed(&c)), (JobState::Succeeded, vec![]));
}

#[test]
fn tasks_that_fail_everywhere_among_good_ones_list_nobody() {
    let mut c = cluster(3);
    let job = c.submit(job_with(60, 0, |conf| {
        conf.commits_output = false;
        conf.max_map_failures_percent = 50;
    }));
    // Runs of four and more, so that each worker meets some in a row.
    play(&mut c, 120, 1, |_, id| id.index % 12 < 5);
    assert_eq!((c.job_state(job), listed(&c)), (JobState::Succeeded, vec![]));
}

#[test]
fn a_success_of_its_own_and_failures_that_take_their_time_are_none_of_a_black_hole() {
    let mut c = cluster(3);
    let job = maps(&mut c, 60);
    // Three failures, and then a success.
    let ended = std::cell::Cell::new(0);
    let fails = |worker, _| {
        ended.set(ended.get() + u32::from(worker == 0));
        worker == 0 && !ended.get().is_multiple_of(4)
    };
    play(&mut c, 60, 1, fails);
    assert_eq!((c.job_state(job), listed(&c)), (JobState::Succeeded, vec![]));
    let mut c = cluster(3);
    let job = maps(&mut c, 60);
    play(&mut c, 60, 11, |worker, _| worker == 0);
    assert_eq!((c.job_state(job), listed(&c)), (JobState::Succeeded, vec![]));
}

#[test]
fn where_the_rule_is_not_set_nobody_is_listed_for_it() {
    let mut c = Cluster::new().workers(3, 1, 0);
    let job = maps(&mut c, 30);
    play(&mut c, 60, 1, |worker, _| worker == 0);
    assert_eq!((c.job_state(job), listed(&c)), (JobState::Succeeded, vec![]));
    let mut c = Cluster::with(|config| (config.blacklist.short_failures, config.blacklist.enforced) = (4, false));
    c = c.workers(3, 1, 0);
    maps(&mut c, 30);
    play(&mut c, 60, 1, |worker, _| worker == 0);
    assert!(listed(&c).is_empty(), "advisory");
}

#[test]
fn a_black_hole_comes_back_when_it_is_enabled_or_started_anew_and_when_its_faults_are_forgotten() {
    let mut c = cluster(2);
    maps(&mut c, 30);
    play(&mut c, 10, 1, |worker, _| worker == 0);
    assert_eq!(listed(&c), [0]);
    c.register_again(0);
    assert_eq!(
        (listed(&c), c.state().workers()[0].is_black_hole()),
        (vec![0], true),
        "that it lost the master mends nothing"
    );
    c.apply(&[Input::Enable { worker: WorkerId(0) }]);
    let worker = &c.state().workers()[0];
    assert_eq!((worker.state(), worker.is_black_hole(), worker.n_faults()), (WorkerState::Live, false, 0));

    let mut c = cluster(2);
    maps(&mut c, 30);
    play(&mut c, 10, 1, |worker, _| worker == 0);
    assert_eq!(listed(&c), [0]);
    c.restart(0);
    let worker = &c.state().workers()[0];
    assert_eq!((worker.state(), worker.is_black_hole(), worker.n_faults()), (WorkerState::Live, false, 0));

    let mut c = Cluster::with(|config| {
        config.blacklist.short_failures = 4;
        config.blacklist.memory = FaultMemory::Forgive { every_ms: 60_000 };
    });
    c = c.workers(2, 1, 0);
    maps(&mut c, 30);
    play(&mut c, 10, 1, |worker, _| worker == 0);
    assert_eq!(listed(&c), [0]);
    play(&mut c, 61, 1, |_, _| false);
    let worker = &c.state().workers()[0];
    assert_eq!((worker.state(), worker.is_black_hole(), worker.n_faults()), (WorkerState::Live, false, 3));
}

#[test]
fn the_last_worker_with_slots_of_a_kind_is_no_black_hole() {
    let mut c = cluster(1);
    c.add_worker("h9", "/r", 0, 1);
    maps(&mut c, 30);
    play(&mut c, 30, 1, |_, id| id.number == 0);
    assert!(listed(&c).is_empty());
}

/// The form of a snapshot taken now.
fn form(c: &Cluster) -> u64 {
    let snapshot = c.tracker.snapshot().expect("nothing is under way");
    serde_json::to_value(&snapshot).expect("it is written")["version"].as_u64().expect("a number")
}

#[test]
fn a_row_of_failures_and_a_black_hole_survive_a_restart_and_a_snapshot() {
    let mut c = cluster(2);
    maps(&mut c, 30);
    play(&mut c, 1, 1, |worker, _| worker == 0);
    assert_eq!(form(&c), 2, "as before while there is nothing new to say");
    for _ in 0..20 {
        if listed(&c).is_empty() {
            play(&mut c, 1, 1, |worker, _| worker == 0);
            c.restart_master();
        }
    }
    assert!(c.now < howdah_core::time::Time::from_ms(1_010_000), "{:?}", c.now);
    for _ in 0..2 {
        let worker = &c.state().workers()[0];
        assert_eq!((worker.state(), worker.is_black_hole(), form(&c)), (WorkerState::Blacklisted, true, 3));
        c.restart_master();
    }
    play(&mut c, 3, 1, |worker, _| worker == 0);
    assert_eq!(c.running_on(0), []);
}

#[test]
fn a_failure_that_ends_its_job_at_once_counts_for_nothing() {
    let eager = Box::new(odd::Odd::eager());
    let mut c = Cluster::made(|config| config.blacklist.short_failures = 1, eager).workers(2, 1, 0);
    let job = c.submit(job_with(1, 0, |conf| conf.max_map_attempts = 1));
    c.beat(0);
    c.beat(1);
    assert_eq!((c.running_on(0), c.running_on(1)), (vec![map(1, 0, 0)], vec![map(1, 0, 1)]));
    c.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!((c.job_state(job), listed(&c)), (JobState::Failed, vec![]));
}
