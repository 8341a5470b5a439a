//! Jobs that plant links, reserved names and deep trees in their output, each beside an innocent job.
//!
//! The attack's own job may fail. Nothing elsewhere may change, the innocent job must end with the right bytes, and the
//! workers must be LIVE afterwards.

use std::path::Path;

use crate::harness::{Cluster, Setup, reference, wait_for};

/// Submits a word count of somebody who has nothing to do with the attack; the check of its bytes comes later.
fn innocent(cluster: &Cluster) -> impl FnOnce(&Cluster) + use<> {
    let text = "to be or not to be\nthat is the question\n".repeat(500);
    let input = cluster.text("innocent.txt", &text);
    let out = cluster.output("innocent.out");
    let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out, "--reduces", "2"]);
    move |cluster| {
        cluster.wait_job(&job, 0);
        let expected = reference::word_count_parts(text.as_bytes(), 2);
        reference::assert_same_parts(&reference::read_parts(Path::new(&out)), &expected, "the innocent job");
        wait_for("all workers to be LIVE", || {
            cluster.workers().iter().all(|worker| worker["state"] == "LIVE").then_some(())
        });
    }
}

/// A map-only streaming job whose mapper runs these lines of shell first; `$OUT` is its output directory.
fn attack(cluster: &Cluster, name: &str, lines: &str) -> (String, String) {
    let out = cluster.output(&format!("{name}.out"));
    let input = cluster.text(&format!("{name}.txt"), "one line\n");
    let mapper = cluster.script(&format!("{name}.sh"), &format!("OUT={out}\n{lines}\ncat"));
    let args = ["streaming", "--mapper", &mapper, "--input", &input, "--output", &out, "--reduces", "0"];
    (cluster.submit(&args), out)
}

#[test]
fn a_planted_link_is_neither_followed_nor_taken_for_success() {
    let cluster = Cluster::start(Setup::default());
    let victim = cluster.text("victim", "keep this");
    let check = innocent(&cluster);
    let (job, out) = attack(&cluster, "link", &format!("ln -s {victim} $OUT/_SUCCESS"));
    cluster.wait_job(&job, 1);
    let why = cluster.status(&job)["why"].to_string();
    assert!(why.contains("_SUCCESS"), "{why}");
    wait_for("the output to be cleared away", || (!Path::new(&out).exists()).then_some(()));
    assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), "keep this");
    check(&cluster);
    cluster.stop_and_replay();
}

#[test]
fn a_deep_tree_that_a_task_left_is_removed_and_the_master_lives() {
    let cluster = Cluster::start(Setup::default());
    let check = innocent(&cluster);
    let dig = "cd $OUT/_temporary; i=0; while [ $i -lt 3000 ]; do mkdir d; cd d; i=$((i+1)); done; cd /";
    let (job, out) = attack(&cluster, "deep", dig);
    cluster.wait_job(&job, 0);
    assert!(!Path::new(&out).join("_temporary").exists(), "the tree is left");
    assert!(Path::new(&out).join("_SUCCESS").exists());
    check(&cluster);
    cluster.stop_and_replay();
}

#[test]
fn output_in_the_directory_of_a_daemon_is_refused_by_name() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.text("input.txt", "a b\n");
    for (folder, whose) in [("master", "the master's"), ("worker-1", "worker `worker-1`'s")] {
        let out = format!("{}/out", cluster.output(folder));
        let refused = cluster.run(&["submit", "wordcount", "--input", &input, "--output", &out]).expect_code(2);
        assert!(refused.stderr.contains(&format!("lies in {whose} own directory")), "{}", refused.stderr);
        assert!(!Path::new(&out).exists(), "{out}");
    }
    innocent(&cluster)(&cluster);
    cluster.stop_and_replay();
}
