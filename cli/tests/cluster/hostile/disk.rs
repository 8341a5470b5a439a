//! Attempts that write without end.

use howdah_guards::Guard;

use super::{Usual, diagnostics, expect_all_live, narrow, submit_program, without};
use crate::harness::{Cluster, Setup, wait_for};

const SETTINGS: &str = "[worker]\nattempt_log_bytes = 4194304\n";
/// What a log must have become to be without end.
const LARGE: u64 = 64 << 20;

/// A program that leaves its umbilical alone and fills its log, some 50 MB a second.
fn fill_logs(cluster: &Cluster) -> String {
    submit_program(cluster, "exec 0<&-\nwhile :; do head -c 1000000 /dev/zero; sleep 0.02; done", &[])
}

/// What all logs on the workers take.
fn logged(cluster: &Cluster) -> u64 {
    fn below(path: &std::path::Path) -> u64 {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => below(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        };
        entries.map(bytes).sum()
    }
    (1..3).map(|n| below(&cluster.path(&format!("worker-{n}/userlogs")))).sum()
}

#[test]
fn logs_without_end_end_their_attempt_and_its_job() {
    let worker_config = SETTINGS.to_owned();
    let cluster = Cluster::start(Setup { worker_config, ..narrow() });
    let usual = Usual::of(&cluster);
    let job = fill_logs(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 1);
    innocent.expect_right_bytes(&cluster);
    let said = diagnostics(&cluster, &job);
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(
        said.iter().all(|said| said.contains("bytes to its logs, more than 4194304 (`attempt_log_bytes`")),
        "{said:?}"
    );
    // Four attempts, each noticed half a second late on a machine that may be slow.
    assert!(logged(&cluster) < 8 * LARGE, "{}", logged(&cluster));
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn logs_without_end_fill_the_disk_where_nobody_looks() {
    let worker_config = SETTINGS.to_owned();
    let cluster = Cluster::start(Setup { worker_config, ..without(&[Guard::LogSize]) });
    let job = fill_logs(&cluster);
    wait_for("the log to be far past its bound", || (logged(&cluster) > LARGE).then_some(()));
    assert_eq!(cluster.status(&job)["state"], "RUNNING");
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
}
