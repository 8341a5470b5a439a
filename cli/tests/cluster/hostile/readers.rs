//! Readers of logs that take nothing, by the hundred.

use howdah_guards::Guard;
use howdah_proto::v1::{GetLogRequest, LogChunk};
use tokio::task::JoinSet;
use tonic::Streaming;

use super::attacker::Attacker;
use super::{Usual, expect_all_live, expect_no_submission, narrow, submit_program, without};
use crate::harness::{Cluster, Setup, wait_for};

/// More than the master has threads for work that waits: some give up, as the worker cannot answer so many at once.
const READERS: usize = 800;
/// So many threads wait with those that it lets in, and far more than that with all of them.
const FEW_THREADS: usize = 64;
const ALL_THREADS: usize = 500;

/// An attempt that leaves a log larger than all buffers on the way to its reader; gives its id.
pub(super) fn leave_large_log(cluster: &Cluster) -> String {
    let job = submit_program(
        cluster,
        "head -c 1500000 /dev/zero | tr '\\0' x >&2; exit 3",
        &["-D", "mapred.map.max.attempts=1"],
    );
    cluster.wait_job(&job, 1);
    cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned()
}

/// Asks for the log over and over, and reads nothing of the answers; the calls end with what is returned.
fn read_slowly(attacker: &Attacker, attempt: &str) -> JoinSet<Option<Streaming<LogChunk>>> {
    attacker.run(async {
        let client = attacker.client().await;
        let mut readers = JoinSet::new();
        for _ in 0..READERS {
            let mut client = client.clone();
            let request =
                GetLogRequest { attempt: attempt.to_owned(), file: "stderr".to_owned(), ..GetLogRequest::default() };
            readers.spawn(async move { client.get_log(request).await.ok().map(tonic::Response::into_inner) });
        }
        readers
    })
}

#[test]
fn readers_that_take_nothing_leave_threads_for_jobs() {
    let cluster = Cluster::start(Setup { workers: 1, ..narrow() });
    let usual = Usual::of(&cluster);
    let attempt = leave_large_log(&cluster);
    let attacker = Attacker::of(&cluster);
    let readers = read_slowly(&attacker, &attempt);
    wait_for("readers to hold threads", || (cluster.master_threads() > FEW_THREADS).then_some(()));
    usual.submit(&cluster, "innocent").expect_right_bytes(&cluster);
    let threads = cluster.master_threads();
    assert!(threads < ALL_THREADS, "{threads} threads");
    expect_all_live(&cluster, 1);
    drop(readers);
    drop(attacker);
    // Those that waited for their turn have hung up, and the others are not waited for.
    let read = cluster.run(&["job", "logs", &attempt, "--stderr"]).expect_code(0);
    assert_eq!(read.stdout.len(), 1_500_000);
    cluster.stop_and_replay();
}

#[test]
fn readers_that_take_nothing_hold_all_threads_where_nobody_counts_them() {
    let cluster = Cluster::start(Setup { workers: 1, ..without(&[Guard::LogReaders]) });
    let attempt = leave_large_log(&cluster);
    let attacker = Attacker::of(&cluster);
    let _readers = read_slowly(&attacker, &attempt);
    wait_for("readers to hold all threads", || (cluster.master_threads() > ALL_THREADS).then_some(()));
    expect_no_submission(&cluster);
}
