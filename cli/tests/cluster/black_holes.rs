//! A worker on which every attempt fails at once: noticed, set aside with its reason, and still so after a restart of the master.

use std::time::{Duration, Instant};

use crate::harness::{Cluster, Setup, wait_for};

/// Maps, each of a file of its own.
const MAPS: usize = 24;

#[test]
fn a_worker_that_fails_every_attempt_at_once_is_set_aside_and_the_job_ends() {
    // Attempts of a busy machine take their time to start.
    let master_config = "[master.cluster.blacklist]\nshort_failure_ms = 60000\n".to_owned();
    let mut cluster = Cluster::start(Setup { workers: 3, master_config, ..Setup::default() });
    // What is broken is broken on the first worker only.
    let broken = r#"case "$PWD" in */worker-1/*) echo the library is missing >&2; exit 1;; esac; sleep 0.3; cat"#;
    let mapper = cluster.script("mapper.sh", broken);
    let inputs: Vec<String> =
        (0..MAPS).map(|n| cluster.text(&format!("input-{n}.txt"), &format!("word{n}\n"))).collect();
    let out = cluster.output("out");
    let mut args = vec!["streaming", "--mapper", &mapper, "--output", &out];
    args.extend(inputs.iter().flat_map(|input| ["--input", input]));
    let began = Instant::now();
    let job = cluster.submit(&args);
    wait_for("the worker to be set aside", || {
        (cluster.worker_state(0).as_deref() == Some("BLACKLISTED")).then_some(())
    });
    // Seconds, and what a busy machine adds.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    cluster.wait_job(&job, 0);
    let why = "attempt after attempt failed there at once, and other workers did the same tasks";
    let listed = cluster.workers().into_iter().find(|worker| worker["name"] == "worker-1").expect("it is listed");
    assert_eq!(listed["problems"], serde_json::json!([why]), "{listed}");
    assert!(cluster.master_log().contains(&format!("a worker is blacklisted: {why}")), "{}", cluster.master_log());
    assert_eq!([1, 2].map(|index| cluster.worker_state(index)), [Some("LIVE".to_owned()), Some("LIVE".to_owned())]);

    cluster.kill_master();
    cluster.restart_master();
    wait_for("the worker to be back, and still set aside", || {
        (cluster.worker_state(0).as_deref() == Some("BLACKLISTED")).then_some(())
    });
    let next = cluster.sleep(4, 10, 0);
    cluster.wait_job(&next, 0);
    let attempts = cluster.attempts(&next);
    assert!(attempts.iter().all(|attempt| attempt["worker"] != "worker-1"), "{attempts:?}");

    cluster.run(&["worker", "enable", "worker-1"]).expect_code(0);
    wait_for("the worker to take tasks again", || (cluster.worker_state(0).as_deref() == Some("LIVE")).then_some(()));
    cluster.stop_and_replay();
}
