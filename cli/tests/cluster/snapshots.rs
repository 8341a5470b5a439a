//! Snapshots of real masters, which are killed while they take them.

use crate::harness::{Cluster, Setup};

/// Rounds of a few jobs after which a snapshot has come, and another one.
const ROUNDS: usize = 20;

#[test]
fn old_inputs_go_and_nothing_acknowledged_is_lost_though_the_master_is_killed_again_and_again() {
    let master_config = "[master]\njournal_segment_bytes = 65536\n[master.keep_inputs]\nbytes = 1\n".to_owned();
    let mut cluster = Cluster::start(Setup { workers: 1, master_config, ..Setup::default() });
    let master = cluster.output("master");
    // A long name makes a long journal.
    let name = format!("mapred.job.name={}", "x".repeat(1_000));
    let mut jobs = Vec::new();
    let (mut snapshots, mut last_gone) = (0, 0);
    for round in 0.. {
        assert!(round < ROUNDS, "{snapshots} snapshots after {} jobs:\n{}", jobs.len(), cluster.master_log());
        for _ in 0..6 {
            let words = ["sleep", "-D", "mapred.map.tasks=1", "-D", "sleep.job.map.sleep.time=1", "--reduces", "0"];
            let job = cluster.submit(&[&words[..], &["-D", &name]].concat());
            cluster.wait_job(&job, 0);
            jobs.push(job);
        }
        cluster.kill_master();
        // The journal is whole, whatever was being done.
        let gone = cluster.json(&["journal", "check", &master])["batches_gone"].as_u64().expect("a number");
        cluster.restart_master();
        let listed: Vec<String> =
            cluster.jobs().iter().map(|job| job["job"].as_str().expect("an id").to_owned()).collect();
        assert_eq!(listed.len(), jobs.len(), "{gone} batches are gone");
        assert!(jobs.iter().all(|job| listed.contains(job)));
        snapshots += usize::from(gone > last_gone);
        last_gone = gone;
        if snapshots >= 2 {
            break;
        }
    }
    let history = cluster.json(&["job", "history", &jobs[0]]);
    assert_eq!(history["state"], "SUCCEEDED", "{history}");
    let report = cluster.stop_and_validate();
    assert!(report["decisions"]["beginning"]["batches_gone"].as_u64() > Some(0), "{}", report["decisions"]);
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(jobs.len()), "their histories are all there");
}
