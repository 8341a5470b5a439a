//! Jobs that are over stay in the memory until their histories are on disk, and leave it then.

use std::fs;
use std::time::Duration;

use howdah_core::job::AttemptState;
use howdah_master::history::JobHistory;
use howdah_master::journal::find_run;
use howdah_proto::v1;
use tonic::{Code, Status};

use super::fixture::{Cluster, FakeWorker, generated, sleep_job, wait_for};

/// How many jobs may come before they must be refused.
const MANY: usize = 200;

/// Does a job, if it is taken.
async fn run_a_job(cluster: &mut Cluster, worker: &mut FakeWorker) -> Result<String, Status> {
    let job = cluster.submit(sleep_job(1)).await?;
    let launch = worker.next_launch().await;
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    Ok(job)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_histories_cannot_be_written_few_jobs_are_kept_and_workers_are_answered() {
    let few = |config: &mut howdah_master::MasterConfig| config.limits.finished_jobs = 2;
    let mut cluster = Cluster::start_with(few).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let run = find_run(&cluster.master_dir()).unwrap();
    let (histories, aside) = (run.join("history"), run.join("aside"));
    fs::rename(&histories, &aside).unwrap();
    fs::write(&histories, "in the way").unwrap();

    let mut jobs = Vec::new();
    let refused = loop {
        assert!(jobs.len() < MANY, "all are taken");
        match run_a_job(&mut cluster, &mut worker).await {
            Ok(job) => jobs.push(job),
            Err(refused) => break refused,
        }
    };
    assert!(jobs.len() > 2, "{} jobs", jobs.len());
    assert_eq!(refused.code(), Code::Unavailable);
    let said = refused.message();
    assert!(said.contains(" have no history on disk yet: ") && said.contains("Not a directory"), "{said}");
    assert!(said.contains("\nhelp: "), "{said}");
    worker.beat(vec![]).await.unwrap();
    // All of them are there, from the memory.
    for job in &jobs {
        assert_eq!(cluster.get(job).await.unwrap().attempts.len(), 1);
    }

    fs::remove_file(&histories).unwrap();
    fs::rename(&aside, &histories).unwrap();
    let taken = async {
        loop {
            match run_a_job(&mut cluster, &mut worker).await {
                Ok(job) => break job,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    jobs.push(tokio::time::timeout(Duration::from_secs(60), taken).await.expect("jobs are taken again"));
    for job in &jobs {
        assert_eq!(cluster.get(job).await.unwrap().attempts.len(), 1);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_job_leaves_the_memory_too_when_it_is_large_and_is_told_from_its_history() {
    let few = |config: &mut howdah_master::MasterConfig| config.limits.finished_tasks = 4;
    let mut cluster = Cluster::start_with(few).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 5, 0).await;
    let job = cluster.submit(generated(5)).await.unwrap();
    for _ in 0..5 {
        let launch = worker.next_launch().await;
        worker.succeed(launch, 1).await;
    }
    let status = cluster.wait(&job).await;
    assert_eq!((status.state.as_str(), status.maps_done), ("SUCCEEDED", 5));
    let history = find_run(&cluster.master_dir()).unwrap().join("history").join(format!("{job}.json.gz"));
    // What is read from the disk is not there without it.
    let gone = async {
        loop {
            if history.exists() {
                let aside = history.with_extension("aside");
                fs::rename(&history, &aside).unwrap();
                let answer = cluster.get(&job).await;
                fs::rename(&aside, &history).unwrap();
                if answer.is_err() {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("it leaves the memory");
    assert_eq!(cluster.get(&job).await.unwrap().attempts.len(), 5);
    let listed = cluster.client.list_jobs(v1::ListJobsRequest::default()).await.unwrap().into_inner().jobs;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0], v1::JobStatus { now_ms_epoch: 0, ..cluster.wait(&job).await });
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_says_how_an_attempt_ended_that_was_needed_no_more_though_its_worker_says_it_after_the_jobs_end() {
    let mut cluster = Cluster::start().await;
    let mut mapper = FakeWorker::register(&mut cluster, "w1", 1, 0).await;
    let job = cluster.submit(v1::SubmitJobRequest { n_reduces: 1, ..generated(1) }).await.unwrap();
    let map = mapper.next_launch().await;
    mapper.succeed(map, 1).await;
    let mut reducer = FakeWorker::register(&mut cluster, "w2", 1, 1).await;
    let reduce = reducer.next_launch().await;
    assert!(reduce.reduce);
    reducer.running(reduce).await;
    // The map's output is gone, so the map runs again; but the reduce has it and ends.
    mapper.goodbye().await;
    let again = reducer.next_launch().await;
    assert_eq!((again.reduce, again.number), (false, 1));
    reducer.running(again).await;
    reducer.succeed(reduce, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    let path = find_run(&cluster.master_dir()).unwrap().join("history").join(format!("{job}.json.gz"));
    let signal = || {
        let history = JobHistory::read(&path).ok()?;
        let last = history.attempts.into_iter().find(|attempt| attempt.number == 1)?;
        assert_eq!(last.state, AttemptState::Killed);
        Some(last.signal)
    };
    wait_for(signal).await;
    assert_eq!(reducer.next_kill().await, again);
    reducer.killed_by(again, 9).await;
    wait_for(|| signal().flatten().filter(|&signal| signal == 9)).await;
    cluster.stop().await;
}
