//! Jobs that cannot succeed: refused at once, or failed at once with the reason.

use howdah_guards::Guard;

use super::{Usual, diagnostics, expect_all_live, keep_slots, narrow, submit_program, without};
use crate::harness::Cluster;

#[test]
fn a_value_that_no_attempt_could_read_is_refused_when_the_job_is_submitted() {
    let cluster = Cluster::start(narrow());
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let args = ["submit", "wordcount", "--input", &input, "--output", &out, "-D", "io.sort.mb=abc"];
    let refused = cluster.run(&args).expect_code(2);
    for part in ["io.sort.mb", "abc", "a number of MiB"] {
        assert!(refused.stderr.contains(part), "no `{part}` in:\n{}", refused.stderr);
    }
    assert!(cluster.jobs().is_empty() && !std::path::Path::new(&out).exists());
}

/// Says that no other attempt could do better.
fn despair(cluster: &Cluster) -> String {
    let body = r#"read -r run
        printf '{"say":"failed","message":"there is no way","counters":{},"fatal":true}\n' >&0; exit 1"#;
    submit_program(cluster, body, &[])
}

/// Needs a command that no machine has.
fn need_command(cluster: &Cluster) -> String {
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("command.out");
    cluster.submit(&["streaming", "--mapper", "no-such-command", "--input", &input, "--output", &out])
}

/// Needs an input that was there when the job was submitted.
fn need_input(cluster: &Cluster) -> String {
    let gate = keep_slots(cluster);
    let (input, out) = (cluster.text("gone.txt", "one line\n"), cluster.output("gone.out"));
    let job = cluster.submit(&["wordcount", "--input", &input, "--output", &out]);
    std::fs::remove_file(input).expect("remove the input");
    std::fs::write(gate, "").expect("open the gate");
    job
}

#[test]
fn a_failure_that_nothing_can_mend_fails_the_job_at_its_first_attempt() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let job = despair(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    assert_eq!(diagnostics(&cluster, &job), ["there is no way"]);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("there is no way"), "{why}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

/// Two attempts, one on each worker, that say what is missing.
#[track_caller]
fn expect_tried_on_both(cluster: &Cluster, job: &str, missing: &str) {
    let attempts = cluster.attempts(job);
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert_ne!(attempts[0]["worker"], attempts[1]["worker"], "{attempts:?}");
    let said = diagnostics(cluster, job);
    assert!(said.iter().all(|text| text.contains(missing)), "{said:?}");
}

#[test]
fn a_command_that_no_machine_has_and_an_input_that_is_gone_are_looked_for_on_two() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let jobs = [need_command(&cluster), need_input(&cluster)];
    let innocent = usual.submit(&cluster, "innocent");
    jobs.iter().for_each(|job| drop(cluster.wait_job(job, 1)));
    innocent.expect_right_bytes(&cluster);
    expect_tried_on_both(&cluster, &jobs[0], "start the command `no-such-command`");
    expect_tried_on_both(&cluster, &jobs[1], "gone.txt");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn jobs_that_cannot_succeed_are_tried_four_times_where_nobody_believes_their_attempts() {
    let cluster = Cluster::start(without(&[Guard::Hopeless]));
    for job in [despair(&cluster), need_command(&cluster), need_input(&cluster)] {
        cluster.wait_job(&job, 1);
        assert_eq!(cluster.attempts(&job).len(), 4, "{:?}", diagnostics(&cluster, &job));
    }
}
