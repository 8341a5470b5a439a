//! A master at rest takes snapshots; the next one starts on the newest, without what came before it.

use howdah_core::time::Span;
use howdah_master::MasterConfig;
use howdah_master::journal::{check, find_run};
use howdah_master::prediction::read_run;
use howdah_master::replay::replay_decisions;
use howdah_planning::prediction::TaskHistory;
use howdah_proto::v1;

use super::fixture::{Cluster, FakeWorker, sleep_job};

/// More than the smallest segment holds of such jobs.
const MANY: usize = 400;

async fn run_a_job(cluster: &mut Cluster, worker: &mut FakeWorker) -> String {
    // A long name makes a long journal.
    let request = v1::SubmitJobRequest { name: "x".repeat(1_000), ..sleep_job(1) };
    let job = cluster.submit(request).await.unwrap();
    let launch = worker.next_launch().await;
    worker.succeed(launch, 1).await;
    assert_eq!(cluster.wait(&job).await.state, "SUCCEEDED");
    job
}

async fn listed(cluster: &mut Cluster) -> Vec<(String, String)> {
    let jobs = cluster.client.list_jobs(v1::ListJobsRequest::default()).await.unwrap().into_inner().jobs;
    jobs.into_iter().map(|job| (job.job, job.state)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_goes_on_from_a_snapshot_with_all_jobs_and_workers_and_without_the_old_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("master");
    let small = |config: &mut MasterConfig| {
        config.dir.clone_from(&dir);
        config.journal_segment_bytes = 1 << 16;
        config.keep_inputs.bytes = 1;
    };
    let mut cluster = Cluster::start_with(small).await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let mut jobs = Vec::new();
    let run = find_run(&dir).unwrap();
    while check(&run).unwrap().gone == 0 {
        assert!(jobs.len() < MANY, "no snapshot came");
        jobs.push(run_a_job(&mut cluster, &mut worker).await);
    }
    jobs.push(run_a_job(&mut cluster, &mut worker).await);
    let before = listed(&mut cluster).await;
    assert_eq!(before.len(), jobs.len());
    cluster.end().await;

    let mut cluster = Cluster::start_with(small).await;
    assert_eq!(listed(&mut cluster).await, before);
    let first = cluster.get(&jobs[0]).await.unwrap();
    assert_eq!((first.status.unwrap().state, first.attempts.len()), ("SUCCEEDED".to_owned(), 1), "from its history");
    // The name is known, the run before is lost to it, and the next job has the next number.
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    let next = run_a_job(&mut cluster, &mut worker).await;
    assert_eq!(next[..next.len() - 4], jobs[0][..next.len() - 4]);
    assert_eq!(next[next.len() - 4..].parse(), Ok(jobs.len() + 1));
    cluster.end().await;

    let found = check(&run).unwrap();
    assert!(found.damage.is_none() && found.gone > 0 && found.starts == 2, "{found:?}");
    let report = replay_decisions(&run).unwrap();
    assert_eq!((report.identical, report.first_difference), (report.compared, None));
    assert_eq!(report.beginning.map(|beginning| beginning.batches), Some(found.gone));
    // Moments before are nobody's.
    let (mut moments, every) = (Vec::new(), Span::from_ms(1));
    let found = read_run(
        &run,
        TaskHistory::default(),
        |last| Some(last.map_or(Span::ZERO, |last| last + every)),
        |moment| {
            moments.push(moment.tracker.state().now());
            None
        },
        |_, _, _, _| {},
    );
    let found = found.unwrap();
    let (start, gone) = (found.start.expect("jobs came"), found.gone_until.expect("inputs are gone"));
    assert!(start < gone && !moments.is_empty() && moments.iter().all(|&at| at > gone), "{start:?} {gone:?}");
    let trace = howdah_master::trace::record(&run).unwrap();
    assert_eq!((trace.jobs.len(), trace.cluster.unwrap().workers.len()), (jobs.len() + 1, 1));
}
