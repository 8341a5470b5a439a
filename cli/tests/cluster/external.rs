//! External programs in charge of real clusters, and what the recorded run says of them afterwards.

use crate::harness::{Cluster, Setup, wait_for};

/// The guide's example.
const SHORTEST_FIRST: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/schedulers/examples/shortest_first.py");

/// One slot of each kind, and a master with this scheduler.
fn one_slot(scheduler: &str, params: &[(&str, &str)]) -> Cluster {
    let params: String = params.iter().map(|(key, value)| format!("{key} = {value:?}\n")).collect();
    let master_config = format!("[master]\nscheduler = {scheduler:?}\n\n[master.scheduler_params]\n{params}");
    Cluster::start(Setup { workers: 1, map_slots: 1, reduce_slots: 1, master_config, ..Setup::default() })
}

/// When each job was done.
fn finished_ms(cluster: &Cluster, jobs: &[&String]) -> Vec<u64> {
    let finished = |job: &&String| cluster.status(job)["finish_ms_epoch"].as_u64().expect("a time");
    jobs.iter().map(finished).collect()
}

#[test]
fn an_external_program_schedules_a_live_cluster_and_its_run_replays() {
    let command = format!("python3 '{SHORTEST_FIRST}'");
    let cluster = one_slot("external", &[("command", &command), ("timeout", "20s")]);
    // While the first one holds the slot, a long and a short job come.
    let holder = cluster.sleep(1, 10_000, 0);
    cluster.wait_running_maps(&holder, 1);
    let (long, short) = (cluster.sleep(4, 50, 0), cluster.sleep(2, 50, 0));
    for job in [&holder, &short, &long] {
        cluster.wait_job(job, 0);
    }
    let times = finished_ms(&cluster, &[&holder, &short, &long]);
    assert!(times.is_sorted(), "the shorter job was to end before the longer one: {times:?}");
    // Processes of the program included, nothing is left; the program, run again, decides the same.
    cluster.stop_and_replay();
}

#[test]
fn snapshots_are_taken_under_an_external_program_which_begins_anew() {
    let command = format!("python3 '{SHORTEST_FIRST}'");
    let master_config = format!(
        "[master]\njournal_segment_bytes = 65536\nscheduler = \"external\"\n\n[master.scheduler_params]\n\
         command = {command:?}\ntimeout = \"20s\"\n"
    );
    let mut cluster =
        Cluster::start(Setup { workers: 1, map_slots: 1, reduce_slots: 1, master_config, ..Setup::default() });
    let mut jobs = Vec::new();
    wait_for("a snapshot", || {
        let job = cluster.sleep(5, 10, 1);
        cluster.wait_job(&job, 0);
        jobs.push(job);
        let log = std::fs::read_to_string(cluster.path("master.err")).expect("the master's log");
        log.contains("a snapshot of the master is in the journal").then_some(())
    });
    let holder = cluster.sleep(1, 5_000, 0);
    cluster.wait_running_maps(&holder, 1);
    cluster.kill_master();
    cluster.restart_master();
    let (long, short) = (cluster.sleep(4, 50, 0), cluster.sleep(2, 50, 0));
    for job in [&holder, &short, &long] {
        cluster.wait_job(job, 0);
    }
    let times = finished_ms(&cluster, &[&holder, &short, &long]);
    assert!(times.is_sorted(), "the shorter job was to end before the longer one: {times:?}");
    assert_eq!(cluster.jobs().len(), jobs.len() + 3);
    cluster.stop_and_replay();
}

#[test]
fn a_master_outlives_its_external_program() {
    let command = r#"read hello; echo '{"type":"hello","protocol":1}'; read offer; exit 7"#;
    let cluster = one_slot("external", &[("command", command), ("timeout", "20s")]);
    let job = cluster.sleep(3, 10, 0);
    cluster.wait_job(&job, 0);
    let log = wait_for("the warning", || {
        let log = std::fs::read_to_string(cluster.path("master.err")).expect("the master's log");
        log.contains("ended (exit status: 7); `fifo` decides from now on").then_some(log)
    });
    assert_eq!(log.matches("decides from now on").count(), 1, "{log}");
    cluster.stop_and_replay();
}
