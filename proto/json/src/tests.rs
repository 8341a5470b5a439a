//! The JSON that programs rely on, field by field. A snapshot that changes is a change of a published schema.

use howdah_proto::v1 as pb;
use serde_json::json;

use super::*;

fn status() -> pb::JobStatus {
    pb::JobStatus {
        job: "job_202611201200_0001".to_owned(),
        name: "wordcount".to_owned(),
        user: "ann".to_owned(),
        queue: "default".to_owned(),
        priority: "NORMAL".to_owned(),
        state: "FAILED".to_owned(),
        n_maps: 5,
        n_reduces: 2,
        maps_done: 4,
        maps_running: 1,
        failed_attempts: 4,
        master_restarts: 2,
        map_progress: 0.875,
        submit_ms_epoch: 1_000_000,
        launch_ms_epoch: 1_000_050,
        finish_ms_epoch: 1_012_500,
        output: "/data/out".to_owned(),
        why: "task_202611201200_0001_m_000003 failed 4 times".to_owned(),
        node_local_maps: 3,
        unplaced_maps: 2,
        speculation: Some(pb::SpeculationCosts { launched: 3, won: 1, lost: 2, wasted_slot_ms: 12_500 }),
        ..pb::JobStatus::default()
    }
}

#[test]
fn jobs() {
    let jobs = [Job::from(&status()), Job::from(&pb::JobStatus::default())];
    insta::assert_json_snapshot!(Listing::new("jobs", json!({ "jobs": jobs })));
}

#[test]
fn attempts() {
    let info = pb::AttemptInfo {
        attempt: "attempt_202611201200_0001_m_000003_0".to_owned(),
        task: "task_202611201200_0001_m_000003".to_owned(),
        state: "FAILED".to_owned(),
        worker: "worker-1".to_owned(),
        phase: "MAP".to_owned(),
        progress: 0.5,
        locality: "node".to_owned(),
        assigned_ms_epoch: 1_000_050,
        ended_ms_epoch: 1_001_000,
        cause: "exit code 3".to_owned(),
        end: Some(pb::AttemptEnd {
            exit_code: Some(3),
            diagnostics: "it broke".to_owned(),
            stderr_tail: "oops".to_owned(),
            cpu_us: 1_250_000,
            peak_memory_kib: 8_192,
            started_ms_epoch: 1_000_060,
            finished_ms_epoch: 1_000_990,
            ..pb::AttemptEnd::default()
        }),
        ..pb::AttemptInfo::default()
    };
    insta::assert_json_snapshot!(Listing::new("attempts", json!({ "attempts": [Attempt::from(&info)] })));
}

#[test]
fn workers() {
    let worker = pb::WorkerInfo {
        worker: 3,
        name: "worker-4".to_owned(),
        host: "b".to_owned(),
        rack: "/rack-1".to_owned(),
        state: "LIVE".to_owned(),
        map_slots: 8,
        reduce_slots: 4,
        maps_running: 2,
        last_heartbeat_ms_epoch: 1_000_000,
        clock_offset_ms: Some(-1_500),
        http_address: "10.0.0.2:4000".to_owned(),
        version: "0.1.0".to_owned(),
        build: "00c0ffee".to_owned(),
        vitals: Some(pb::Vitals {
            load1_milli: 1_500,
            cpu_use_parts: 2_500,
            n_cpus: 2,
            memory_total_kib: 1_024,
            core_use_parts: vec![5_000, 0],
            ..pb::Vitals::default()
        }),
        attributes: [("gpu".to_owned(), "yes".to_owned())].into(),
        probe_warnings: [("ssd".to_owned(), "did not end within 10 s".to_owned())].into(),
        ..pb::WorkerInfo::default()
    };
    insta::assert_json_snapshot!(Listing::new("workers", json!({ "workers": [Worker::from(&worker)] })));
}

#[test]
fn cluster() {
    let answer = pb::GetClusterResponse {
        cluster_id: 202_611_201_200,
        version: "0.1.0".to_owned(),
        scheduler: "fifo".to_owned(),
        scheduler_params: [("speculation".to_owned(), "late".to_owned())].into(),
        second_attempts: Some(pb::SpeculationRule { rule: "late".to_owned(), cap: "10%".to_owned(), dry_run: true }),
        started_ms_epoch: 1_000_000,
        live_workers: 3,
        map_slots: 24,
        interval_ms: 300,
        speculation: Some(pb::SpeculationCosts { launched: 5, won: 2, lost: 3, wasted_slot_ms: 64_000 }),
        notes: vec![pb::SchedulerNote {
            at_ms_epoch: 1_061_000, text: "map 2 of job 1 would …; 1 so far".to_owned()
        }],
        warnings: vec!["scheduler `balanced-pools`: …".to_owned()],
        ..pb::GetClusterResponse::default()
    };
    let cluster = Cluster::new("m:1", &answer);
    insta::assert_json_snapshot!("cluster", cluster.listing());
}
