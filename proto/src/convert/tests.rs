//! What is sent is what is read, and nothing that a peer sends makes us panic.

use std::sync::Arc;

use howdah_core::job::counters::{Counters, KNOWN};
use howdah_core::job::{
    AttemptId, AttemptState, JobConf, JobId, JobProfile, JobSpec, Phase, PhaseTimes, Priority, Progress, Requirements,
    SplitHosts, TaskKind, WorkerId,
};
use howdah_core::time::Span;
use howdah_core::tracker::{AttemptReport, AttributeSet, Input, Registration, Report, SchedulerChoice, Vitals};
use proptest::prelude::*;
use prost::Message;

use super::{ConvertError, MAX_ATTRIBUTES, MAX_WARNING_BYTES, counters, numbered};
use crate::v1;
use howdah_core::job::limits::{self, Cut};

fn attempt() -> impl Strategy<Value = AttemptId> {
    (any::<u32>(), any::<bool>(), any::<u32>(), any::<u16>()).prop_map(|(job, reduce, index, number)| AttemptId {
        job: JobId(job),
        index,
        number,
        kind: if reduce { TaskKind::Reduce } else { TaskKind::Map },
    })
}

fn state() -> impl Strategy<Value = AttemptState> {
    prop_oneof![
        Just(AttemptState::Running),
        Just(AttemptState::CommitPending),
        Just(AttemptState::Succeeded),
        Just(AttemptState::Failed),
        Just(AttemptState::Killed),
    ]
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Starting), Just(Phase::Map), Just(Phase::Shuffle), Just(Phase::Sort), Just(Phase::Reduce)]
}

fn attempt_report() -> impl Strategy<Value = AttemptReport> {
    (attempt(), state(), phase(), 0..=10_000u16, prop::collection::vec(attempt(), 0..3), any::<bool>()).prop_map(
        |(attempt, state, phase, progress, fetch_failures, fatal)| AttemptReport {
            attempt,
            state,
            phase,
            progress: Progress::from_parts(progress),
            fetch_failures,
            fatal,
        },
    )
}

fn vitals() -> impl Strategy<Value = Vitals> {
    (any::<[u32; 9]>(), any::<[u16; 2]>(), any::<[u64; 3]>()).prop_map(|(a, b, c)| Vitals {
        load1_milli: a[0],
        load5_milli: a[1],
        load15_milli: a[2],
        cpu_use_parts: b[0],
        n_cpus: b[1],
        cpus_milli: a[4],
        run_queue_milli: a[5],
        foreign_milli: a[6],
        cpu_khz: a[3],
        max_khz: a[7],
        effective_khz: a[8],
        memory_total_kib: c[0],
        memory_free_kib: c[1],
        disk_free_kib: c[2],
    })
}

fn report() -> impl Strategy<Value = Report> {
    let numbers = (any::<u32>(), any::<u64>(), any::<u32>(), any::<[u16; 2]>(), any::<[bool; 2]>());
    let set = (any::<u32>(), attributes()).prop_map(|(version, attributes)| AttributeSet { version, attributes });
    (numbers, prop::collection::vec(attempt_report(), 0..4), vitals(), prop::option::of(set)).prop_map(
        |((worker, incarnation, response_id, free, flags), attempts, vitals, attributes)| Report {
            worker: WorkerId(worker),
            incarnation,
            response_id,
            free_maps: free[0],
            free_reduces: free[1],
            accepts_tasks: flags[0],
            may_park: flags[1],
            attempts,
            vitals,
            attributes,
        },
    )
}

fn attributes() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::btree_map("[a-z]{1,4}", "[a-z]{0,4}", 0..3).prop_map(|map| map.into_iter().collect())
}

fn registration() -> impl Strategy<Value = Registration> {
    let names = ("[a-z]{1,9}", "[a-z.]{0,9}", "/[a-z]{0,5}");
    let kept = prop::collection::vec((0..4u32, any::<u32>(), any::<u16>()), 0..5);
    let output = |(job, index, number)| AttemptId { job: JobId(job), kind: TaskKind::Map, index, number };
    (any::<u32>(), any::<(u64, bool)>(), names, any::<[u16; 2]>(), attributes(), kept).prop_map(
        move |(worker, (incarnation, starts), (name, host, rack), slots, attributes, kept)| Registration {
            worker: WorkerId(worker),
            incarnation,
            starts,
            name,
            host,
            rack,
            map_slots: slots[0],
            reduce_slots: slots[1],
            attributes,
            kept: kept.into_iter().map(output).collect(),
        },
    )
}

fn spec() -> impl Strategy<Value = JobSpec> {
    let hosts = prop::collection::vec(prop::collection::vec("[a-z]{1,3}", 0..3), 0..4);
    (any::<String>(), 0..5usize, any::<u32>(), hosts, any::<Option<u64>>()).prop_map(
        |(name, priority, n_reduces, hosts, deadline)| JobSpec {
            name: name.into(),
            user: "u".into(),
            queue: "default".into(),
            priority: Priority::ALL[priority],
            n_maps: hosts.len() as u32,
            n_reduces,
            map_input_bytes: hosts.iter().map(|h| h.len() as u64).collect(),
            split_hosts: SplitHosts::new(hosts.iter().map(|h| h.iter().map(String::as_str))),
            conf: JobConf {
                deadline: deadline.map(Span::from_us),
                requires: Requirements::parse(&["disk=ssd", "gpu>=1", "gpu<8"]).expect("requirements"),
                ..JobConf::default()
            },
            profile: deadline.map(|us| {
                let map = PhaseTimes { avg: Span::from_us(us / 2), max: Span::from_us(us) };
                Box::new(JobProfile { map, reduce: PhaseTimes::even(Span::from_us(us)), ..JobProfile::default() })
            }),
        },
    )
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        (any::<u32>(), spec()).prop_map(|(job, spec)| Input::Submit { job: JobId(job), spec: Arc::new(spec) }),
        registration().prop_map(|r| Input::Register(Box::new(r))),
        report().prop_map(|r| Input::Report(Box::new(r))),
        any::<u32>().prop_map(|job| Input::KillJob { job: JobId(job) }),
        (attempt(), any::<bool>()).prop_map(|(attempt, fail)| Input::KillAttempt { attempt, fail }),
        (any::<u32>(), 0..5usize)
            .prop_map(|(job, p)| Input::SetPriority { job: JobId(job), priority: Priority::ALL[p] }),
        (any::<u32>(), any::<String>())
            .prop_map(|(job, queue)| Input::SetQueue { job: JobId(job), queue: queue.into() }),
        (any::<String>(), prop::collection::btree_map(".{0,5}", ".{0,9}", 0..3))
            .prop_map(|(name, params)| Input::SetScheduler(Box::new(SchedulerChoice { name, params }))),
        any::<String>()
            .prop_map(|name| Input::Snapshot(Box::new(SchedulerChoice { name, params: Default::default() }))),
        any::<u32>().prop_map(|worker| Input::Enable { worker: WorkerId(worker) }),
        (any::<u32>(), any::<bool>()).prop_map(|(worker, drain)| Input::Drain { worker: WorkerId(worker), drain }),
        any::<[u32; 2]>().prop_map(|[worker, job]| Input::CannotServe { worker: WorkerId(worker), job: JobId(job) }),
        (any::<u32>(), any::<bool>())
            .prop_map(|(worker, reachable)| Input::Reach { worker: WorkerId(worker), reachable }),
        (any::<u32>(), any::<u64>())
            .prop_map(|(worker, incarnation)| Input::Goodbye { worker: WorkerId(worker), incarnation }),
        (any::<u32>(), any::<u64>())
            .prop_map(|(worker, incarnation)| Input::Gone { worker: WorkerId(worker), incarnation }),
        (any::<u32>(), any::<bool>()).prop_map(|(job, ok)| Input::JobCommitted { job: JobId(job), ok }),
        (any::<u32>(), prop::collection::vec(attempt(), 0..4))
            .prop_map(|(job, attempts)| Input::OutputGone { job: JobId(job), attempts: attempts.into() }),
        Just(Input::Tick),
        Just(Input::Recovered),
    ]
}

#[test]
fn counters_by_number_that_make_no_sense_are_left_out_and_counted() {
    let wire = |known: Vec<u32>, known_values| v1::Counters { known, known_values, ..v1::Counters::default() };
    let read = |known, values| {
        let (found, cut) = counters(&wire(known, values));
        (found.0.values().map(|group| group.len()).sum::<usize>(), cut.counters)
    };
    assert_eq!(read(vec![KNOWN.len() as u32, 1], vec![1, 1]), (1, 1), "a newer version's");
    assert_eq!(read(vec![1, 2], vec![1]), (1, 1), "a value is missing");
    assert_eq!(read(vec![1; KNOWN.len() + 7], vec![1; KNOWN.len() + 7]), (1, 7), "too many");
}

#[test]
fn whatever_a_program_counts_its_workers_report_is_read() {
    let counter = |i: usize| v1::Counter { name: format!("{i}{}", "x".repeat(2_000)), value: 1 };
    let group = v1::CounterGroup { name: "y".repeat(2_000), counters: (0..5_000).map(counter).collect() };
    let wire = v1::Counters { groups: vec![group], known: vec![0], known_values: vec![7] };
    let (found, cut) = counters(&wire);
    let names: Vec<_> = found.0.iter().flat_map(|(group, values)| values.keys().chain([group])).collect();
    assert!(names.iter().all(|name| name.len() <= limits::COUNTER_NAME_BYTES), "{names:?}");
    assert_eq!(found.0.values().map(|group| group.len()).sum::<usize>(), limits::COUNTERS);
    assert_eq!((cut.names, cut.counters), (999, 4_001));

    let failures = vec![v1::AttemptId::default(); limits::FETCH_FAILURES + 9];
    let status = v1::AttemptStatus {
        attempt: Some(v1::AttemptId::default()),
        state: 1,
        progress: 60_000,
        fetch_failures: failures,
        ..Default::default()
    };
    let attributes = [("x".repeat(2_000), String::new())].into();
    let set =
        v1::AttributeSet { version: 1, attributes, probe_warnings: [("gpu".to_owned(), "x".repeat(2_000))].into() };
    let mut wire = v1::HeartbeatRequest { attempts: vec![status], attributes: Some(set), ..Default::default() };
    assert!(Report::try_from(&wire).is_err());
    let dropped = super::drop_bad_fields(&mut wire);
    assert_eq!(dropped, ["attempts.progress", "attempts.fetch_failures", "attributes.probe_warnings", "attributes"]);
    let report = Report::try_from(&wire).expect("what is left is sound");
    assert_eq!(report.attempts[0].progress, Progress::DONE);
    assert!(super::drop_bad_fields(&mut wire).is_empty());
}

#[test]
fn the_largest_heartbeat_of_eight_running_attempts_is_below_a_kib() {
    let mut counters = Counters::default();
    KNOWN.iter().for_each(|(group, name)| counters.add(group, name, 50_000_000_000));
    let attempt = |index: u32| v1::AttemptStatus {
        attempt: Some(v1::AttemptId { job: 100_000, reduce: true, index: 100_000 + index, number: 1_003 }),
        state: v1::AttemptState::Running.into(),
        phase: v1::Phase::Reduce.into(),
        progress: 9_999,
        // As many as a worker puts into one report.
        counters: (index < 3).then(|| numbered(&counters)),
        ..v1::AttemptStatus::default()
    };
    let details = v1::VitalsDetails {
        source: "cgroup".to_owned(),
        disk_read_per_s: 2_000_000_000,
        disk_written_per_s: 2_000_000_000,
        net_received_per_s: 1_000_000_000,
        net_sent_per_s: 1_000_000_000,
        pressure_cpu_parts: Some(9_999),
        pressure_memory_parts: Some(9_999),
        pressure_io_parts: Some(9_999),
        prefetch: None,
        sent_ms_epoch: 0,
        undying: Vec::new(),
        held_up: Vec::new(),
    };
    let vitals = v1::Vitals {
        load1_milli: 64_000,
        load5_milli: 64_000,
        load15_milli: 64_000,
        cpu_use_parts: 10_000,
        n_cpus: 32,
        cpus_milli: 32_000,
        run_queue_milli: 64_000,
        foreign_milli: 56_000,
        cpu_khz: 4_000_000,
        max_khz: 4_000_000,
        effective_khz: 4_000_000,
        memory_total_kib: 1 << 30,
        memory_free_kib: 1 << 30,
        disk_free_kib: 1 << 34,
        core_use_parts: vec![10_000; 32],
        details: Some(details),
    };
    let heartbeat = v1::HeartbeatRequest {
        worker: 1_000,
        incarnation: 1_800_000_000_000_000,
        response_id: 1_000_000,
        free_maps: 8,
        accepts_tasks: true,
        may_park: true,
        attempts: (0..8).map(attempt).collect(),
        vitals: Some(vitals),
        sequence: 1_000_000,
        ..v1::HeartbeatRequest::default()
    };
    let bytes = heartbeat.encoded_len();
    assert!((500..1_024).contains(&bytes), "{bytes} bytes");
}

proptest! {
    #[test]
    fn every_input_survives_the_journal(input in input()) {
        let bytes = v1::JournalInput::from(&input).encode_to_vec();
        let wire = v1::JournalInput::decode(&bytes[..]).unwrap();
        prop_assert_eq!(Input::try_from(&wire).unwrap(), input);
    }

    #[test]
    fn counters_survive_the_wire(
        values in prop::collection::btree_map("\\PC{0,5}", prop::collection::btree_map("\\PC{0,5}", any::<i64>(), 0..3), 0..3)
    ) {
        let mut said = Counters(values);
        prop_assert_eq!(&counters(&v1::Counters::from(&said)), &(said.clone(), Cut::default()));
        for (n, (group, name)) in KNOWN.iter().enumerate().step_by(2) {
            said.add(group, name, n as i64 - 3);
        }
        prop_assert_eq!(&counters(&numbered(&said)).0, &said);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(wire) = v1::HeartbeatRequest::decode(&bytes[..]) {
            let _ = Report::try_from(&wire);
        }
        if let Ok(wire) = v1::JournalInput::decode(&bytes[..]) {
            let _ = Input::try_from(&wire);
        }
        if let Ok(wire) = v1::RegisterRequest::decode(&bytes[..]) {
            let _ = super::registration(WorkerId(0), &wire);
        }
    }
}

#[test]
fn numbers_out_of_range_are_named() {
    let wire = v1::HeartbeatRequest { free_maps: 65_536, ..Default::default() };
    let error = Report::try_from(&wire).unwrap_err();
    assert_eq!(error.to_string(), "field `free_maps`: 65536 is out of range, expected at most 65535");
    let wire =
        v1::AttemptStatus { attempt: Some(v1::AttemptId::default()), state: 1, progress: 10_001, ..Default::default() };
    assert!(matches!(AttemptReport::try_from(&wire), Err(ConvertError::Range { field: "attempts.progress", .. })));
}

#[test]
fn unknown_enumeration_values_are_errors() {
    for state in [0, 6, -1, i32::MAX] {
        assert!(matches!(super::attempt_state(state), Err(ConvertError::Enum { .. })), "{state}");
    }
    assert!(matches!(super::phase(5), Err(ConvertError::Enum { .. })));
}

#[test]
fn long_lists_are_refused() {
    let wire = v1::HeartbeatRequest { attempts: vec![v1::AttemptStatus::default(); 65_537], ..Default::default() };
    assert!(matches!(Report::try_from(&wire), Err(ConvertError::TooLong { field: "attempts", .. })));
    let set = |n: usize, warning: usize| v1::HeartbeatRequest {
        attributes: Some(v1::AttributeSet {
            version: 1,
            attributes: (0..n).map(|i| (i.to_string(), String::new())).collect(),
            probe_warnings: [("gpu".to_owned(), "x".repeat(warning))].into(),
        }),
        ..Default::default()
    };
    assert!(Report::try_from(&set(MAX_ATTRIBUTES, MAX_WARNING_BYTES)).is_ok());
    assert!(matches!(
        Report::try_from(&set(MAX_ATTRIBUTES + 1, 0)),
        Err(ConvertError::TooLong { field: "attributes", .. })
    ));
    assert!(matches!(
        Report::try_from(&set(0, MAX_WARNING_BYTES + 1)),
        Err(ConvertError::TooLong { field: "probe_warnings", .. })
    ));
}
