//! Tasks that take several slots because of their memory, or more memory than they may, over real daemons.

use serde_json::Value;

use crate::harness::{Cluster, Setup};

/// Two workers of two map slots and one reduce slot; a slot has 1024 MB, and no task gets more than 3072.
fn with_memory() -> Cluster {
    let master_config =
        "[master]\nscheduler = \"capacity\"\n[master.memory]\nmap_slot_mb = 1024\nmax_map_mb = 3072\n".to_owned();
    Cluster::start(Setup { master_config, ..Setup::default() })
}

fn submit(cluster: &Cluster, megabytes: &str, maps: &str, ms: &str) -> String {
    let memory = format!("mapred.job.map.memory.mb={megabytes}");
    cluster.submit(&["sleep", "-D", &memory, "-m", maps, "-mt", ms, "-r", "0"])
}

/// From assignment to end.
fn times(attempt: &Value) -> [u64; 2] {
    ["assigned_ms_epoch", "ended_ms_epoch"].map(|field| attempt[field].as_u64().expect("the attempt is over"))
}

#[test]
fn maps_of_two_slots_run_one_at_a_time_on_workers_of_two() {
    let cluster = with_memory();
    let large = submit(&cluster, "2000", "6", "200");
    let small = submit(&cluster, "1000", "6", "200");
    cluster.wait_job(&large, 0);
    cluster.wait_job(&small, 0);
    let (large, small) = (cluster.attempts(&large), cluster.attempts(&small));
    assert_eq!((large.len(), small.len()), (6, 6));
    // Nothing else fits beside a large map, be it large or small.
    for (n, one) in large.iter().enumerate() {
        for other in large[n + 1..].iter().chain(&small).filter(|other| other["worker"] == one["worker"]) {
            let ([from, to], [other_from, other_to]) = (times(one), times(other));
            assert!(to <= other_from || other_to <= from, "{one} beside {other}");
        }
    }
    // Small ones use both slots.
    let beside = |one: &Value, other: &Value| {
        one["worker"] == other["worker"]
            && one != other
            && times(one)[0] < times(other)[1]
            && times(other)[0] < times(one)[1]
    };
    assert!(small.iter().any(|one| small.iter().any(|other| beside(one, other))), "{small:?}");
    cluster.stop_and_replay();
}

#[test]
fn a_task_larger_than_the_cluster_allows_is_refused_and_one_larger_than_any_worker_says_so() {
    let cluster = with_memory();
    let words = ["submit", "sleep", "-D", "mapred.job.map.memory.mb=4000", "-m", "1"];
    let said = cluster.run(&words).expect_code(2).stderr;
    let expected =
        "property `mapred.job.map.memory.mb`: 4000 MB, expected at most 3072 (`mapred.cluster.max.map.memory.mb`)";
    assert!(said.contains(expected), "{said}");
    // A job cannot lift the limit by a property of its own.
    let lifted = [&words[..], &["-D", "mapred.cluster.max.map.memory.mb=9999"]].concat();
    assert!(cluster.run(&lifted).expect_code(2).stderr.contains(expected));
    assert!(cluster.jobs().is_empty());

    let job = submit(&cluster, "3000", "1", "10");
    let said = cluster.run(&["job", "explain", &job]).expect_code(0).stdout;
    assert!(said.contains("3 slots"), "{said}");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_map_that_holds_more_memory_than_its_job_asks_for_fails_with_that_reason_and_another_one_runs_on() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let input = cluster.text("input.txt", "a line\n");
    // 64 MB of text in a variable; the job that may not have it would hold it for longer than anybody waits here.
    let hoard = |name: &str, seconds: u32| {
        cluster.script(name, &format!("x=$(head -c 64000000 /dev/zero | tr '\\0' x); sleep {seconds}; echo ${{#x}}"))
    };
    let submit = |mapper: &str, megabytes: u32, out: &str| {
        let memory = format!("mapred.job.map.memory.mb={megabytes}");
        let job = ["streaming", "--mapper", mapper, "--reduces", "0", "--input", &input, "--output", out];
        cluster.submit(&[&job[..], &["-D", &memory, "-D", "mapred.map.max.attempts=2"]].concat())
    };
    let modest = submit(&hoard("modest.sh", 3), 400, &cluster.output("modest"));
    let greedy = submit(&hoard("greedy.sh", 3_600), 40, &cluster.output("greedy"));
    cluster.wait_job(&greedy, 1);
    let attempts = cluster.attempts(&greedy);
    assert_eq!(attempts.len(), 2, "it is tried again, as often as any that fails: {attempts:?}");
    for attempt in &attempts {
        let said = attempt["diagnostics"].as_str().expect("a text");
        assert!(said.ends_with(" MiB of memory, more than 40 (`mapred.job.map.memory.mb`)"), "{attempt}");
        assert_eq!(attempt["state"], "FAILED");
    }
    cluster.wait_job(&modest, 0);
    cluster.stop_and_replay();
}
