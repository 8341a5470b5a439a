//! Input from Apache's HDFS, and output to it.

use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;
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

fn patient(hdfs: &MiniHdfs) -> Client {
    const WAITS: [Duration; 6] = [Duration::from_millis(200); 6];
    let wait = Duration::from_secs(60);
    Client::new(&hdfs.http(), "ann", Patience { connect: wait, idle: wait, answer: wait, waits: &WAITS })
}

#[test]
fn a_job_writes_to_apaches_hdfs_what_it_would_write_here_and_its_parts_outlive_a_data_node() {
    let mut hdfs = MiniHdfs::start(3);
    let cluster = cluster_beside(&hdfs);
    let local = cluster.output("words.txt");
    text::write_text(local.as_ref(), 6 << 20, &text::words(2_000), 13);
    hdfs.put(&local, "/in/words.txt", 2);
    let bytes = std::fs::read(&local).expect("read the input");
    let at = |path: &str| format!("hdfs://{}{path}", hdfs.authority());
    let (input, output) = (at("/in"), at("/data/a b/out"));
    let args = ["wordcount", "--input", &input, "--output", &output, "--reduces", "3"];
    cluster.wait_job(&cluster.submit(&args), 0);
    hdfs.get("/data/a b/out", &cluster.output("from-hdfs"));
    let found = reference::read_parts(&cluster.path("from-hdfs"));
    reference::assert_same_parts(&found, &reference::word_count_parts(&bytes, 3), "in Apache's HDFS");
    let said = cluster.run(&[&["submit"], &args[..]].concat()).expect_code(2).stderr;
    assert!(said.contains(&format!("output directory `{output}` exists already")), "{said}");
    // What fails leaves nothing.
    let (failing, failed) = (cluster.script("failing", "cat; exit 7"), at("/failed"));
    let args = ["streaming", "--input", &input, "--output", &failed, "--mapper", "cat", "--reducer", &failing];
    cluster.wait_job(&cluster.submit(&args), 1);
    let client = patient(&hdfs);
    wait_for("the output to be cleared away", || client.status("/failed").is_err_and(|e| e.is_missing()).then_some(()));
    // The name node goes on to send writers to a data node that died.
    hdfs.kill_data_node(1);
    let at = |path: &str| format!("hdfs://{}{path}", hdfs.authority());
    let (input, output) = (at("/in"), at("/data/cat"));
    let args = ["streaming", "--input", &input, "--output", &output, "--mapper", "cat", "--reducer", "cat"];
    let job = cluster.submit(&[&args[..], &["--reduces", "4"]].concat());
    cluster.wait_job(&job, 0);
    let failed = cluster.attempts(&job).into_iter().filter(|attempt| attempt["state"] == "FAILED").count();
    assert_eq!(failed, 0, "an attempt hands its part to another data node");
    hdfs.get("/data/cat", &cluster.output("cat"));
    let lines = |bytes: &[u8]| {
        let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines.retain(|line| !line.is_empty());
        lines
    };
    let written = reference::read_parts(&cluster.path("cat")).concat();
    let trimmed: Vec<u8> = written.iter().copied().filter(|&byte| byte != b'\t').collect();
    assert!(lines(&trimmed) == lines(&bytes), "the lines are those of the input");
    cluster.stop_and_replay();
}

/// Bytes that end a data node when half of them are read.
struct Deadly {
    bytes: std::io::Cursor<Vec<u8>>,
    kill: Box<dyn Fn()>,
}

impl Read for Deadly {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.bytes.position() > self.bytes.get_ref().len() as u64 / 2 {
            (self.kill)();
        }
        self.bytes.read(to)
    }
}

#[test]
fn a_file_is_whole_in_apaches_hdfs_though_a_data_node_dies_in_the_middle_of_it() {
    let hdfs = MiniHdfs::start(3);
    let client = patient(&hdfs);
    let bytes: Vec<u8> = (0..1_500_000_u32).flat_map(u32::to_be_bytes).collect();
    client.make_directory("/d").expect("make a directory");
    let (hdfs, opened) = (Rc::new(std::cell::RefCell::new(hdfs)), Cell::new(0));
    let done = client.write("/d/f", bytes.len() as u64, &mut || {
        opened.set(opened.get() + 1);
        let hdfs = Rc::clone(&hdfs);
        let kill = Box::new(move || hdfs.borrow_mut().kill_data_node(0));
        Ok(Box::new(Deadly { bytes: std::io::Cursor::new(bytes.clone()), kill }) as Box<dyn Read>)
    });
    done.unwrap_or_else(|error| panic!("after {} tries: {error}", opened.get()));
    let mut found = Vec::new();
    let mut reader = FileReader::new(client.clone(), "/d/f", bytes.len() as u64, 0, (0, bytes.len() as u64));
    reader.read_to_end(&mut found).expect("read it back");
    assert!(found == bytes, "after {} tries", opened.get());
    // What Hadoop refuses, it refuses in these words.
    client.make_directory("/d").expect("it is there");
    client.create("/d/mark", b"mine", "/d/own").expect("it is new");
    assert!(client.create("/d/mark", b"mine", "/d/own").expect_err("it is there").is_existing());
    assert_eq!(client.small_file("/d/mark").expect("small"), b"mine");
    assert!(client.rename("/d/none", "/d/x").expect_err("no source").is_missing());
    assert!(client.rename("/d/f", "/d/mark").expect_err("a target").is_existing());
    assert!(client.remove_if_empty("/d").expect_err("not empty").is_not_empty());
    let error = client.make_directory("/d/f/below").expect_err("below a file");
    assert!(!error.may_pass(), "{error}");
    client.remove("/d").expect("remove it");
    client.remove("/d").expect("it is gone");
}
