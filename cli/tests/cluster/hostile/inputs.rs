//! Inputs that have no end: links in a circle, and few directories that look like millions.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use howdah_guards::Guard;
use tokio::task::JoinSet;

use super::attacker::{Attacker, word_count};
use super::{Usual, expect_all_live, expect_no_submission, narrow, without};
use crate::harness::{Cluster, wait_for};

/// As many inputs as the master lists at a time.
const LISTINGS: usize = 32;
/// Threads that a master that has just started may have for such work already, at most.
const IDLE: usize = 4;
/// No thread was started for so long: all requests have come.
const ALL_CAME: Duration = Duration::from_secs(2);

/// A directory with links to itself.
fn circle(cluster: &Cluster) -> String {
    let path = cluster.path("circle");
    std::fs::create_dir(&path).expect("make a directory");
    ["l", "r"].iter().for_each(|name| symlink(".", path.join(name)).expect("make a link"));
    cluster.output("circle")
}

/// Thirty directories with two links from each to the next: 2^30 paths, none of them in a circle.
fn graph(cluster: &Cluster) -> String {
    for n in 0..=30 {
        let path = cluster.path(&format!("graph/{n}"));
        std::fs::create_dir_all(&path).expect("make a directory");
        if n < 30 {
            let next = format!("../{}", n + 1);
            ["l", "r"].iter().for_each(|name| symlink(&next, path.join(name)).expect("make a link"));
        }
    }
    cluster.output("graph/0")
}

/// Submits jobs over `input` until all listings are under way, and hangs up.
fn submit_and_leave(cluster: &Cluster, input: &str) {
    let attacker = Attacker::of(cluster);
    let before = cluster.master_threads();
    let submissions = attacker.run(async {
        let client = attacker.client().await;
        let mut submissions = JoinSet::new();
        // Some are there too late to be listed, or are refused: enough are left.
        for n in 0..2 * LISTINGS {
            let mut client = client.clone();
            let request = word_count(input.to_owned(), cluster.output(&format!("attack.{n}.out")));
            submissions.spawn(async move { client.submit_job(request).await.is_err() });
        }
        submissions
    });
    // Each takes a thread, a new one or one of the few that are idle; until no more come for a while.
    let mut seen = (0, Instant::now());
    wait_for("all inputs to be listed", || {
        let threads = cluster.master_threads();
        if threads != seen.0 {
            seen = (threads, Instant::now());
        }
        (threads >= before + LISTINGS - IDLE && seen.1.elapsed() >= ALL_CAME).then_some(())
    });
    drop(submissions);
}

#[test]
fn an_input_in_a_circle_is_refused_and_one_without_an_end_is_left_when_nobody_waits() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let (circle, out) = (circle(&cluster), cluster.output("attack.out"));
    let recursive = ["-D", "mapred.input.dir.recursive=true"];
    let mut args = vec!["submit", "wordcount", "--input", &circle, "--output", &out];
    args.extend(recursive);
    let refused = cluster.run(&args).expect_code(2);
    assert!(refused.stderr.contains("links lead in a circle"), "{}", refused.stderr);
    submit_and_leave(&cluster, &graph(&cluster));
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    assert_eq!(cluster.jobs().len(), 2, "nothing of the attack was accepted");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn inputs_without_an_end_keep_everybody_from_submitting_where_walks_go_on() {
    let cluster = Cluster::start(without(&[Guard::InputWalk]));
    submit_and_leave(&cluster, &graph(&cluster));
    expect_no_submission(&cluster);
}
