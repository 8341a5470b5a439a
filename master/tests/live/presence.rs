//! Who is there: silence, closed connections, names, drains and blacklists over gRPC.

use std::time::{Duration, Instant};

use howdah_master::replay::replay_decisions;
use howdah_proto::v1;
use tonic::Code;

use crate::fixture::{Cluster, FakeWorker, sleep_job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_connection_closes_is_lost_within_seconds_and_its_attempts_run_elsewhere() {
    let mut cluster = Cluster::start().await;
    let mut dying = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let launch = dying.next_launch().await;
    dying.running(launch).await;
    dying.beat(vec![]).await.unwrap();
    let mut other = FakeWorker::register(&mut cluster, "w2", 1, 0).await;
    let died = Instant::now();
    drop(dying);
    let again = other.next_launch().await;
    // Far less than the expiry of half a minute, also on a busy machine.
    assert!(died.elapsed() < Duration::from_secs(20), "{:?}", died.elapsed());
    assert_eq!((again.index, again.number), (launch.index, launch.number + 1));
    other.succeed(again, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    cluster.until_state("w1", "LOST").await;
    let report = replay_decisions(&cluster.stop().await).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_worker_is_shown_and_named_in_explanations_until_its_next_heartbeat() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    worker.beat(vec![]).await.unwrap();
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    cluster.until_state("w1", "SILENT").await;
    let explained =
        cluster.client.explain(v1::GetJobRequest { job: job.clone(), brief: false }).await.unwrap().into_inner().text;
    assert!(explained.contains("1 of 1 workers take no tasks: w1 (SILENT, no heartbeat for"), "{explained}");
    let launch = worker.next_launch().await;
    cluster.until_state("w1", "LIVE").await;
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_says_goodbye_is_stopped_and_one_with_a_full_disk_is_low_on_disk() {
    let mut cluster = Cluster::start().await;
    let mut full = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    full.refusal = v1::Refusal::LowDisk;
    full.beat(vec![]).await.unwrap();
    cluster.until_state("w1", "LOW_DISK").await;
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let explained = cluster.client.explain(v1::GetJobRequest { job, brief: false }).await.unwrap().into_inner().text;
    assert!(explained.contains("w1 (LOW_DISK, "), "{explained}");
    full.refusal = v1::Refusal::Stopping;
    full.beat(vec![]).await.unwrap();
    cluster.until_state("w1", "DRAINING").await;
    full.goodbye().await;
    cluster.until_state("w1", "STOPPED").await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_worker_of_a_name_is_refused_while_the_first_is_alive() {
    let mut cluster = Cluster::start().await;
    let mut first = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    first.beat(vec![]).await.unwrap();
    let refused = FakeWorker::try_register(&cluster, "w1", [1, 0], 5).await.err().expect("the name is taken");
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("worker `w1` is alive at host `localhost`"), "{refused}");
    // The first goes on as if nothing had been.
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let launch = first.next_launch().await;
    first.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_the_highest_number_does_not_lock_its_name() {
    let mut cluster = Cluster::start().await;
    let attacker = FakeWorker::register_run(&mut cluster, "w1", 1, 0, u64::MAX).await;
    drop(attacker);
    cluster.until_state("w1", "LOST").await;
    let mut worker = FakeWorker::try_register(&cluster, "w1", [1, 0], 7).await.expect("the name is free");
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let launch = worker.next_launch().await;
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    let report = replay_decisions(&cluster.stop().await).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_outlives_the_workers_restart_and_a_removed_worker_leaves_the_list() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    worker.beat(vec![]).await.unwrap();
    let drain = |drain| v1::DrainWorkerRequest { worker: "w1".to_owned(), drain };
    cluster.client.drain_worker(drain(true)).await.unwrap();
    let remove = v1::RemoveWorkerRequest { worker: "w1".to_owned() };
    let mut again = worker.again("w1", 2).await.unwrap();
    again.beat(vec![]).await.unwrap();
    cluster.until_state("w1", "DRAINING").await;
    cluster.client.drain_worker(drain(false)).await.unwrap();
    cluster.until_state("w1", "LIVE").await;
    again.beat(vec![]).await.unwrap();
    let refused = cluster.client.remove_worker(remove.clone()).await.unwrap_err();
    assert!(refused.message().contains("is alive"), "{refused}");
    again.goodbye().await;
    cluster.until_state("w1", "STOPPED").await;
    cluster.client.remove_worker(remove).await.unwrap();
    let listed = cluster.client.list_workers(v1::ListWorkersRequest { all: false }).await.unwrap().into_inner();
    assert_eq!(listed.workers, []);
    let report = replay_decisions(&cluster.stop().await).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
}
