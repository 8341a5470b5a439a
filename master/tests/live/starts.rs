//! Which start of a master this is: who has met a newer one of the same cluster is refused whatever it asks for, and clusters that
//! began in the same minute are two.

use howdah_proto::v1;
use howdah_proto::v1::MasterStart;
use tonic::{Code, Status};

use super::fixture::{Cluster, FakeWorker, generated};

fn hello(incarnation: u64, met: Option<MasterStart>) -> v1::RegisterRequest {
    v1::RegisterRequest {
        name: "w1".to_owned(),
        map_slots: 1,
        reduce_slots: 1,
        http_address: "127.0.0.1:1".to_owned(),
        incarnation,
        protocol: howdah_proto::PROTOCOL,
        met,
        ..Default::default()
    }
}

/// What each call says to a worker that has met this start, in the order of the contract.
async fn calls(worker: &mut FakeWorker, met: Option<MasterStart>) -> Vec<(&'static str, Result<(), Status>)> {
    let client = &mut worker.client;
    let registered = client.register(hello(2, met)).await;
    let number = registered.as_ref().map_or(0, |answer| answer.get_ref().worker);
    let beat = v1::HeartbeatRequest { worker: number, incarnation: 2, met, ..Default::default() };
    vec![
        ("Register", registered.map(drop)),
        ("Heartbeat", client.heartbeat(beat).await.map(drop)),
        ("GetJobFile", client.get_job_file(v1::GetJobFileRequest { job: 1, met }).await.map(drop)),
        ("MapEvents", client.map_events(v1::MapEventsRequest { job: 1, from: 0, met }).await.map(drop)),
        ("Saw", client.saw(v1::SawRequest { met, ..Default::default() }).await.map(drop)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_has_met_a_newer_start_of_the_cluster_is_refused_whatever_it_asks_for() {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    cluster.submit(v1::SubmitJobRequest { n_reduces: 1, ..generated(2) }).await.unwrap();
    let map = worker.next_launch().await;
    worker.succeed(map, 1).await;
    let file = worker.client.get_job_file(v1::GetJobFileRequest { job: 1, met: None }).await.unwrap().into_inner();
    let own = file.start.expect("it says which start it is");
    assert_eq!((own.epoch, own.nonce != 0), (1, true));
    let events = v1::MapEventsRequest { job: 1, from: 0, met: Some(own) };
    let mut events = worker.client.map_events(events).await.unwrap().into_inner();
    assert_eq!(events.message().await.unwrap().unwrap().start, Some(own));

    let newer = MasterStart { epoch: 2, ..own };
    for (call, answer) in calls(&mut worker, Some(newer)).await {
        let refused = answer.expect_err(call);
        assert_eq!(refused.code(), Code::FailedPrecondition, "{call}: {refused}");
        assert!(refused.message().contains("has met the newer start 2"), "{call}: {refused}");
    }
    // Of another cluster that began in the same minute, or before there were nonces; and none at all.
    let others = MasterStart { nonce: own.nonce ^ 2, ..newer };
    for met in [Some(others), Some(MasterStart { nonce: 0, ..own }), Some(own), None] {
        for (call, answer) in calls(&mut worker, met).await {
            answer.unwrap_or_else(|refused| panic!("{call} of one that has met {met:?}: {refused}"));
        }
    }
    cluster.stop().await;
}

/// How many of a map's outputs that a worker of this past names the master wants.
async fn wanted(met: impl FnOnce(MasterStart) -> Option<MasterStart>) -> usize {
    let mut cluster = Cluster::start().await;
    let mut worker = FakeWorker::register(&mut cluster, "w1", 1, 1).await;
    cluster.submit(v1::SubmitJobRequest { n_reduces: 1, ..generated(2) }).await.unwrap();
    let map = worker.next_launch().await;
    worker.succeed(map, 1).await;
    let file = worker.client.get_job_file(v1::GetJobFileRequest { job: 1, met: None }).await.unwrap().into_inner();
    let own = file.start.unwrap();
    let kept = v1::MapOutputs { job: map.job, maps: vec![map.index], numbers: vec![map.number] };
    let request = v1::RegisterRequest { kept: vec![kept], kept_of_cluster: own.cluster_id, ..hello(2, met(own)) };
    let keep = worker.client.register(request).await.unwrap().into_inner().keep;
    cluster.stop().await;
    keep.iter().map(|outputs| outputs.maps.len()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn map_output_of_another_cluster_that_began_in_the_same_minute_is_not_wanted() {
    assert_eq!(wanted(Some).await, 1);
    assert_eq!(wanted(|_| None).await, 1, "a worker of an earlier version");
    assert_eq!(wanted(|own| Some(MasterStart { nonce: own.nonce ^ 2, ..own })).await, 0);
}
