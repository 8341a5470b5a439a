//! What is known of jobs beforehand, over real daemons: a profile that comes with a job, a batch planned into the
//! capacity scheduler's queues.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Cluster, Finished, Mark, Setup, howdah};

/// Scenario 2 of balanced-pools §3.3, Figure 6, on a tenth of its slots and tasks and in tenths of its seconds: name,
/// tasks of each kind, map and reduce time.
const FIVE: [(&str, usize, u64, u64); 5] =
    [("J1", 3, 400, 500), ("J2", 3, 100, 400), ("J3", 2, 3_000, 400), ("J4", 2, 600, 3_000), ("J5", 3, 200, 300)];
/// The pools of its Figure 9 as the optimiser names them: jobs, and slots of each kind.
const POOLS: [(&str, usize, usize); 2] = [("pool-1:2+2", 2, 2), ("pool-2:1+1", 3, 1)];

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// A trace that says what the five jobs take, and the batch of the jobs themselves.
fn write_batch(folder: &Path) -> [String; 2] {
    write_batch_of(folder, 1)
}

/// The same with every time so many times as long.
fn write_batch_of(folder: &Path, times_as_long: u64) -> [String; 2] {
    let mut trace = "{\"schema\":\"howdah/trace/v1\",\"source\":\"by hand\"}\n".to_owned();
    let [trace_path, batch_path] = ["five.jsonl", "five.toml"].map(|name| folder.join(name));
    let mut batch = format!("trace = {:?}\n", path(&trace_path));
    for (name, n, map_ms, reduce_ms) in FIVE {
        let (map_ms, reduce_ms) = (map_ms * times_as_long, reduce_ms * times_as_long);
        trace += &format!(
            "{{\"name\":\"{name}\",\"n_maps\":{n},\"n_reduces\":{n},\"map_ms\":[{map_ms}],\"reduce_ms\":[{reduce_ms}]}}\n"
        );
        let times = |ms: u64| vec![ms.to_string(); n].join(",");
        let args = format!("[\"--map-times\", \"{}\", \"--reduce-times\", \"{}\"]", times(map_ms), times(reduce_ms));
        batch += &format!("\n[[job]]\napp = \"sleep\"\nname = \"{name}\"\nargs = {args}\n");
    }
    std::fs::write(&trace_path, trace).expect("write the trace");
    std::fs::write(&batch_path, batch).expect("write the batch");
    [path(&trace_path).to_owned(), path(&batch_path).to_owned()]
}

fn capacity(file: &Path) -> Setup {
    let params = format!("[master.scheduler_params]\n\"allocation.file\" = {:?}\n", path(file));
    let master_config = format!("[master]\nscheduler = \"capacity\"\n{params}");
    Setup { workers: 3, map_slots: 1, reduce_slots: 1, master_config, ..Setup::default() }
}

/// The most attempts of a kind that ran at one time.
fn most_at_once(attempts: &[Value], kind: &str) -> usize {
    let mut turns = Vec::new();
    for attempt in attempts.iter().filter(|attempt| attempt["kind"] == kind) {
        let at = |field: &str| attempt[field].as_u64().expect("the attempt is over");
        // At one instant, what ends makes room for what begins.
        turns.extend([(at("assigned_ms_epoch"), 1, 1), (at("ended_ms_epoch"), 0, -1)]);
    }
    turns.sort_unstable();
    let (mut running, mut most) = (0_i64, 0_i64);
    for (.., change) in turns {
        running += change;
        most = most.max(running);
    }
    most as usize
}

#[test]
fn a_batch_is_planned_into_the_queues_that_optimize_wrote_and_stays_within_them() {
    let folder = tempfile::tempdir().expect("make a folder");
    let [trace, batch] = write_batch(folder.path());
    let queues = folder.path().join("pools.toml");
    let words = ["optimize", &trace, "--map-slots", "3", "--reduce-slots", "3", "--write-capacity", path(&queues)];
    let mark = Mark::new();
    let planned = Finished::of(howdah(&mark).args(words).args(["--output", "json"]), Duration::from_secs(60));
    assert_eq!(planned.expect_code(0).json()["makespan_s"], 4.0);

    let cluster = Cluster::start(capacity(&queues));
    let words = ["submit", "--batch", &batch, "--order", "balanced-pools", "--wait", "--output", "json"];
    let said = cluster.run(&words).expect_code(0).json();
    assert_eq!((&said["scheduler"], &said["planned_makespan_s"]), (&"capacity".into(), &4.0.into()), "{said}");
    check_pools(&cluster, &said, POOLS);
    // The plan is of sleeping alone; processes come on top. One pool in the best order takes 4.7 s.
    let measured = said["measured_makespan_s"].as_f64().expect("all ended");
    assert!(measured >= 4.0, "{said}");
    cluster.stop_and_replay();
}

/// Each pool has so many jobs, and had its slots, all at once and never more.
fn check_pools(cluster: &Cluster, said: &Value, pools: [(&str, usize, usize); 2]) {
    let jobs = said["jobs"].as_array().expect("the batch's jobs");
    for (pool, n_jobs, slots) in pools {
        let of_pool: Vec<&Value> = jobs.iter().filter(|job| job["queue"] == pool).collect();
        assert_eq!(of_pool.len(), n_jobs, "{said}");
        let attempts: Vec<Value> =
            of_pool.iter().flat_map(|job| cluster.attempts(job["job"].as_str().expect("an id"))).collect();
        for kind in ["map", "reduce"] {
            assert_eq!(most_at_once(&attempts, kind), slots, "{kind}s of {pool}: {attempts:?}");
        }
    }
}

#[test]
fn a_batch_is_planned_with_what_optimize_takes_and_what_cannot_be_applied_is_refused() {
    let folder = tempfile::tempdir().expect("make a folder");
    let [_, batch] = write_batch(folder.path());
    let master_config = "[master]\nscheduler = \"balanced-pools\"\n".to_owned();
    let cluster =
        Cluster::start(Setup { workers: 3, map_slots: 1, reduce_slots: 1, master_config, ..Setup::default() });
    let submit = |words: &[&str]| cluster.run(&[&["submit", "--batch", &batch, "--output", "json"], words].concat());

    let refused = submit(&["--order", "longest-first", "--sizes", "apart"]).expect_code(2).stderr;
    assert!(refused.contains("--sizes: found --order longest-first, expected balanced-pools"), "{refused}");
    // Johnson's order in one pool has 2.32 s, the shortest first 2.44 s.
    let delay = submit(&["--objective", "mean-delay", "--dry-run"]).expect_code(0);
    assert!(delay.stderr.contains("`howdah scheduler set balanced-pools -D order=submitted`"), "{}", delay.stderr);
    assert!(delay.json()["planned_mean_delay_s"].as_f64().is_some_and(|planned| planned <= 2.32), "{}", delay.stdout);
    let longest = submit(&["--order", "longest-first", "--dry-run"]).expect_code(0).json();
    let names: Vec<&Value> = longest["jobs"].as_array().expect("jobs").iter().map(|job| &job["name"]).collect();
    assert_eq!(names, ["J4", "J3", "J1", "J2", "J5"], "{longest}");
    assert!(cluster.jobs().is_empty());
    assert_eq!(longest["other_jobs"], 0, "{longest}");

    // By their number of maps J3 and J4 are the small ones, by their length the big ones.
    let said = submit(&["--small-by", "length", "--wait"]).expect_code(0).json();
    assert_eq!(said["planned_makespan_s"], 4.0, "{said}");
    check_pools(&cluster, &said, [("pool-1:1+1", 3, 1), ("pool-2:2+2", 2, 2)]);

    // A plan knows nothing of what else is there, which the answer says.
    let alone = cluster.run(&["submit", "--batch", &batch, "--dry-run"]).expect_code(0).stdout;
    assert!(!alone.contains("nothing else to do"), "{alone}");
    let other = cluster.submit(&["sleep", "-m", "1", "-mt", "600000"]);
    let beside = cluster.run(&["submit", "--batch", &batch, "--dry-run"]).expect_code(0).stdout;
    assert!(
        beside.contains(
            "planned for a cluster with nothing else to do: 1 other job came before, so that it may take longer"
        ),
        "{beside}"
    );
    cluster.run(&["job", "kill", &other]).expect_code(0);
    cluster.wait_job(&other, 1);
    cluster.stop_and_replay();
}

// balanced-pools §6: new jobs arrive while a batch runs.
#[test]
fn a_second_batch_is_planned_with_what_is_left_of_the_first() {
    let folder = tempfile::tempdir().expect("make a folder");
    // Long enough that the first batch is not over before the second one comes, however busy the machine.
    let [_, batch] = write_batch_of(folder.path(), 100);
    let master_config = "[master]\nscheduler = \"balanced-pools\"\n".to_owned();
    let cluster =
        Cluster::start(Setup { workers: 3, map_slots: 1, reduce_slots: 1, master_config, ..Setup::default() });
    let submit = |words: &[&str]| {
        cluster.run(&[&["submit", "--batch", &batch, "--output", "json"], words].concat()).expect_code(0).json()
    };
    let first = submit(&[]);
    assert_eq!(first["planned_again"], serde_json::json!([]), "{first}");
    let again = submit(&["--dry-run"]);
    let rest = again["planned_again"].as_array().expect("a list").clone();
    assert!(!rest.is_empty() && again["other_jobs"] == 0, "{again}");
    assert!(cluster.json(&["cluster"])["scheduler_params"].as_object().is_some_and(|given| given.is_empty()));

    let second = submit(&[]);
    let moved = second["planned_again"].as_array().expect("a list").clone();
    let of_first: Vec<&Value> = first["jobs"].as_array().expect("jobs").iter().map(|job| &job["job"]).collect();
    assert!(!moved.is_empty() && moved.iter().all(|one| of_first.contains(&&one["job"])), "{second}");
    // Both batches have the same pools now, and all that the pools are promised is there.
    let shown = cluster.json(&["cluster"]);
    let given = shown["scheduler_params"]["moved"].as_str().expect("they were moved").to_owned();
    assert_eq!(given.split(';').count(), moved.len(), "{given}");
    let pool_of = |job: &Value| job["queue"].as_str().unwrap_or("default").to_owned();
    let mut pools: Vec<String> = second["jobs"].as_array().expect("jobs").iter().chain(&moved).map(pool_of).collect();
    pools.sort_unstable();
    pools.dedup();
    let slots =
        |pool: &String| pool.rsplit_once(':').map_or(3, |(_, slots)| slots.split('+').next().unwrap().parse().unwrap());
    assert_eq!(pools.iter().map(slots).sum::<u32>(), 3, "{pools:?}");
    for job in cluster.jobs() {
        let job = job["job"].as_str().expect("an id");
        cluster.run(&["job", "kill", job]).expect_code(0);
        cluster.wait_job(job, 1);
    }
    // The recording has the move.
    cluster.stop_and_replay();
}

#[test]
fn a_batch_whose_pools_the_capacity_scheduler_lacks_is_refused_before_any_job_is_submitted() {
    let folder = tempfile::tempdir().expect("make a folder");
    let [_, batch] = write_batch(folder.path());
    let queues = folder.path().join("pools.toml");
    std::fs::write(&queues, "[queues.default]\nmap_slots = 3\nreduce_slots = 3\n").expect("write the queues");
    let cluster = Cluster::start(capacity(&queues));
    let said = cluster.run(&["submit", "--batch", &batch, "--order", "balanced-pools"]).expect_code(2).stderr;
    assert!(said.contains("scheduler `capacity` has no pool `pool-1:2+2`, expected balanced-pools"), "{said}");
    assert!(said.contains("`howdah optimize --write-capacity` writes"), "{said}");
    assert!(cluster.jobs().is_empty());
}

#[test]
fn a_job_that_brings_its_profile_gets_the_slots_that_its_deadline_needs() {
    let folder = tempfile::tempdir().expect("make a folder");
    let trace = folder.path().join("earlier.jsonl");
    let text = "{\"schema\":\"howdah/trace/v1\",\"source\":\"by hand\"}\n\
        {\"name\":\"words\",\"n_maps\":8,\"n_reduces\":0,\"map_ms\":[1000]}\n";
    std::fs::write(&trace, text).expect("write the trace");
    let profile = format!("{}:words", path(&trace));
    let cluster =
        Cluster::start(Setup { master_config: "[master]\nscheduler = \"minedf\"\n".to_owned(), ..Setup::default() });
    // ARIA's average of bounds, 7.5 / k + 0.5 s for eight maps of a second: 5 s take two slots of the four.
    let submit = |profile: &str| {
        cluster.run(&["submit", "--deadline", "5s", "--profile", profile, "sleep", "-m", "8", "-mt", "600000"])
    };
    let refused = submit(&format!("{}:nobody", path(&trace))).expect_code(2).stderr;
    assert!(refused.contains("has no job `nobody`, found words"), "{refused}");
    assert!(cluster.jobs().is_empty());
    submit(&profile).expect_code(0);
    let job = cluster.jobs()[0]["job"].as_str().expect("an id").to_owned();
    cluster.wait_running_maps(&job, 2);
    let said = cluster.run(&["job", "explain", &job]).expect_code(0).stdout;
    let expected = "It has 2 maps running and needs no more for its deadline: 2 map and 0 reduce slots are enough by \
                    its profile.";
    assert!(said.contains(expected), "{said}");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    // The profile is part of what was recorded.
    cluster.stop_and_replay();
}
