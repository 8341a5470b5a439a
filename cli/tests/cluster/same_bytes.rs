//! Part files are a function of the job and its input alone.
//!
//! Word count and grep over one large text, each time on a cluster of another shape or with other faults, must give
//! the bytes of an independent computation, part file by part file. Each run is then replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::harness::reference::{assert_same_parts, grep_part, read_parts, word_count_parts};
use crate::harness::{Cluster, Setup, large_mib, scratch, text, variant_mib, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;

const REDUCES: u32 = 3;
/// Matches a fraction of the words, several in some.
const PATTERN: &str = "[b-m]a[bdg]e[a-z]?";

/// The text and what the jobs over it have to give.
struct Expected {
    input: PathBuf,
    words: Vec<Vec<u8>>,
    matches: Vec<Vec<u8>>,
}

/// Made once for each size.
fn expected(mib: u64) -> Arc<Expected> {
    static MADE: Mutex<BTreeMap<u64, Arc<Expected>>> = Mutex::new(BTreeMap::new());
    let make = || {
        let input = scratch().join(format!("text-{mib}-mib.txt"));
        text::write_text(&input, mib << 20, &text::words(200_000), 2);
        let bytes = std::fs::read(&input).expect("read the generated text");
        Expected { input, words: word_count_parts(&bytes, REDUCES), matches: vec![grep_part(&bytes, PATTERN)] }
    };
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(made.entry(mib).or_insert_with(|| Arc::new(make())))
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Bytes of the map outputs for each byte of the records that they hold, about.
fn materialized_share(status: &Value) -> f64 {
    let framework = &status["counters"]["Map-Reduce Framework"];
    let count = |name: &str| framework[name].as_f64().expect("a counter");
    let record = count("Map output bytes") / count("Map output records");
    count("Map output materialized bytes") / (count("Reduce input records") * record)
}

/// Plain map output is more than its records, by the lengths before each, as another test asserts. Combined counts of drawn
/// words leave lz4 little to find: 2 % at the full size.
#[track_caller]
fn assert_compressed(status: &Value) {
    let share = materialized_share(status);
    assert!(share < 0.995, "map outputs have {share} of their records' bytes: nothing was compressed");
}

/// Runs both jobs with these properties and compares; `meanwhile` runs while the word count does. `happened` looks at the
/// word count's status, and fails where what the test is about did not happen.
#[track_caller]
fn same_bytes_after(
    cluster: Cluster,
    properties: &[&str],
    meanwhile: impl FnOnce(&mut Cluster, &str),
    happened: impl FnOnce(&Cluster, &Value),
) {
    same_bytes_of(variant_mib(), cluster, properties, meanwhile, happened);
}

/// The same over so many MiB.
#[track_caller]
fn same_bytes_of(
    mib: u64,
    mut cluster: Cluster,
    properties: &[&str],
    meanwhile: impl FnOnce(&mut Cluster, &str),
    happened: impl FnOnce(&Cluster, &Value),
) {
    let expected = expected(mib);
    let reduces = REDUCES.to_string();
    let options: Vec<&str> = properties.iter().flat_map(|property| ["-D", property]).collect();
    let out = cluster.path("words");
    let mut args = vec!["wordcount", "--input", path(&expected.input), "--output", path(&out), "--reduces", &reduces];
    args.extend(&options);
    let job = cluster.submit(&args);
    meanwhile(&mut cluster, &job);
    cluster.wait_job(&job, 0);
    happened(&cluster, &cluster.status(&job));
    assert_same_parts(&read_parts(&out), &expected.words, &format!("word count with {properties:?}"));

    let out = cluster.path("matches");
    let mut args = vec!["submit", "grep", "--input", path(&expected.input), "--output", path(&out)];
    let pattern = format!("mapred.mapper.regex={PATTERN}");
    args.extend(["-D", &pattern, "--wait"]);
    args.extend(&options);
    cluster.run(&args).expect_code(0);
    assert_same_parts(&read_parts(&out), &expected.matches, &format!("grep with {properties:?}"));
    cluster.stop_and_replay();
}

fn nothing(_: &mut Cluster, _: &str) {}

#[test]
fn one_worker_gives_the_bytes_of_an_independent_count() {
    same_bytes_of(large_mib(), Cluster::start(Setup { workers: 1, ..Setup::default() }), &[], nothing, |_, _| {});
}

#[test]
fn two_workers_give_the_same_bytes() {
    same_bytes_after(Cluster::start(Setup::default()), &[], nothing, |_, status| {
        // What the tests of compression are held against.
        assert!(materialized_share(status) > 1.0, "{}", materialized_share(status));
    });
}

#[test]
fn splits_of_one_mib_give_the_same_bytes() {
    same_bytes_after(Cluster::start(Setup::default()), &["dfs.block.size=1048576"], nothing, |_, status| {
        assert!(status["maps"].as_u64().is_some_and(|maps| maps + 2 > variant_mib()), "{status}");
    });
}

#[test]
fn a_sort_buffer_of_four_mib_gives_the_same_bytes() {
    let properties = ["io.sort.mb=4", "wordcount.combiner=reducer"];
    same_bytes_after(Cluster::start(Setup::default()), &properties, nothing, |_, status| {
        let framework = &status["counters"]["Map-Reduce Framework"];
        let count = |name: &str| framework[name].as_u64().expect("a counter");
        // Records that are merged from several spills are written twice.
        assert!(
            count("Spilled Records") > count("Reduce input records"),
            "nothing was spilled and merged: {framework}"
        );
    });
}

#[test]
fn map_output_compressed_with_lz4_gives_the_same_bytes() {
    let properties = ["mapred.compress.map.output=true"];
    same_bytes_after(Cluster::start(Setup::default()), &properties, nothing, |_, status| assert_compressed(status));
}

#[test]
fn map_output_compressed_with_zstd_gives_the_same_bytes() {
    let properties = ["mapred.compress.map.output=true", "mapred.map.output.compression.codec=zstd"];
    same_bytes_after(Cluster::start(Setup::default()), &properties, nothing, |_, status| assert_compressed(status));
}

#[test]
fn processes_that_run_several_attempts_give_the_same_bytes() {
    let block = format!("dfs.block.size={}", (variant_mib() << 20) / 16);
    let properties = ["mapred.job.reuse.jvm.num.tasks=-1", &block];
    same_bytes_after(Cluster::start(Setup::default()), &properties, nothing, |cluster, status| {
        let job = status["job"].as_str().expect("a job id");
        let attempts = cluster.attempts(job);
        // Each attempt has its own lines, the first of which says where it ran.
        let logs = cluster.run(&["job", "logs", job, "--syslog"]).expect_code(0).stdout;
        let said: Vec<_> = logs.lines().filter_map(|line| line.split_once(" in process ")).map(|(_, id)| id).collect();
        let processes: BTreeSet<_> = said.iter().collect();
        assert_eq!(said.len(), attempts.len(), "{logs}");
        assert!(processes.len() < attempts.len(), "{} processes for {} attempts", processes.len(), attempts.len());
    });
}

#[test]
fn a_worker_killed_in_the_middle_changes_no_byte() {
    let in_the_middle = |cluster: &mut Cluster, job: &str| {
        wait_for("some maps to be done", || {
            let status = cluster.status(job);
            let done = status["maps_done"].as_u64().expect("a number of maps");
            let all = status["maps"].as_u64().expect("a number of maps");
            (done * 3 >= all).then_some(())
        });
        cluster.stop_worker(1, Signal::SIGKILL);
        wait_for("the worker to be lost", || (cluster.worker_state(1).as_deref() == Some("LOST")).then_some(()));
    };
    same_bytes_after(Cluster::start(Setup::expiring()), &[], in_the_middle, |cluster, status| {
        let tasks = status["maps"].as_u64().zip(status["reduces"].as_u64()).map(|(maps, reduces)| maps + reduces);
        let attempts = cluster.attempts(status["job"].as_str().expect("a job id")).len() as u64;
        assert!(Some(attempts) > tasks, "{attempts} attempts: the worker's end cost nothing");
    });
}

#[test]
fn failures_in_a_third_of_the_attempts_change_no_byte() {
    // Of 24 maps and as many attempts more as fail, none fails once in ten thousand runs.
    let block = format!("dfs.block.size={}", (variant_mib() << 20) / 24);
    let properties = ["howdah.fault.attempt.fraction=0.33", &block];
    same_bytes_after(Cluster::start(Setup::default()), &properties, nothing, |_, status| {
        assert!(status["failed_attempts"].as_u64() > Some(0), "no attempt failed: {status}");
    });
}
