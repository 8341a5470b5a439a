//! Shares that do not answer: everybody's, the master's own, and one that an administrator takes away meanwhile; and one that
//! tells late of what is new.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::inside::inside_with_file_systems;
use crate::machines::{Kind, Lab};
use crate::network_share::Mood;
use crate::wait_for;
use crate::waiting::ended_within;

fn state(lab: &Lab, job: &str) -> String {
    lab.json(&["job", "status", job])["state"].as_str().expect("a state").to_owned()
}

/// The words that copy the lines of `input` with so many maps at the most, and keep what a mapper says.
fn copies<'a>(mapper: &'a str, input: &'a str, output: &'a str) -> Vec<&'a str> {
    let words = ["submit", "streaming", "--mapper", mapper, "--reduces", "0", "--input", input, "--output", output];
    [&words[..], &["-D", "mapred.map.tasks.speculative.execution=false"]].concat()
}

fn submitted(lab: &Lab, words: &[&str]) -> String {
    lab.json(words)["job"].as_str().expect("a job").to_owned()
}

fn lines(folder: &std::path::Path) -> usize {
    let parts = fs::read_dir(folder).expect("the output").flatten();
    let parts = parts.filter(|part| part.file_name().to_string_lossy().starts_with("part-"));
    parts.map(|part| fs::read_to_string(part.path()).expect("text").lines().count()).sum()
}

fn started(lab: Lab, shares: &[&'static str]) -> Lab {
    let lab = shares.iter().fold(lab, |lab, machine| lab.with_network_share(machine));
    let mut lab = lab.machines(Kind::V4, &[]);
    lab.master();
    lab.workers(&["lab1", "lab2"]);
    lab.wait_state(&["lab1", "lab2"], "LIVE");
    lab
}

/// Runs a command in a worker's place, as an administrator of its machine.
fn administer(lab: &Lab, machine: &str, words: &[&str]) -> bool {
    let listed = Command::new("ip").args(["netns", "pids", machine]).output().expect("list processes");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let first = listed.split_whitespace().next().expect("a process there");
    let output = Command::new("nsenter").args(["--target", first, "--mount"]).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", lab.log(machine)));
    eprintln!("{words:?}: {} {}", output.status, String::from_utf8_lossy(&output.stderr));
    output.status.success()
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_job_whose_input_answers_nobody_says_so_and_can_be_killed_or_waits_for_it() {
    let name = "silent_shares::a_job_whose_input_answers_nobody_says_so_and_can_be_killed_or_waits_for_it";
    inside_with_file_systems(name, |lab| {
        let lab = started(lab, &["lab1", "lab2"]);
        // Two maps and fourteen: more than there are slots.
        let (few, many) = (lab.path("few").display().to_string(), lab.input(2_000));
        fs::write(&few, "word and\n".repeat(400)).expect("write an input");
        let [killed, kept] = ["killed", "kept"].map(|name| lab.shared(name));
        let all = |mood| ["lab1", "lab2"].iter().for_each(|machine| lab.network_share(machine).set(mood));
        all(Mood::Hangs);
        let split = ["-D", "mapred.max.split.size=2000"];
        let doomed = submitted(&lab, &[&copies("cat", &few, &killed)[..], &split].concat());
        let patient = submitted(&lab, &[&copies("cat", &many, &kept)[..], &split].concat());
        // It runs, and does nothing: its attempts are named with where they wait, on every worker.
        let waits = "in the kernel, most often for a file system that does not answer: attempt_";
        let explained = wait_for("its attempts to be named", || {
            let explained = lab.desk(&["job", "explain", &doomed]);
            (explained.matches(waits).count() == 2).then_some(explained)
        });
        assert!(explained.contains("on lab1 ") && explained.contains("on lab2 "), "{explained}");
        assert!(lab.desk(&["worker", "list"]).contains(waits));
        lab.desk(&["job", "kill", &doomed]);
        wait_for("it to be killed", || (state(&lab, &doomed) == "KILLED").then_some(()));
        let taken = || lab.desk(&["job", "explain", &patient]).contains("killed and whose process");
        wait_for("the other job to be told who has its slots", || taken().then_some(()));
        assert_eq!(state(&lab, &patient), "RUNNING");
        // What the share's server held up goes on when it is back.
        all(Mood::Well);
        lab.desk(&["job", "wait", &patient]);
        assert_eq!(lines(&lab.export("kept")), 2_000);
        assert!(lab.attempts(&patient).iter().all(|attempt| attempt["state"] != "FAILED"));
        wait_for("the killed one's output to go", || (!lab.export("killed").exists()).then_some(()));
        let clean = || !lab.desk(&["worker", "list"]).contains("in the kernel");
        wait_for("the slots to be free", || clean().then_some(()));
    });
}

/// A command at the desk that goes on beside the test.
fn beside(lab: &Lab, words: &[&str], stdout: Stdio) -> Child {
    let all = [&[env!("CARGO_BIN_EXE_howdah")], words].concat();
    let mut command = lab.command("desk", &all);
    command.env("HOWDAH_MASTER", "lab0").stdout(stdout).stderr(Stdio::piped()).spawn().expect("run howdah")
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn the_masters_own_share_holds_up_what_lies_there_and_nothing_else() {
    let name = "silent_shares::the_masters_own_share_holds_up_what_lies_there_and_nothing_else";
    inside_with_file_systems(name, |lab| {
        let lab = started(lab, &["lab0"]);
        // More jobs than there are threads for promotions on one file system, in the middle of their maps.
        let input = lab.input(10);
        let go = lab.path("go").display().to_string();
        let mapper = format!("sh -c 'while [ ! -e {go} ]; do sleep 0.1; done; cat'");
        let outputs: Vec<String> = (0..9).map(|n| format!("out-{n}")).collect();
        let jobs: Vec<String> =
            outputs.iter().map(|output| submitted(&lab, &copies(&mapper, &input, &lab.shared(output)))).collect();
        lab.network_share("lab0").set(Mood::Hangs);
        fs::write(&go, "").expect("let the maps go on");
        let late = beside(&lab, &copies("cat", &input, &lab.shared("late")), Stdio::null());
        wait_for("all of them to be put in their places", || {
            jobs.iter().all(|job| state(&lab, job) == "COMMITTING").then_some(())
        });
        // On another storage all is as ever: a listing, an output, the heartbeats.
        let elsewhere = lab.path("elsewhere");
        fs::create_dir(&elsewhere).expect("make a folder");
        fs::write(elsewhere.join("in"), "one\ntwo\n").expect("write an input");
        let [other, out] = ["in", "out"].map(|name| elsewhere.join(name).display().to_string());
        lab.desk(&[&copies("cat", &other, &out)[..], &["--wait"]].concat());
        assert_eq!(lines(&elsewhere.join("out")), 2);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        // What waits says for what, and whoever submits there is told.
        let explained = wait_for("the promotion to be said to take long", || {
            let explained = lab.desk(&["job", "explain", &jobs[0]]);
            explained.contains("does not answer the master's machine").then_some(explained)
        });
        assert!(explained.contains(&lab.shared("out-0")), "{explained}");
        let late = late.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&late.stderr).into_owned();
        assert_eq!(late.status.code(), Some(3), "{said}");
        let share = lab.path("share").display().to_string();
        assert!(said.contains(&format!("the file system at `{share}` on lab0")) && said.contains("help: "), "{said}");
        // And when the server is back, all of them end well.
        lab.network_share("lab0").set(Mood::Well);
        for (job, output) in jobs.iter().zip(&outputs) {
            lab.desk(&["job", "wait", job]);
            assert_eq!(lines(&lab.export(output)), 10);
            assert!(lab.export(output).join("_SUCCESS").exists());
        }
        assert!(!lab.export("late").exists(), "a submission that was refused made an output");
        lab.count_words("after", 100);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_share_that_is_taken_away_and_put_back_costs_no_job_anything() {
    let name = "silent_shares::a_share_that_is_taken_away_and_put_back_costs_no_job_anything";
    inside_with_file_systems(name, |lab| {
        let lab = started(lab, &["lab2"]);
        let (input, share) = (lab.input(2_000), lab.path("share").display().to_string());
        lab.network_share("lab2").set(Mood::Hangs);
        let split = ["-D", "mapred.max.split.size=2000", "-D", "mapred.task.timeout=2000"];
        let job = submitted(&lab, &[&copies("cat", &input, &lab.shared("out"))[..], &split].concat());
        let given_up = "killed and whose process";
        wait_for("attempts to be given up", || lab.desk(&["worker", "list"]).contains(given_up).then_some(()));
        // By force: what waits for it ends with an error, at once. It is busy and stays, of no use.
        administer(&lab, "lab2", &["umount", "--force", &share]);
        wait_for("the slots to be free", || (!lab.desk(&["worker", "list"]).contains(given_up)).then_some(()));
        lab.desk(&["job", "wait", &job]);
        assert_eq!(lines(&lab.export("out")), 2_000);
        assert!(lab.attempts(&job).iter().all(|attempt| attempt["state"] != "FAILED"));
        // It is put back, and taken away lazily while attempts run: those have their files, and the next ones go elsewhere.
        administer(&lab, "lab2", &["umount", "--lazy", &share]);
        let export = lab.export("").display().to_string();
        assert!(administer(&lab, "lab2", &["mount", "--bind", &export, &share]), "it cannot be mounted again");
        let go = lab.path("go").display().to_string();
        let ran = lab.path("ran").display().to_string();
        let mapper = format!("sh -c 'touch {ran}-$(hostname); while [ ! -e {go} ]; do sleep 0.1; done; cat'");
        let job = submitted(&lab, &[&copies(&mapper, &input, &lab.shared("lazy"))[..], &split[..2]].concat());
        wait_for("maps to run there", || lab.path("ran-lab2").exists().then_some(()));
        assert!(administer(&lab, "lab2", &["umount", "--lazy", &share]), "it is not mounted");
        fs::write(&go, "").expect("let the maps go on");
        lab.desk(&["job", "wait", &job]);
        assert_eq!(lines(&lab.export("lazy")), 2_000);
        assert!(lab.attempts(&job).iter().all(|attempt| attempt["state"] != "FAILED"));
        assert_eq!(fs::read_dir(lab.path("share")).expect("the mount's place").count(), 0, "made in the mount's place");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_share_that_tells_late_of_what_is_new_is_waited_for_a_moment() {
    let name = "silent_shares::a_share_that_tells_late_of_what_is_new_is_waited_for_a_moment";
    inside_with_file_systems(name, |lab| {
        let lab = started(lab, &["lab2"]);
        let split = ["-D", "mapred.max.split.size=2000"];
        let run = |by: u64, output: &str| {
            lab.network_share("lab2").set(Mood::Late(Duration::from_millis(by)));
            let input = lab.input(2_000);
            let job = submitted(&lab, &[&copies("cat", &input, &lab.shared(output))[..], &split].concat());
            lab.desk(&["job", "wait", &job]);
            assert_eq!(lines(&lab.export(output)), 2_000);
            let of_lab2 = lab.attempts(&job).into_iter().filter(|attempt| attempt["worker"] == "lab2");
            of_lab2.map(|attempt| attempt["state"].as_str().expect("a state").to_owned()).collect::<Vec<_>>()
        };
        // A second: its attempts wait, and do their work.
        let states = run(1_000, "soon");
        assert!(!states.is_empty() && states.iter().all(|state| state == "SUCCEEDED"), "{states:?}");
        // A minute: they are handed back, and cost the job nothing.
        let states = run(60_000, "late");
        assert!(!states.is_empty() && states.iter().all(|state| state == "KILLED"), "{states:?}");
        assert!(lab.desk(&["worker", "list"]).contains("this machine does not see `"));
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn the_doctor_says_which_share_of_its_own_machine_answers_nobody() {
    let name = "silent_shares::the_doctor_says_which_share_of_its_own_machine_answers_nobody";
    inside_with_file_systems(name, |lab| {
        let lab = started(lab, &["desk"]);
        lab.network_share("desk").set(Mood::Hangs);
        let share = lab.shared("");
        let mut child = beside(&lab, &["doctor", "--share", &share], Stdio::piped());
        // The kernel lets nobody out of this file system, so that the process itself ends when the server answers; what it found
        // is said before.
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut said = String::new();
        while !said.contains("this machine's file system does not answer within 10 s") {
            let line = lines.next().unwrap_or_else(|| panic!("it said nothing of the share:\n{said}")).expect("text");
            said.push_str(&line);
            said.push('\n');
        }
        lab.network_share("desk").set(Mood::Well);
        lines.for_each(|line| said.push_str(&line.expect("text")));
        assert_eq!(ended_within(&mut child, "the doctor").status.code(), Some(1), "{said}");
        // All else is looked at.
        assert!(said.contains("lab2") && said.contains("other workers"), "{said}");
    });
}
