//! Attempts and peers that make others wait.

use std::process::Command;

use howdah_guards::Guard;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Innocent, Usual, diagnostics, expect_all_live, expect_lasting, narrow, submit_program, without};
use crate::disks::run;
use crate::halt::halt;
use crate::harness::{Cluster, Setup, reference, wait_for};
use crate::permitted::not_tested;

/// Says that it is done, and has not asked for anything.
const DONE_AT_ONCE: &str = r#"read -r run; printf '{"say":"done","counters":{}}\n' >&0; exit 0"#;

/// An attempt that puts something else in the place of its logs, leaves a file at `planted`, and fails.
fn plant(cluster: &Cluster, make: &str) -> String {
    let planted = cluster.output("planted");
    let body = format!(
        r#"read -r run
        cd "$HOWDAH_LOG_DIR" && rm -f stderr syslog stdout && {make} && : >{planted}
        exit 3"#
    );
    submit_program(cluster, &body, &[])
}

const FIFOS: &str = "mkfifo stderr syslog stdout";
/// Zeros without end. For whoever may make devices: root.
const DEVICES: &str = "mknod stderr c 1 5 && mknod syslog c 1 5 && mknod stdout c 1 5";

#[test]
fn a_fifo_in_the_place_of_a_log_keeps_neither_slot_nor_thread() {
    expect_neither_slot_nor_thread(FIFOS);
}

#[test]
fn a_device_without_end_in_the_place_of_a_log_is_not_read() {
    let folder = tempfile::tempdir().expect("make a folder");
    match run(Command::new("mknod").arg(folder.path().join("zeros")).args(["c", "1", "5"])) {
        Ok(()) => expect_neither_slot_nor_thread(DEVICES),
        Err(why) => not_tested(&format!("a device in the place of a log: {why}; run the tests as root")),
    }
}

#[track_caller]
fn expect_neither_slot_nor_thread(make: &str) {
    let cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let usual = Usual::of(&cluster);
    let job = plant(&cluster, make);
    cluster.wait_job(&job, 1);
    let attempts = cluster.attempts(&job);
    assert_eq!(attempts.len(), 4, "{attempts:?}");
    let attempt = attempts[0]["attempt"].as_str().expect("an attempt id");
    // Whatever it says of the log, it says it at once.
    let logs = cluster.run(&["job", "logs", attempt, "--stderr"]);
    assert!(logs.code.is_some() && !logs.stdout.contains('\0'), "{}", logs.all());
    assert!(cluster.path("planted").exists(), "nothing was in the place of the logs");
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_fifo_keeps_the_slot_where_files_are_opened_as_they_are() {
    let cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::PlainFiles]) });
    let job = plant(&cluster, FIFOS);
    let over = || cluster.path("planted").exists() && cluster.attempt_processes().is_empty();
    wait_for("the attack's process to be over", || over().then_some(()));
    let innocent = Innocent::submit(&cluster, "innocent");
    expect_lasting("the attack holds the slot", || {
        let attempts = cluster.attempts(&job);
        assert_eq!(attempts.len(), 1, "{attempts:?}");
        attempts[0]["state"] == "RUNNING" && cluster.attempts(&innocent.job).is_empty()
    });
}

#[test]
fn an_attempt_that_is_done_without_asking_to_commit_fails_and_says_why() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = submit_program(&cluster, DONE_AT_ONCE, &["--reduces", "0"]);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job);
    let reason = "without having asked to commit its output";
    assert!(said.len() == 4 && said.iter().all(|text| text.contains(reason)), "{said:?}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_job_without_a_commit_never_ends_where_nobody_objects() {
    let cluster = Cluster::start(without(&[Guard::Commit]));
    let job = submit_program(&cluster, DONE_AT_ONCE, &["--reduces", "0"]);
    wait_for("the attack to be tried more often than any task", || (cluster.attempts(&job).len() > 4).then_some(()));
    assert!(!["FAILED", "SUCCEEDED"].iter().any(|state| cluster.status(&job)["state"] == *state));
}

/// The process of a job's first reduce, once it runs.
fn reduce_process(cluster: &Cluster, job: &str) -> Pid {
    let marked = format!("{}_r_", job.replace("job_", "attempt_"));
    wait_for("the reduce's process", || {
        let mut processes = cluster.attempt_processes().into_iter().map(|(pid, _)| pid);
        let is_its = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&marked)
        };
        processes.find(is_its).map(Pid::from_raw)
    })
}

/// A job of three maps whose reduce has one output to fetch from a peer that does not answer.
struct Frozen {
    job: String,
    out: String,
    peer: usize,
}

impl Frozen {
    fn setup(setup: Setup) -> Setup {
        Setup { master_config: "[master.cluster]\nexpiry_ms = 6000\n".to_owned(), ..setup }
    }

    fn start(cluster: &Cluster) -> Frozen {
        let gate = cluster.output("gate");
        let (job, out) = Frozen::submit(cluster, &gate);
        let reduce = reduce_process(cluster, &job);
        let attempts = wait_for("two maps to run beside the reduce", || {
            let attempts = cluster.attempts(&job);
            let running = |kind: &str| attempts.iter().filter(|a| a["kind"] == kind && a["state"] == "RUNNING").count();
            (running("map") == 2 && running("reduce") == 1).then_some(attempts)
        });
        let home = attempts.iter().find(|a| a["kind"] == "reduce").map(|a| a["worker"].clone()).expect("a reduce");
        let peer = usize::from(home == "worker-1");
        halt(reduce);
        std::fs::write(&gate, "").expect("open the gate");
        wait_for("all maps to be over", || {
            let attempts = cluster.attempts(&job);
            (attempts.iter().filter(|a| a["kind"] == "map" && a["state"] == "SUCCEEDED").count() == 3).then_some(())
        });
        cluster.halt_worker(peer);
        kill(reduce, Signal::SIGCONT).expect("let the reduce go on");
        Frozen { job, out, peer }
    }

    /// The job's first map lets its reduce begin; its two others wait at the gate, one on each worker.
    fn submit(cluster: &Cluster, gate: &str) -> (String, String) {
        let mapper = cluster.script(
            "mapper.sh",
            &format!("read line; test $line = first || while ! test -e {gate}; do sleep 0.1; done; echo $line"),
        );
        let inputs = ["first", "second", "third"].map(|word| cluster.text(word, &format!("{word}\n")));
        let out = cluster.output("frozen.out");
        let mut args = vec!["streaming", "--mapper", &mapper, "--reducer", "cat", "--output", &out, "--reduces", "1"];
        inputs.iter().for_each(|input| args.extend(["--input", input]));
        args.extend(["-D", "mapred.reduce.slowstart.completed.maps=0.1"]);
        args.extend(["-D", "mapred.map.tasks.speculative.execution=false"]);
        args.extend(["-D", "mapreduce.reduce.shuffle.read.timeout=1000"]);
        (cluster.submit(&args), out)
    }
}

#[test]
fn a_reduce_does_not_wait_for_a_frozen_peer() {
    let cluster = Cluster::start(Frozen::setup(narrow()));
    let usual = Usual::of(&cluster);
    let Frozen { job, out, peer } = Frozen::start(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 0);
    innocent.expect_right_bytes(&cluster);
    let words = reference::read_parts(std::path::Path::new(&out)).concat();
    let mut words: Vec<_> = String::from_utf8(words).expect("text").lines().map(|l| l.trim().to_owned()).collect();
    words.sort();
    assert_eq!(words, ["first", "second", "third"]);
    cluster.signal_worker(peer, Signal::SIGCONT);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_frozen_peer_holds_up_the_reduce_where_fetches_have_no_deadline() {
    let cluster = Cluster::start(Frozen::setup(without(&[Guard::FetchDeadlines])));
    let Frozen { job, peer, .. } = Frozen::start(&cluster);
    wait_for("the frozen worker to be lost, and its maps to be done elsewhere", || {
        let attempts = cluster.attempts(&job);
        let done = attempts.iter().filter(|a| a["kind"] == "map" && a["state"] == "SUCCEEDED").count();
        (cluster.worker_state(peer).as_deref() == Some("LOST") && done == 3).then_some(())
    });
    expect_lasting("the reduce waits", || cluster.status(&job)["state"] == "RUNNING");
}
