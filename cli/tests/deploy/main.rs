//! The kit in `deploy/`: its units and its configuration are what the machine's own tools and `howdah` take, its commands
//! start, and its scripts bring up a cluster.

mod daemons;
#[path = "../halt/mod.rs"]
mod halt;
mod layer;
mod manifests;
mod package;
#[path = "../permitted/mod.rs"]
mod permitted;
mod playbook;
mod scripts;
mod service_manager;
mod services;
mod slurm;
mod systemd;
#[path = "../waiting/mod.rs"]
mod waiting;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use waiting::wait_within;

/// Long enough for a slow machine; reached only when something hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until `done` returns something; panics with `what` when it does not within [`PATIENCE`].
#[track_caller]
fn wait_for<T>(what: &str, done: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, done)
}

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

const UNITS: [&str; 2] = ["howdah-master.service", "howdah-worker.service"];

fn unit(name: &str) -> String {
    std::fs::read_to_string(deploy().join("systemd").join(name)).expect("a unit")
}

/// What systemd knows since a version; before it, it says so and goes on without.
const KNOWN_SINCE: [(&str, u32); 2] = [("RestartSteps=", 254), ("RestartMaxDelaySec=", 254)];

/// The version of this machine's systemd.
fn systemd() -> Option<u32> {
    let output = Command::new("systemd-analyze").arg("--version").output().ok()?;
    String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_daemon_that_does_not_stay_up_is_started_again_ever_later() {
    for name in UNITS {
        let text = unit(name);
        let number = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key));
            let value = value.unwrap_or_else(|| panic!("{name} has no {key}"));
            value.parse::<u32>().unwrap_or_else(|_| panic!("{name}: {key}{value} is no number"))
        };
        assert!(text.contains("\nRestart=on-failure\n") && text.contains("\nStartLimitIntervalSec=0\n"), "{text}");
        let (first, last) = (number("RestartSec="), number("RestartMaxDelaySec="));
        assert!(number("RestartSteps=") > 1 && 0 < first && first < last && last <= 120, "{first} s to {last} s");
    }
}

#[test]
fn the_units_are_what_systemd_takes() {
    let folder = tempfile::tempdir().expect("make a folder");
    let version = systemd();
    let is_known = |line: &&str| {
        let since = KNOWN_SINCE.iter().find(|(key, _)| line.starts_with(key)).map(|(_, since)| *since);
        since.is_none_or(|since| version.is_some_and(|version| version >= since))
    };
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no", "--recursive-errors=no"]);
    for name in UNITS {
        let text: String = unit(name).lines().filter(is_known).map(|line| format!("{line}\n")).collect();
        // The executable is not installed here.
        let text = text.replace("/usr/bin/howdah", env!("CARGO_BIN_EXE_howdah")).replace("=howdah\n", "=root\n");
        assert!(text.contains(env!("CARGO_BIN_EXE_howdah")), "{name} does not start howdah");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("write a unit");
        command.arg(path);
    }
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !said.contains("howdah-"), "{said}");
        }
        Err(error) => permitted::not_tested(&format!("the systemd units, as systemd-analyze does not start: {error}")),
    }
}

#[test]
fn the_labs_configuration_holds() {
    let output = Command::new(env!("CARGO_BIN_EXE_howdah"))
        .args(["config", "show", "--output", "json", "--config"])
        .arg(deploy().join("howdah.toml"))
        .output()
        .expect("run howdah");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["sections"]["worker"]["master"]["value"], "lab0:9001");
}
