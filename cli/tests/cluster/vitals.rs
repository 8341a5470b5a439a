//! Workers with quotas and load of their own on one machine: what their vitals say, and what is left of their groups.
//!
//! Needs control groups that this user may make: version 1 with the cpu controller, or version 2 with that controller
//! in the group above. Where a user may not make them the tests say so.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Finished, Scene, howdah, lacks_groups, wait_for};
use crate::waiting::ended_within;

const LONG: Duration = Duration::from_secs(120);

/// A cluster of `howdah up`; whatever the test leaves is killed, also when it panics.
struct Up(Scene);

impl Up {
    fn start(args: &[&str]) -> Up {
        let up = Up(Scene::new());
        let words = [&["up"], args].concat();
        up.run(&words).expect_code(0);
        up
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn run(&self, args: &[&str]) -> Finished {
        Finished::of(howdah(&self.0.mark).args(args).arg("--dir").arg(self.0.folder.path()), LONG)
    }

    fn vitals(&self, worker: &str) -> Value {
        let answer = self.run(&["worker", "list", "--output", "json"]).expect_code(0).json();
        let workers = answer["workers"].as_array().expect("a list").clone();
        workers.iter().find(|found| found["name"] == worker).expect("it is registered")["vitals"].clone()
    }

    fn number(&self, worker: &str, value: &str) -> f64 {
        self.vitals(worker)[value].as_f64().expect("a number")
    }

    fn groups(&self, worker: &str) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(self.path(worker).join("cgroup")).expect("the worker names its group");
        text.lines().map(PathBuf::from).collect()
    }

    fn pid(&self, name: &str) -> Pid {
        let text = std::fs::read_to_string(self.path("access.json")).expect("the cluster is up");
        let access: Value = serde_json::from_str(&text).expect("JSON");
        let processes = access["processes"].as_array().expect("a list");
        let found = processes.iter().find(|process| process["name"] == name).expect("it was started");
        Pid::from_raw(found["pid"].as_i64().expect("a pid") as i32)
    }

    fn load(&self, load: &str, worker: &str) -> Child {
        let mut command = howdah(&self.0.mark);
        command.args(["load", "--load", load, "--for", "10m", "--output", "json", "--cgroup-of"]);
        command.arg(self.path(worker)).stdout(Stdio::piped()).spawn().expect("start the load")
    }
}

fn members(groups: &[PathBuf]) -> Vec<String> {
    let read = |group: &PathBuf| std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    groups.iter().flat_map(|group| read(group).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Cores that the files of a group of either version allow.
fn quota(group: &Path) -> f64 {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |text: &str| text.trim().parse::<f64>().expect("a number");
    match read("cpu.max") {
        Some(max) => {
            let (quota, period) = max.split_once(' ').expect("two numbers");
            number(quota) / number(period)
        }
        None => {
            let number = |name| number(&read(name).expect("a quota of either version"));
            number("cpu.cfs_quota_us") / number("cpu.cfs_period_us")
        }
    }
}

/// CPU time of a group in seconds, by the files of either version.
fn cpu_s(groups: &[PathBuf]) -> f64 {
    let read = |name: &str| groups.iter().find_map(|group| std::fs::read_to_string(group.join(name)).ok());
    let number = |text: &str| text.trim().parse::<f64>().expect("a number");
    match read("cpuacct.usage") {
        Some(ns) => number(&ns) / 1e9,
        None => {
            let stat = read("cpu.stat").expect("an account of either version");
            number(stat.lines().find_map(|line| line.strip_prefix("usage_usec ")).expect("a sum")) / 1e6
        }
    }
}

/// The guide's own command: on control groups of version 1 the file has more than one line.
#[test]
fn a_calibration_runs_in_the_group_that_a_worker_names() {
    if lacks_groups("a calibration in a worker's group") {
        return;
    }
    let up = Up::start(&["--workers", "1", "--cpu-quota", "0.5", "--map-slots", "1"]);
    let group = std::fs::read_to_string(up.path("worker-1/cgroup")).expect("the worker names its group");
    let out = up.path("w1.toml");
    let mut command = howdah(&up.0.mark);
    command.args(["calibrate", "--loads", "0,1", "--repeats", "2", "--task", "100ms", "--frequency", "none"]);
    command.args(["--output", "json", "--group", &group, "--out"]).arg(&out);
    let answer = Finished::of(&mut command, LONG).expect_code(0).json();
    assert_eq!(answer["cores"], 0.5, "it runs under the worker's quota: {answer}");
    // What it wrote is what schedulers take.
    let param = format!("load-aware.curve={}", out.display());
    up.run(&["scheduler", "set", "load-aware", "-D", &param]).expect_code(0);
    let strange = format!("load-aware.frequency={}", out.display());
    let refused = up.run(&["scheduler", "set", "load-aware", "-D", &strange]).expect_code(2);
    assert!(refused.stderr.contains("w1.toml`: frequency: found none, expected one as"), "{}", refused.stderr);
}

#[test]
fn load_in_one_workers_group_is_that_workers_foreign_load_alone() {
    if lacks_groups("load of a worker's group") {
        return;
    }
    let up = Up::start(&["--workers", "2", "--cpu-quota", "0.5,0", "--vitals-source", "cgroup", "--map-slots", "1"]);
    let (slow, other) = (up.groups("worker-1"), up.groups("worker-2"));
    assert!((quota(&slow[0]) - 0.5).abs() < 1e-9, "{slow:?}");
    let vitals = up.vitals("worker-1");
    assert_eq!(vitals["cpus"], 0.5);
    assert!(up.number("worker-2", "cpus") >= 1.0);
    // Half of a core for one slot: half of the frequency that cores may have, wherever that is known.
    if let (Some(effective), Some(nominal)) = (vitals["effective_khz"].as_f64(), vitals["max_khz"].as_f64()) {
        assert!((effective / nominal - 0.5).abs() < 1e-3, "{vitals}");
    }

    let mut load = up.load("3", "worker-1");
    wait_for("the load to show", || ((up.number("worker-1", "foreign_load") - 3.0).abs() <= 0.3).then_some(()));
    assert!(up.number("worker-2", "foreign_load") <= 0.2, "{}", up.vitals("worker-2"));
    // Of its half core, by the kernel's account of the group: a share of the machine would be a quarter of that.
    let (began, before) = (Instant::now(), cpu_s(&slow));
    wait_for("the use to agree with the group's account", || {
        let passed = began.elapsed().as_secs_f64();
        let used = (cpu_s(&slow) - before) / passed / 0.5;
        (passed > 6.0 && (up.number("worker-1", "cpu_use") / used - 1.0).abs() < 0.4).then_some(())
    });
    let (loaded, idle) = (up.vitals("worker-1"), up.vitals("worker-2"));
    let of = |vitals: &Value, name: &str| vitals[name].as_f64().expect("a number");
    assert!(of(&loaded, "cpu_use") <= 1.0 && of(&idle, "cpu_use") <= 0.1, "{loaded} {idle}");
    assert!(
        (of(&loaded, "run_queue") - of(&loaded, "foreign_load")).abs() <= 0.1,
        "nothing of it is its own: {loaded}"
    );
    // Three tasks from none a few seconds ago: the longer a mean, the less of them it has, in this order and no other.
    let [one, five, fifteen] = ["load1", "load5", "load15"].map(|name| of(&loaded, name));
    assert!(one < 3.0 && one > 2.0 * five && five > 1.5 * fifteen && fifteen > 0.0, "{loaded}");
    assert!(members(&slow).contains(&load.id().to_string()) && !members(&other).contains(&load.id().to_string()));
    let page = up.run(&["worker", "vitals", "worker-1"]).expect_code(0).stdout;
    assert!(page.contains("source cgroup") && page.contains("foreign"), "{page}");
    let answer = up.run(&["worker", "vitals", "worker-1", "--output", "json"]).expect_code(0).json();
    assert_eq!(answer["worker"]["vitals"]["source"], "cgroup");
    let past = answer["past"].as_array().expect("a list").clone();
    assert!(!past.is_empty() && past.len() <= 60, "{answer}");
    let last = &past[past.len() - 1];
    for name in ["load1", "load5", "load15", "run_queue", "foreign_load", "cpu_use"] {
        assert!(last[name].is_f64(), "{name} in {last}");
    }
    for name in ["disk_read_per_s", "disk_written_per_s", "net_received_per_s", "net_sent_per_s", "disk_free_kib"] {
        assert!(last[name].is_u64(), "{name} in {last}");
    }
    assert_eq!(last["pressure_cpu"].is_null(), !Path::new("/proc/pressure/cpu").exists(), "{last}");
    kill(Pid::from_raw(load.id() as i32), Signal::SIGINT).expect("interrupt the load");
    let output = ended_within(&mut load, "the load after Ctrl-C");
    assert_eq!(output.status.code(), Some(130));
    let held: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let number = |name: &str| held[name].as_f64().expect("a number");
    assert!((number("achieved") - 3.0).abs() <= 0.15, "{held}");
    // Three tasks and the worker share half a core.
    assert!(number("cores") <= 0.6, "{held}");
    wait_for("the load to vanish", || (up.number("worker-1", "foreign_load") <= 0.2).then_some(()));

    up.run(&["down"]).expect_code(0);
    for group in slow.iter().chain(&other) {
        assert!(!group.exists(), "{} is left", group.display());
    }
}

/// By the kernel's account of the sampling thread alone, whatever else the machine does meanwhile.
#[test]
fn sampling_takes_less_than_half_a_percent_of_a_core() {
    if lacks_groups("what sampling a group costs") {
        return;
    }
    let up = Up::start(&["--workers", "1", "--vitals-source", "cgroup", "--map-slots", "8"]);
    let mut command = howdah(&up.0.mark);
    command.args(["submit", "--dir"]).arg(up.0.folder.path()).args(["sleep", "-m", "8", "-mt", "600000"]);
    Finished::of(&mut command, LONG).expect_code(0);
    let running = || {
        let answer = up.run(&["worker", "list", "--output", "json"]).expect_code(0).json();
        answer["workers"][0]["maps_running"].as_u64()
    };
    wait_for("eight attempts", || (running() == Some(8)).then_some(()));
    let threads = std::fs::read_dir(format!("/proc/{}/task", up.pid("worker-1"))).expect("it runs").flatten();
    let named = |dir: &PathBuf| std::fs::read_to_string(dir.join("comm")).is_ok_and(|comm| comm == "vitals\n");
    let thread = threads.map(|thread| thread.path()).find(named).expect("the thread that samples");
    let spent_ns = || {
        let text = std::fs::read_to_string(thread.join("schedstat")).expect("it runs");
        text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).expect("a number of nanoseconds")
    };
    // It sleeps once for each look.
    let looks = || {
        let text = std::fs::read_to_string(thread.join("status")).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).expect("counted");
        line.trim().parse::<u64>().expect("a number")
    };
    let (began, first, before) = (Instant::now(), looks(), spent_ns());
    wait_for("a hundred looks", || (looks() >= first + 100).then_some(()));
    let (spent_ns, passed) = (spent_ns() - before, began.elapsed());
    let share = spent_ns as f64 / 1e9 / passed.as_secs_f64();
    assert!(spent_ns > 0 && share < 0.005, "{spent_ns} ns in {passed:?} are {:.3} % of a core", share * 100.0);
    assert!(passed < Duration::from_secs(50), "no slower than twice the default pace: {passed:?}");
    up.run(&["down"]).expect_code(0);
}

/// Where version 1 has the cpu controller too, as on this side of the test, workers take that; here one sees none of it.
/// Version 2 counts and groups without the controller, which only a quota needs. A machine with version 2 alone has all
/// other tests here on it.
#[test]
fn a_group_of_version_2_is_measured_and_removed_where_version_1_is_out_of_sight() {
    if lacks_groups("groups of version 2") {
        return;
    }
    let mounts = std::fs::read_to_string("/proc/mounts").expect("the mounts");
    let mounted = |kind: &str| mounts.lines().any(|line| line.split(' ').nth(2) == Some(kind));
    if !mounted("cgroup") || !mounted("cgroup2") {
        return;
    }
    let up = Up(Scene::new());
    let plain = howdah(&up.0.mark);
    let hide = "for m in $(awk '$3 == \"cgroup\" { print $2 }' /proc/mounts); do umount -l $m; done; exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", hide, "sh"]).arg(plain.get_program());
    for (name, value) in plain.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    command.args(["up", "--workers", "1", "--vitals-source", "cgroup", "--dir"]).arg(up.0.folder.path());
    Finished::of(&mut command, LONG).expect_code(0);
    let groups = up.groups("worker-1");
    assert!(groups.len() == 1 && groups[0].join("cgroup.controllers").exists(), "{groups:?} is of version 2");
    let mut load = up.load("2", "worker-1");
    wait_for("the load to show", || ((up.number("worker-1", "foreign_load") - 2.0).abs() <= 0.3).then_some(()));
    assert!(members(&groups).contains(&load.id().to_string()));
    let used = up.number("worker-1", "cpu_use");
    assert!(used > 0.0, "the group's own use is counted: {used}");
    kill(Pid::from_raw(load.id() as i32), Signal::SIGINT).expect("interrupt the load");
    ended_within(&mut load, "the load after Ctrl-C");
    up.run(&["down"]).expect_code(0);
    assert!(!groups[0].exists(), "{groups:?} is left");
}

#[test]
fn what_an_attempts_children_do_is_no_foreign_load() {
    if lacks_groups("the load of an attempt's children") {
        return;
    }
    let up = Up::start(&["--workers", "1", "--vitals-source", "cgroup", "--map-slots", "1"]);
    let input = up.path("input.txt");
    std::fs::write(&input, "one line\n").expect("write the input");
    let output = up.path("output");
    let mapper = "sh -c 'while :; do :; done'";
    let mut command = howdah(&up.0.mark);
    command.args(["submit", "streaming", "--mapper", mapper, "--reduces", "0", "--input"]).arg(&input);
    command.arg("--output").arg(&output).arg("--dir").arg(up.0.folder.path());
    Finished::of(&mut command, LONG).expect_code(0);
    wait_for("the attempt to show", || (up.number("worker-1", "run_queue") >= 0.8).then_some(()));
    assert!(up.number("worker-1", "foreign_load") <= 0.2, "{}", up.vitals("worker-1"));
    up.run(&["job", "kill", "1"]).expect_code(0);
    wait_for("the attempt to vanish", || (up.number("worker-1", "run_queue") <= 0.2).then_some(()));
    up.run(&["down"]).expect_code(0);
}

#[test]
fn the_group_of_a_killed_worker_is_removed_by_the_next_one() {
    if lacks_groups("the group of a killed worker") {
        return;
    }
    let up = Up::start(&["--workers", "1", "--cpu-quota", "1"]);
    let groups = up.groups("worker-1");
    let worker = up.pid("worker-1");
    kill(worker, Signal::SIGKILL).expect("kill the worker");
    up.run(&["down"]).expect_code(0);
    up.run(&["up", "--workers", "1", "--cpu-quota", "1"]).expect_code(0);
    // The master remembers the worker of before until the new one has registered.
    wait_for("the new worker's groups", || (up.groups("worker-1") != groups).then_some(()));
    for group in &groups {
        assert!(!group.exists(), "{} is left", group.display());
    }
    up.run(&["down"]).expect_code(0);
}

#[test]
fn a_calibration_in_a_workers_group_shares_that_workers_quota() {
    if lacks_groups("a calibration under a worker's quota") {
        return;
    }
    let up = Up::start(&["--workers", "1", "--cpu-quota", "0.5", "--vitals-source", "cgroup"]);
    let group = up.groups("worker-1").into_iter().find(|group| quota(group) > 0.0).expect("a quota");
    let (curve, plot) = (up.path("curve.toml"), up.path("curve.svg"));
    let mut command = howdah(&up.0.mark);
    command.args(["calibrate", "--loads", "0,2", "--repeats", "2", "--task", "300ms", "--output", "json", "--group"]);
    command.arg(&group).arg("--out").arg(&curve).arg("--plot").arg(&plot);
    let answer = Finished::of(&mut command, LONG).expect_code(0).json();
    assert_eq!(answer["cores"], 0.5, "{answer}");
    let time = |n: usize| answer["points"][n]["time_s"].as_f64().expect("a time");
    assert!(time(1) > 1.5 * time(0), "two tasks beside it and no slower: {answer}");
    let said = answer["curve"].as_str().expect("a curve");
    let written = std::fs::read_to_string(&curve).expect("the curve is written");
    assert!(written.contains(&format!("curve = \"{said}\"")), "{written}");
    assert!(std::fs::read_to_string(&plot).expect("the plot is written").starts_with("<svg"));
    assert!(members(&[group]).len() <= 1, "only the worker is left in its group");
}
