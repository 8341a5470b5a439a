//! What changes under a job's feet, and what an attempt leaves to be read.

use std::process::Child;

use howdah_guards::Guard;

use super::{Innocent, Usual, diagnostics, expect_all_live, keep_slots, narrow, submit_maps, wait_first_map, without};
use crate::harness::{Cluster, Setup, howdah_at, reference, wait_for};

/// A job whose input becomes shorter before anybody has read it.
fn shorten_input(cluster: &Cluster) -> String {
    let gate = keep_slots(cluster);
    let input = cluster.text("input.txt", &"a line of the input\n".repeat(100));
    let out = cluster.output("out");
    let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out]);
    std::fs::write(&input, "a line of the input\n").expect("shorten the input");
    std::fs::write(gate, "").expect("open the gate");
    job
}

#[test]
fn an_input_that_changed_after_the_job_was_submitted_fails_it_with_that_reason() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = shorten_input(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job).join("\n");
    assert!(said.contains("has 20 bytes, expected 2000: it was changed after the job was submitted"), "{said}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_changed_input_gives_fewer_words_in_silence_where_nobody_looks() {
    let cluster = Cluster::start(without(&[Guard::UnchangedInput]));
    let job = shorten_input(&cluster);
    cluster.wait_job(&job, 0);
    let found = reference::read_parts(&cluster.path("out")).concat();
    assert!(String::from_utf8_lossy(&found).contains("line\t1\n"), "{}", String::from_utf8_lossy(&found));
}

/// One map leaves a file in its working directory, and its job goes on with another one.
fn leave_file(cluster: &Cluster) -> (String, String) {
    // Both run before either ends: on one worker each.
    let (both, gate) = (cluster.output("both"), cluster.output("gate"));
    let body = format!(
        "case \"$(cat)\" in leave) touch left-behind; end={both};; stay) end={gate};; esac\n\
         while ! test -e $end; do sleep 0.1; done"
    );
    let mapper = cluster.script("leave.sh", &body);
    let job = submit_maps(cluster, &mapper, &["leave", "stay"], &cluster.output("out"));
    cluster.wait_running_maps(&job, 2);
    std::fs::write(both, "").expect("let the first map end");
    wait_first_map(cluster, &job);
    (job, gate)
}

/// What the map of another job finds in its working directory, on the one worker with a free slot.
fn look_around(cluster: &Cluster, name: &str) -> String {
    let job = submit_maps(cluster, "ls -A", &["one line"], &cluster.output(name));
    cluster.wait_job(&job, 0);
    String::from_utf8(reference::read_parts(&cluster.path(name)).concat()).expect("names")
}

#[test]
fn a_map_finds_nothing_of_another_jobs_in_its_working_directory() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let (job, gate) = leave_file(&cluster);
    for n in 0..3 {
        let found = look_around(&cluster, &format!("found-{n}"));
        assert!(!found.contains("left-behind"), "{found}");
    }
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    std::fs::write(gate, "").expect("open the gate");
    cluster.wait_job(&job, 0);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_map_finds_what_another_job_left_where_directories_are_handed_on_as_they_are() {
    let cluster = Cluster::start(without(&[Guard::WorkDirectories]));
    let (job, gate) = leave_file(&cluster);
    let mut n = 0;
    wait_for("another job's map to get the directory", || {
        n += 1;
        look_around(&cluster, &format!("found-{n}")).contains("left-behind").then_some(())
    });
    std::fs::write(gate, "").expect("open the gate");
    cluster.wait_job(&job, 0);
}

/// A worker whose executable was replaced after it started.
struct Upgraded {
    cluster: Cluster,
    worker: Child,
    usual: Usual,
}

impl Upgraded {
    fn start(setup: Setup) -> Upgraded {
        let guards = setup.guards();
        let cluster = Cluster::start(Setup { workers: 0, ..setup });
        let copy = cluster.path("howdah-copy");
        std::fs::copy(env!("CARGO_BIN_EXE_howdah"), &copy).expect("copy the executable");
        let mut worker = howdah_at(&copy, &cluster.mark);
        worker.envs([guards]).args(["worker", "--master", &cluster.address, "--name", "upgraded", "--dir"]);
        let worker = worker.arg(cluster.path("upgraded")).spawn().expect("start the worker");
        expect_all_live(&cluster, 1);
        let usual = Usual::of(&cluster);
        // As an upgrade does it: another file under the name, half copied.
        std::fs::remove_file(&copy).expect("remove the executable");
        std::fs::write(&copy, "half of an exec").expect("put something else there");
        Upgraded { cluster, worker, usual }
    }

    fn stop(mut self) -> Cluster {
        self.worker.kill().and_then(|()| self.worker.wait()).expect("end the worker");
        self.cluster
    }
}

#[test]
fn a_replaced_executable_harms_no_attempt_of_a_worker_that_runs() {
    let upgraded = Upgraded::start(narrow());
    upgraded.usual.submit(&upgraded.cluster, "innocent").expect_right_bytes(&upgraded.cluster);
    expect_all_live(&upgraded.cluster, 1);
    upgraded.stop().stop_and_replay();
}

#[test]
fn a_replaced_executable_fails_all_attempts_where_it_is_started_by_its_name() {
    let upgraded = Upgraded::start(without(&[Guard::OwnExecutable]));
    let innocent = Innocent::submit(&upgraded.cluster, "innocent");
    upgraded.cluster.wait_job(&innocent.job, 1);
    let said = diagnostics(&upgraded.cluster, &innocent.job);
    assert!(said.iter().all(|text| text.contains("howdah-copy")), "{said:?}");
    upgraded.stop();
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
