//! Machines that are cut off or stand still and come back, and disks that fill up: outputs are right, nothing of a machine
//! that was given up counts, and what was full goes on by itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::disks::{self, loop_disk};
use crate::inside::inside;
use crate::machines::{Kind, Lab};
use crate::wait_for;

/// All lines of an output, and how many files hold them.
fn written(output: &Path) -> (usize, Vec<String>) {
    let parts = fs::read_dir(output).expect("the output").flatten();
    let parts: Vec<String> = parts
        .filter(|part| part.file_name().to_string_lossy().starts_with("part-"))
        .map(|part| fs::read_to_string(part.path()).expect("text"))
        .collect();
    let mut lines: Vec<String> =
        parts.iter().flat_map(|text| text.lines()).map(|line| line.trim().to_owned()).collect();
    lines.sort();
    (parts.len(), lines)
}

/// Two maps run on two machines; one machine goes, its map runs again on the other, the job ends; then the first map ends,
/// too, on a machine that can write to the share all the time.
fn a_machine_that_was_given_up_comes_back(lab: Lab, go: fn(&Lab), come_back: fn(&Lab)) {
    let mut lab = lab.machines(Kind::V4, &[]);
    lab.master();
    for name in ["lab1", "lab2"] {
        lab.worker_with(name, &["--map-slots", "1", "--reduce-slots", "1"]);
    }
    lab.wait_state(&["lab1", "lab2"], "LIVE");
    fs::create_dir(lab.export("in")).expect("make a folder");
    for name in ["a", "b"] {
        fs::write(lab.export("in").join(name), format!("{name}\n")).expect("write an input");
    }
    // Each machine has a signal of its own; what a map writes says where it ran.
    let folder = lab.shared("");
    let body = format!(
        "#!/bin/sh\nread line\nwhile [ ! -e {folder}go-$(uname -n) ]; do sleep 0.1; done\necho $line $(uname -n)\n"
    );
    fs::write(lab.export("mapper.sh"), body).expect("write the mapper");
    let mapper = format!("sh {}", lab.shared("mapper.sh"));
    let (input, output) = (lab.shared("in"), lab.shared("out"));
    let words = ["submit", "streaming", "--mapper", &mapper, "--reduces", "0", "--input", &input, "--output", &output];
    // A second attempt is to come of the loss alone.
    let alone = ["-D", "mapred.map.tasks.speculative.execution=false"];
    let job = lab.json(&[&words[..], &alone].concat())["job"].as_str().expect("a job").to_owned();
    let running = |lab: &Lab, worker: &str| {
        let attempts = lab.attempts(&job);
        attempts.iter().filter(|attempt| attempt["state"] == "RUNNING" && attempt["worker"] == worker).count()
    };
    wait_for("a map on each machine", || (running(&lab, "lab1") == 1 && running(&lab, "lab2") == 1).then_some(()));
    go(&lab);
    lab.wait_state(&["lab2"], "LOST");
    fs::write(lab.export("go-lab1"), "").expect("let the maps of lab1 go on");
    lab.desk(&["job", "wait", &job]);
    let right = (2, vec!["a lab1".to_owned(), "b lab1".to_owned()]);
    assert_eq!(written(&lab.export("out")), right);
    fs::write(lab.export("go-lab2"), "").expect("let the map of lab2 go on");
    come_back(&lab);
    lab.wait_state(&["lab2"], "LIVE");
    wait_for("nothing to run on lab2", || {
        lab.worker("lab2").is_some_and(|worker| worker["maps_running"] == 0).then_some(())
    });
    // The next job is done by both, and the first one's output is as it was.
    lab.count_words("next", 2_000);
    assert_eq!(written(&lab.export("out")), right);
    let ended = lab.attempts(&job);
    let good: Vec<_> = ended.iter().filter(|attempt| attempt["state"] == "SUCCEEDED").map(|a| &a["worker"]).collect();
    assert_eq!(good, ["lab1", "lab1"], "{ended:#?}");
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn what_a_worker_finishes_while_it_is_cut_off_from_the_master_does_not_count() {
    inside("faults::what_a_worker_finishes_while_it_is_cut_off_from_the_master_does_not_count", |lab| {
        a_machine_that_was_given_up_comes_back(lab, |lab| lab.unplug("lab2"), |lab| lab.plug("lab2"));
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn what_a_worker_finishes_after_it_stood_still_for_long_does_not_count() {
    inside("faults::what_a_worker_finishes_after_it_stood_still_for_long_does_not_count", |lab| {
        a_machine_that_was_given_up_comes_back(
            lab,
            |lab| lab.signal("lab2", "-STOP"),
            |lab| lab.signal("lab2", "-CONT"),
        );
    });
}

/// What an ext4 takes of a small disk for itself, in MiB, and some.
const OWN_MIB: u64 = 16;

/// Puts a small disk of its own, with room for so many MiB, under a directory that is still to be made: a file system on a loop
/// device, or memory where this user may not have one.
pub(crate) fn small_disk(lab: &Lab, name: &str, mib: u64) {
    let at = lab.path(name);
    fs::create_dir(&at).expect("make a folder");
    if let Err(why) = on_loop_device(&lab.path(&format!("{name}.img")), &at, mib + OWN_MIB) {
        eprintln!("the disk `{name}` is memory, as none can be made of a file: {why}");
        let options = format!("size={mib}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).status();
        assert!(mounted.expect("start mount").success());
    }
}

/// It goes with the mounts of the test.
fn on_loop_device(image: &Path, at: &Path, mib: u64) -> Result<(), String> {
    loop_disk(image, at, mib << 20, &["-m", "0"])?;
    // A daemon's directory is empty at first.
    fs::remove_dir(at.join("lost+found")).map_err(|error| error.to_string())
}

/// Writes until nothing more fits.
pub(crate) fn fill(path: &Path) {
    disks::fill(path).expect("make a file");
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_full_disk_of_the_master_refuses_jobs_and_nothing_else_until_there_is_space() {
    inside("faults::a_full_disk_of_the_master_refuses_jobs_and_nothing_else_until_there_is_space", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        small_disk(&lab, "master", 48);
        lab.master();
        lab.workers(&["lab1", "lab2"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        lab.count_words("before", 2_000);
        fill(&lab.path("master/filler"));
        let (input, output) = (lab.input(2_000), lab.shared("refused"));
        let words = ["submit", "wordcount", "--input", &input, "--output", &output];
        let refused = lab.at_desk(&words);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(3), "{said}");
        assert!(said.contains("cannot write"), "{said}");
        assert!(!lab.export("refused").exists(), "its output directory is left");
        assert_eq!(lab.json(&["job", "list"])["jobs"].as_array().map(Vec::len), Some(1), "questions are answered");
        fs::remove_file(lab.path("master/filler")).expect("make room");
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        lab.count_words("after", 2_000);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_full_disk_of_a_worker_is_shown_and_others_do_its_work_until_there_is_space() {
    inside("faults::a_full_disk_of_a_worker_is_shown_and_others_do_its_work_until_there_is_space", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        small_disk(&lab, "worker-lab2", 128);
        lab.workers(&["lab1", "lab2"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        fill(&lab.path("worker-lab2/filler"));
        // Its last sample is of before, so it is given tasks still; no fault of theirs, nor of the worker's.
        let job = lab.count_words("at-once", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        assert!(attempts.iter().all(|attempt| attempt["state"] != "FAILED"), "{attempts:#?}");
        lab.wait_state(&["lab2"], "LOW_DISK");
        let job = lab.count_words("out", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        assert!(attempts.iter().all(|attempt| attempt["worker"] == "lab1"), "{attempts:#?}");
        assert!(attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:#?}");
        fs::remove_file(lab.path("worker-lab2/filler")).expect("make room");
        lab.wait_state(&["lab2"], "LIVE");
        lab.count_words("next", 2_000);
    });
}
