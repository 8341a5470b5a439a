//! Every scheduler decides live as it does in replay, also when it is exchanged while jobs run.

use serde_json::Value;

use crate::harness::{Allocations, Cluster, Setup, wait_for};

/// Jobs that give every policy something to order: priorities, deadlines and sizes.
const JOBS: [&[&str]; 5] = [
    &["-m", "9", "-mt", "60", "-r", "2", "-rt", "60"],
    &["-m", "2", "-mt", "40", "-r", "1", "-rt", "40", "--deadline", "30s"],
    &["-m", "5", "-mt", "50", "-r", "1", "-rt", "200", "--priority", "LOW"],
    &["-m", "1", "-mt", "300", "-r", "0", "--deadline", "2s", "--priority", "HIGH"],
    &["-m", "4", "-mt", "50", "-r", "3", "-rt", "30"],
];

fn under(scheduler: &str) -> Cluster {
    with(scheduler, "")
}

/// With parameters, a line of TOML for each.
fn with(scheduler: &str, params: &str) -> Cluster {
    let master_config = format!("[master]\nscheduler = \"{scheduler}\"\n[master.scheduler_params]\n{params}\n");
    Cluster::start(Setup { master_config, ..Setup::default() })
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

/// Defaults are made for longer jobs than a test's: here limits are passed, and the other dialects decide.
#[test]
fn the_rules_behind_a_schedulers_parameters_decide_live_as_in_replay() {
    let cases = [
        ("fifo", "dialect = '1.2.1'"),
        ("fifo", "dialect = '0.20.2'"),
        ("fair", "dialect = '0.20.2'\n'update.interval' = 50"),
        ("fair", "sizebasedweight = true\nweightadjuster = 'new-job'\n'update.interval' = 0"),
        ("fbq", "limits = '150ms,400ms'\n'waiting.reduces' = 'count'"),
        ("fbq", "limits = '150ms,400ms'\nservice = 'total'"),
        ("tags", "limits = '200ms'"),
        ("sita", "limits = '200ms'"),
        ("comp", "queues = 4"),
        ("minedf", "recompute = true\nspare = true"),
        ("johnson", "order = 'reverse'"),
    ];
    for (scheduler, params) in cases {
        let cluster = with(scheduler, params);
        for job in submit_all(&cluster) {
            cluster.wait_job(&job, 0);
        }
        expect_identical(&cluster.stop_and_validate(), &format!("{scheduler} with {params}"));
    }
}

#[test]
fn a_scheduler_is_exchanged_while_jobs_run_and_the_recording_follows() {
    let cluster = under("fifo");
    let first = cluster.sleep(8, 1500, 0);
    cluster.wait_running_maps(&first, 2);
    let jobs = [vec![first], submit_all(&cluster)].concat();
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

/// The recording's trace keeps the pool that a property named, so that the simulation of the run pools alike.
#[test]
fn pools_by_a_property_are_in_the_trace_of_the_run() {
    let cluster = with("fair", "poolnameproperty = 'group.name'");
    let of = |group: &str| cluster.submit(&["sleep", "-m", "3", "-mt", "100", "-D", &format!("group.name={group}")]);
    let jobs = [of("red"), of("blue"), cluster.submit(&["sleep", "-m", "3", "-mt", "100"])];
    for job in &jobs {
        cluster.wait_job(job, 0);
    }
    let (master, trace) = (cluster.path("master"), cluster.path("run.jsonl"));
    let [master, file] = [&master, &trace].map(|path| path.to_str().expect("a plain path"));
    // Histories are written beside the master's decisions.
    let pools = wait_for("three histories", || {
        cluster.run(&["trace", "record", "--dir", master, "-o", file]).expect_code(0);
        let text = std::fs::read_to_string(&trace).expect("the trace is written");
        let recorded = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("a job a line"));
        Some(recorded.map(|job| job["pool"].clone()).collect::<Vec<_>>()).filter(|pools| pools.len() == 3)
    });
    assert_eq!(pools, [Value::from("red"), Value::from("blue"), Value::Null]);
    expect_identical(&cluster.stop_and_validate(), "fair with pools by a property");
}

#[test]
fn an_allocation_file_is_followed_and_a_bad_one_changes_nothing() {
    let allocations = Allocations::of("2.0");
    let master_config = format!("[master]\n{}", allocations.config());
    let cluster = Cluster::start(Setup { master_config, ..Setup::default() });
    let job = cluster.submit(&["sleep", "-m", "1", "-mt", "600000", "-D", "mapred.fairscheduler.pool=prod"]);
    cluster.wait_running_maps(&job, 1);
    let weight = || allocations.weight(&cluster);
    assert_eq!(weight(), Some(2.0));
    let shown = cluster.json(&["cluster"]);
    let file_named = serde_json::json!({ "allocation.file": allocations.path().display().to_string() });
    assert_eq!(shown["scheduler_params"], file_named, "without the file's text");
    assert_eq!(shown["second_attempts"], serde_json::json!({ "rule": "none", "cap": "none", "dry_run": false }));
    allocations.write("heavy");
    let log = cluster.path("master.err");
    let said = wait_for("the master to refuse the file", || {
        let log = std::fs::read_to_string(&log).ok()?;
        log.lines().find(|line| line.contains("the old allocation stays")).map(str::to_owned)
    });
    assert!(said.contains("`weight` of pool `prod`: `heavy` is not a number above 0"), "{said}");
    assert_eq!(weight(), Some(2.0), "the old allocation stays");
    let shows = [&["scheduler", "show"][..], &["queue", "list"], &["cluster"]];
    let doubts = |args: &&[&str]| cluster.run(args).expect_code(0).all().contains("`heavy` is not a number above 0");
    assert!(shows.iter().all(&doubts), "{}", cluster.run(shows[0]).all());
    allocations.write("5.0");
    wait_for("the master to take the file over", || (weight() == Some(5.0)).then_some(()));
    assert!(!shows.iter().any(doubts), "{}", cluster.run(shows[0]).all());
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    expect_some(&cluster.stop_and_validate());
}

/// Preemption stops real processes. That is no failure: what was stopped runs again, and the recording decides the same.
#[test]
fn a_pool_below_its_minimum_share_takes_a_slot_from_a_live_job() {
    let folder = tempfile::tempdir().expect("make a folder");
    let file = folder.path().join("pools.toml");
    std::fs::write(&file, "[pool.prod]\nminMaps = 1\nminSharePreemptionTimeout = 1\n").expect("write the allocations");
    let often = "preemption = true\n'preemption.interval' = 500\n'update.interval' = 100";
    let cluster = with("fair", &format!("{often}\n'allocation.file' = {:?}", file.display().to_string()));
    let long = cluster.submit(&["sleep", "-m", "4", "-mt", "600000"]);
    cluster.wait_running_maps(&long, 4);
    let short = cluster.submit(&["sleep", "-m", "1", "-mt", "100", "-D", "mapred.fairscheduler.pool=prod"]);
    cluster.wait_job(&short, 0);
    cluster.wait_running_maps(&long, 4);
    let status = cluster.status(&long);
    assert_eq!((&status["killed_attempts"], &status["failed_attempts"]), (&1.into(), &0.into()), "{status}");
    let log = std::fs::read_to_string(cluster.path("master.err")).expect("the master's log");
    assert!(log.contains("preemption of 1 map attempts (1 for pool `prod`): 1 ordered to stop"), "{log}");
    cluster.run(&["job", "kill", &long]).expect_code(0);
    cluster.wait_job(&long, 1);
    expect_some(&cluster.stop_and_validate());
}

#[test]
fn unknown_queues_are_refused_and_pools_that_do_not_fit_are_reported() {
    let cluster = Cluster::start(Setup::default());
    let sleep = ["submit", "sleep", "-m", "1", "-mt", "600000"];
    let asked = |more: &[&str]| cluster.run(&[&sleep[..], more].concat());
    let said = asked(&["--queue", "etl"]).expect_code(2);
    assert!(
        said.stderr.contains("queue `etl` does not exist: scheduler `fifo` has no queues of its own, expected default"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("help: `queue_names` of [master] lists all queues"), "{}", said.stderr);
    // Hadoop's property is the flag.
    let said = asked(&["-D", "mapred.job.queue.name=etl"]).expect_code(2);
    assert!(said.stderr.contains("queue `etl` does not exist"), "{}", said.stderr);
    cluster
        .run(&["scheduler", "set", "balanced-pools", "-D", "pools=etl:900+1", "-D", "speculation=late"])
        .expect_code(0);
    let job = cluster.submit(&[&sleep[1..], &["--queue", "etl"]].concat());
    let shown = cluster.json(&["cluster"]);
    let warning = shown["warnings"][0].as_str().unwrap_or_default().to_owned();
    assert!(warning.contains("`etl:900+1` is not a list of pools within the cluster's "), "{shown}");
    assert_eq!(shown["scheduler_params"], serde_json::json!({ "pools": "etl:900+1", "speculation": "late" }));
    assert_eq!(shown["second_attempts"]["cap"], "10%");
    assert_eq!(cluster.json(&["queue", "list"])["warnings"][0], warning.as_str());
    let card = cluster.run(&["cluster"]).expect_code(0).stdout;
    assert!(card.contains("parameters pools=etl:900+1  speculation=late\n"), "{card}");
    assert!(card.contains("speculation late, at most 10% at a time\n"), "{card}");
    let log = std::fs::read_to_string(cluster.path("master.err")).expect("the master's log");
    assert_eq!(log.matches("is not a list of pools within").count(), 1, "once, not with every job: {log}");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    expect_some(&cluster.stop_and_validate());
}

/// A short run: whatever it decided is identical.
fn expect_some(report: &Value) {
    assert_eq!(report["decisions"]["identical"], report["decisions"]["compared"], "{report}");
}
