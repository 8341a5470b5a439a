//! Steering a running cluster: kills, priorities, drains, signals, restarts, silence.

use std::time::{Duration, Instant};

use crate::harness::{Cluster, Setup, wait_for};
use nix::sys::signal::Signal;

fn small() -> Setup {
    Setup { workers: 1, map_slots: 1, reduce_slots: 1, ..Setup::default() }
}

/// Both lists of attempts say why one was killed.
#[track_caller]
fn expect_cause(cluster: &Cluster, job: &str, cause: &str) {
    let said = ["attempts", "history"].map(|list| cluster.run(&["job", list, job]).expect_code(0).stdout);
    assert!(said.iter().all(|said| said.contains(cause)), "{said:?}");
}

#[test]
fn a_killed_job_stops_its_attempts_and_ends_killed() {
    let cluster = Cluster::start(Setup::default());
    let job = cluster.sleep(8, 600_000, 0);
    cluster.wait_running_maps(&job, 4);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    assert_eq!(cluster.status(&job)["state"], "KILLED");
    let said = cluster.run(&["job", "attempts", &job]).expect_code(0).stdout;
    assert_eq!(said.matches("its job was killed by request").count(), 4, "{said}");
    wait_for("the attempts' processes to end", || cluster.attempt_processes().is_empty().then_some(()));
    cluster.stop_and_replay();
}

#[test]
fn a_killed_attempt_is_replaced_and_does_not_count_as_a_failure() {
    let cluster = Cluster::start(small());
    let job = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&job, 1);
    let first = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    cluster.run(&["job", "kill-attempt", &first]).expect_code(0);
    wait_for("a speculative attempt", || {
        let attempts = cluster.attempts(&job);
        (attempts.len() == 2 && attempts[1]["state"] == "RUNNING").then_some(())
    });
    let status = cluster.status(&job);
    assert_eq!((&status["killed_attempts"], &status["failed_attempts"]), (&1.into(), &0.into()), "{status}");
    expect_cause(&cluster, &job, "killed by request");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_higher_priority_goes_first() {
    let cluster = Cluster::start(small());
    let first = cluster.sleep(1, 10_000, 0);
    let second = cluster.sleep(1, 100, 0);
    let third = cluster.sleep(1, 100, 0);
    cluster.run(&["job", "set-priority", &third, "VERY_HIGH"]).expect_code(0);
    for job in [&first, &second, &third] {
        cluster.wait_job(job, 0);
    }
    let finish = |job: &str| cluster.status(job)["finish_ms_epoch"].as_u64().expect("a time");
    assert!(finish(&first) <= finish(&third) && finish(&third) <= finish(&second));
    assert_eq!(cluster.status(&third)["priority"], "VERY_HIGH");
    cluster.stop_and_replay();
}

#[test]
fn a_drained_worker_finishes_what_it_runs_and_gets_nothing_new() {
    let cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    for undo in [&[][..], &["--undo"]] {
        let said = cluster.run(&[&["worker", "drain", "worker-[1-9]"], undo].concat()).expect_code(0).stdout;
        assert_eq!(said.lines().count(), 2, "{said}");
    }
    cluster.run(&["worker", "drain", "worker-1"]).expect_code(0);
    wait_for("the worker to drain", || (cluster.worker_state(0).as_deref() == Some("DRAINING")).then_some(()));
    let job = cluster.sleep(6, 50, 0);
    cluster.wait_job(&job, 0);
    let workers: Vec<String> = cluster.attempts(&job).iter().map(|a| a["worker"].to_string()).collect();
    assert!(workers.iter().all(|name| name.contains("worker-2")), "{workers:?}");
    // Nothing ran when it was drained first; now something does.
    cluster.run(&["worker", "drain", "worker-1", "--undo"]).expect_code(0);
    let job = cluster.sleep(6, 200, 0);
    cluster.wait_running_maps(&job, 2);
    cluster.run(&["worker", "drain", "worker-1"]).expect_code(0);
    cluster.wait_job(&job, 0);
    let said = cluster.run(&["validate", "--dir", &cluster.output("master")]).expect_code(0).stdout;
    assert!(said.contains(" 1 worker drained while jobs ran, which the simulation does not have"), "{said}");
    cluster.stop_and_replay();
}

#[test]
fn sigterm_lets_a_worker_finish_its_attempts_and_say_goodbye() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    let job = cluster.sleep(2, 3_000, 0);
    cluster.wait_running_maps(&job, 2);
    assert_eq!(cluster.stop_worker(0, Signal::SIGTERM), Some(0));
    wait_for("the worker to be gone", || (cluster.worker_state(0).as_deref() == Some("STOPPED")).then_some(()));
    assert_eq!(cluster.json(&["cluster"])["lost_workers"], 0, "it was asked to go");
    cluster.wait_job(&job, 0);
    assert_eq!(cluster.status(&job)["killed_attempts"], 0);
    cluster.stop_and_replay();
}

#[test]
fn two_sigints_stop_a_worker_at_once() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    let job = cluster.sleep(2, 600_000, 0);
    cluster.wait_running_maps(&job, 2);
    cluster.signal_worker(0, Signal::SIGINT);
    // Two that come at once are one to the kernel.
    wait_for("the first signal to be noticed", || {
        cluster.worker_log(0).contains("once more stops at once").then_some(())
    });
    let second = Instant::now();
    cluster.stop_worker(0, Signal::SIGINT);
    // Its attempt would go on for ten minutes.
    assert!(second.elapsed() < Duration::from_secs(30), "{:?}", second.elapsed());
    wait_for("the worker to be gone", || (cluster.worker_state(0).as_deref() == Some("STOPPED")).then_some(()));
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_silent_worker_expires_and_its_attempts_run_elsewhere() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::expiring() });
    let job = cluster.sleep(2, 4_000, 0);
    cluster.wait_running_maps(&job, 2);
    cluster.stop_worker(0, Signal::SIGKILL);
    wait_for("the worker to expire", || (cluster.worker_state(0).as_deref() == Some("LOST")).then_some(()));
    cluster.wait_job(&job, 0);
    let status = cluster.status(&job);
    assert_eq!((&status["killed_attempts"], &status["failed_attempts"]), (&1.into(), &0.into()), "{status}");
    expect_cause(&cluster, &job, "its worker was lost");
    cluster.stop_and_replay();
}

#[test]
fn a_worker_that_restarts_under_its_name_takes_its_old_place() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    let job = cluster.sleep(4, 1_500, 0);
    cluster.wait_running_maps(&job, 2);
    // Long before the expiry: its registration tells the master that the old attempts are gone.
    cluster.stop_worker(0, Signal::SIGKILL);
    cluster.restart_worker(0);
    cluster.wait_job(&job, 0);
    let names: Vec<String> = cluster.workers().iter().map(|w| w["name"].to_string()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(cluster.worker_state(0).as_deref(), Some("LIVE"));
    assert_eq!(cluster.status(&job)["failed_attempts"], 0);
    cluster.stop_and_replay();
}

#[test]
fn a_job_waits_for_workers_and_explain_says_so() {
    let mut cluster = Cluster::start(Setup { workers: 0, map_slots: 1, ..Setup::default() });
    let job = cluster.sleep(1, 10, 0);
    let said = cluster.run(&["job", "explain", &job]).expect_code(0).stdout;
    assert!(said.contains("No worker has registered with the master yet."), "{said}");
    cluster.add_worker();
    cluster.wait_job(&job, 0);
    cluster.stop_and_replay();
}

#[test]
fn waiting_for_a_job_can_time_out() {
    let cluster = Cluster::start(small());
    let over = cluster.sleep(1, 10, 0);
    cluster.wait_job(&over, 0);
    let job = cluster.sleep(1, 600_000, 0);
    let said = cluster.run(&["job", "wait", &over, &job, "--timeout", "200ms"]).expect_code(4);
    assert!(said.stderr.contains(&format!("error: not over after 200 ms: {job}\n")), "{}", said.stderr);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
}

#[test]
fn logs_of_a_finished_job_can_be_read_from_anywhere() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.text("input.txt", "a b\n");
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", "echo said on stderr >&2; cat");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out]);
    cluster.wait_job(&job, 0);
    let logs = cluster.run(&["job", "logs", &job]).expect_code(0).stdout;
    assert!(logs.contains("said on stderr"), "{logs}");
    let attempt = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    let log = cluster.run(&["job", "logs", &attempt, "--stderr"]).expect_code(0).stdout;
    assert!(log.contains("said on stderr"), "{log}");
    let nobodys = format!("{}_m_000777_0", job.replace("job_", "attempt_"));
    cluster.run(&["job", "logs", &nobodys]).expect_code(2);
    cluster.stop_and_replay();
}
