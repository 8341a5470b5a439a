//! Every scheduler decides live as it does in replay, also when it is exchanged while jobs run.

use serde_json::Value;

use crate::harness::{Cluster, Setup};

/// Jobs that give every policy something to order: priorities, deadlines and sizes.
const JOBS: [&[&str]; 5] = [
    &["-m", "9", "-mt", "60", "-r", "2", "-rt", "60"],
    &["-m", "2", "-mt", "40", "-r", "1", "-rt", "40", "--deadline", "30s"],
    &["-m", "5", "-mt", "50", "-r", "1", "-rt", "200", "--priority", "LOW"],
    &["-m", "1", "-mt", "300", "-r", "0", "--deadline", "2s", "--priority", "HIGH"],
    &["-m", "4", "-mt", "50", "-r", "3", "-rt", "30"],
];

fn under(scheduler: &str) -> Cluster {
    Cluster::start(Setup { master_config: format!("[master]\nscheduler = \"{scheduler}\"\n"), ..Setup::default() })
}

fn submit_all(cluster: &Cluster) -> Vec<String> {
    JOBS.iter().map(|words| cluster.submit(&[&["sleep"], *words].concat())).collect()
}

fn expect_identical(report: &Value, what: &str) {
    let (identical, compared) = (&report["decisions"]["identical"], &report["decisions"]["compared"]);
    assert_eq!(identical, compared, "{what}: {report}");
    assert!(compared.as_u64().is_some_and(|n| n > 20), "{what}: {report}");
}

fn names() -> Vec<String> {
    let cluster = Cluster::start(Setup::default());
    let said = cluster.json(&["scheduler", "list"]);
    let names = said["schedulers"].as_array().expect("a list of names");
    names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[test]
fn every_scheduler_decides_live_as_in_replay() {
    let names = names();
    assert!(names.iter().any(|name| name == "fifo"), "{names:?}");
    // The one outside is another program, with a test of its own.
    for name in names.iter().filter(|&name| name != "external") {
        let cluster = under(name);
        for job in submit_all(&cluster) {
            cluster.wait_job(&job, 0);
        }
        expect_identical(&cluster.stop_and_validate(), name);
    }
}

#[test]
fn a_scheduler_is_exchanged_while_jobs_run_and_the_recording_follows() {
    let cluster = under("fifo");
    let jobs = submit_all(&cluster);
    cluster.wait_running_maps(&jobs[0], 2);
    cluster.run(&["scheduler", "set", "fbq"]).expect_code(0);
    let shown = cluster.json(&["cluster"]);
    assert_eq!(shown["scheduler"], "fbq", "{shown}");
    let refused = cluster.run(&["scheduler", "set", "nobody"]).expect_code(2);
    assert!(refused.stderr.contains("scheduler `nobody`: no such scheduler"), "{}", refused.stderr);
    for job in jobs {
        cluster.wait_job(&job, 0);
    }
    expect_identical(&cluster.stop_and_validate(), "fifo, then fbq");
}
