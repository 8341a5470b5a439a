//! A rolling upgrade: each machine is drained, stopped and started with another build, and the master last, while jobs run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::inside::inside;
use crate::machines::{Kind, Lab};
use crate::wait_for;

/// What `--version` says of the executable's commit and profile.
fn version() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_howdah")).arg("--version").output().expect("run howdah");
    let said = String::from_utf8(output.stdout).expect("text");
    let (_, build) = said.trim_end().strip_suffix(')').and_then(|said| said.split_once('(')).expect("a build");
    build.to_owned()
}

/// The executable with another commit in it: what two builds of one protocol tell each other is the hash of their bytes.
fn earlier_build(lab: &Lab) -> String {
    let (version, path) = (version(), lab.path("howdah-earlier"));
    let earlier = version.to_uppercase();
    assert_ne!(version, earlier);
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_howdah")).expect("read the executable");
    let places: Vec<usize> = places(&bytes, version.as_bytes());
    assert!(!places.is_empty(), "the executable does not say `{version}`");
    for at in places {
        bytes[at..at + version.len()].copy_from_slice(earlier.as_bytes());
    }
    fs::write(&path, bytes).expect("write the executable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it one");
    path.to_str().expect("UTF-8").to_owned()
}

fn places(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    bytes.windows(wanted.len()).enumerate().filter(|(_, found)| *found == wanted).map(|(at, _)| at).collect()
}

fn builds(lab: &Lab) -> Vec<String> {
    let list = lab.json(&["worker", "list"]);
    let workers = list["workers"].as_array().expect("workers");
    workers.iter().map(|worker| worker["build"].as_str().expect("a build").to_owned()).collect()
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_rolling_upgrade_costs_no_job_an_attempt_and_no_decision() {
    inside("upgrade::a_rolling_upgrade_costs_no_job_an_attempt_and_no_decision", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let machines = ["lab1", "lab2", "lab3"];
        let path = earlier_build(&lab);
        lab.start_with(&path);
        lab.master();
        lab.workers(&machines);
        lab.wait_state(&machines, "LIVE");
        let earlier = builds(&lab)[0].clone();
        assert_eq!(builds(&lab), [&*earlier; 3]);
        let behind = "mapred.job.priority=LOW";
        let words = ["submit", "sleep", "-m", "300", "-mt", "400", "-r", "0", "-D", behind];
        let long = lab.json(&words)["job"].as_str().expect("a job").to_owned();
        lab.start_with(env!("CARGO_BIN_EXE_howdah"));
        for (n, machine) in machines.into_iter().enumerate() {
            lab.desk(&["worker", "drain", machine]);
            wait_for("it to run nothing", || {
                let worker = lab.worker(machine)?;
                (worker["maps_running"] == 0 && worker["reduces_running"] == 0).then_some(())
            });
            lab.stop(machine);
            lab.worker_with(machine, &[]);
            wait_for("the other build to register", || {
                lab.worker(machine)?["build"].as_str().is_some_and(|found| found != earlier).then_some(())
            });
            lab.desk(&["worker", "drain", "--undo", machine]);
            lab.wait_state(&[machine], "LIVE");
            assert_eq!(builds(&lab).iter().filter(|found| **found == earlier).count(), 2 - n);
            // People see which ones are of which build.
            let wide = lab.desk(&["worker", "list", "--wide"]);
            let present = lab.worker(machine).expect("its row")["build"].as_str().expect("a build").to_owned();
            for (worker, at) in machines.into_iter().zip(0..) {
                let row = wide.lines().find(|line| line.starts_with(worker)).expect("its line");
                assert!(row.contains(if at <= n { &present } else { &earlier }), "{wide}");
            }
            lab.count_words(&format!("words-{n}"), 2_000);
        }
        assert_eq!(
            lab.json(&["job", "status", &long])["state"],
            "RUNNING",
            "the upgrade was over too late to prove anything"
        );
        lab.stop("lab0");
        fs::remove_file(lab.path("master/access.json")).unwrap_or_default();
        lab.master();
        lab.wait_state(&machines, "LIVE");
        lab.desk(&["job", "wait", &long]);
        let attempts = lab.attempts(&long);
        let others: Vec<&Value> = attempts.iter().filter(|attempt| attempt["state"] != "SUCCEEDED").collect();
        assert!(attempts.len() == 300 && others.is_empty(), "{} attempts, {others:#?}", attempts.len());
        lab.count_words("words-after", 2_000);
        lab.stop("lab0");
        let dir = lab.path("master").display().to_string();
        let said = lab.desk(&["validate", "--dir", &dir]);
        assert!(said.contains("identical"), "{said}");
    });
}
