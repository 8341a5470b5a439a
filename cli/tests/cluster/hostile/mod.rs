//! Jobs that mean harm, each on a real cluster with an innocent job beside it.
//!
//! The attack may do to itself what it likes. The innocent job must end with the right bytes and in the time that it took
//! on the same cluster before the attack, the workers must be LIVE afterwards, and the run that was recorded must decide
//! the same again. The same attack is then made on a cluster without its guard and must do its harm there, or the first
//! test would prove nothing. What that cluster recorded is not looked at.

pub(crate) mod attacker;
mod blocks;
mod disk;
mod garbage;
mod half_open;
mod hopeless;
mod inputs;
mod journal_trouble;
mod journals;
mod leaves;
mod links;
mod load;
mod names;
mod questions;
mod readers;
mod storage;
mod submissions;
mod words;

use std::process::Stdio;
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
    /// How long it took alone, where that was measured.
    usual: Option<Usual>,
}

impl Innocent {
    fn submit(cluster: &Cluster, name: &str) -> Innocent {
        let text = "to be or not to be\nthat is the question\n".repeat(500);
        let input = cluster.text(&format!("{name}.txt"), &text);
        let out = cluster.output(&format!("{name}.out"));
        let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out, "--reduces", "2"]);
        Innocent { job, text, out, usual: None }
    }

    /// Waits for its end. It took about as long as it did before the attack.
    #[track_caller]
    fn expect_right_bytes(&self, cluster: &Cluster) {
        cluster.wait_job(&self.job, 0);
        let found = reference::read_parts(std::path::Path::new(&self.out));
        let expected = reference::word_count_parts(self.text.as_bytes(), 2);
        reference::assert_same_parts(&found, &expected, "the innocent job");
        if let Some(usual) = self.usual {
            let took = self.took(cluster);
            assert!(took <= usual.most(), "the innocent job took {took:?}, and {:?} before the attack", usual.0);
        }
    }

    /// From its submission to its end, as the master counts.
    fn took(&self, cluster: &Cluster) -> Duration {
        let seconds = cluster.status(&self.job)["completion_s"].as_f64().expect("it is over");
        Duration::from_secs_f64(seconds)
    }
}

/// The time that the innocent job takes on a cluster that nobody attacks yet.
#[derive(Clone, Copy)]
struct Usual(Duration);

impl Usual {
    #[track_caller]
    fn of(cluster: &Cluster) -> Usual {
        let alone = Innocent::submit(cluster, "alone");
        alone.expect_right_bytes(cluster);
        Usual(alone.took(cluster))
    }

    /// Beside an attack it may take as long for what an attack may cost: its share of the processors and slots, and what a
    /// worker waits before it tries again. Other work on the machine comes and goes as well.
    fn most(self) -> Duration {
        3 * self.0 + Duration::from_secs(30)
    }

    fn submit(self, cluster: &Cluster, name: &str) -> Innocent {
        Innocent { usual: Some(self), ..Innocent::submit(cluster, name) }
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

/// Expects that a job which is submitted now is not accepted for a while.
#[track_caller]
fn expect_no_submission(cluster: &Cluster) {
    let (input, out) = (cluster.text("late.txt", "one line\n"), cluster.output("late.out"));
    let mut command = cluster.command(&["submit", "wordcount", "--input", &input, "--output", &out]);
    let mut submission = command.stdout(Stdio::null()).spawn().expect("start howdah");
    expect_lasting("nobody can submit a job", || submission.try_wait().expect("look at it").is_none());
    submission.kill().and_then(|()| submission.wait()).expect("end it");
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

/// Submits a job of maps alone, one for each line, which run a command and write to this path.
fn submit_maps(cluster: &Cluster, mapper: &str, lines: &[&str], out: &str) -> String {
    let name = std::path::Path::new(out).file_name().and_then(|name| name.to_str()).expect("an ordinary path");
    let inputs =
        lines.iter().enumerate().map(|(n, line)| cluster.text(&format!("{name}.{n}.txt"), &format!("{line}\n")));
    let inputs: Vec<String> = inputs.collect();
    let mut args = vec!["streaming", "--mapper", mapper, "--output", out, "--reduces", "0"];
    inputs.iter().for_each(|input| args.extend(["--input", input]));
    cluster.submit(&args)
}

/// Waits until one of a job's maps has succeeded.
fn wait_first_map(cluster: &Cluster, job: &str) {
    wait_for("the first map to end", || {
        cluster.attempts(job).iter().any(|attempt| attempt["state"] == "SUCCEEDED").then_some(())
    });
}

/// Keeps the slot of each of two workers until the file that it gives exists.
fn keep_slots(cluster: &Cluster) -> String {
    let gate = cluster.output("gate");
    let mapper = cluster.script("keep.sh", &format!("while ! test -e {gate}; do sleep 0.1; done"));
    let job = submit_maps(cluster, &mapper, &["one line", "one line"], &cluster.output("keep.out"));
    cluster.wait_running_maps(&job, 2);
    gate
}

/// What all attempts of a job say of their end.
fn diagnostics(cluster: &Cluster, job: &str) -> Vec<String> {
    let attempts = cluster.attempts(job);
    attempts.iter().filter_map(|attempt| attempt["diagnostics"].as_str().map(str::to_owned)).collect()
}
