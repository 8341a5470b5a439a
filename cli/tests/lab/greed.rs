//! A job that fills the disks of its workers.

use std::fs;
use std::time::{Duration, Instant};

use howdah_guards::Guard;
use serde_json::Value;

use crate::faults::small_disk;
use crate::inside::inside;
use crate::machines::{Kind, Lab};

/// How long nothing of another job must run; with the guard it takes two or three seconds.
const LONG_ENOUGH: Duration = Duration::from_secs(5);

/// Two workers with small disks of their own.
fn small_disks(lab: Lab) -> Lab {
    let mut lab = lab.machines(Kind::V4, &[]);
    lab.master();
    for name in ["lab1", "lab2"] {
        small_disk(&lab, &format!("worker-{name}"), 128);
    }
    for name in ["lab1", "lab2"] {
        lab.worker_with(name, &["--map-slots", "3"]);
    }
    lab.wait_state(&["lab1", "lab2"], "LIVE");
    lab
}

/// A job of four maps, at least one for each worker, which write until nothing more fits and then wait for better days. One
/// worker has slots left.
fn fill_disks(lab: &Lab) -> String {
    fs::write(lab.export("greedy.sh"), "cat /dev/zero > large\nwhile :; do sleep 1; done\n").expect("write the mapper");
    fs::create_dir(lab.export("greedy")).expect("make a folder");
    for name in ["a", "b", "c", "d"] {
        fs::write(lab.export("greedy").join(name), "a line\n").expect("write an input");
    }
    let mapper = format!("sh {}", lab.shared("greedy.sh"));
    let (input, output) = (lab.shared("greedy"), lab.shared("greedy.out"));
    let words = ["submit", "streaming", "--mapper", &mapper, "--reduces", "0", "--input", &input, "--output", &output];
    lab.json(&words)["job"].as_str().expect("a job").to_owned()
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_job_that_fills_disks_fails_and_costs_the_others_no_failure() {
    inside("greed::a_job_that_fills_disks_fails_and_costs_the_others_no_failure", |lab| {
        let lab = small_disks(lab);
        lab.count_words("before", 2_000);
        let greedy = fill_disks(&lab);
        for n in 0..3 {
            let beside = lab.count_words(&format!("beside-{n}"), 2_000)["job"].as_str().expect("a job").to_owned();
            let ended = lab.attempts(&beside);
            assert!(ended.iter().all(|attempt| attempt["state"] != "FAILED"), "{ended:#?}");
        }
        let waited = lab.at_desk(&["job", "wait", &greedy]);
        assert_eq!(waited.status.code(), Some(1), "{}", String::from_utf8_lossy(&waited.stderr));
        let ended = lab.attempts(&greedy);
        let said = |attempt: &&Value| {
            attempt["diagnostics"].as_str().is_some_and(|said| said.contains("`min_free_disk_kill_bytes`"))
        };
        assert!(ended.iter().filter(said).count() >= 4, "{ended:#?}");
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        lab.count_words("after", 2_000);
    });
}

#[test]
#[ignore = "run by `cargo xtask lab`"]
fn a_job_that_fills_disks_holds_up_all_others_where_nobody_looks() {
    inside("greed::a_job_that_fills_disks_holds_up_all_others_where_nobody_looks", |lab| {
        let lab = small_disks(lab.without_guard(Guard::DiskSpace));
        let greedy = fill_disks(&lab);
        lab.wait_state(&["lab1", "lab2"], "LOW_DISK");
        let (input, output) = (lab.input(2_000), lab.shared("late"));
        let words = ["submit", "wordcount", "--input", &input, "--output", &output];
        let late = lab.json(&words)["job"].as_str().expect("a job").to_owned();
        let began = Instant::now();
        while began.elapsed() < LONG_ENOUGH {
            assert!(lab.attempts(&late).is_empty(), "not held up any more after {:?}", began.elapsed());
            std::thread::sleep(Duration::from_millis(250));
        }
        lab.desk(&["job", "kill", &greedy]);
        lab.wait_state(&["lab1", "lab2"], "LIVE");
        lab.desk(&["job", "wait", &late]);
    });
}
