//! Messages of workers and clients: whatever is in them, they are taken or refused, and the core stands what is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use howdah_core::job::{JobConf, JobId, JobSpec, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::{ClusterConfig, Input, JobTracker, Report};
use howdah_fuzz::{Readings, apply, change};
use howdah_master::policies;
use howdah_proto::convert::{check_warnings, counters, drop_bad_fields, registration};
use howdah_proto::v1;
use proptest::prelude::*;
use prost::Message;

static READINGS: Readings = Readings::of("messages");

fn register() -> v1::RegisterRequest {
    v1::RegisterRequest {
        incarnation: 7,
        name: "w".to_owned(),
        host: "h".to_owned(),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        http_address: "127.0.0.1:1".to_owned(),
        attributes: [("gpu".to_owned(), "1".to_owned())].into(),
        kept: vec![v1::MapOutputs { job: 1, maps: vec![0, 2], numbers: vec![0, 1] }],
        ..v1::RegisterRequest::default()
    }
}

/// A heartbeat with something in most of its fields.
fn heartbeat() -> v1::HeartbeatRequest {
    let attempt = |index| v1::AttemptId { job: 1, reduce: false, index, number: 0 };
    let counter = v1::Counter { name: "RECORDS".to_owned(), value: 12 };
    let group = v1::CounterGroup { name: "G".to_owned(), counters: vec![counter] };
    let status = |index, state| v1::AttemptStatus {
        attempt: Some(attempt(index)),
        state,
        progress: 5_000,
        counters: Some(v1::Counters { groups: vec![group.clone()], ..v1::Counters::default() }),
        message: "half way".to_owned(),
        ..v1::AttemptStatus::default()
    };
    v1::HeartbeatRequest {
        worker: 0,
        incarnation: 7,
        response_id: 0,
        free_maps: 1,
        free_reduces: 1,
        accepts_tasks: true,
        attempts: vec![status(0, 1), status(1, 3)],
        vitals: Some(v1::Vitals { n_cpus: 4, cpus_milli: 4_000, ..v1::Vitals::default() }),
        attributes: Some(v1::AttributeSet {
            version: 1,
            attributes: [("ssd".to_owned(), "yes".to_owned())].into(),
            ..v1::AttributeSet::default()
        }),
        ..v1::HeartbeatRequest::default()
    }
}

/// A core with a worker that runs two maps.
fn tracker() -> JobTracker {
    let fifo = policies::make("fifo", &BTreeMap::new()).expect("it exists");
    let mut tracker = JobTracker::new(ClusterConfig::default(), fifo);
    let spec =
        JobSpec { n_maps: 3, conf: JobConf { commits_output: false, ..JobConf::default() }, ..JobSpec::default() };
    let known = registration(WorkerId(0), &register()).expect("it is good");
    let first = v1::HeartbeatRequest { attempts: Vec::new(), free_maps: 2, ..heartbeat() };
    let inputs = [
        Input::Register(Box::new(known)),
        Input::Submit { job: JobId(1), spec: Arc::new(spec) },
        Input::Report(Box::new(Report::try_from(&first).expect("it is good"))),
    ];
    for (n, input) in inputs.iter().enumerate() {
        tracker.apply(Time::from_ms(n as u64 + 1), std::slice::from_ref(input), &mut Vec::new());
    }
    tracker
}

/// What the master does with a message, in its order; whether it was taken.
fn take(bytes: &[u8], tracker: &mut JobTracker, n: u64) -> bool {
    READINGS.add(1);
    let mut inputs = Vec::new();
    if let Ok(mut wire) = v1::HeartbeatRequest::decode(bytes) {
        let _ = drop_bad_fields(&mut wire);
        wire.attempts.iter().filter_map(|status| status.counters.as_ref()).for_each(|said| drop(counters(said)));
        inputs.extend(Report::try_from(&wire).map(|report| Input::Report(Box::new(report))));
    }
    if let Ok(wire) = v1::RegisterRequest::decode(bytes) {
        let _ = check_warnings(&wire.probe_warnings);
        inputs.extend(registration(WorkerId(n as u32 % 3), &wire).map(|known| Input::Register(Box::new(known))));
    }
    if let Ok(wire) = v1::JournalInput::decode(bytes) {
        inputs.extend(Input::try_from(&wire));
    }
    // Clients' messages hold text and numbers that their services check one by one.
    let _ = v1::SubmitJobRequest::decode(bytes).is_ok() | v1::PredictRequest::decode(bytes).is_ok();
    tracker.apply(Time::from_ms(100 + n), &inputs, &mut Vec::new());
    !inputs.is_empty()
}

#[test]
fn the_good_messages_are_taken() {
    let mut tracker = tracker();
    assert_eq!(tracker.state().attempts().iter().count(), 2, "two maps run");
    let second = v1::HeartbeatRequest { response_id: 1, ..heartbeat() };
    assert!(take(&second.encode_to_vec(), &mut tracker, 0) && take(&register().encode_to_vec(), &mut tracker, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_are_taken_or_refused_and_the_core_stands_them(
        messages in prop::collection::vec((any::<bool>(), prop::collection::vec(change(), 0..4)), 1..6),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut tracker = tracker();
        for (n, (reports, changes)) in messages.iter().enumerate() {
            let last = tracker.state().workers()[0].response_id();
            let report = v1::HeartbeatRequest { response_id: last, ..heartbeat() };
            let mut bytes = if *reports { report.encode_to_vec() } else { register().encode_to_vec() };
            changes.iter().for_each(|change| apply(&mut bytes, change));
            take(&bytes, &mut tracker, n as u64);
            prop_assert_eq!(tracker.check_invariants(), Ok(()));
        }
        take(&noise, &mut tracker, 50);
        prop_assert_eq!(tracker.check_invariants(), Ok(()));
    }
}
