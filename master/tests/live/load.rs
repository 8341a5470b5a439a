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
    // Through another connection: the many calls that are broken off at the end cost the flooder his own.
    let flooder = cluster.another_client().await;
    let flood: Vec<_> = (0..200)
        .map(|_| {
            let mut client = flooder.clone();
            tokio::spawn(async move { while client.list_jobs(v1::ListJobsRequest::default()).await.is_ok() {} })
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finished_jobs_leave_the_memory_by_their_tasks_and_are_read_back() {
    let mut cluster = Cluster::start_with(|config| config.limits.finished_tasks = 3).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let job = cluster.submit(sleep_job(2)).await.unwrap();
        for _ in 0..2 {
            let launch = worker.next_launch().await;
            worker.succeed(launch, 1).await;
        }
        assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
        jobs.push(job);
    }
    // Whether an attempt is in memory shows in what is said of it.
    let kill = |job: &str| {
        let attempt = format!("{}_m_000000_0", job.replace("job_", "attempt_"));
        v1::KillAttemptRequest { attempt, fail: false }
    };
    let first = cluster.client.kill_attempt(kill(&jobs[0])).await.unwrap_err();
    let last = cluster.client.kill_attempt(kill(&jobs[1])).await.unwrap_err();
    assert_eq!((first.code(), last.code()), (tonic::Code::NotFound, tonic::Code::FailedPrecondition));
    for job in &jobs {
        let read = cluster.get(job).await.unwrap();
        assert_eq!((read.status.unwrap().state.as_str(), read.attempts.len()), ("SUCCEEDED", 2));
    }
    cluster.stop().await;
}
