//! What network file systems do to a machine on bad days: its server does not answer, handles are stale, a quota is used up,
//! removed files stay. No job pays for one machine's trouble, the place where people look names it, and it passes.

use std::fs;

use serde_json::Value;

use crate::inside::inside_with_file_systems;
use crate::machines::{Kind, Lab};
use crate::network_share::Mood;
use crate::wait_for;

fn of<'a>(attempts: &'a [Value], worker: &str) -> Vec<&'a Value> {
    attempts.iter().filter(|attempt| attempt["worker"] == worker).collect()
}

/// Submits a job of 14 maps that copy lines, and returns its id; whatever is tried once is not tried again by speculation.
fn copy(lab: &Lab, output: &str, mapper: &str, more: &[&str]) -> String {
    let (input, output) = (lab.input(2_000), lab.shared(output));
    let words = ["submit", "streaming", "--mapper", mapper, "--reduces", "0", "--input", &input, "--output", &output];
    let splits = ["-D", "mapred.max.split.size=2000", "-D", "mapred.map.tasks.speculative.execution=false"];
    let job = lab.json(&[&words[..], &splits[..], more].concat());
    job["job"].as_str().expect("a job").to_owned()
}

fn lines(lab: &Lab, output: &str) -> usize {
    let parts = fs::read_dir(lab.export(output)).expect("the output").flatten();
    let parts = parts.filter(|part| part.file_name().to_string_lossy().starts_with("part-"));
    parts.map(|part| fs::read_to_string(part.path()).expect("text").lines().count()).sum()
}

/// A master, and two workers of which the second has a share that behaves.
fn two_workers(lab: Lab) -> Lab {
    let mut lab = lab.with_network_share("lab2").machines(Kind::V4, &[]);
    lab.master();
    lab.workers(&["lab1", "lab2"]);
    lab.wait_state(&["lab1", "lab2"], "LIVE");
    let job = lab.count_words("at-first", 2_000)["job"].as_str().expect("a job").to_owned();
    assert!(!of(&lab.attempts(&job), "lab2").is_empty(), "the share is of no use to lab2");
    lab
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn attempts_that_wait_for_a_server_are_given_up_and_keep_their_slots_until_it_answers() {
    let name = "network_files::attempts_that_wait_for_a_server_are_given_up_and_keep_their_slots_until_it_answers";
    inside_with_file_systems(name, |lab| {
        let lab = two_workers(lab);
        lab.network_share("lab2").set(Mood::Hangs);
        let job = copy(&lab, "out", "cat", &["-D", "mapred.task.timeout=2000"]);
        // One is enough: the kernel lets the others wait for its answer.
        wait_for("an attempt to wait in the kernel", || (lab.network_share("lab2").waiting() > 0).then_some(()));
        let given_up = "2 slots are taken by attempts that were killed and whose processes do not end";
        let listed = wait_for("their slots to be given up", || {
            let listed = lab.desk(&["worker", "list"]);
            listed.contains(given_up).then_some(listed)
        });
        assert!(listed.contains(&format!("attempt_{}_m_", &job[4..])) && listed.contains("state D"), "{listed}");
        // Nobody's job fails: what hung there runs elsewhere, and is said to have hung.
        lab.desk(&["job", "wait", &job]);
        assert_eq!(lines(&lab, "out"), 2_000);
        let all = lab.attempts(&job);
        assert!(all.iter().all(|attempt| attempt["state"] != "FAILED"), "{all:#?}");
        let hung = of(&all, "lab2");
        let is_said = |attempt: &&Value| {
            attempt["state"] == "KILLED"
                && attempt["diagnostics"].as_str().is_some_and(|why| why.contains("its process does not end"))
        };
        assert!(hung.len() == 2 && hung.iter().all(is_said), "{all:#?}");
        // The next ones go by it.
        let job = copy(&lab, "next", "cat", &["-D", "mapred.task.timeout=2000"]);
        let explained = lab.desk(&["job", "explain", &job]);
        lab.desk(&["job", "wait", &job]);
        assert!(explained.contains(given_up), "{explained}");
        assert!(of(&lab.attempts(&job), "lab2").is_empty(), "{:#?}", lab.attempts(&job));
        // And when the server answers again, all is as it was.
        lab.network_share("lab2").set(Mood::Well);
        wait_for("the slots to be free", || (!lab.desk(&["worker", "list"]).contains("slots are taken")).then_some(()));
        let job = copy(&lab, "after", "cat", &[]);
        lab.desk(&["job", "wait", &job]);
        assert!(!of(&lab.attempts(&job), "lab2").is_empty(), "{:#?}", lab.attempts(&job));
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_machine_whose_handles_are_all_stale_is_named_and_costs_no_job_anything() {
    let name = "network_files::a_machine_whose_handles_are_all_stale_is_named_and_costs_no_job_anything";
    inside_with_file_systems(name, |lab| {
        let lab = two_workers(lab);
        lab.network_share("lab2").set(Mood::Stale);
        let job = copy(&lab, "out", "cat", &[]);
        lab.desk(&["job", "wait", &job]);
        assert_eq!(lines(&lab, "out"), 2_000);
        let all = lab.attempts(&job);
        assert!(all.iter().all(|attempt| attempt["state"] != "FAILED"), "{all:#?}");
        assert!(of(&all, "lab2").iter().all(|attempt| attempt["state"] == "KILLED"), "{all:#?}");
        let listed = lab.desk(&["worker", "list"]);
        assert!(listed.contains("lab2: ") && listed.contains("Stale"), "{listed}");
        lab.network_share("lab2").set(Mood::Well);
        let job = copy(&lab, "after", "cat", &[]);
        lab.desk(&["job", "wait", &job]);
        assert!(of(&lab.attempts(&job), "lab2").iter().any(|attempt| attempt["state"] == "SUCCEEDED"));
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_handle_that_becomes_stale_fails_one_attempt_with_the_reason_and_it_runs_again() {
    let name = "network_files::a_handle_that_becomes_stale_fails_one_attempt_with_the_reason_and_it_runs_again";
    inside_with_file_systems(name, |lab| {
        let lab = two_workers(lab);
        lab.network_share("lab2").set(Mood::StaleOnce);
        let job = copy(&lab, "out", "cat", &[]);
        lab.desk(&["job", "wait", &job]);
        assert_eq!(lines(&lab, "out"), 2_000);
        let all = lab.attempts(&job);
        let ended: Vec<&Value> = all.iter().filter(|attempt| attempt["state"] != "SUCCEEDED").collect();
        assert_eq!(ended.len(), 1, "{all:#?}");
        let is_said = |attempt: &&Value| attempt["diagnostics"].as_str().is_some_and(|why| why.contains("Stale"));
        assert!(ended.iter().all(is_said), "{all:#?}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_quota_that_is_used_up_is_said_with_the_path_and_costs_no_job_that_writes_elsewhere() {
    let name = "network_files::a_quota_that_is_used_up_is_said_with_the_path_and_costs_no_job_that_writes_elsewhere";
    inside_with_file_systems(name, |lab| {
        let lab = two_workers(lab.with_network_share("lab1"));
        for machine in ["lab1", "lab2"] {
            lab.network_share(machine).set(Mood::NoQuota);
        }
        let job = copy(&lab, "out", "cat", &[]);
        assert_eq!(lab.at_desk(&["job", "wait", &job]).status.code(), Some(1));
        let why = lab.desk(&["job", "why", &job]);
        assert!(why.contains("quota exceeded") && why.contains(&lab.shared("out")), "{why}");
        lab.desk(&["submit", "sleep", "-m", "8", "-mt", "10", "--wait"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        for machine in ["lab1", "lab2"] {
            lab.network_share(machine).set(Mood::Well);
        }
        lab.count_words("after", 2_000);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn what_is_removed_while_it_is_open_keeps_no_job_from_its_end_and_goes_later() {
    let name = "network_files::what_is_removed_while_it_is_open_keeps_no_job_from_its_end_and_goes_later";
    inside_with_file_systems(name, |lab| {
        let mut lab = lab.with_network_share("lab0").machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1"]);
        lab.wait_state(&["lab1"], "LIVE");
        let wait = format!("while [ ! -e {}go ]; do sleep 0.1; done", lab.shared(""));
        for (output, then, code) in [("good", "cat", 0), ("bad", "false", 1)] {
            let job = copy(&lab, output, &format!("sh -c '{wait}; {then}'"), &[]);
            let seen = lab.path("nfs-lab0").join(output).join("_temporary");
            wait_for("the job's private output", || seen.join("_job").exists().then_some(()));
            // Somebody on the master's machine looks into it meanwhile: two files, of which one lies deeper.
            fs::create_dir_all(seen.join("deep/deeper")).expect("make folders");
            let held = ["held", "deep/deeper/held"].map(|name| {
                fs::write(seen.join(name), "text").expect("write a file");
                fs::File::open(seen.join(name)).expect("open it")
            });
            fs::write(lab.export("go"), "").expect("let the maps go on");
            assert_eq!(lab.at_desk(&["job", "wait", &job]).status.code(), Some(code));
            if code == 0 {
                assert!(lab.export("good/_SUCCESS").is_file());
                assert_eq!(lines(&lab, "good"), 2_000);
            }
            let rest = lab.export(output).join("_temporary");
            wait_for("all else to be removed", || (!rest.join("_job").exists()).then_some(()));
            assert!(rest.exists(), "nothing is left to come back for");
            drop(held);
            wait_for("what was left to go", || (!rest.exists()).then_some(()));
            fs::remove_file(lab.export("go")).expect("remove the signal");
        }
        assert!(!lab.export("bad").exists());
        assert!(lab.log("lab0").contains("what was left of a job's private output is gone"), "{}", lab.log("lab0"));
    });
}
