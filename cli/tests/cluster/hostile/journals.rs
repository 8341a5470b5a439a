//! A journal from which a whole frame is gone, or in which one is damaged: a disk that lost a write or a bit, or somebody who does
//! not want a job known.

use std::path::PathBuf;
use std::time::Duration;

use howdah_guards::Guard;
use howdah_proto::v1::{JournalFrame, journal_input};
use prost::Message;

use super::{Innocent, expect_all_live, narrow, without};
use crate::harness::{Cluster, Finished, Setup};

/// What a frame begins with: four fixed bytes, the payload's length, and a checksum.
const MAGIC: &[u8] = b"hwF2";
const PREFIX: usize = 12;

/// A cluster whose master was killed, and the first segment of its journal without the frame of a job.
struct Robbed {
    cluster: Cluster,
    innocent: Innocent,
    segment: PathBuf,
    whole: Vec<u8>,
}

impl Robbed {
    fn start(setup: Setup) -> Robbed {
        let mut cluster = Cluster::start(Setup { workers: 0, ..setup });
        let innocent = Innocent::submit(&cluster, "innocent");
        cluster.sleep(1, 1, 0);
        cluster.kill_master();
        let segment = first_segment(&cluster);
        let whole = std::fs::read(&segment).expect("read the journal");
        let mut less = whole.clone();
        let frame = submissions(&whole).swap_remove(0);
        less.drain(frame.clone());
        // As long as before: zeros end a segment.
        less.resize(whole.len(), 0);
        std::fs::write(&segment, &less).expect("write the journal");
        Robbed { cluster, innocent, segment, whole }
    }
}

fn first_segment(cluster: &Cluster) -> PathBuf {
    let runs = std::fs::read_dir(cluster.path("master")).expect("the master's directory").flatten();
    let mut segments = runs.map(|run| run.path().join("journal/00000001.seg")).filter(|path| path.is_file());
    segments.next().expect("a run with a journal")
}

/// Where the frames with submissions are.
fn submissions(segment: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    while segment[at..].starts_with(MAGIC) {
        let length = segment[at + 4..at + 8].iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte));
        let end = at + PREFIX + length;
        let frame = JournalFrame::decode(&segment[at + PREFIX..end]).expect("a frame");
        if frame.inputs.iter().any(|input| matches!(input.kind, Some(journal_input::Kind::Submit(_)))) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

#[test]
fn a_master_does_not_start_on_a_journal_from_which_a_job_is_gone() {
    let Robbed { mut cluster, innocent, segment, whole } = Robbed::start(narrow());
    let (config, dir) = (cluster.output("master.toml"), cluster.output("master"));
    let args = ["master", "--listen", "127.0.0.1:0", "--config", &config, "--dir", &dir];
    let refused = Finished::of(&mut cluster.command(&args), Duration::from_secs(120)).expect_code(3);
    assert!(refused.stderr.contains("frames are missing"), "{}", refused.stderr);
    std::fs::write(&segment, &whole).expect("put the frame back");
    cluster.restart_master();
    cluster.add_worker();
    innocent.expect_right_bytes(&cluster);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_damaged_journal_is_looked_at_and_repaired_by_commands_and_a_master_goes_on_with_what_is_before() {
    let mut cluster = Cluster::start(Setup { workers: 0, ..narrow() });
    let innocent = Innocent::submit(&cluster, "innocent");
    for _ in 0..2 {
        cluster.sleep(1, 1, 0);
    }
    let dir = cluster.output("master");
    let running = cluster.run(&["journal", "repair", &dir]).expect_code(2);
    assert!(running.stderr.contains("in use by another master"), "{}", running.stderr);
    cluster.kill_master();
    let whole = cluster.json(&["journal", "check", &dir])["batches"].as_u64().expect("a number");
    // A bit of the second job: what comes behind it vouches for it.
    let segment = first_segment(&cluster);
    let mut bytes = std::fs::read(&segment).expect("read the journal");
    let frames = submissions(&bytes);
    assert_eq!(frames.len(), 3);
    bytes[frames[1].start + PREFIX + 5] ^= 1;
    std::fs::write(&segment, &bytes).expect("write the journal");

    let checked = cluster.run(&["journal", "check", &dir]).expect_code(1);
    let place = format!("offset {}", frames[1].start);
    for part in [place.as_str(), "its checksum is wrong", "howdah journal repair"] {
        assert!(checked.stderr.contains(part), "{part}: {}", checked.stderr);
    }
    let dumped = cluster.run(&["journal", "dump", &dir]).expect_code(1);
    assert!(dumped.stdout.contains(&innocent.job) && dumped.stderr.contains(&place), "{dumped:?}");
    let config = cluster.output("master.toml");
    let args = ["master", "--listen", "127.0.0.1:0", "--config", &config, "--dir", &dir];
    let refused = Finished::of(&mut cluster.command(&args), Duration::from_secs(120)).expect_code(3);
    assert!(refused.stderr.contains("howdah journal repair"), "{}", refused.stderr);

    let repaired = cluster.json(&["journal", "repair", &dir]);
    assert_eq!(repaired["cut"]["offset"], frames[1].start);
    let kept = repaired["kept"].as_str().expect("what was cut is kept");
    assert_eq!(std::fs::read(format!("{kept}/00000001.seg")).expect("the segment as it was"), bytes);
    let left = repaired["batches"].as_u64().expect("a number");
    assert!((1..whole).contains(&left), "{left} of {whole} batches");
    cluster.run(&["journal", "check", &dir]).expect_code(0);
    assert!(cluster.json(&["journal", "repair", &dir])["cut"].is_null(), "it is whole now");
    cluster.restart_master();
    let ids: Vec<_> = cluster.jobs().iter().map(|job| job["job"].clone()).collect();
    assert_eq!(ids, [innocent.job.as_str()]);
    cluster.add_worker();
    innocent.expect_right_bytes(&cluster);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn workers_that_have_met_starts_which_a_repair_cut_off_come_back() {
    let mut cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let jobs = [0, 1].map(|_| cluster.sleep(1, 1, 0));
    for job in &jobs {
        cluster.wait_job(job, 0);
    }
    for _ in 0..2 {
        cluster.kill_master();
        cluster.restart_master();
        expect_all_live(&cluster, 1);
    }
    cluster.kill_master();
    let segment = first_segment(&cluster);
    let mut bytes = std::fs::read(&segment).expect("read the journal");
    let frames = submissions(&bytes);
    bytes[frames[1].start + PREFIX + 5] ^= 1;
    std::fs::write(&segment, &bytes).expect("write the journal");
    let dir = cluster.output("master");
    assert_eq!(cluster.json(&["journal", "repair", &dir])["cut"]["offset"], frames[1].start);
    cluster.restart_master();
    expect_all_live(&cluster, 1);
    let job = cluster.sleep(1, 1, 0);
    cluster.wait_job(&job, 0);
    cluster.stop_and_replay();
}

#[test]
fn a_job_is_lost_in_silence_with_its_frame_where_frames_need_not_follow_each_other() {
    let Robbed { mut cluster, innocent, .. } = Robbed::start(without(&[Guard::WholeJournal]));
    cluster.restart_master();
    let jobs = cluster.jobs();
    assert!(jobs.iter().all(|job| job["job"] != innocent.job.as_str()), "{jobs:?}");
    cluster.run(&["job", "status", &innocent.job]).expect_code(2);
}
