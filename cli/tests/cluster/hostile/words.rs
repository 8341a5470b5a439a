//! Attempts that say too much: counters, statuses and lines without bound.

use howdah_guards::Guard;

use super::{Usual, diagnostics, expect_all_live, narrow, submit_program, without};
use crate::harness::{Cluster, Setup, wait_for};

/// What a worker may hold at most while attempts talk at it: itself, and a few lines being read.
const WORKER_KIB: u64 = 300 << 10;

/// A mapper that counts 5,000 things, and one more with a name of 2,000 characters.
fn submit_counters(cluster: &Cluster) -> String {
    let mapper = cluster.script(
        "mapper.sh",
        r#"cat; awk 'BEGIN { n = sprintf("%2000s", "x"); gsub(" ", "n", n); print "reporter:counter:g," n ",7";
             for (i = 0; i < 5000; i++) print "reporter:counter:g,c" i ",1" }' >&2"#,
    );
    let input = cluster.text("attack.txt", "one line\n");
    let out = cluster.output("attack.out");
    cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out])
}

fn own_counters(cluster: &Cluster, job: &str) -> usize {
    cluster.status(job)["counters"]["g"].as_object().expect("the job's own group").len()
}

#[test]
fn thousands_of_counters_and_endless_names_are_cut_and_the_job_succeeds() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = submit_counters(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    innocent.expect_right_bytes(&cluster);
    cluster.wait_job(&job, 0);
    let said = diagnostics(&cluster, &job).join("\n");
    assert!(said.contains("1 counter names over 128 bytes") && said.contains("additions to counters"), "{said}");
    let counters = own_counters(&cluster, &job);
    assert!((900..=1_000).contains(&counters), "{counters}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn thousands_of_counters_reach_the_master_where_nobody_cuts_them() {
    let cluster = Cluster::start(without(&[Guard::Counters]));
    let job = submit_counters(&cluster);
    cluster.wait_job(&job, 0);
    assert_eq!(own_counters(&cluster, &job), 5_001);
}

#[test]
fn a_program_that_counts_past_its_library_is_cut_by_the_worker() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let body = r#"read -r run
        awk 'BEGIN { printf "{\"say\":\"status\",\"phase\":\"MAP\",\"progress\":60000,\"counters\":{\"g\":{";
             n = sprintf("%2000s", "x"); gsub(" ", "n", n); printf "\"" n "\":1";
             for (i = 0; i < 5000; i++) printf ",\"c" i "\":1"; print "}}}" }' >&0
        printf '{"say":"failed","message":"on purpose","counters":{}}\n' >&0
        exit 1"#;
    let job = submit_program(&cluster, body, &[]);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job).join("\n");
    assert!(said.contains("on purpose\ncut to what an attempt may say: "), "{said}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

/// Says more than a worker may hold, without the end of a line. So much that a machine without the guard stands it.
const ENDLESS_LINE: &str = "read -r run; exec 3>&0; head -c 500000000 /dev/zero | tr '\\0' x >&3; exec sleep 600";

#[test]
fn a_line_without_end_takes_its_workers_memory_where_lines_have_no_bound() {
    let cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::Lines]) });
    submit_program(&cluster, ENDLESS_LINE, &[]);
    wait_for("the worker to hold the line", || (cluster.worker_peak_kib(0) > WORKER_KIB).then_some(()));
}

#[test]
fn a_line_without_end_ends_its_attempt_and_says_so() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = submit_program(&cluster, ENDLESS_LINE, &[]);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job).join("\n");
    assert!(said.contains("a line of more than 1048576 bytes on its umbilical"), "{said}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn an_attempt_that_never_stops_talking_waits_in_the_place_of_its_workers_memory() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let body = r#"read -r run
        awk 'BEGIN { printf "{\"say\":\"status\",\"phase\":\"MAP\",\"progress\":5000,\"message\":\"talk\",\"counters\":{\"g\":{\"c\":1";
             for (i = 0; i < 50000; i++) printf ",\"c" i "\":1"; print "}}}" }' > line
        while cat line; do :; done >&0"#;
    let job = submit_program(&cluster, body, &[]);
    wait_for("the attack to be noticed", || {
        cluster.attempts(&job).iter().any(|attempt| attempt["message"] == "talk").then_some(())
    });
    let innocents = [usual.submit(&cluster, "first"), usual.submit(&cluster, "second")];
    innocents.iter().for_each(|innocent| innocent.expect_right_bytes(&cluster));
    for worker in 0..2 {
        let peak = cluster.worker_peak_kib(worker);
        assert!(peak < WORKER_KIB, "worker {worker} held {peak} KiB");
    }
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

/// What a worker may hold while attempts say small things without end: hardly more than beside others.
const CALM_KIB: u64 = 96 << 10;

/// One worker with slots for the attempts that talk, and one more.
fn wide(setup: Setup) -> Setup {
    Setup { workers: 1, map_slots: TALKERS + 1, ..setup }
}

const TALKERS: u32 = 8;

/// Attempts that say their status over and over, as fast as their worker takes it.
fn submit_talkers(cluster: &Cluster) -> String {
    let body = r#"read -r run
        awk 'BEGIN { m = sprintf("%1000s", "x"); gsub(" ", "m", m);
             for (i = 0; i < 2000; i++) print "{\"say\":\"status\",\"phase\":\"MAP\",\"progress\":5000,\"message\":\"" m "\"}" }' > line
        while cat line; do :; done >&0"#;
    let inputs: Vec<String> = (1..TALKERS).map(|n| cluster.text(&format!("talk.{n}"), "one line\n")).collect();
    let more: Vec<&str> = inputs.iter().flat_map(|input| ["--input", input.as_str()]).collect();
    let job = submit_program(cluster, body, &more);
    cluster.wait_running_maps(&job, TALKERS.into());
    job
}

#[test]
fn statuses_without_end_wait_at_their_workers_gate() {
    let cluster = Cluster::start(wide(narrow()));
    let usual = Usual::of(&cluster);
    let job = submit_talkers(&cluster);
    let innocents = ["first", "second"].map(|name| usual.submit(&cluster, name));
    innocents.iter().for_each(|innocent| innocent.expect_right_bytes(&cluster));
    let peak = cluster.worker_peak_kib(0);
    assert!(peak < CALM_KIB, "the worker held {peak} KiB");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn statuses_without_end_become_their_workers_memory_where_it_has_no_gate() {
    let cluster = Cluster::start(wide(without(&[Guard::Gate])));
    submit_talkers(&cluster);
    wait_for("the worker to hold what was said", || (cluster.worker_peak_kib(0) > CALM_KIB).then_some(()));
}
