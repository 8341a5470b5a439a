//! Snapshots: when there is one, what it keeps, and what is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::job::{JobId, JobSpec, JobState, WorkerId};
use crate::schedulers::by_name;
use crate::time::Time;
use crate::tracker::{
    ClusterConfig, Effect, HeartbeatRule, Input, JobTracker, Registration, Rejection, Report, SchedulerChoice,
    Snapshot, SnapshotError, Vitals, WorkerState,
};

fn fifo() -> Input {
    Input::Snapshot(Box::new(SchedulerChoice { name: "fifo".to_owned(), params: BTreeMap::new() }))
}

/// Reports wait for a minute.
fn config() -> ClusterConfig {
    ClusterConfig { heartbeat: HeartbeatRule::Fixed { interval_ms: 60_000 }, ..ClusterConfig::default() }
}

fn new() -> JobTracker {
    JobTracker::new(config(), by_name("fifo", &BTreeMap::new()).unwrap())
}

fn apply(tracker: &mut JobTracker, at_s: u64, input: Input) -> Vec<Effect> {
    let mut effects = Vec::new();
    tracker.apply(Time::from_ms(at_s * 1_000), &[input], &mut effects);
    tracker.check_invariants().unwrap();
    effects
}

fn registration(worker: u32) -> Input {
    Input::Register(Box::new(Registration {
        worker: WorkerId(worker),
        incarnation: 7,
        name: format!("w{worker}"),
        host: format!("h{worker}"),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        attributes: vec![("gpu".to_owned(), "1".to_owned())],
    }))
}

fn parks(worker: u32) -> Input {
    Input::Report(Box::new(Report {
        worker: WorkerId(worker),
        incarnation: 7,
        response_id: 0,
        free_maps: 2,
        free_reduces: 1,
        accepts_tasks: true,
        may_park: true,
        attempts: Vec::new(),
        vitals: Vitals { n_cpus: 4, ..Vitals::default() },
        attributes: None,
    }))
}

/// Three workers, one of them parked, one drained, one lost; a job that was killed.
fn at_rest() -> JobTracker {
    let mut tracker = new();
    (0..3).for_each(|worker| drop(apply(&mut tracker, 1 + u64::from(worker), registration(worker))));
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    apply(&mut tracker, 5, Input::Submit { job: JobId(1), spec });
    apply(&mut tracker, 6, Input::KillJob { job: JobId(1) });
    apply(&mut tracker, 7, Input::Drain { worker: WorkerId(1), drain: true });
    apply(&mut tracker, 8, Input::Goodbye { worker: WorkerId(2), incarnation: 7 });
    apply(&mut tracker, 9, parks(0));
    assert!(tracker.state().workers()[0].is_parked());
    tracker
}

fn restored(json: Value) -> Result<JobTracker, SnapshotError> {
    let snapshot: Snapshot = serde_json::from_value(json).expect("it is of the form");
    JobTracker::from_snapshot(config(), by_name("fifo", &BTreeMap::new()).unwrap(), snapshot)
}

#[test]
fn a_master_with_a_job_or_under_a_policy_that_is_unknown_refuses_and_stays_as_it_is() {
    let mut tracker = at_rest();
    let unknown = SchedulerChoice { name: "mine".to_owned(), params: BTreeMap::new() };
    let refused = [Effect::Rejected { worker: None, why: Rejection::NotAtRest }];
    assert_eq!(apply(&mut tracker, 10, Input::Snapshot(Box::new(unknown))), refused);
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    apply(&mut tracker, 11, Input::Submit { job: JobId(2), spec });
    assert!(tracker.snapshot().is_none());
    let refuses = |effects: Vec<Effect>| effects.contains(&refused[0]);
    assert!(refuses(apply(&mut tracker, 12, fifo())));
    assert!(tracker.state().job(JobId(2)).is_some());
    // Nor beside a report of the same batch, which has not had its round yet.
    let (mut tracker, mut effects) = (at_rest(), Vec::new());
    tracker.apply(Time::from_ms(20_000), &[parks(0), fifo()], &mut effects);
    assert!(refuses(effects));
    tracker.check_invariants().unwrap();
}

#[test]
fn what_a_master_at_rest_remembers_is_read_back_and_it_goes_on_alike() {
    let mut live = at_rest();
    assert_eq!(apply(&mut live, 10, fifo()), []);
    let snapshot = live.snapshot().unwrap();
    assert_eq!((snapshot.last_job(), snapshot.time(), snapshot.epoch()), (1, Time::from_ms(10_000), 0));
    let json = serde_json::to_value(&snapshot).unwrap();
    let mut later = restored(json).unwrap();
    assert_eq!(later.snapshot().unwrap(), snapshot);
    assert_eq!(later.next_deadline(), live.next_deadline());
    let states = |tracker: &JobTracker| tracker.state().workers().iter().map(|w| w.state()).collect::<Vec<_>>();
    assert_eq!(states(&later), [WorkerState::Live, WorkerState::Draining, WorkerState::Lost]);
    assert_eq!(later.state().totals(), live.state().totals());
    assert_eq!(later.state().ended_job(JobId(1)).map(|job| job.state), Some(JobState::Killed));
    // The parked worker gets what comes next, the lost one its name, and the expiry comes when it would have come.
    let spec = Arc::new(JobSpec { n_maps: 3, ..JobSpec::default() });
    let inputs = [Input::Submit { job: JobId(2), spec }, registration(2), Input::Recovered, Input::Tick];
    let mut launched = false;
    for (n, input) in inputs.into_iter().enumerate() {
        let at_s = if input == Input::Tick { 100_000 } else { 11 + n as u64 };
        let effects = apply(&mut later, at_s, input.clone());
        launched |= effects.iter().any(|effect| matches!(effect, Effect::Launch { worker: WorkerId(0), .. }));
        assert_eq!(effects, apply(&mut live, at_s, input));
    }
    assert!(launched);
}

/// As the first build that took snapshots wrote it: this reads for ever.
const FIRST: &str = include_str!("snapshot-v1.json");

#[test]
fn a_snapshot_of_the_first_form_reads() {
    let first: Value = serde_json::from_str(FIRST).unwrap();
    let tracker = restored(first).unwrap();
    let mut expected = at_rest();
    apply(&mut expected, 10, fifo());
    assert_eq!(tracker.snapshot(), expected.snapshot());
}

#[test]
fn what_cannot_be_is_refused() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 14] = [
        (|all| all["version"] = json!(2), "version 2, expected at most 1"),
        (|all| all["version"] = json!(0), "version 0"),
        (|all| all["last_job"] = json!(0), "1 ended jobs up to number 0"),
        (|all| all["last_job"] = json!(u32::MAX), "up to number 4294967295"),
        (|all| all["epoch"] = json!(u32::MAX), "4294967295 starts"),
        (|all| all["turn"] = json!(0), "after the last turn"),
        (|all| all["costs"]["won"] = json!(7), "contradict"),
        (|all| all["pace"]["previous"] = json!(u64::MAX), "contradict"),
        (|all| all["now"] = json!(u64::MAX), "by 18446744073709551615 us"),
        (|all| all["workers"][1]["name"] = json!("w0"), "two workers are named `w0`"),
        (|all| all["workers"][0]["free"] = json!([3, 0]), "worker `w0` cannot be"),
        (|all| all["workers"][0]["state"] = json!("LOST"), "worker `w0` cannot be"),
        (|all| all["heard"] = json!([[7, 0]]), "who was heard of"),
        (|all| all["topology"]["rack_of"] = json!([9, 0, 0]), "hosts and racks"),
    ];
    for (change, expected) in changes {
        let mut all: Value = serde_json::from_str(FIRST).unwrap();
        change(&mut all);
        let error = restored(all).err().expect(expected).to_string();
        assert!(error.contains(expected), "no `{expected}` in {error}");
    }
    // What only the invariants see.
    let mut all: Value = serde_json::from_str(FIRST).unwrap();
    all["heard"] = json!([]);
    assert!(restored(all).err().expect("a live worker is watched").to_string().contains("watched"));
}
