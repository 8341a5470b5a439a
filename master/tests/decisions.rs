//! Decision replay in a separate process finds nothing where there is nothing, and catches planted bugs.
//!
//! Each test records a run in this process and starts itself again with the run's directory in the
//! environment; the second process replays it with the same scheduler and writes down what it found.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_core::cluster::{ClusterState, Vitals};
use howdah_core::job::{AttemptId, AttemptState, JobId, JobSpec, Phase, Progress, Requirements, TaskKind, WorkerId};
use howdah_core::schedulers::{Assignment, Change, NearestFirst, Round, Scheduler, TaskChoice, by_name};
use howdah_core::time::Time;
use howdah_core::tracker::{AttemptReport, AttributeSet, ClusterConfig, Effect, Input, Registration, Report};
use howdah_master::recorder::{Origin, Recorder};
use howdah_master::replay::{DecisionReport, replay_with};

const RUN: &str = "HOWDAH_TEST_REPLAY_RUN";
const JOBS: u32 = 12;
const MAPS: u32 = 6;
const WORKERS: u32 = 3;

/// The bugs that decision replay exists for.
#[derive(Clone, Copy, Debug)]
enum Bug {
    HashOrder,
    Clock,
}

/// A policy that lets something decide that is not an input.
#[derive(Clone)]
struct Haunted {
    bug: Bug,
    jobs: HashSet<JobId>,
}

impl Scheduler for Haunted {
    fn name(&self) -> &'static str {
        "haunted"
    }

    fn observe(&mut self, change: &Change, _state: &ClusterState) {
        match *change {
            Change::Submitted { job } => drop(self.jobs.insert(job)),
            Change::JobOver { job, .. } => drop(self.jobs.remove(&job)),
            _ => {}
        }
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(round.worker)?;
        if worker.free(TaskKind::Map) == 0 {
            return None;
        }
        let mut jobs: Vec<JobId> = self.jobs.iter().copied().collect();
        if let Bug::Clock = self.bug {
            jobs.sort();
            let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos() as usize;
            let turn = nanos / 100 % jobs.len().max(1);
            jobs.rotate_left(turn);
        }
        jobs.into_iter().find_map(|id| {
            let choice = NearestFirst.choose(state, state.job(id)?, TaskKind::Map, worker).ok()?;
            let (index, locality) = (choice.index, choice.locality);
            Some(Assignment { job: id, kind: TaskKind::Map, index, locality, speculative: false })
        })
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

fn haunted(bug: Bug) -> Box<dyn Scheduler> {
    Box::new(Haunted { bug, jobs: HashSet::new() })
}

/// A worker that finishes whatever it was given with its next report.
#[derive(Clone, Default)]
struct Worker {
    response_id: u32,
    given: Vec<AttemptId>,
}

/// The only gpu wanders from worker to worker with each report.
fn report(id: u32, worker: &mut Worker, turn: u32) -> Input {
    let gpu = (turn % WORKERS == id).then(|| ("gpu".to_owned(), "1".to_owned()));
    let attempts = worker.given.drain(..).map(|attempt| AttemptReport {
        attempt,
        state: AttemptState::Succeeded,
        phase: Phase::Map,
        progress: Progress::DONE,
        fetch_failures: Vec::new(),
        fatal: false,
    });
    Input::Report(Box::new(Report {
        worker: WorkerId(id),
        incarnation: 1,
        response_id: worker.response_id,
        attempts: attempts.collect(),
        free_maps: 2,
        free_reduces: 0,
        accepts_tasks: true,
        may_park: false,
        vitals: Vitals::default(),
        attributes: Some(AttributeSet { version: turn, attributes: gpu.into_iter().collect() }),
    }))
}

fn registration(id: u32) -> Input {
    Input::Register(Box::new(Registration {
        worker: WorkerId(id),
        incarnation: 1,
        starts: false,
        name: format!("w{id}"),
        host: format!("h{id}"),
        rack: "/r".to_owned(),
        map_slots: 2,
        reduce_slots: 0,
        attributes: Vec::new(),
        kept: Vec::new(),
    }))
}

fn submission(job: u32) -> Input {
    let mut spec = JobSpec { name: format!("j{job}").into(), n_maps: MAPS, ..JobSpec::default() };
    spec.conf.commits_output = false;
    if job.is_multiple_of(3) {
        spec.conf.requires = Requirements::parse(&["gpu>=1"]).unwrap();
    }
    Input::Submit { job: JobId(job), spec: Arc::new(spec) }
}

/// Records a run of a dozen jobs; returns the launches.
fn record(dir: &Path, scheduler: Box<dyn Scheduler>, scheduler_params: &BTreeMap<String, String>) -> u64 {
    let origin = Origin {
        cluster_id: 202_611_201_200,
        cluster: ClusterConfig::default(),
        scheduler: "fifo".to_owned(),
        scheduler_params: scheduler_params.clone(),
        seed: 0,
        nonce: 0,
    };
    let mut recorder = Recorder::create(dir, &origin, scheduler, 1 << 16).unwrap();
    let mut workers = vec![Worker::default(); WORKERS as usize];
    let mut first: Vec<Input> = (0..WORKERS).map(registration).collect();
    first.extend((1..=JOBS).map(submission));
    let (mut launches, mut over, mut time, mut turn) = (0, 0, 1_000_000, 0);
    let mut batch = first;
    while over < JOBS {
        let mut effects = Vec::new();
        let mut recorded = batch.iter().map(Into::into).collect();
        recorder.apply(Time::from_us(time), &batch, &mut recorded, &mut effects);
        recorder.tracker().check_invariants().unwrap();
        batch.clear();
        for effect in effects {
            match effect {
                Effect::Launch { worker, attempt, .. } => {
                    launches += 1;
                    assert!(!attempt.job.0.is_multiple_of(3) || turn % WORKERS == worker.0, "{attempt:?} has no gpu");
                    workers[worker.0 as usize].given.push(attempt);
                }
                Effect::Answer { worker, response_id, .. } => workers[worker.0 as usize].response_id = response_id,
                Effect::CommitJob { job } => batch.push(Input::JobCommitted { job, ok: true }),
                Effect::JobState { state, .. } if state.is_final() => over += 1,
                _ => {}
            }
        }
        time += 1_000;
        assert!(time < 10_000_000, "the run ends");
        turn += 1;
        batch.extend(workers.iter_mut().enumerate().map(|(id, worker)| report(id as u32, worker, turn)));
    }
    recorder.close().unwrap();
    launches
}

/// In the second process: replays and writes down what it found.
fn replay_as_child(make: &dyn Fn() -> Box<dyn Scheduler>) -> bool {
    let Some(dir) = std::env::var_os(RUN) else { return false };
    let dir = Path::new(&dir);
    let report = replay_with(dir, |_, _| Ok(make())).unwrap();
    let DecisionReport { batches, inputs, compared, identical, first_difference, .. } = report;
    let difference = first_difference.map(|d| (d.batch, d.time, d.expected, d.found));
    let found = serde_json::json!([batches, inputs, compared, identical, difference]);
    std::fs::write(dir.join("found.json"), found.to_string()).unwrap();
    true
}

/// In the first process: records, replays elsewhere, and gives what was found there.
fn record_and_replay(test: &str, make: &dyn Fn() -> Box<dyn Scheduler>) -> Option<serde_json::Value> {
    if replay_as_child(make) {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let launches = record(dir.path(), make(), &BTreeMap::new());
    assert_eq!(launches, u64::from(JOBS * MAPS));
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(RUN, dir.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let found = std::fs::read_to_string(dir.path().join("found.json")).unwrap();
    Some(serde_json::from_str(&found).unwrap())
}

#[test]
fn a_sound_scheduler_decides_the_same_in_another_process() {
    let make = || by_name("fifo", &BTreeMap::new()).unwrap();
    let test = "a_sound_scheduler_decides_the_same_in_another_process";
    let Some(found) = record_and_replay(test, &make) else { return };
    assert!(found[2].as_u64().unwrap() > u64::from(JOBS * MAPS));
    assert_eq!((&found[2], found[4].is_null()), (&found[3], true), "{found}");
}

#[test]
fn iterating_a_hash_set_is_caught() {
    let Some(found) = record_and_replay("iterating_a_hash_set_is_caught", &|| haunted(Bug::HashOrder)) else { return };
    assert!(found[3].as_u64() < found[2].as_u64(), "{found}");
    let (expected, found) = (found[4][2].as_str().unwrap(), found[4][3].as_str().unwrap());
    assert!(expected != found && expected.contains("attempt_202611201200_"), "{expected} / {found}");
}

#[test]
fn reading_the_clock_is_caught() {
    let Some(found) = record_and_replay("reading_the_clock_is_caught", &|| haunted(Bug::Clock)) else { return };
    assert!(found[3].as_u64() < found[2].as_u64() && !found[4].is_null(), "{found}");
}

/// Every attempt here takes a millisecond on an idle worker, so once one of its job has ended the next takes as long.
#[test]
fn estimates_are_those_of_the_runs_own_rule_at_each_launch() {
    let params = BTreeMap::from([("speculation".to_owned(), "load-aware".to_owned())]);
    let dir = tempfile::tempdir().unwrap();
    let launches = record(dir.path(), by_name("fifo", &params).unwrap(), &params);
    let mut answered = Vec::new();
    let report = howdah_master::estimates::read(dir.path(), |estimate| answered.push(estimate)).unwrap();
    assert_eq!(report.compared, report.identical);
    let of = |event: &str| answered.iter().filter(|estimate| estimate.event == event).collect::<Vec<_>>();
    let (began, ended) = (of("launch"), of("end"));
    assert_eq!((began.len() as u64, ended.len() as u64), (launches, launches));
    assert!(ended.iter().all(|end| end.succeeded == Some(true) && (end.ran_s - 0.001).abs() < 1e-9));
    let first_end =
        |job: &str| ended.iter().filter(|end| end.job == job).map(|end| end.at_s).fold(f64::INFINITY, f64::min);
    let (mut known, mut unknown) = (0, 0);
    for launch in began {
        // Ends of the same instant come before the launch.
        let expected = (first_end(&launch.job) <= launch.at_s).then_some(0.001);
        assert_eq!(launch.estimate_s, expected, "{launch:?}");
        assert_eq!((launch.ran_s, launch.progress), (0.0, 0.0));
        *(if expected.is_some() { &mut known } else { &mut unknown }) += 1;
    }
    assert!(known >= JOBS && unknown >= JOBS, "{known} with and {unknown} without an estimate");
}
