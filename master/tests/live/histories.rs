//! Jobs that are over stay in the memory until their histories are on disk, and leave it then.

use std::fs;
use std::time::Duration;

use howdah_core::job::{AttemptState, JobState};
use howdah_master::MasterConfig;
use howdah_master::history::JobHistory;
use howdah_master::journal::{check, find_run};
use howdah_master::replay::replay_decisions;
use howdah_proto::v1;
use tonic::{Code, Status};

use super::fixture::{Cluster, FakeWorker, generated, sleep_job, wait_for};

/// How many jobs may come before they must be refused.
const MANY: usize = 200;
/// How many large ones may come before old inputs must go; fewer than must be refused.
const FEW: usize = 90;

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
async fn while_histories_cannot_be_written_snapshots_have_what_they_are_made_of_and_the_journal_does_not_grow_on() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("master");
    let small = |config: &mut MasterConfig| {
        config.dir.clone_from(&dir);
        config.journal_segment_bytes = 1 << 16;
        config.keep_inputs.bytes = 1;
        config.limits.finished_tasks = u32::MAX;
    };
    let mut cluster = Cluster::start_with(small).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let run = find_run(&dir).unwrap();
    let (histories, aside) = (run.join("history"), run.join("aside"));
    let history = |job: &str| JobHistory::read(&histories.join(format!("{job}.json.gz"))).ok();
    let written = run_a_job(&mut cluster, &mut worker).await.unwrap();
    wait_for(|| history(&written)).await;
    fs::rename(&histories, &aside).unwrap();
    fs::write(&histories, "in the way").unwrap();
    let done = run_a_job(&mut cluster, &mut worker).await.unwrap();
    // Jobs of many maps make a long journal, whatever becomes of them.
    let mut killed = Vec::new();
    while check(&run).unwrap().gone == 0 {
        assert!(killed.len() < FEW, "no snapshot came, or nothing was removed");
        let job = v1::SubmitJobRequest { requires: vec!["gpu>=1".to_owned()], ..generated(5_000) };
        let job = cluster.submit(job).await.unwrap();
        cluster.client.kill_job(v1::KillJobRequest { job: job.clone() }).await.unwrap();
        killed.push(job);
    }
    let last = run_a_job(&mut cluster, &mut worker).await.unwrap();
    let list = v1::ListJobsRequest::default();
    let before = cluster.client.list_jobs(list).await.unwrap().into_inner().jobs;
    assert_eq!(before.len(), 3 + killed.len());
    cluster.end().await;

    // The next master knows them from the snapshot alone, as it still cannot write them.
    let mut cluster = Cluster::start_with(small).await;
    assert_eq!(cluster.client.list_jobs(list).await.unwrap().into_inner().jobs, before);
    for (jobs, state, attempts) in [(&killed, "KILLED", 0), (&vec![done.clone(), last.clone()], "SUCCEEDED", 1)] {
        for job in jobs {
            assert_eq!(cluster.get(job).await.unwrap().attempts.len(), attempts);
            assert_eq!(cluster.wait(job).await.state, state);
        }
    }
    fs::remove_file(&histories).unwrap();
    fs::rename(&aside, &histories).unwrap();
    for job in &killed {
        assert_eq!(wait_for(|| history(job)).await.state, JobState::Killed);
    }
    for job in [&written, &done, &last] {
        let history = wait_for(|| history(job)).await;
        assert_eq!((history.state, history.attempts.len()), (JobState::Succeeded, 1));
        assert_eq!((history.attempts[0].state, history.attempts[0].cpu_us), (AttemptState::Succeeded, 1));
    }
    cluster.end().await;
    let found = check(&run).unwrap();
    assert!(found.damage.is_none() && found.gone > 0 && found.starts == 2, "{found:?}");
    let report = replay_decisions(&run).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
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
