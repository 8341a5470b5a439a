//! Machines that others cannot reach, or that die.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::inside::{inside, inside_with_filters};
use crate::machines::{Kind, Lab};
use crate::wait_for;

/// The guide says ten seconds; a busy machine adds some.
const TAKEN_BACK: Duration = Duration::from_secs(30);

fn is_map(attempt: &Value) -> bool {
    attempt["attempt"].as_str().is_some_and(|id| id.contains("_m_"))
}

/// Counts words once more, and looks at who did.
fn is_used_again(lab: &Lab, machine: &str) {
    let job = lab.count_words("again", 4_000)["job"].as_str().expect("a job").to_owned();
    let ended = lab.attempts(&job);
    assert!(ended.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{ended:#?}");
    assert!(ended.iter().filter(|attempt| is_map(attempt)).any(|attempt| attempt["worker"] == machine), "{ended:#?}");
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_behind_a_packet_filter_is_unreachable_and_costs_no_job_anything() {
    inside_with_filters("reach::a_worker_behind_a_packet_filter_is_unreachable_and_costs_no_job_anything", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.close_port("lab2", 50_060);
        lab.master();
        lab.workers(&["lab1", "lab3"]);
        lab.worker_with("lab2", &["--listen", "0.0.0.0:50060"]);
        lab.wait_state(&["lab1", "lab3"], "LIVE");
        lab.wait_state(&["lab2"], "UNREACHABLE");
        let listed = lab.desk(&["worker", "list"]);
        assert!(listed.contains("lab2: nobody can fetch from it: the master tried `10.77.0.12:50060`"), "{listed}");
        let began = Instant::now();
        let job = lab.count_words("out", 2_000)["job"].as_str().expect("a job").to_owned();
        assert!(began.elapsed().as_secs() < 45, "{:?}", began.elapsed());
        let attempts = lab.attempts(&job);
        for attempt in &attempts {
            assert_eq!(attempt["state"], "SUCCEEDED", "{attempt:#}");
            assert!(!is_map(attempt) || attempt["worker"] != "lab2", "{attempt:#}");
        }
        // The way back is to open the port.
        lab.open_all("lab2");
        let opened = Instant::now();
        lab.wait_state(&["lab2"], "LIVE");
        assert!(opened.elapsed() < TAKEN_BACK, "{:?}", opened.elapsed());
        is_used_again(&lab, "lab2");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_that_the_master_alone_reaches_is_shunned_once_two_others_complain() {
    inside_with_filters("reach::a_worker_that_the_master_alone_reaches_is_shunned_once_two_others_complain", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        for from in ["lab1", "lab3"] {
            lab.close_port_to("lab2", 50_060, from);
        }
        // Here the job is to find out.
        lab.write("rarely.toml", "[master]\nreach_interval_ms = 600000\n");
        let rarely = lab.path("rarely.toml").display().to_string();
        lab.master_with(&["--config", &rarely]);
        // It is quick to get the maps, and has no reduces.
        lab.worker_with("lab2", &["--listen", "0.0.0.0:50060", "--map-slots", "8", "--reduce-slots", "0"]);
        lab.wait_state(&["lab2"], "LIVE");
        for name in ["lab1", "lab3"] {
            lab.worker_with(name, &["--map-slots", "1", "--reduce-slots", "1"]);
        }
        lab.wait_state(&["lab1", "lab2", "lab3"], "LIVE");
        let job = lab.count_words("out", 2_000)["job"].as_str().expect("a job").to_owned();
        let listed = lab.desk(&["worker", "list"]);
        assert!(listed.contains("lab2: lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`"), "{listed}");
        // The job paid nothing, and says what happened to it.
        let attempts = lab.attempts(&job);
        assert!(attempts.iter().all(|attempt| attempt["state"] != "FAILED"), "{attempts:#?}");
        let why = lab.desk(&["job", "why", &job]);
        // Who tried, and where.
        let who = "on lab2 was made again elsewhere: lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`";
        assert!(why.contains(who), "{why}");
        let said = lab.json(&["job", "why", &job]);
        assert!(said["out_of_reach"]["lab2"].as_u64() > Some(0), "{said:#}");
        let reason = said["out_of_reach_why"]["lab2"].as_str().unwrap_or_default();
        assert!(reason.starts_with("lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`"), "{said:#}");
        // The next one does not go there.
        let next = lab.count_words("next", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&next);
        assert!(attempts.iter().all(|attempt| attempt["worker"] != "lab2"), "{attempts:#?}");
        // The way back is to open the port, and not to wait until the workers' word is old: start the worker again.
        lab.open_all("lab2");
        lab.stop("lab2");
        lab.worker_with("lab2", &["--listen", "0.0.0.0:50060", "--map-slots", "8", "--reduce-slots", "0"]);
        lab.wait_state(&["lab2"], "LIVE");
        is_used_again(&lab, "lab2");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_that_others_do_not_get_to_is_found_before_a_job_is_there() {
    inside_with_filters("reach::a_worker_that_others_do_not_get_to_is_found_before_a_job_is_there", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        for from in ["lab1", "lab3"] {
            lab.close_port_to("lab2", 50_060, from);
        }
        lab.master();
        lab.worker_with("lab2", &["--listen", "0.0.0.0:50060"]);
        lab.workers(&["lab1", "lab3"]);
        lab.wait_state(&["lab1", "lab2", "lab3"], "LIVE");
        // Each pair, at once and on demand.
        let looked = lab.at_desk(&["doctor"]);
        let said = String::from_utf8_lossy(&looked.stdout).into_owned();
        assert_eq!(looked.status.code(), Some(1), "{said}");
        for worker in ["lab1", "lab3"] {
            let of = |found: &str| said.lines().any(|line| line.starts_with(worker) && line.contains(found));
            assert!(of("it does not get to lab2: ") && of("it gets to 1 of 2"), "{said}");
        }
        assert!(said.lines().any(|line| line.starts_with("lab2") && line.contains("it gets to 2 of 2")), "{said}");
        // And by itself, now and then.
        lab.wait_state(&["lab2"], "UNREACHABLE");
        let listed = lab.desk(&["worker", "list"]);
        // With what the system said.
        let who = "lab2: lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`: ";
        assert!(listed.contains(who) && listed.contains("no answer within 3 s"), "{listed}");
        lab.wait_state(&["lab1", "lab3"], "LIVE");
        let job = lab.count_words("out", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.attempts(&job);
        let is_good = |attempt: &serde_json::Value| {
            attempt["state"] == "SUCCEEDED" && !(is_map(attempt) && attempt["worker"] == "lab2")
        };
        assert!(attempts.iter().all(is_good), "{attempts:#?}");
        lab.open_all("lab2");
        lab.stop("lab2");
        lab.worker_with("lab2", &["--listen", "0.0.0.0:50060"]);
        lab.wait_state(&["lab2"], "LIVE");
        is_used_again(&lab, "lab2");
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn an_address_that_others_do_not_reach_is_refused() {
    inside("reach::an_address_that_others_do_not_reach_is_refused", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.worker_with("lab1", &["--advertise", "127.0.0.1"]);
        lab.worker_with("lab2", &["--advertise", "lab3:9"]);
        wait_for("the master to refuse both", || {
            let loopback = lab.log("lab1").contains("is on loopback, but the worker is at 10.77.0.11");
            let wrong = lab.log("lab2").contains("the worker advertises `lab3:9`, but the master cannot reach it");
            (loopback && wrong).then_some(())
        });
        assert!(lab.worker("lab1").is_none() && lab.worker("lab2").is_none());
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_worker_that_gets_to_the_master_alone_fails_no_job() {
    inside_with_filters("reach::a_worker_that_gets_to_the_master_alone_fails_no_job", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        for other in ["lab1", "lab3"] {
            lab.drop_from("lab2", other);
        }
        lab.master();
        lab.workers(&["lab1", "lab2", "lab3"]);
        // The two others say so of it; it says so of both, which does not count, as it gets to nobody.
        lab.wait_state(&["lab2"], "UNREACHABLE");
        lab.wait_state(&["lab1", "lab3"], "LIVE");
        let listed = lab.desk(&["worker", "list"]);
        assert!(listed.contains("lab2: lab1 and lab3 cannot fetch from it at `10.77.0.12:"), "{listed}");
        let began = Instant::now();
        let job = lab.count_words("out", 4_000)["job"].as_str().expect("a job").to_owned();
        assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
        let ended = lab.attempts(&job);
        let on_lab2 = ended.iter().filter(|attempt| attempt["worker"] == "lab2");
        assert!(on_lab2.clone().all(|attempt| attempt["state"] != "SUCCEEDED"), "{ended:#?}");
        let of_others = ended.iter().filter(|attempt| attempt["worker"] != "lab2");
        assert!(of_others.clone().all(|attempt| attempt["state"] != "FAILED"), "{ended:#?}");
        // The way back.
        lab.open_all("lab2");
        lab.stop("lab2");
        lab.workers(&["lab2"]);
        lab.wait_state(&["lab1", "lab2", "lab3"], "LIVE");
        is_used_again(&lab, "lab2");
    });
}

/// Two machines with two maps each that take a minute, and a third one that has just come. Returns the job.
fn a_machine_to_spare(lab: &mut Lab) -> String {
    lab.master();
    lab.workers(&["lab1", "lab2"]);
    lab.wait_state(&["lab1", "lab2"], "LIVE");
    let alone = ["-D", "mapred.map.tasks.speculative.execution=false"];
    let job = lab.json(&[&["submit", "sleep", "-m", "4", "-mt", "60000", "-r", "0"], &alone[..]].concat());
    let job = job["job"].as_str().expect("a job").to_owned();
    wait_for("two maps on each of two machines", || {
        let on = |machine: &str| running_on(lab, &job, machine);
        (on("lab1") == 2 && on("lab2") == 2).then_some(())
    });
    lab.workers(&["lab3"]);
    lab.wait_state(&["lab3"], "LIVE");
    job
}

fn running_on(lab: &Lab, job: &str, machine: &str) -> usize {
    let is_one = |attempt: &&Value| attempt["state"] == "RUNNING" && attempt["worker"] == machine;
    lab.attempts(job).iter().filter(is_one).count()
}

/// What a user sees of a machine that died: in the list, of what ran there, and of a job that waits.
fn death_is_named(lab: &Lab, job: &str, machine: &str) {
    assert_eq!(lab.worker(machine).expect("it is listed")["state"], "LOST");
    let ended = lab.attempts(job);
    let there = ended.iter().filter(|attempt| attempt["worker"] == machine && attempt["state"] != "RUNNING");
    assert!(there.clone().count() >= 2, "{ended:#?}");
    for attempt in there {
        assert_eq!((&attempt["state"], &attempt["cause"]), (&"KILLED".into(), &"its worker was lost".into()));
    }
    let explained = lab.desk(&["job", "explain", job]);
    assert!(explained.contains(&format!("take no tasks: {machine} (LOST, no heartbeat for ")), "{explained}");
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn what_a_killed_worker_ran_runs_elsewhere_within_5_seconds() {
    inside("reach::what_a_killed_worker_ran_runs_elsewhere_within_5_seconds", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let job = a_machine_to_spare(&mut lab);
        // Once is enough: this machine may be busy with other things just then, for which there is the second bound.
        let mut took = Vec::new();
        for (victim, heir) in [("lab2", "lab3"), ("lab3", "lab2"), ("lab2", "lab3")] {
            lab.kill(victim);
            let killed = Instant::now();
            wait_for("its attempts to run elsewhere", || (running_on(&lab, &job, heir) == 2).then_some(()));
            took.push(killed.elapsed());
            death_is_named(&lab, &job, victim);
            // The way back is to start it.
            lab.workers(&[victim]);
            lab.wait_state(&[victim], "LIVE");
            if took.last() < Some(&Duration::from_secs(5)) {
                break;
            }
        }
        eprintln!("from a worker's kill to its attempts elsewhere: {took:?}");
        assert!(took.iter().all(|took| took.as_secs() < 15), "{took:?}");
        assert!(took.last() < Some(&Duration::from_secs(5)), "{took:?}");
        lab.desk(&["job", "kill", &job]);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn what_a_dead_machine_ran_runs_elsewhere_within_35_seconds() {
    inside("reach::what_a_dead_machine_ran_runs_elsewhere_within_35_seconds", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        let job = a_machine_to_spare(&mut lab);
        // The power goes: no connection is closed.
        lab.unplug("lab2");
        lab.kill("lab2");
        let died = Instant::now();
        // Before it is given up, it is said that it is silent.
        lab.wait_state(&["lab2"], "SILENT");
        wait_for("its attempts to run elsewhere", || (running_on(&lab, &job, "lab3") == 2).then_some(()));
        eprintln!("from a machine's death to its attempts elsewhere: {:?}", died.elapsed());
        assert!(died.elapsed().as_secs() < 35, "it took {:?}", died.elapsed());
        death_is_named(&lab, &job, "lab2");
        // The way back: it has power and is started.
        lab.plug("lab2");
        lab.workers(&["lab2"]);
        lab.wait_state(&["lab2"], "LIVE");
        lab.desk(&["job", "kill", &job]);
        is_used_again(&lab, "lab2");
    });
}
