//! Snapshots of real masters, which are killed while they take them.

use std::path::PathBuf;

use howdah_proto::v1;
use prost::Message;

use crate::harness::{Cluster, Gated, Setup};
use crate::master_kills::parts;

/// Rounds of jobs after which a snapshot has come, and another one.
const ROUNDS: usize = 30;
const JOBS: usize = 20;

#[test]
fn old_inputs_go_and_nothing_acknowledged_is_lost_though_the_master_is_killed_again_and_again() {
    let master_config = "[master]\njournal_segment_bytes = 65536\n[master.keep_inputs]\nbytes = 1\n".to_owned();
    let mut cluster = Cluster::start(Setup { workers: 1, master_config, ..Setup::default() });
    let master = cluster.output("master");
    let mut jobs = Vec::new();
    let (mut snapshots, mut last_gone) = (0, 0);
    for round in 0.. {
        assert!(round < ROUNDS, "{snapshots} snapshots after {} jobs:\n{}", jobs.len(), cluster.master_log());
        for _ in 0..JOBS {
            let job = cluster.sleep(1, 1, 0);
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
    cluster.kill_master();
    let damaged = damage_newest_snapshot(&master);
    let check = cluster.run(&["journal", "check", &master]).expect_code(1);
    assert!(check.stderr.contains(&format!("snapshot at offset 0 of `{damaged}` is damaged")), "{}", check.stderr);
    assert!(check.stderr.contains("help: "), "{}", check.stderr);
    cluster.restart_master();
    let said = "a damaged snapshot; this start goes on from the one before it";
    let log = cluster.master_log();
    assert_eq!(log.matches(said).count(), 1, "{log}");
    assert_eq!(cluster.jobs().len(), jobs.len());
    let history = cluster.json(&["job", "history", &jobs[0]]);
    assert_eq!(history["job"]["state"], "SUCCEEDED", "{history}");
    // Reading disturbs no master.
    let dump = cluster.run(&["journal", "dump", &master]).expect_code(0).stdout;
    assert!(dump.lines().next().is_some_and(|line| line.starts_with("snapshot after batch ")), "{dump}");
    let said = cluster.run(&["validate", "--dir", &master]).expect_code(0).stdout;
    assert!(said.contains("verified from 20") && said.contains("are gone (keep_inputs)"), "{said}");
    let past = cluster.run(&["predict", "--dir", &master, "--at", "0s"]).expect_code(2);
    assert!(past.stderr.contains("are gone") && past.stderr.contains("keep_inputs"), "{}", past.stderr);
    let report = cluster.stop_and_validate();
    assert!(report["decisions"]["beginning"]["batches_gone"].as_u64() > Some(0), "{}", report["decisions"]);
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(jobs.len()), "their histories are all there");
}

/// Kills of a master that is at work.
const KILLS_AT_WORK: u64 = 2;
/// Small jobs after which a snapshot has come, and another one.
const MOST_JOBS: usize = 400;

#[test]
fn a_master_that_is_never_at_rest_goes_on_from_a_snapshot_with_jobs_that_run_and_the_same_bytes_are_written() {
    let master_config = "[master]\njournal_segment_bytes = 65536\n[master.keep_inputs]\nbytes = 1\n".to_owned();
    let worker_config = "[worker]\nretry_max_ms = 1000\n".to_owned();
    let mut cluster = Cluster::start(Setup { workers: 2, master_config, worker_config, ..Setup::default() });
    let master = cluster.output("master");
    let gated = Gated::new(&cluster, 12, 2, "0");
    let quiet = cluster.output("quiet");
    let first = gated.submit(&cluster, &quiet);
    cluster.wait_job(&first, 0);
    // From now on there is always a job: its maps end, its reduces wait.
    gated.shut();
    let out = cluster.output("out");
    let second = gated.submit(&cluster, &out);
    let mut jobs = vec![first, second.clone()];
    let mut gone = 0;
    for kill in 1..=KILLS_AT_WORK {
        let more = jobs.len() + MOST_JOBS;
        loop {
            assert!(jobs.len() < more, "no snapshot after {} jobs:\n{}", jobs.len(), cluster.master_log());
            let job = cluster.sleep(1, 1, 0);
            cluster.wait_job(&job, 0);
            jobs.push(job);
            let check = cluster.json(&["journal", "check", &master]);
            let now = check["batches_gone"].as_u64().expect("a number");
            if now > gone {
                gone = now;
                break;
            }
        }
        let before = cluster.status(&second);
        assert!(before["state"] == "RUNNING" && before["maps_done"].as_u64() > Some(9), "{before}");
        cluster.kill_master();
        cluster.restart_master();
        let after = cluster.status(&second);
        assert_eq!((&after["maps_done"], &after["state"]), (&before["maps_done"], &before["state"]), "{after}");
        assert_eq!(after["master_restarts"], kill, "{after}");
        let listed = cluster.jobs();
        assert!(jobs.iter().all(|job| listed.iter().any(|listed| listed["job"] == job.as_str())), "{listed:?}");
    }
    let log = cluster.master_log();
    let at_work = |line: &&str| line.contains("a snapshot of the master is in the journal") && !line.contains("jobs=0");
    assert!(log.lines().filter(at_work).count() > KILLS_AT_WORK as usize, "{log}");
    gated.open();
    cluster.wait_job(&second, 0);
    assert_eq!(parts(&out), parts(&quiet));
    // What ran when a master was killed was not run a second time for that.
    let attempts = cluster.attempts(&second);
    assert!(attempts.iter().all(|attempt| attempt["state"] == "SUCCEEDED"), "{attempts:?}");
    let report = cluster.stop_and_validate();
    assert!(report["decisions"]["beginning"]["batches_gone"].as_u64() >= Some(gone), "{}", report["decisions"]);
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(jobs.len()), "their histories are all there");
}

/// Flips a bit of the newest snapshot of the run in a master's directory; its segment.
fn damage_newest_snapshot(master: &str) -> String {
    let run = howdah_master::journal::find_run(master.as_ref()).expect("a run");
    let entries = std::fs::read_dir(run.join("journal")).expect("a journal");
    let mut segments: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    segments.sort();
    // Behind the four bytes that a frame begins with are its length, its checksum and its payload.
    let begins_with_snapshot = |path: &&PathBuf| {
        let bytes = std::fs::read(path).expect("a segment");
        let length = bytes.get(4..8).and_then(|at| at.first_chunk()).map_or(0, |at| u32::from_le_bytes(*at) as usize);
        let payload = bytes.get(12..12 + length).unwrap_or_default();
        v1::JournalFrame::decode(payload).is_ok_and(|frame| frame.snapshot.is_some())
    };
    let newest = segments.iter().rfind(begins_with_snapshot).expect("a snapshot");
    let mut bytes = std::fs::read(newest).expect("a segment");
    bytes[100] ^= 1;
    std::fs::write(newest, bytes).expect("it is written");
    newest.display().to_string()
}
