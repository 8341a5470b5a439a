//! Machines that others cannot reach, or that die.

use std::time::Instant;

use crate::inside::{inside, inside_with_filters};
use crate::machines::Kind;
use crate::wait_for;

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
        let attempts = lab.json(&["job", "attempts", &job])["attempts"].as_array().expect("attempts").clone();
        for attempt in &attempts {
            assert_eq!(attempt["state"], "SUCCEEDED", "{attempt:#}");
            let is_map = attempt["attempt"].as_str().is_some_and(|id| id.contains("_m_"));
            assert!(!is_map || attempt["worker"] != "lab2", "{attempt:#}");
        }
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
        let attempts = lab.json(&["job", "attempts", &job])["attempts"].as_array().expect("attempts").clone();
        assert!(attempts.iter().all(|attempt| attempt["state"] != "FAILED"), "{attempts:#?}");
        let why = lab.desk(&["job", "why", &job]);
        assert!(why.contains("on lab2 was made again elsewhere: nobody could fetch it from there"), "{why}");
        // The next one does not go there.
        let next = lab.count_words("next", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.json(&["job", "attempts", &next])["attempts"].as_array().expect("attempts").clone();
        assert!(attempts.iter().all(|attempt| attempt["worker"] != "lab2"), "{attempts:#?}");
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
        assert!(listed.contains("lab2: lab1 and lab3 cannot fetch from it at `10.77.0.12:50060`"), "{listed}");
        lab.wait_state(&["lab1", "lab3"], "LIVE");
        let job = lab.count_words("out", 2_000)["job"].as_str().expect("a job").to_owned();
        let attempts = lab.json(&["job", "attempts", &job])["attempts"].as_array().expect("attempts").clone();
        let is_good = |attempt: &serde_json::Value| {
            let is_map = attempt["attempt"].as_str().is_some_and(|id| id.contains("_m_"));
            attempt["state"] == "SUCCEEDED" && !(is_map && attempt["worker"] == "lab2")
        };
        assert!(attempts.iter().all(is_good), "{attempts:#?}");
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
fn what_a_dead_machine_ran_runs_elsewhere_within_35_seconds() {
    inside("reach::what_a_dead_machine_ran_runs_elsewhere_within_35_seconds", |lab| {
        let mut lab = lab.machines(Kind::V4, &[]);
        lab.master();
        lab.workers(&["lab1", "lab2"]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        let sleep = ["-D", "mapred.map.tasks=4", "-D", "sleep.job.map.sleep.time=20000"];
        let job = lab.json(&[&["submit", "sleep", "--reduces", "0"], &sleep[..]].concat());
        let job = job["job"].as_str().expect("a job").to_owned();
        let attempts = || lab.json(&["job", "attempts", &job])["attempts"].as_array().cloned().unwrap_or_default();
        wait_for("four maps to run", || {
            let running = attempts().iter().filter(|attempt| attempt["state"] == "RUNNING").count();
            (running == 4).then_some(())
        });
        // The power goes: no connection is closed.
        lab.unplug("lab2");
        lab.kill("lab2");
        let died = Instant::now();
        wait_for("its attempts to start elsewhere", || (attempts().len() >= 6).then_some(()));
        assert!(died.elapsed().as_secs() < 35, "it took {:?}", died.elapsed());
        lab.desk(&["job", "wait", &job]);
    });
}
