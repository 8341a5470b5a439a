//! Input from an HDFS, which here is a small one in the test's own process; `interop/hdfs.rs` has Apache's.

use std::time::{Duration, Instant};

use howdah_webhdfs::fake::{FakeHdfs, Mood};
use serde_json::Value;

use crate::harness::{Cluster, Installation, Setup, reference, text, wait_for};

const HOSTS: [&str; 3] = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];

/// Three workers that are called as the data nodes, under a policy that waits for them, and the name node that inputs name so.
pub(crate) fn beside(name_node: &str, http: &str) -> Setup {
    let master_config = format!(
        "[master]\nscheduler = \"fair\"\n\n[master.scheduler_params]\n\"locality.delay\" = 20000\n\n\
         [master.name_nodes]\n\"{name_node}\" = \"http://{http}\"\n"
    );
    Setup { workers: 3, hosts: &HOSTS, master_config, ..Setup::default() }
}

fn word_count(cluster: &Cluster, input: &str, out: &str) -> String {
    cluster.submit(&["wordcount", "--input", input, "--output", &cluster.output(out), "--reduces", "2"])
}

/// Maps of a job that ran where their splits are.
pub(crate) fn data_local_maps(status: &Value) -> u64 {
    status["counters"]["Job Counters "]["Data-local map tasks"].as_u64().unwrap_or(0)
}

#[test]
fn a_word_count_of_an_hdfs_runs_beside_its_blocks_and_gives_the_bytes_of_the_same_file_here() {
    let hdfs = FakeHdfs::start(3);
    let cluster = Cluster::start(beside("nn.example:9000", &hdfs.address()));
    let local = cluster.output("in.txt");
    text::write_text(local.as_ref(), 1 << 20, &text::words(500), 7);
    let bytes = std::fs::read(&local).expect("read the input");
    let n_blocks = bytes.len().div_ceil(40_000) as u64;
    hdfs.put("/in/text", bytes.clone(), 40_000);
    // Where attempts fetch, and as whom, is not the job's to say.
    let of_job = ["howdah.hdfs.http.hdfs://nn.example:9000=127.0.0.1:1", "howdah.hdfs.user=who-else"];
    let input = ["--input", "hdfs://nn.example:9000/in", "--output", &cluster.output("out"), "--reduces", "2"];
    let job = cluster.submit(&[&["wordcount", "-D", of_job[0], "-D", of_job[1]][..], &input].concat());
    cluster.wait_job(&job, 0);
    let found = reference::read_parts(&cluster.path("out"));
    reference::assert_same_parts(&found, &reference::word_count_parts(&bytes, 2), "from HDFS");
    let status = cluster.status(&job);
    assert_eq!(status["maps"].as_u64(), Some(n_blocks), "a map for each block: {status}");
    let local_maps = data_local_maps(&status);
    assert!(local_maps * 10 > n_blocks * 9, "{local_maps} of {n_blocks} maps: {status}");
    // A map took its block from the data node beside it; what it read of others ends a line.
    let asked = hdfs.asked();
    assert!(!asked.iter().any(|line| line.contains("who-else")), "{asked:?}");
    let blocks = asked.iter().filter(|line| !line.starts_with("127.0.0.1 ") && line.contains("&length=40000"));
    assert_eq!(blocks.count() as u64, n_blocks - 1, "{asked:?}");
    // The job is submitted again by what its file says of it.
    let again = cluster.json(&["job", "resubmit", &job, "--to", &cluster.output("again")]);
    cluster.wait_job(again["job"].as_str().expect("an id"), 0);
    reference::assert_same_parts(&reference::read_parts(&cluster.path("again")), &found, "again");
    cluster.stop_and_replay();
}

#[test]
fn a_file_that_changes_under_a_job_fails_it() {
    let hdfs = FakeHdfs::start(3);
    let cluster = Cluster::start(beside("nn.example:9000", &hdfs.address()));
    hdfs.put("/in", "a b\n".repeat(5_000), 1_000);
    let slow = cluster.script("slow", "sleep 0.3; cat");
    let out = cluster.output("out");
    let input = "hdfs://nn.example:9000/in";
    let args = ["streaming", "--input", input, "--output", &out, "--mapper", &slow, "-D", "mapred.map.max.attempts=1"];
    let job = cluster.submit(&args);
    cluster.wait_running_maps(&job, 1);
    hdfs.put("/in", "c d\n".repeat(5_000), 1_000);
    cluster.wait_job(&job, 1);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("input `hdfs://nn.example:9000/in` has another time of its last change"), "{why}");
    cluster.stop_and_replay();
}

#[test]
fn a_name_node_that_nobody_named_is_refused_and_one_that_hangs_holds_up_its_own_jobs_alone() {
    let hdfs = FakeHdfs::start(1);
    let cluster = Cluster::start(beside("nn.example:9000", &hdfs.address()));
    let refused = |input: &str| {
        let args = ["submit", "wordcount", "--input", input, "--output", &cluster.output("none")];
        cluster.run(&args).expect_code(2).stderr
    };
    let said = refused(&format!("hdfs://{}/in", hdfs.address()));
    assert!(said.contains("this master fetches nothing from hdfs://127.0.0.1:"), "{said}");
    assert!(said.contains("help: the master's setting `name_nodes`"), "{said}");
    assert_eq!(hdfs.asked(), [""; 0]);
    hdfs.be(Mood::Silent);
    let args = |n: usize| {
        let out = cluster.output(&format!("hung.{n}"));
        ["submit", "wordcount", "--input", "hdfs://nn.example:9000/in", "--output", &out].map(str::to_owned)
    };
    // More than are listed at a time, of this name node and of all others.
    let hung: Vec<_> = (0..40)
        .map(|n| {
            let args = args(n);
            cluster.command(&args.each_ref().map(String::as_str)).stderr(std::process::Stdio::null()).spawn()
        })
        .collect();
    wait_for("the name node to be asked", || (!hdfs.asked().is_empty()).then_some(()));
    let began = Instant::now();
    let input = cluster.text("in.txt", "a b a\n");
    let job = word_count(&cluster, &input, "out");
    cluster.wait_job(&job, 0);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert!(hdfs.asked().len() <= 4, "a few at a time: {:?}", hdfs.asked());
    for child in hung {
        let mut child = child.expect("start a client");
        child.kill().expect("it waits");
        child.wait().expect("reap it");
    }
    // That is not what a wrong path is: scripts may try again.
    let out = cluster.output("none");
    let args = ["submit", "wordcount", "--input", "hdfs://nn.example:9000/in", "--output", &out];
    let said = cluster.run(&args).expect_code(3).stderr;
    assert!(said.contains("timeout") && said.contains("help: nothing was submitted; does the name node run"), "{said}");
    drop(hdfs);
    let said = cluster.run(&args).expect_code(3).stderr;
    assert!(said.starts_with("error: input `hdfs://nn.example:9000/in`: http://127.0.0.1:"), "{said}");
    cluster.stop_and_replay();
}

#[test]
fn hadoops_own_commands_read_an_hdfs_that_is_not_their_installation() {
    let hdfs = FakeHdfs::start(3);
    let cluster = Cluster::start(beside("nn.example:9000", &hdfs.address()));
    let hadoop = Installation::of(&cluster);
    hdfs.put("/in/a.txt", "b\na\nb\n", 4);
    let input = "hdfs://nn.example:9000/in/*.txt";
    let args = ["-input", input, "-output", "/out", "-mapper", "cat", "-reducer", "uniq -c"];
    hadoop.streaming(&args).expect_code(0);
    let out = std::fs::read_to_string(hadoop.file("out/part-r-00000")).expect("read the output");
    let words: Vec<&str> = out.split_whitespace().collect();
    assert_eq!(words, ["1", "a", "2", "b"]);
    let elsewhere = ["-input", "hdfs://other/in", "-output", "/none", "-mapper", "cat"];
    let said = hadoop.streaming(&elsewhere).expect_code(2).stderr;
    assert!(said.contains("this master fetches nothing from hdfs://other"), "{said}");
    cluster.stop_and_replay();
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_bucket_is_refused_with_how_to_build_it_in() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let args = ["submit", "wordcount", "--input", "s3a://data/in", "--output", &cluster.output("none")];
    let said = cluster.run(&args).expect_code(2).stderr;
    assert!(said.starts_with("error: input `s3a://data/in`: this howdah was built without S3\nhelp: "), "{said}");
    assert!(said.contains("`cargo build --release --features s3`"), "{said}");
    let hadoop = Installation::of(&cluster);
    let said = hadoop.run("hadoop", &["fs", "-ls", "s3a://data/in"]).expect_code(1).stderr;
    assert!(said.contains("`s3a://data/in' is for jobs alone"), "{said}");
}
