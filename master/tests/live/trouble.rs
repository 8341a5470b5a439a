//! A journal that cannot be written for a while: what is not on the disk is shown to nobody, and who comes and goes meanwhile
//! leaves nothing behind.

use std::time::Duration;

use howdah_proto::v1;
use tonic::Code;

use super::fixture::{Cluster, sleep_job};

/// Nobody waits so long for a journal that can be written.
const STUCK: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_changed_is_shown_when_it_is_on_the_disk_and_not_before() {
    let mut cluster = Cluster::start_with(|config| config.journal_segment_bytes = 1 << 16).await;
    let job = cluster.submit(sleep_job(1)).await.unwrap();
    let run = howdah_master::journal::find_run(&cluster.master_dir()).unwrap();
    let (journal, away) = (run.join("journal"), run.join("away"));
    std::fs::rename(&journal, &away).unwrap();
    // The segment has room for some of them; the first that has none waits.
    let mut before = ("HIGH", "LOW");
    let mut changes = 0;
    let waiting = loop {
        let request = v1::SetPriorityRequest { job: job.clone(), priority: before.1.to_owned() };
        let mut client = cluster.client.clone();
        let mut call = tokio::spawn(async move { client.set_priority(request).await });
        match tokio::time::timeout(STUCK, &mut call).await {
            Ok(done) => done.unwrap().unwrap(),
            Err(_) => {
                let refused = cluster.submit(sleep_job(1)).await.expect_err("nothing is acknowledged");
                assert_eq!(refused.code(), Code::Unavailable, "{refused}");
                break call;
            }
        };
        before = (before.1, before.0);
        changes += 1;
        assert!(changes < 10_000, "the segment has an end");
    };
    assert!(changes > 2);
    let (acknowledged, waited_for) = before;
    let shown = cluster.get(&job).await.unwrap().status.unwrap().priority;
    assert_eq!(shown, acknowledged, "after {changes} changes");
    for _ in 0..200 {
        drop(cluster.another_client().await);
    }
    std::fs::rename(&away, &journal).unwrap();
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it goes on").unwrap().unwrap();
    assert_eq!(cluster.get(&job).await.unwrap().status.unwrap().priority, waited_for);
    cluster.stop().await;
}
