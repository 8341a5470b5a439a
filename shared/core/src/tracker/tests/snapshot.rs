//! Snapshots: when there is one, what it keeps, and what is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::job::{AttemptState, JobId, JobSpec, JobState, Phase, Priority, Progress, SplitTable, TaskKind, WorkerId};
use crate::schedulers::by_name;
use crate::time::Time;
use crate::tracker::{
    AttemptReport, ClusterConfig, Effect, HeartbeatRule, Input, JobTracker, Registration, Rejection, Report,
    SchedulerChoice, Snapshot, SnapshotError, Vitals, WorkerState,
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
        starts: false,
        name: format!("w{worker}"),
        host: format!("h{worker}"),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 1,
        attributes: vec![("gpu".to_owned(), "1".to_owned())],
        kept: Vec::new(),
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
fn a_snapshot_in_the_middle_of_a_batch_or_under_a_policy_that_is_unknown_is_refused_and_nothing_changes() {
    let mut tracker = at_rest();
    let unknown = SchedulerChoice { name: "mine".to_owned(), params: BTreeMap::new() };
    let refused = [Effect::Rejected { worker: None, why: Rejection::NotAtRest }];
    assert_eq!(apply(&mut tracker, 10, Input::Snapshot(Box::new(unknown))), refused);
    // Beside a report of the same batch, which has not had its round yet.
    let refuses = |effects: Vec<Effect>| effects.contains(&refused[0]);
    let (mut tracker, mut effects) = (at_rest(), Vec::new());
    tracker.apply(Time::from_ms(20_000), &[parks(0), fifo()], &mut effects);
    assert!(refuses(effects));
    tracker.check_invariants().unwrap();
    // Beside a job of the same batch, which has not been offered yet.
    let (mut tracker, mut effects) = (at_rest(), Vec::new());
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    tracker.apply(Time::from_ms(20_000), &[Input::Submit { job: JobId(2), spec }, fifo()], &mut effects);
    assert!(refuses(effects));
    assert!(tracker.state().job(JobId(2)).is_some());
}

/// What attempts of a worker say.
fn says(tracker: &JobTracker, worker: u32, state: AttemptState, free: [u16; 2]) -> Input {
    let attempts = tracker.state().attempts_on(WorkerId(worker)).map(|attempt| AttemptReport {
        attempt: attempt.id(),
        state,
        phase: Phase::Map,
        progress: Progress::from_parts(4_000),
        fetch_failures: Vec::new(),
        fatal: false,
    });
    Input::Report(Box::new(Report {
        worker: WorkerId(worker),
        incarnation: 7,
        response_id: tracker.state().workers()[worker as usize].response_id(),
        free_maps: free[0],
        free_reduces: free[1],
        accepts_tasks: true,
        may_park: true,
        attempts: attempts.collect(),
        vitals: Vitals { n_cpus: 4, ..Vitals::default() },
        attributes: None,
    }))
}

/// Three jobs: one whose maps succeeded, failed and run, one that is to be killed and one that waits; a worker is parked, and
/// there is no word yet of what another one was sent.
fn at_work() -> JobTracker {
    let mut tracker = new();
    (0..3).for_each(|worker| drop(apply(&mut tracker, 1 + u64::from(worker), registration(worker))));
    let table = SplitTable {
        hosts: vec!["h0".into(), "h1".into(), "elsewhere".into()],
        offsets: vec![0, 2, 3, 4, 4, 4],
        entries: vec![0, 2, 1, 0],
    };
    let spec = JobSpec { n_maps: 5, n_reduces: 2, split_hosts: table.into(), ..JobSpec::default() };
    apply(&mut tracker, 5, Input::Submit { job: JobId(1), spec: Arc::new(spec) });
    let spec = Arc::new(JobSpec { n_maps: 1, ..JobSpec::default() });
    apply(&mut tracker, 6, Input::Submit { job: JobId(2), spec: Arc::clone(&spec) });
    apply(&mut tracker, 7, Input::Submit { job: JobId(3), spec: Arc::clone(&spec) });
    apply(&mut tracker, 8, Input::KillJob { job: JobId(3) });
    let steps = [
        (0, AttemptState::Running, [2, 1]),
        (0, AttemptState::Succeeded, [2, 1]),
        (1, AttemptState::Running, [2, 1]),
        (1, AttemptState::Failed, [2, 1]),
        (0, AttemptState::Running, [0, 0]),
        (2, AttemptState::Running, [2, 1]),
    ];
    for (n, (worker, state, free)) in steps.into_iter().enumerate() {
        let report = says(&tracker, worker, state, free);
        apply(&mut tracker, 10 + n as u64, report);
    }
    apply(&mut tracker, 20, Input::SetPriority { job: JobId(2), priority: Priority::High });
    let maps = tracker.state().job(JobId(1)).unwrap().tasks(TaskKind::Map);
    assert!(maps.n_succeeded() > 0 && maps.attempts_failed() > 0 && maps.n_running() > 0);
    assert!(tracker.state().workers().iter().any(|worker| worker.is_parked()));
    assert!(tracker.state().attempts().iter().any(|(_, attempt)| attempt.state() == AttemptState::Launching));
    tracker
}

#[test]
fn what_a_master_at_work_remembers_is_read_back_and_it_goes_on_alike() {
    let mut live = at_work();
    let before = live.snapshot().unwrap();
    assert_eq!(apply(&mut live, 21, fifo()), []);
    let snapshot = live.snapshot().unwrap();
    assert_eq!(snapshot.live_jobs().collect::<Vec<_>>(), [JobId(1), JobId(2)]);
    let mut later = restored(serde_json::to_value(&snapshot).unwrap()).unwrap();
    assert_eq!(later.snapshot().unwrap(), snapshot);
    assert_eq!((later.next_deadline(), later.interval_ms()), (live.next_deadline(), live.interval_ms()));
    assert_eq!(later.state().totals(), live.state().totals());
    // Nothing but the time changed with it.
    let without_time = |snapshot: &Snapshot| {
        let mut value = serde_json::to_value(snapshot).unwrap();
        value["now"] = json!(0);
        value
    };
    assert_eq!(without_time(&before), without_time(&snapshot));
    let spec = Arc::new(JobSpec { n_maps: 3, ..JobSpec::default() });
    let mut inputs = vec![Input::Submit { job: JobId(4), spec }, Input::Recovered];
    let mut launched = 0;
    for n in 0..30 {
        let input = if n % 7 == 6 {
            Input::Tick
        } else {
            inputs.pop().unwrap_or_else(|| {
                let state = [AttemptState::Running, AttemptState::Succeeded, AttemptState::Failed][n % 5 % 3];
                says(&live, n as u32 % 3, state, [2, 1])
            })
        };
        let effects = apply(&mut later, 22 + n as u64, input.clone());
        launched += effects.iter().filter(|effect| matches!(effect, Effect::Launch { .. })).count();
        assert_eq!(effects, apply(&mut live, 22 + n as u64, input));
        assert_eq!(later.snapshot(), live.snapshot());
    }
    assert!(launched > 5, "{launched}");
}

/// All numbers of a document.
fn numbers<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => found.push(value),
        Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, found)),
        Value::Object(values) => values.values_mut().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

#[test]
fn a_master_at_work_of_which_any_number_is_another_goes_on_or_is_refused() {
    let whole = serde_json::to_value(at_work().snapshot().unwrap()).unwrap();
    let n = {
        let mut all = whole.clone();
        let mut found = Vec::new();
        numbers(&mut all, &mut found);
        found.len()
    };
    assert!(n > 200, "{n}");
    let (mut taken, mut refused) = (0, 0);
    for place in 0..n {
        for other in [0, 1, 2, 7, 65_535, u64::from(u32::MAX), i64::MAX as u64, u64::MAX] {
            let mut all = whole.clone();
            let mut found = Vec::new();
            numbers(&mut all, &mut found);
            *found[place] = json!(other);
            let Ok(snapshot) = serde_json::from_value::<Snapshot>(all) else { continue };
            let fifo = by_name("fifo", &BTreeMap::new()).unwrap();
            let Ok(mut tracker) = JobTracker::from_snapshot(config(), fifo, snapshot) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let now = tracker.state().now().as_ms() / 1_000 + 1;
            for n in 0..9 {
                let worker = n % tracker.state().workers().len() as u32;
                let state = [AttemptState::Running, AttemptState::Failed, AttemptState::Succeeded][n as usize / 3];
                let report = says(&tracker, worker, state, [2, 1]);
                apply(&mut tracker, now + u64::from(n), report);
            }
            apply(&mut tracker, now + 10, Input::Goodbye { worker: WorkerId(0), incarnation: 7 });
            apply(&mut tracker, now + 100_000, Input::Tick);
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} are taken, {refused} refused");
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

/// As the first build that took snapshots at work wrote it: this reads for ever, too.
const AT_WORK: &str = include_str!("snapshot-v2.json");

#[test]
fn a_snapshot_of_the_second_form_reads() {
    let tracker = restored(serde_json::from_str(AT_WORK).unwrap()).unwrap();
    let mut expected = at_work();
    apply(&mut expected, 21, fifo());
    assert_eq!(tracker.snapshot(), expected.snapshot());
}

#[test]
fn what_cannot_be_is_refused() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 16] = [
        (|all| all["version"] = json!(4), "version 4, expected at most 3"),
        (|all| all["version"] = json!(2), "version 2 of its form, expected 1"),
        (|all| all["workers"][0]["fell_silent"] = json!(1), "version 1 of its form, expected 3"),
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
