//! Validation of live runs: decisions identical, simulated times near measured ones, nothing left behind.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Cluster, Mark, Setup, howdah, wait_for};

/// Far above what a machine of its own shows, so that a busy one does not fail the test: tasks sleep, and what the
/// cluster adds to them is in their profile.
const GENEROUS: f64 = 0.15;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("expected a number, found {value}"))
}

#[test]
fn a_live_run_is_simulated_from_its_own_profile() {
    let cluster = Cluster::start(Setup::default());
    // Several waves of maps and of reduces, and a second job that waits for the first.
    let first = cluster.submit(&["sleep", "-m", "10", "-mt", "200", "-r", "4", "-rt", "300"]);
    let second = cluster.submit(&["sleep", "-m", "6", "-mt", "300", "-r", "1", "-rt", "200"]);
    cluster.wait_job(&first, 0);
    cluster.wait_job(&second, 0);
    let report = cluster.stop_and_validate();
    assert_eq!(report["schema"], "howdah/validate/v1");
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"]);
    assert_eq!(report["recorded_by"]["same_rules"], true, "{report}");
    let jobs = report["jobs"].as_array().expect("a list of jobs");
    assert_eq!(jobs.iter().map(|job| &job["id"]).collect::<Vec<_>>(), [first.as_str(), second.as_str()]);
    let mut errors = Vec::new();
    for time in jobs.iter().chain([&report["makespan"]]) {
        let (measured, simulated) = (number(&time["measured_s"]), number(&time["simulated_s"]));
        // The first job alone takes three waves of 200 ms and two of 300 ms on the slots there are.
        assert!(measured > 0.5 && simulated > 0.5, "{time}");
        let error = number(&time["error"]);
        assert!((error - (simulated - measured).abs() / measured).abs() < 1e-9, "{time}");
        assert!(error < GENEROUS, "{report}");
        errors.push(error);
    }
    assert!((number(&report["mean_error"]) - (errors[0] + errors[1]) / 2.0).abs() < 1e-9, "{report}");
    assert_eq!(number(&report["max_error"]), errors[0].max(errors[1]), "{report}");
}

#[test]
fn a_run_without_success_has_its_decisions_compared_and_nothing_simulated() {
    let cluster = Cluster::start(Setup::default());
    let job = cluster.sleep(2, 600_000, 0);
    cluster.wait_running_maps(&job, 2);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    let report = cluster.stop_and_validate();
    assert_eq!((&report["makespan"], &report["mean_error"]), (&Value::Null, &Value::Null), "{report}");
    let why = report["not_simulated"].as_str().unwrap_or_default();
    assert!(why.contains("1 jobs and none succeeded"), "{report}");
}

#[test]
fn an_experiment_that_is_killed_leaves_no_process() {
    let mark = Mark::new();
    let folder = tempfile::tempdir().expect("make a folder");
    let mut command = howdah(&mark);
    command.args(["experiment", "run", "simmr-accuracy", "--quick", "-o"]).arg(folder.path().join("results"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start the experiment");
    let running = || mark.processes().iter().filter(|(_, words)| words.ends_with(" task")).count();
    let began = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_for("attempts of the experiment to run", || (running() > 3).then_some(()));
    }));
    // Whether it began or not, it must not outlive this test.
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).expect("kill the experiment");
    child.wait().expect("wait for the experiment");
    assert!(began.is_ok(), "the experiment ran nothing");
    mark.wait_until_gone("the experiment was killed");
}
