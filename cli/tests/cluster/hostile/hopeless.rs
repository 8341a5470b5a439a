//! Jobs that cannot succeed: refused at once, or failed at once with the reason.

use super::{Innocent, diagnostics, expect_all_live, narrow, submit_program};
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

#[test]
fn a_failure_that_nothing_can_mend_fails_the_job_at_its_first_attempt() {
    let cluster = Cluster::start(narrow());
    let body = r#"read -r run
        printf '{"say":"failed","message":"there is no way","counters":{},"fatal":true}\n' >&0; exit 1"#;
    let job = submit_program(&cluster, body, &[]);
    let innocent = Innocent::submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    assert_eq!(diagnostics(&cluster, &job), ["there is no way"]);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("there is no way"), "{why}");
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_command_that_no_machine_has_is_looked_for_on_two() {
    let cluster = Cluster::start(narrow());
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let job = cluster.submit(&["streaming", "--mapper", "no-such-command", "--input", &input, "--output", &out]);
    let innocent = Innocent::submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let attempts = cluster.attempts(&job);
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert_ne!(attempts[0]["worker"], attempts[1]["worker"], "{attempts:?}");
    let said = diagnostics(&cluster, &job);
    assert!(said.iter().all(|text| text.contains("start the command `no-such-command`")), "{said:?}");
    cluster.stop_and_replay();
}
