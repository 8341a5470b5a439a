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

/// Grep's second job is submitted when its first is over. The recording says so, and whatever replays it does likewise.
#[test]
fn a_chain_of_jobs_is_one_in_the_recorded_trace_and_in_its_replay() {
    let cluster = Cluster::start(Setup::default());
    let [input, output, trace] = ["text", "found", "run.jsonl"].map(|name| cluster.path(name));
    std::fs::write(&input, "red blue\nred\n").expect("write the text");
    let [input, output, file] = [&input, &output, &trace].map(|path| path.to_str().expect("a plain path"));
    cluster.run(&["submit", "grep", "[a-z]+", "--input", input, "--output", output, "--wait"]).expect_code(0);
    let master = cluster.path("master");
    let mut lines: Vec<Value> = wait_for("two histories", || {
        let dir = master.to_str().expect("a plain path");
        cluster.run(&["trace", "record", "--dir", dir, "-o", file]).expect_code(0);
        let text = std::fs::read_to_string(&trace).expect("the trace is written");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("an object a line"));
        Some(lines.collect::<Vec<Value>>()).filter(|lines| lines.len() == 3)
    });
    let (first, second) = (&lines[1], &lines[2]);
    assert_eq!((&first["follows"], &second["follows"]["job"]), (&Value::Null, &first["id"]));
    let after = number(&second["submit_ms"]) - number(&first["measured"]["finish_ms"]);
    assert_eq!(number(&second["follows"]["after_ms"]), after);
    // A minute more for the first job is a minute more for the second.
    lines[1]["map_ms"] = serde_json::json!([60_000]);
    let slower = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    std::fs::write(&trace, slower).expect("write the trace");
    let replayed = cluster.json(&["replay", file]);
    let jobs = replayed["jobs"].as_array().expect("a list of jobs");
    let waited = number(&jobs[1]["submit_s"]) - number(&jobs[0]["finish_s"]);
    assert!(number(&jobs[1]["submit_s"]) > 60.0 && (waited - after / 1e3).abs() < 1e-6, "{replayed}");
    cluster.stop_and_validate();
}

/// Nothing runs beside the cores that a setting names.
#[test]
fn attempts_keep_to_the_cores_of_their_kind() {
    let cores = std::fs::read_to_string("/proc/self/status").expect("it is readable");
    let allowed = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("the kernel says");
        line.trim().to_owned()
    };
    // The last one, by the kernel's own list.
    let last = allowed(&cores).rsplit([',', '-']).next().expect("a core").to_owned();
    let worker_config = format!("[worker]\nreduce_cores = \"{last}\"\n");
    let cluster = Cluster::start(Setup { worker_config, ..Setup::default() });
    let [input, output] = ["text", "said"].map(|name| cluster.path(name));
    std::fs::write(&input, "a\n").expect("write the text");
    let [input, output] = [&input, &output].map(|path| path.to_str().expect("a plain path"));
    let script = |kind: &str, before: &str| {
        let file = cluster.path(kind);
        let say = format!("{before}\necho \"{kind} $(grep Cpus_allowed_list: /proc/self/status)\"\n");
        std::fs::write(&file, say).expect("write the script");
        format!("/bin/sh {}", file.display())
    };
    let (mapper, reducer) = (script("map", "cat > /dev/null"), script("reduce", "cat"));
    let streams = ["--mapper", &mapper, "--reducer", &reducer];
    let mut words = vec!["submit", "streaming", "--input", input, "--output", output, "--wait"];
    words.extend(streams);
    cluster.run(&words).expect_code(0);
    let said = std::fs::read_to_string(cluster.path("said").join("part-r-00000")).expect("the part is there");
    let list = |kind: &str| {
        let line = said.lines().find(|line| line.starts_with(kind))?;
        line.split_once("Cpus_allowed_list:").map(|(_, list)| list.trim().to_owned())
    };
    assert_eq!((list("map"), list("reduce")), (Some(allowed(&cores)), Some(last)), "{said}");
    cluster.stop_and_validate();
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

/// Two runs of a job, one of which had another job as well.
#[test]
fn runs_of_the_same_job_predict_each_other_and_what_has_no_like_is_left_out() {
    let run = |names: &[&str]| {
        let mut cluster = Cluster::start(Setup::default());
        for name in names {
            let job = cluster.submit(&["sleep", "-m", "8", "-mt", "300", "-r", "1", "-rt", "300", "--name", name]);
            cluster.wait_job(&job, 0);
        }
        cluster.stop();
        cluster
    };
    let (one, two) = (run(&["work"]), run(&["work", "other"]));
    let [dir, repeat] = [&one, &two].map(|cluster| cluster.output("master"));
    let words = ["validate", "--dir", &dir, "--repeat", &repeat];
    let report = one.json(&words);
    let repeats = &report["repeats"];
    assert_eq!(repeats["runs"].as_array().map(Vec::len), Some(2), "{report}");
    let errors = repeats["errors"].as_array().expect("a list");
    let cross = errors.iter().find(|errors| errors["kind"] == "cross-run").expect("a run predicts the other");
    // Each run's job from the other's.
    assert_eq!(cross["jobs"], 2, "{report}");
    // How far two runs are apart is the machine's matter; two waves of maps and a reduce, each of 300 ms, are not.
    let across = repeats["predictions"].as_array().expect("a list");
    let across: Vec<_> = across.iter().filter(|found| found["kind"] == "cross-run").collect();
    assert_eq!(across.len(), 2, "{report}");
    for found in across {
        assert_ne!(found["profile"], found["measured"], "{report}");
        let times = ["measured_s", "simulated_s"].map(|time| number(&found["makespan"][time]));
        assert!(times.iter().all(|time| (0.9..60.0).contains(time)), "{report}");
    }
    let spread = repeats["spread"]["jobs"].as_array().expect("a list");
    assert_eq!(spread.iter().map(|job| &job["name"]).collect::<Vec<_>>(), ["work"], "{report}");
    assert_eq!(repeats["jobs_left_out"], 1, "{report}");
    let by_name = repeats["by_name"].as_array().expect("a list");
    assert_eq!(by_name.len(), 1, "{report}");
    assert_eq!((&by_name[0]["name"], &by_name[0]["jobs"]), (&"work".into(), &1.into()), "{report}");
    assert_eq!(by_name[0]["spread"], spread[0]["spread"], "{report}");
    assert_eq!(by_name[0]["cross_run_mean_error"], cross["mean_error"], "{report}");
    let said = one.run(&words).expect_code(0).stdout;
    assert!(said.contains("cross-run") && said.contains("left out"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("name ") && line.contains("spread of repeats")), "{said}");
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
