//! Input from Apache's HDFS.

use std::io::Read;
use std::time::Duration;

use howdah_webhdfs::{Client, FileReader, Patience};

use super::mini_hdfs::{BLOCK, MiniHdfs};
use crate::harness::{Cluster, reference, text, wait_for};
use crate::hdfs::{beside, data_local_maps};

fn cluster_beside(hdfs: &MiniHdfs) -> Cluster {
    Cluster::start(beside(&hdfs.authority(), &hdfs.http()))
}

#[test]
fn maps_run_beside_the_blocks_of_apaches_hdfs_and_the_bytes_are_those_of_the_same_file_here() {
    let hdfs = MiniHdfs::start(3);
    let cluster = cluster_beside(&hdfs);
    let local = cluster.output("words.txt");
    text::write_text(local.as_ref(), 24 << 20, &text::words(2_000), 11);
    hdfs.put(&local, "/in/a b/words.txt", 1);
    let run = |input: &str, out: &str, more: &[&str]| {
        let out = cluster.output(out);
        let job =
            cluster.submit(&[&["wordcount", "--input", input, "--output", &out, "--reduces", "3"], more].concat());
        cluster.wait_job(&job, 0);
        (cluster.status(&job), reference::read_parts(out.as_ref()))
    };
    let (_, expected) = run(&local, "local", &[]);
    let bytes = std::fs::read(&local).expect("read the input");
    reference::assert_same_parts(&expected, &reference::word_count_parts(&bytes, 3), "the local file");
    let (status, found) = run(&format!("hdfs://{}/in/a b", hdfs.authority()), "remote", &[]);
    reference::assert_same_parts(&found, &expected, "from HDFS");
    let n_blocks = bytes.len().div_ceil(BLOCK) as u64;
    // The last block is short enough to go with the one before.
    let maps = status["maps"].as_u64().expect("a number");
    assert!((n_blocks - 1..=n_blocks).contains(&maps), "{maps} maps of {n_blocks} blocks");
    let local_maps = data_local_maps(&status);
    assert!(local_maps * 10 > maps * 9, "{local_maps} of {maps} maps: {status}");
    // Splits that begin and end within blocks, by the HTTP server's own address and a pattern.
    let small = ["-D", "mapred.max.split.size=300007"];
    let (status, found) = run(&format!("webhdfs://{}/in/*/w*.txt", hdfs.http()), "small", &small);
    reference::assert_same_parts(&found, &expected, "small splits from HDFS");
    assert!(status["maps"].as_u64() > Some(3 * n_blocks), "{status}");
    cluster.stop_and_replay();
}

/// The name node sends half of the readers of a block to a data node that died, if that had one of two copies. Who says whom
/// he has asked in vain needs one more try and no luck.
fn assert_reads_in_two_tries(hdfs: &MiniHdfs, path: &str, expected: &[u8]) {
    const ONE: [Duration; 1] = [Duration::from_millis(1)];
    let wait = Duration::from_secs(20);
    let patience = Patience { connect: wait, idle: wait, answer: wait, waits: &ONE };
    for (number, block) in expected.chunks(BLOCK).enumerate().cycle().take(2 * expected.len() / BLOCK) {
        let client = Client::new(&hdfs.http(), "ann", patience);
        let from = (number * BLOCK) as u64;
        let part = (from, from + block.len() as u64);
        let mut found = vec![0; block.len()];
        let mut reader = FileReader::new(client, path, expected.len() as u64, from, part);
        reader.read_exact(&mut found).unwrap_or_else(|error| panic!("block {number}: {error}"));
        assert!(found == block, "block {number} has other bytes");
    }
}

#[test]
fn when_a_data_node_dies_its_blocks_are_read_on_from_others() {
    let mut hdfs = MiniHdfs::start(3);
    let cluster = cluster_beside(&hdfs);
    let local = cluster.output("words.txt");
    text::write_text(local.as_ref(), 18 << 20, &text::words(2_000), 12);
    hdfs.put(&local, "/in/words.txt", 2);
    // A map has read a part of its block when its command begins to read.
    let slow = cluster.script("slow", "sleep 1; cat");
    let input = format!("hdfs://{}/in", hdfs.authority());
    let submit = |input: &str, out: &str| {
        let out = cluster.output(out);
        let args = ["streaming", "--input", input, "--output", &out, "--mapper", &slow, "--reducer", "cat"];
        cluster.submit(&[&args[..], &["--reduces", "2"]].concat())
    };
    let job = submit(&input, "remote");
    wait_for("a few maps to be done", || {
        let done = cluster.attempts(&job).iter().filter(|attempt| attempt["state"] == "SUCCEEDED").count();
        (done >= 3).then_some(())
    });
    hdfs.kill_data_node(1);
    cluster.wait_job(&job, 0);
    let status = cluster.status(&job);
    assert_eq!(status["failed_maps"].as_u64().unwrap_or(0), 0, "{status}");
    let failed = cluster.attempts(&job).into_iter().filter(|attempt| attempt["state"] == "FAILED").count();
    assert_eq!(failed, 0, "an attempt reads on from another copy");
    assert_reads_in_two_tries(&hdfs, "/in/words.txt", &std::fs::read(&local).expect("read the input"));
    let local_job = submit(&local, "local");
    cluster.wait_job(&local_job, 0);
    let parts = |name: &str| reference::read_parts(&cluster.path(name));
    reference::assert_same_parts(&parts("remote"), &parts("local"), "with a dead data node");
    cluster.stop_and_replay();
}
