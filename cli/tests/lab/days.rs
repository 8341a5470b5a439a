//! Other days of a lab: the power was cut everywhere, machines with several addresses, a full share, many workers.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::faults::fill;
use crate::inside::inside;
use crate::machines::{Kind, Lab};
use crate::wait_for;

fn in_state(attempts: &[Value], state: &str) -> usize {
    attempts.iter().filter(|attempt| attempt["state"] == state).count()
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn after_a_power_cut_of_all_machines_a_job_goes_on_and_none_of_its_attempts_failed() {
    inside("days::after_a_power_cut_of_all_machines_a_job_goes_on_and_none_of_its_attempts_failed", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let workers = ["lab1", "lab2", "lab3"];
        lab.master();
        lab.workers(&workers);
        lab.wait_state(&workers, "LIVE");
        let job = lab.json(&["submit", "sleep", "-m", "60", "-mt", "700", "-r", "0"]);
        let job = job["job"].as_str().expect("a job").to_owned();
        wait_for("some maps to be done", || (in_state(&lab.attempts(&job), "SUCCEEDED") >= 10).then_some(()));
        for machine in ["lab0", "lab1", "lab2", "lab3"] {
            lab.kill(machine);
        }
        // Who is there first has nobody to speak to.
        fs::remove_file(lab.path("master/access.json")).expect("the file of the master that was killed");
        lab.workers(&workers);
        wait_for("the workers to see that they are alone", || {
            workers.iter().all(|name| lab.log(name).contains("the master cannot be reached")).then_some(())
        });
        // Who looks from the desk is told who does not answer, and how.
        let looked = lab.at_desk(&["worker", "list"]);
        let said = String::from_utf8_lossy(&looked.stderr).into_owned();
        assert_eq!(looked.status.code(), Some(3), "{said}");
        assert!(said.contains("no master answers at lab0:9001: connection refused"), "{said}");
        lab.master();
        lab.wait_state(&workers, "LIVE");
        lab.desk(&["job", "wait", &job]);
        let ended = lab.attempts(&job);
        assert_eq!(in_state(&ended, "SUCCEEDED"), 60, "{ended:#?}");
        assert_eq!(in_state(&ended, "FAILED"), 0, "{ended:#?}");
        // What was cut off names its cause, and the job that the master was started again under it.
        let cut_off: Vec<&Value> = ended.iter().filter(|attempt| attempt["state"] == "KILLED").collect();
        assert!(cut_off.iter().all(|attempt| attempt["cause"] == "its worker was lost"), "{cut_off:#?}");
        assert!(!cut_off.is_empty(), "{ended:#?}");
        assert_eq!(lab.json(&["job", "status", &job])["master_restarts"], 1);
        let next = lab.count_words("next", 2_000)["job"].as_str().expect("a job").to_owned();
        let ended = lab.attempts(&next);
        assert_eq!(in_state(&ended, "SUCCEEDED"), ended.len(), "{ended:#?}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_machine_with_several_addresses_is_fetched_from_at_the_one_that_reaches_the_master() {
    inside("days::a_machine_with_several_addresses_is_fetched_from_at_the_one_that_reaches_the_master", |lab| {
        let mut lab = lab.machines(Kind::V4, &["lab2"]);
        // Of a network that nobody else is in, and first; the other one comes with its cable.
        lab.add_address("lab2", "192.168.77.12/24");
        lab.connect("lab2");
        lab.master();
        lab.workers(&["lab1", "lab2"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        let worker = lab.worker("lab2").expect("it is listed");
        assert!(worker["http_address"].as_str().is_some_and(|to| to.starts_with("10.77.0.12:")), "{worker}");
        let job = lab.count_words("out", 4_000)["job"].as_str().expect("a job").to_owned();
        let ended = lab.attempts(&job);
        assert_eq!(in_state(&ended, "SUCCEEDED"), ended.len(), "{ended:#?}");
        assert!(ended.iter().any(|attempt| attempt["worker"] == "lab2"), "{ended:#?}");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_full_share_is_named_and_costs_no_worker_and_no_job_that_does_not_write_there() {
    inside("days::a_full_share_is_named_and_costs_no_worker_and_no_job_that_does_not_write_there", |lab| {
        let share = lab.path("export");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&share).status();
        assert!(mounted.expect("start mount").success());
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1", "lab2"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        let input = lab.input(200);
        fill(&lab.export("filler"));
        let submit = |output: &str, mapper: &str| {
            let to = lab.shared(output);
            let words = [
                "submit",
                "streaming",
                "--mapper",
                mapper,
                "--reduces",
                "0",
                "--input",
                &input,
                "--output",
                &to,
                "--wait",
            ];
            let ended = lab.at_desk(&words);
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
        };
        // There is no room for the job's mark.
        let (code, said) = submit("refused", "cat");
        assert!(code != Some(0) && said.contains("No space left on device"), "{code:?} {said}");
        assert!(!lab.export("refused").exists(), "its output directory is left");
        // There is, but none for the output.
        fs::remove_file(lab.export("filler")).expect("make room");
        fs::write(lab.export("filler"), vec![7; 900 << 10]).expect("leave some");
        let (code, said) = submit("failed", "head -c 1000000 /dev/zero");
        assert_eq!(code, Some(1), "{said}");
        let jobs = lab.json(&["job", "list"]);
        let failed = jobs["jobs"][0]["job"].as_str().expect("a job").to_owned();
        let why = lab.desk(&["job", "why", &failed]);
        assert!(why.contains("No space left on device"), "{why}");
        // Others pay nothing, and the workers are as they were.
        lab.desk(&["submit", "sleep", "-m", "8", "-mt", "10", "--wait"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        fs::remove_file(lab.export("filler")).expect("make room");
        lab.count_words("after", 2_000);
    });
}

/// Starts workers of one slot each on machines.
fn start(lab: &mut Lab, workers: &[(&str, &str)]) {
    for (name, machine) in workers {
        let dir = lab.path(name).display().to_string();
        let words = ["worker", "--as-root", "--master", "lab0", "--name", name, "--dir", &dir];
        lab.daemon(machine, &[&words[..], &["--map-slots", "1", "--reduce-slots", "1"]].concat());
    }
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn fifty_workers_on_four_machines_are_live_and_a_job_outlives_a_quarter_of_them() {
    inside("days::fifty_workers_on_four_machines_are_live_and_a_job_outlives_a_quarter_of_them", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        let names: Vec<String> = (0..50).map(|n| format!("worker-{n}")).collect();
        let machine = |n: usize| ["lab1", "lab2", "lab3", "lab4"][n % 4];
        let all: Vec<(&str, &str)> = (0..50).map(|n| (names[n].as_str(), machine(n))).collect();
        start(&mut lab, &all);
        lab.desk(&["wait", "--workers", "50", "--timeout", "80s"]);
        let job = lab.json(&["submit", "sleep", "-m", "100", "-mt", "1500", "-r", "0"]);
        let job = job["job"].as_str().expect("a job").to_owned();
        let on_lab4 = |attempt: &&Value| {
            let n = attempt["worker"].as_str().and_then(|name| name.strip_prefix("worker-")?.parse::<usize>().ok());
            n.is_some_and(|n| n % 4 == 3)
        };
        wait_for("maps to run on a machine", || {
            let ran = lab.attempts(&job);
            ran.iter().filter(on_lab4).any(|attempt| attempt["state"] == "RUNNING").then_some(())
        });
        lab.kill("lab4");
        // They are named where somebody looks, as long as the job waits for what ran there.
        let gone: Vec<String> = (0..50).filter(|n| n % 4 == 3).map(|n| format!("worker-{n}")).collect();
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        lab.wait_state(&gone, "LOST");
        let long = lab.json(&["submit", "sleep", "-m", "200", "-mt", "1500", "-r", "0"]);
        let explained = lab.desk(&["job", "explain", long["job"].as_str().expect("a job")]);
        let (_, named) = explained.split_once("12 of 50 workers take no tasks: ").expect("they are counted");
        assert_eq!(named.matches(" (LOST, no heartbeat for ").count(), 5, "{explained}");
        assert!(named.contains(" and 7 more"), "{explained}");
        lab.desk(&["job", "kill", long["job"].as_str().expect("a job")]);
        lab.desk(&["job", "wait", &job]);
        let ended = lab.attempts(&job);
        assert_eq!((in_state(&ended, "SUCCEEDED"), in_state(&ended, "FAILED")), (100, 0), "{ended:#?}");
        let there = ended.iter().filter(on_lab4).filter(|attempt| attempt["state"] == "KILLED");
        assert!(there.clone().all(|attempt| attempt["cause"] == "its worker was lost"), "{ended:#?}");
        assert!(there.count() > 0, "{ended:#?}");
        // The machine is there again: its workers are started, and that is all.
        start(&mut lab, &gone.iter().map(|name| (*name, "lab4")).collect::<Vec<_>>());
        lab.wait_state(&gone, "LIVE");
        lab.count_words("out", 4_000);
    });
}
