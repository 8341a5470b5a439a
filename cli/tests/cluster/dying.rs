//! Workers that die or freeze, with the settings that everybody has: who notices, when, and where it is said.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::harness::{Cluster, Setup, wait_for};

fn state_is(cluster: &Cluster, index: usize, state: &str) -> Option<()> {
    (cluster.worker_state(index).as_deref() == Some(state)).then_some(())
}

#[test]
fn a_killed_worker_is_lost_within_seconds_and_its_attempts_run_elsewhere() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    let job = cluster.sleep(2, 3_000, 0);
    cluster.wait_running_maps(&job, 2);
    let killed = Instant::now();
    cluster.stop_worker(0, Signal::SIGKILL);
    wait_for("the worker to be lost", || state_is(&cluster, 0, "LOST"));
    // Three seconds, and what a busy machine adds; the expiry is half a minute. How soon its attempts run elsewhere is timed in
    // the lab (`cli/tests/lab/reach.rs`).
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    cluster.wait_job(&job, 0);
    let status = cluster.status(&job);
    assert_eq!((&status["killed_attempts"], &status["failed_attempts"]), (&1.into(), &0.into()), "{status}");
    let log = std::fs::read_to_string(cluster.output("master.err")).expect("read the master's log");
    assert!(log.contains("a worker is lost: its connection closed"), "{log}");
    assert!(log.contains("a job succeeded after"), "{log}");
    // What the simulation cannot have is named, and whose errors that concerns: the one job's.
    let lost = cluster.stop_and_validate()["lost"].clone();
    let cause = lost["causes"].as_array().expect("a list").iter().find(|of| of["cause"] == "its worker was lost");
    assert_eq!(cause.map(|of| &of["attempts"]), Some(&1.into()), "{lost}");
    // It may be predicted to the millisecond all the same; then there is no error to have a share of.
    let share = if lost["jobs_mean_error"] == 0.0 { 0.0 } else { 1.0 };
    assert!(lost["jobs"] == 1 && lost["share_of_errors"] == share, "{lost}");
}

#[test]
fn a_worker_that_dies_right_after_the_masters_restart_is_lost_as_soon_as_any_other() {
    let mut cluster = Cluster::start(Setup::default());
    cluster.kill_master();
    cluster.restart_master();
    wait_for("the worker to be back", || state_is(&cluster, 0, "LIVE"));
    let killed = Instant::now();
    cluster.stop_worker(0, Signal::SIGKILL);
    wait_for("the worker to be lost", || state_is(&cluster, 0, "LOST"));
    // Not after the half minute of its silence, which counts from fifteen seconds after the start.
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    cluster.stop_and_replay();
}

#[test]
fn a_task_that_kills_its_workers_fails_its_job_before_it_has_killed_all() {
    let cluster = Cluster::start(Setup { workers: 3, ..Setup::default() });
    let input = cluster.text("input.txt", "poison\n");
    let out = cluster.output("out");
    // Its parent is the attempt's process, whose parent is the worker.
    let kill = r#"worker=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status); kill -KILL "$worker"; sleep 5"#;
    let mapper = cluster.script("mapper.sh", kill);
    let losses = ["-D", "howdah.task.max.worker.losses=2"];
    let args = [&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out][..], &losses].concat();
    let job = cluster.submit(&args);
    cluster.wait_job(&job, 1);
    let status = cluster.status(&job);
    assert_eq!((&status["killed_attempts"], &status["failed_attempts"]), (&1.into(), &1.into()), "{status}");
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("its worker was lost, and so were the workers of earlier attempts of its task"), "{why}");
    let states = [0, 1, 2].map(|index| cluster.worker_state(index).unwrap_or_default());
    assert_eq!(states.iter().filter(|state| *state == "LIVE").count(), 1, "{states:?}");
    let next = cluster.sleep(2, 10, 0);
    cluster.wait_job(&next, 0);
    cluster.stop_and_replay();
}

#[test]
fn a_frozen_worker_is_silent_in_lists_explanations_and_the_log_and_comes_back() {
    // It must not be lost while this machine is busy.
    let master_config = "[master.cluster]\nexpiry_ms = 300000\n".to_owned();
    let cluster = Cluster::start(Setup { workers: 1, map_slots: 1, master_config, ..Setup::default() });
    cluster.halt_worker(0);
    wait_for("the worker to be silent", || state_is(&cluster, 0, "SILENT"));
    let job = cluster.sleep(1, 10, 0);
    let said = cluster.run(&["job", "explain", &job]).expect_code(0).stdout;
    assert!(said.contains("It is next; 1 of 1 workers take no tasks: worker-1 (SILENT, no heartbeat for"), "{said}");
    let log = std::fs::read_to_string(cluster.output("master.err")).expect("read the master's log");
    assert!(log.contains("a worker is silent: no heartbeat for"), "{log}");
    cluster.signal_worker(0, Signal::SIGCONT);
    wait_for("the worker to send heartbeats again", || state_is(&cluster, 0, "LIVE"));
    cluster.wait_job(&job, 0);
    cluster.stop_and_replay();
}

#[test]
fn a_drained_worker_is_still_drained_after_its_restart() {
    let mut cluster = Cluster::start(Setup { map_slots: 1, ..Setup::default() });
    cluster.run(&["worker", "drain", "worker-1"]).expect_code(0);
    wait_for("the worker to drain", || state_is(&cluster, 0, "DRAINING"));
    cluster.stop_worker(0, Signal::SIGTERM);
    wait_for("the worker to be gone", || state_is(&cluster, 0, "STOPPED"));
    cluster.restart_worker(0);
    wait_for("the worker to be back and drained", || state_is(&cluster, 0, "DRAINING"));
    cluster.run(&["worker", "drain", "worker-1", "--undo"]).expect_code(0);
    wait_for("the worker to take tasks again", || state_is(&cluster, 0, "LIVE"));
    cluster.run(&["worker", "enable", "worker-1"]).expect_code(0);
    let refused = cluster.run(&["worker", "remove", "worker-1"]).expect_code(2);
    assert!(refused.stderr.contains("worker `worker-1` is alive"), "{}", refused.stderr);
    cluster.stop_worker(0, Signal::SIGTERM);
    wait_for("the worker to be gone", || state_is(&cluster, 0, "STOPPED"));
    cluster.run(&["worker", "remove", "worker-1"]).expect_code(0);
    assert_eq!(cluster.worker_state(0), None);
    cluster.stop_and_replay();
}
