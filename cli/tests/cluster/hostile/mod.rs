//! Jobs that mean harm, each on a real cluster with an innocent job beside it.
//!
//! The attack may do to itself what it likes. The innocent job must end with the right bytes, the workers must be LIVE
//! afterwards, and the run that was recorded must decide the same again. The same attack is then made on a cluster without
//! its guard and must do its harm there, or the first test would prove nothing. What that cluster recorded is not looked at.

mod blocks;
mod hopeless;
mod leaves;
mod links;
mod load;
mod names;
mod words;

use std::time::{Duration, Instant};

use howdah_guards::Guard;

use crate::harness::{Cluster, Setup, reference, wait_for};

/// How long something must not happen before it counts as not happening; with the guard it takes a second or two.
const LONG_ENOUGH: Duration = Duration::from_secs(5);

/// A word count of somebody who has nothing to do with the attack.
struct Innocent {
    job: String,
    text: String,
    out: String,
}

impl Innocent {
    fn submit(cluster: &Cluster, name: &str) -> Innocent {
        let text = "to be or not to be\nthat is the question\n".repeat(500);
        let input = cluster.text(&format!("{name}.txt"), &text);
        let out = cluster.output(&format!("{name}.out"));
        let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out, "--reduces", "2"]);
        Innocent { job, text, out }
    }

    #[track_caller]
    fn expect_right_bytes(&self, cluster: &Cluster) {
        cluster.wait_job(&self.job, 0);
        let found = reference::read_parts(std::path::Path::new(&self.out));
        let expected = reference::word_count_parts(self.text.as_bytes(), 2);
        reference::assert_same_parts(&found, &expected, "the innocent job");
    }
}

/// Two workers with one slot of each kind: an attack that keeps a slot is felt at once.
fn narrow() -> Setup {
    Setup { map_slots: 1, reduce_slots: 1, own_hosts: true, ..Setup::default() }
}

/// The same without some guards.
fn without(guards_off: &'static [Guard]) -> Setup {
    Setup { guards_off, ..narrow() }
}

/// Expects that something stays true for a while.
#[track_caller]
fn expect_lasting(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while began.elapsed() < LONG_ENOUGH {
        assert!(holds(), "{what}: not any more after {:?}", began.elapsed());
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn expect_all_live(cluster: &Cluster, n: usize) {
    wait_for("all workers to be LIVE", || {
        let workers = cluster.workers();
        (workers.len() == n && workers.iter().all(|worker| worker["state"] == "LIVE")).then_some(())
    });
}

/// Submits a program of the attacker's, which speaks the umbilical's lines itself, over an input of one line.
fn submit_program(cluster: &Cluster, body: &str, more: &[&str]) -> String {
    let program = cluster.script("attack.sh", body);
    let input = cluster.text("attack.txt", "one line\n");
    let out = cluster.output("attack.out");
    let mut args = vec!["program", "--input", &input, "--output", &out];
    args.extend(more);
    args.push(&program);
    cluster.submit(&args)
}

/// What all attempts of a job say of their end.
fn diagnostics(cluster: &Cluster, job: &str) -> Vec<String> {
    let attempts = cluster.attempts(job);
    attempts.iter().filter_map(|attempt| attempt["diagnostics"].as_str().map(str::to_owned)).collect()
}
