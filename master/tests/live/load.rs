//! Load from outside: idle connections, floods of questions. Workers and other clients must not feel it.

use std::net::TcpStream;
use std::time::Duration;

use howdah_proto::v1;

use crate::fixture::{Cluster, FakeWorker, sleep_job};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_make_room_for_those_in_use() {
    let mut cluster = Cluster::start_with(|config| config.limits.connections = 12).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    worker.beat(vec![]).await.unwrap();
    let idle: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(cluster.listens()).expect("the system takes connections")).collect();
    // A newcomer is served, and the worker's connection is still the same.
    let mut newcomer = cluster.another_client().await;
    let job = newcomer.submit_job(sleep_job(1)).await.unwrap().into_inner().job;
    let launch = worker.next_launch().await;
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    assert_eq!(cluster.until_state("w1", "LIVE").await.name, "w1");
    drop(idle);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_questions_does_not_hold_up_reports() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    for _ in 0..50 {
        cluster.submit(sleep_job(1)).await.unwrap();
    }
    let flood: Vec<_> = (0..200)
        .map(|_| {
            let mut client = cluster.client.clone();
            tokio::spawn(async move {
                loop {
                    client.list_jobs(v1::ListJobsRequest::default()).await.expect("the master answers");
                }
            })
        })
        .collect();
    for _ in 0..50 {
        let launch = worker.next_launch().await;
        worker.succeed(launch, 1).await;
    }
    flood.iter().for_each(tokio::task::JoinHandle::abort);
    let done = async { cluster.until(|c| c.jobs_done == 50).await };
    tokio::time::timeout(Duration::from_secs(60), done).await.expect("all jobs are done");
    cluster.stop().await;
}
