//! Calibration against frequency: by quotas in real control groups, and by a governor whose files a folder stands in for.
//!
//! Whatever ends a calibration, the cores are as they were. The made-up folder is only files: times do not change with
//! what is written there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Finished, Scene, howdah, howdah_at, lacks_groups, wait_for};
use crate::waiting::ended_within;

const LONG: Duration = Duration::from_secs(120);
const QUICK: [&str; 6] = ["calibrate", "--loads", "0,1", "--task", "100ms", "--output"];

/// A folder of cores, and what is left of what was started.
struct Bench(Scene);

impl Bench {
    /// Two cores that change together, from 800 to 2268 MHz.
    fn new() -> Bench {
        let scene = Scene::new();
        let policy = scene.path("cores/cpufreq/policy0");
        fs::create_dir_all(&policy).expect("made");
        for (name, text) in [
            ("scaling_available_frequencies", "2268000 1416000 800000"),
            ("scaling_min_freq", "800000"),
            ("scaling_max_freq", "1416000"),
            ("cpuinfo_min_freq", "800000"),
            ("cpuinfo_max_freq", "2268000"),
        ] {
            fs::write(policy.join(name), text).expect("written");
        }
        for core in ["cpu0", "cpu1"] {
            let dir = scene.path("cores").join(core);
            fs::create_dir(&dir).expect("made");
            std::os::unix::fs::symlink(&policy, dir.join("cpufreq")).expect("linked");
        }
        Bench(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn run(&self, words: &[&str]) -> Finished {
        Finished::of(howdah(&self.0.mark).args(words).arg("--cores-in").arg(self.path("cores")), LONG)
    }

    fn start(&self, words: &[&str]) -> Child {
        // A shell's background job ignores SIGINT, and so would what it starts.
        self.start_under("env", &["--default-signal=INT"], words)
    }

    /// As [`Bench::start`], of a program that sets the signals' dispositions and becomes the calibration.
    fn start_under(&self, program: &str, its: &[&str], words: &[&str]) -> Child {
        let mut command = howdah_at(Path::new(program), &self.0.mark);
        command.args(its).arg(env!("CARGO_BIN_EXE_howdah"));
        command.args(words).arg("--cores-in").arg(self.path("cores"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start the calibration")
    }

    /// The lower and the upper limit of the cores' frequencies.
    fn limits(&self) -> [String; 2] {
        let read = |name| fs::read_to_string(self.path("cores/cpufreq/policy0").join(name)).unwrap_or_default();
        ["scaling_min_freq", "scaling_max_freq"].map(read)
    }
}

const FORMER: [&str; 2] = ["800000", "1416000"];

fn points(answer: &Value) -> Vec<(u64, u64, f64)> {
    let number = |point: &Value, name: &str| point[name].as_u64().expect("a number of kHz");
    let list = answer["frequency"]["points"].as_array().expect("points").iter();
    list.map(|p| (number(p, "nominal_khz"), number(p, "effective_khz"), p["time_s"].as_f64().expect("a time")))
        .collect()
}

#[test]
fn quotas_play_slower_cores_and_time_is_inverse_in_their_frequency() {
    if lacks_groups("slower cores by quotas") {
        return;
    }
    let bench = Bench::new();
    let (out, plot) = (bench.path("w1.toml"), bench.path("w1.svg"));
    let mut command = howdah(&bench.0.mark);
    command.args(["calibrate", "--loads", "0,1", "--repeats", "2", "--task", "200ms", "--output", "json"]);
    command.args(["--frequency", "quota", "--frequencies", "1,0.3,0.1", "--out"]);
    let answer = Finished::of(command.arg(&out).arg("--frequency-plot").arg(&plot), LONG).expect_code(0).json();
    let points = points(&answer);
    let nominal = points[0].0;
    let effective: Vec<u64> = points.iter().map(|point| point.1).collect();
    let turn = [1_000, 300, 100].map(|milli| nominal * milli / 1_000);
    assert_eq!(effective, [turn, turn].concat(), "{answer}");
    assert!(points.iter().all(|point| point.0 == nominal), "a quota does not change the nominal one: {answer}");
    let best = |n: usize| points[n].2.min(points[n + 3].2);
    // 3.3 and 10 times where nobody else wants the core; far less where others already take half of it.
    assert!(best(2) > 2.0 * best(0) && best(2) > 1.5 * best(1), "{answer}");
    let frequency = &answer["frequency"];
    assert_eq!((&frequency["method"], &answer["frequency_not"]), (&"quota".into(), &Value::Null));
    assert!(frequency["r_squared"].as_f64().expect("a number") > 0.9, "{answer}");
    let curve = format!("curve = \"{}\"", frequency["curve"].as_str().expect("a curve"));
    let written = fs::read_to_string(&out).expect("it was written");
    assert!(written.contains("[frequency]") && written.contains(&curve), "{written}");
    assert!(fs::read_to_string(&plot).expect("it was drawn").starts_with("<svg"));
    assert_eq!(bench.limits(), FORMER, "no governor was asked");
}

#[test]
fn a_governor_is_asked_for_the_frequencies_nearest_and_gets_its_limits_back() {
    let bench = Bench::new();
    let words = [&QUICK[..], &["json", "--repeats", "2", "--frequencies", "1,0.6,0.4"]].concat();
    // What nobody asks for by name is the governor's, where it permits.
    let answer = bench.run(&words).expect_code(0).json();
    let khz: Vec<(u64, u64)> = points(&answer).iter().map(|point| (point.0, point.1)).collect();
    let turn = [(2_268_000, 2_268_000), (1_416_000, 1_416_000), (800_000, 800_000)];
    assert_eq!(khz, [turn, turn].concat());
    assert_eq!(answer["frequency"]["method"], "governor");
    assert_eq!(bench.limits(), FORMER);
    let words = [&QUICK[..], &["table", "--repeats", "2", "--frequency", "governor"]].concat();
    let page = bench.run(&words).expect_code(0).stdout;
    assert!(page.contains("2268 MHz") && page.contains("by governor") && page.contains("R²"), "{page}");
    assert!(page.contains(" -D load-aware.frequency=fixed="), "{page}");
}

#[test]
fn however_a_calibration_ends_the_cores_are_as_they_were() {
    let bench = Bench::new();
    let words = [&QUICK[..], &["json", "--repeats", "100", "--frequency", "governor"]].concat();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let mut child = bench.start(&words[..]);
        wait_for("a frequency to be held", || (bench.limits()[0] == bench.limits()[1]).then_some(()));
        kill(Pid::from_raw(child.id() as i32), signal).expect("it runs");
        ended_within(&mut child, "the calibration");
        wait_for("the cores to be as they were", || (bench.limits() == FORMER).then_some(()));
        bench.0.mark.wait_until_gone("the calibration");
    }
    // The work fails in the middle: after it was tried and ran beside both loads, at the second frequency.
    let count = bench.path("count");
    fs::write(&count, "").expect("written");
    let mapper = format!("echo >> {0}; test $(wc -l < {0}) -lt 5", count.display());
    let words = ["calibrate", "--loads", "0,1", "--repeats", "2", "--frequency", "governor", "--mapper", &mapper];
    let said = bench.run(&[&words[..], &["--input", count.to_str().expect("text")]].concat());
    assert!(said.code != Some(0) && said.stderr.contains("expected 0"), "{}", said.stderr);
    assert_eq!(bench.limits(), FORMER);
}

#[test]
fn a_calibration_that_a_shell_started_in_the_background_or_nohup_gives_the_cores_back() {
    let bench = Bench::new();
    let words = [&QUICK[..], &["json", "--repeats", "100", "--frequency", "governor"]].concat();
    let mut child = bench.start_under("sh", &["-c", "trap '' INT HUP; exec \"$@\"", "sh"], &words);
    let pid = Pid::from_raw(child.id() as i32);
    wait_for("a frequency to be held", || (bench.limits()[0] == bench.limits()[1]).then_some(()));
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask").trim();
    let ignored = u64::from_str_radix(ignored, 16).expect("a mask");
    for signal in [Signal::SIGINT, Signal::SIGHUP] {
        assert_eq!(ignored >> (signal as i32 - 1) & 1, 1, "{signal} was to be ignored");
        kill(pid, signal).expect("it runs");
    }
    // Neither a Ctrl-C for the others in the terminal nor the terminal's end is for it; its own end is.
    wait_for("it to go on", || (bench.limits()[0] == bench.limits()[1]).then_some(()));
    assert!(child.try_wait().expect("look at it").is_none(), "it ended of a signal that it was to ignore");
    kill(pid, Signal::SIGTERM).expect("it runs");
    ended_within(&mut child, "the calibration");
    wait_for("the cores to be as they were", || (bench.limits() == FORMER).then_some(()));
    bench.0.mark.wait_until_gone("the calibration");
}

#[test]
fn the_group_of_a_killed_calibration_is_removed() {
    if lacks_groups("the group of a killed calibration") {
        return;
    }
    let bench = Bench::new();
    let words = [&QUICK[..], &["json", "--repeats", "50", "--frequency", "quota"]].concat();
    let mut child = bench.start(&words[..]);
    let groups = wait_for("the group", || {
        let processes = bench.0.mark.processes();
        let guard = processes.iter().find(|(_, command)| command.contains("--guard"))?.0;
        let roots = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"].map(Path::new);
        let found: Vec<PathBuf> = roots.iter().filter_map(|root| find(root, &format!("howdah-{guard}"))).collect();
        (!found.is_empty()).then_some(found)
    });
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).expect("it runs");
    ended_within(&mut child, "the calibration");
    wait_for("the group to go", || groups.iter().all(|group| !group.exists()).then_some(()));
}

/// The folder of this name below another one, at most four deep.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    fn below(dir: &Path, name: &str, depth: u32) -> Option<PathBuf> {
        let path = dir.join(name);
        if path.is_dir() {
            return Some(path);
        }
        let dirs = fs::read_dir(dir).ok()?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        if depth == 0 { None } else { dirs.map(|entry| entry.path()).find_map(|dir| below(&dir, name, depth - 1)) }
    }
    below(root, name, 4)
}

#[test]
fn a_machine_without_frequencies_is_reported_in_a_line_with_what_works_anywhere() {
    let bench = Bench::new();
    fs::rename(bench.path("cores"), bench.path("elsewhere")).expect("renamed");
    let words = [&QUICK[..], &["table", "--repeats", "2"]].concat();
    let page = bench.run(&words).expect_code(0).stdout;
    let line = page.lines().find(|line| line.starts_with("Frequency was not varied: ")).expect("a line");
    assert!(line.contains("no core has frequencies to choose from") && line.contains("`--frequency quota`"), "{line}");
    assert!(!page.contains("load-aware.frequency"), "{page}");
    let answer = bench.run(&[&QUICK[..], &["json", "--repeats", "2"]].concat()).expect_code(0).json();
    assert!(answer["frequency"].is_null() && answer["frequency_not"].as_str().is_some(), "{answer}");
    let answer =
        bench.run(&[&QUICK[..], &["json", "--repeats", "2", "--frequency", "none"]].concat()).expect_code(0).json();
    assert!(answer["frequency"].is_null() && answer["frequency_not"].is_null(), "{answer}");
    let said = bench.run(&[&QUICK[..], &["table", "--frequency", "governor"]].concat()).expect_code(3).stderr;
    assert!(
        said.contains("error: --frequency governor: no core has") && said.contains("\nhelp: --frequency quota"),
        "{said}"
    );
}
