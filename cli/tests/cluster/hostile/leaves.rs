//! What changes under a job's feet, and what an attempt leaves to be read.

use super::{Innocent, diagnostics, expect_all_live, narrow};
use crate::harness::{Cluster, Setup, howdah_at, wait_for};

#[test]
fn an_input_that_changed_after_the_job_was_submitted_fails_it_with_that_reason() {
    let mut cluster = Cluster::start(Setup { workers: 0, ..narrow() });
    let input = cluster.text("input.txt", &"a line of the input\n".repeat(100));
    let out = cluster.output("out");
    let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out]);
    // Nobody has read it yet: the file that they will read is shorter.
    std::fs::write(&input, "a line of the input\n").expect("shorten the input");
    cluster.add_worker();
    let innocent = Innocent::submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job).join("\n");
    assert!(said.contains("has 20 bytes, expected 2000: it was changed after the job was submitted"), "{said}");
    expect_all_live(&cluster, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_replaced_executable_harms_no_attempt_of_a_worker_that_runs() {
    let cluster = Cluster::start(Setup { workers: 0, ..narrow() });
    let copy = cluster.path("howdah-copy");
    std::fs::copy(env!("CARGO_BIN_EXE_howdah"), &copy).expect("copy the executable");
    let mut worker = howdah_at(&copy, &cluster.mark);
    worker.args(["worker", "--master", &cluster.address, "--name", "upgraded", "--dir"]).arg(cluster.path("upgraded"));
    let mut worker = worker.spawn().expect("start the worker");
    expect_all_live(&cluster, 1);
    // As an upgrade does it: another file under the name, half copied.
    std::fs::remove_file(&copy).expect("remove the executable");
    std::fs::write(&copy, "half of an exec").expect("put something else there");
    Innocent::submit(&cluster, "innocent").expect_right_bytes(&cluster);
    expect_all_live(&cluster, 1);
    worker.kill().and_then(|()| worker.wait()).expect("end the worker");
    cluster.stop_and_replay();
}

#[test]
fn a_running_and_a_killed_attempt_have_logs_that_can_be_read() {
    let cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let mapper = cluster.script("mapper.sh", "echo on its way >&2; exec sleep 600");
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out]);
    cluster.wait_running_maps(&job, 1);
    let attempt = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    let read = |file: &str, part: &str| {
        wait_for(&format!("`{part}` in {file}"), || {
            let log = cluster.run(&["job", "logs", &attempt, file]);
            (log.code == Some(0) && log.stdout.contains(part)).then_some(())
        });
    };
    let files = [("--syslog", "input: 9 bytes at 0 of"), ("--stderr", "on its way")];
    files.iter().for_each(|(file, part)| read(file, part));
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| cluster.run(&["job", "logs", "--follow", &attempt, "--stderr"]));
        cluster.run(&["job", "kill", &job]).expect_code(0);
        let followed = follower.join().expect("no panic").expect_code(0);
        assert_eq!(followed.stdout.lines().next(), Some("on its way"), "{}", followed.all());
    });
    cluster.wait_job(&job, 1);
    files.iter().for_each(|(file, part)| read(file, part));
    cluster.stop_and_replay();
}

#[test]
fn what_a_command_uses_is_its_attempts() {
    let cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let mapper = cluster.script(
        "mapper.sh",
        "cat; dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null; i=0; while test $i -lt 300000; do i=$((i+1)); done",
    );
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out]);
    cluster.wait_job(&job, 0);
    let attempts = cluster.attempts(&job);
    let map = attempts.iter().find(|attempt| attempt["kind"] == "map").expect("a map");
    assert!(map["cpu_s"].as_f64().is_some_and(|s| s >= 0.05), "{map}");
    assert!(map["peak_memory_kib"].as_u64().is_some_and(|kib| kib >= 64 << 10), "{map}");
    let counters = &cluster.status(&job)["counters"]["Map-Reduce Framework"];
    assert!(counters["CPU time spent (ms)"].as_i64().is_some_and(|ms| ms >= 50), "{counters}");
    cluster.stop_and_replay();
}
