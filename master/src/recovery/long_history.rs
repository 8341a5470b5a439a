//! How long a start takes after a long history: a measurement, and that what it finds is right.
//!
//! The history is made by the core itself with a worker that does what it is told: each job of ten maps comes, runs and
//! ends, and its file lies where a master puts it. With a snapshot after the history, a start does not depend on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_core::cluster::Vitals;
use howdah_core::job::counters::{Counters, FRAMEWORK};
use howdah_core::job::{
    AttemptId, AttemptState, ClusterId, JobConf, JobFile, JobId, JobSpec, Phase, Progress, TaskKind, WorkerId,
};
use howdah_core::time::Time;
use howdah_core::tracker::{AttemptReport, ClusterConfig, Effect, Input, Registration, Report};
use howdah_proto::v1::journal_input::Kind;
use howdah_proto::{convert, v1};

use super::{Recovered, recover};
use crate::config::MasterConfig;
use crate::policies;
use crate::recorder::{Origin, Recorder};
use crate::testing::sleep_job;

const CLUSTER: u64 = 202_611_201_200;
const MAPS: u32 = 10;
const SLOTS: u16 = 2_000;
/// How long a start may take after ten thousand jobs, by an optimised build.
const BAR: Duration = Duration::from_secs(2);

pub(super) struct History {
    run: PathBuf,
    pub(super) recorder: Recorder,
    now: u64,
    jobs: u32,
    /// Of the jobs to come.
    n_maps: u32,
    pub(super) n_reduces: u32,
    response_id: u32,
    /// What the worker runs, and whether its next report says that it has ended.
    attempts: BTreeMap<AttemptId, AttemptState>,
    open: usize,
}

impl History {
    pub(super) fn new(run: &Path, policy: &str, segment_bytes: u64) -> History {
        std::fs::create_dir(run.join("jobs")).unwrap();
        let origin = Origin {
            cluster_id: CLUSTER,
            cluster: ClusterConfig::default(),
            scheduler: policy.to_owned(),
            scheduler_params: BTreeMap::new(),
            seed: 0,
            nonce: 0,
        };
        let scheduler = policies::make(policy, &BTreeMap::new()).unwrap();
        let recorder = Recorder::create(run, &origin, scheduler, segment_bytes).unwrap();
        let mut history = History {
            run: run.to_owned(),
            recorder,
            now: 1,
            jobs: 0,
            n_maps: MAPS,
            n_reduces: 0,
            response_id: 0,
            attempts: BTreeMap::new(),
            open: 0,
        };
        history.apply(&Input::Register(Box::new(Registration {
            worker: WorkerId(0),
            incarnation: 7,
            starts: false,
            name: "w".to_owned(),
            host: "h".to_owned(),
            rack: "/r".to_owned(),
            map_slots: SLOTS,
            reduce_slots: 1,
            attributes: Vec::new(),
            kept: Vec::new(),
        })));
        history
    }

    /// Goes on with the run after a master has gone through it, which takes a snapshot now.
    pub(super) fn go_on_with_a_snapshot(&mut self) {
        let Recovered { recorder, mut tables, .. } = recover(&self.run, &MasterConfig::default()).unwrap();
        self.recorder = recorder;
        tables.recovered();
        self.apply(&Input::Recovered);
        self.take_snapshot(tables.remembered(self.recorder.tracker().state()));
    }

    /// As the engine does.
    pub(super) fn take_snapshot(&mut self, known: v1::JournalSnapshot) {
        let in_force = self.recorder.position.in_force.clone();
        self.apply(&Input::Snapshot(Box::new(in_force)));
        self.recorder.keep_snapshot(known).unwrap();
    }

    pub(super) fn apply(&mut self, input: &Input) {
        let (mut recorded, mut effects) = (vec![v1::JournalInput::from(input)], Vec::new());
        recorded.iter_mut().for_each(tell_people);
        self.now += 100;
        self.recorder.apply(Time::from_ms(self.now), std::slice::from_ref(input), &mut recorded, &mut effects);
        self.recorder.write().unwrap();
        let mut done = Vec::new();
        for effect in effects {
            match effect {
                // A master promotes the output, also of a job that has none, and says so.
                Effect::CommitJob { job } => done.push(Input::JobCommitted { job, ok: true }),
                Effect::Launch { attempt, .. } => drop(self.attempts.entry(attempt).or_insert(AttemptState::Running)),
                Effect::Answer { response_id, .. } => self.response_id = response_id,
                Effect::JobState { state, .. } if state.is_final() => self.open -= 1,
                _ => {}
            }
        }
        done.iter().for_each(|input| self.apply(input));
    }

    /// Reports; attempts that were said to have ended are forgotten then.
    pub(super) fn report(&mut self) {
        let status = |(&attempt, &state): (&AttemptId, &AttemptState)| AttemptReport {
            attempt,
            state,
            phase: Phase::Map,
            progress: Progress::ZERO,
            fetch_failures: Vec::new(),
            fatal: false,
        };
        let running = |kind| {
            let running = self.attempts.iter().filter(|(id, state)| id.kind == kind && !state.is_final());
            running.count() as u16
        };
        let report = Report {
            worker: WorkerId(0),
            incarnation: 7,
            response_id: self.response_id,
            free_maps: SLOTS - running(TaskKind::Map),
            free_reduces: 1 - running(TaskKind::Reduce),
            accepts_tasks: true,
            may_park: false,
            attempts: self.attempts.iter().map(status).collect(),
            vitals: Vitals::default(),
            attributes: None,
        };
        self.attempts.retain(|_, state| !state.is_final());
        self.apply(&Input::Report(Box::new(report)));
    }

    pub(super) fn submit(&mut self) {
        self.jobs += 1;
        self.open += 1;
        let (job, cluster) = (JobId(self.jobs), ClusterId(CLUSTER));
        let spec = JobSpec {
            name: format!("job {}", self.jobs).into(),
            n_maps: self.n_maps,
            n_reduces: self.n_reduces,
            conf: JobConf { commits_output: false, ..JobConf::default() },
            ..JobSpec::default()
        };
        let file =
            JobFile { submit_ms_epoch: self.now, token: "0".repeat(32), ..sleep_job(cluster.job(job), spec.clone()) };
        let path = self.run.join("jobs").join(format!("{}.json", file.id));
        std::fs::write(path, serde_json::to_vec_pretty(&file).unwrap()).unwrap();
        self.apply(&Input::Submit { job, spec: Arc::new(spec) });
    }

    /// A job comes, runs and ends.
    pub(super) fn finish_a_job(&mut self) {
        self.submit();
        self.finish_all();
    }

    /// Of those that run every second one ends so.
    pub(super) fn some_end(&mut self, state: AttemptState) {
        self.attempts.values_mut().step_by(2).for_each(|of_attempt| *of_attempt = state);
        self.report();
    }

    /// All that run end.
    pub(super) fn finish_all(&mut self) {
        for _ in 0..200 {
            self.report();
            if self.open == 0 {
                return;
            }
            self.attempts.values_mut().for_each(|state| *state = AttemptState::Succeeded);
        }
        let scheduler = self.recorder.tracker().scheduler().name();
        panic!("{scheduler}: {} of {} jobs do not end: {:?}", self.open, self.jobs, self.attempts);
    }
}

/// What a worker says that the core does not read: where it serves map output, and how attempts ended.
fn tell_people(input: &mut v1::JournalInput) {
    match &mut input.kind {
        Some(Kind::Register(register)) => {
            register.request.as_mut().expect("it was made of one").http_address = "h:1".to_owned();
        }
        Some(Kind::Report(report)) => {
            let over = report
                .attempts
                .iter_mut()
                .filter(|status| matches!(status.state(), v1::AttemptState::Succeeded | v1::AttemptState::Failed));
            for status in over {
                let failed = status.state() == v1::AttemptState::Failed;
                let index = status.attempt.as_ref().map_or(0, |attempt| attempt.index);
                let mut counters = Counters::default();
                counters.add(FRAMEWORK, "Map input records", i64::from(index) + 1);
                status.counters = Some(convert::numbered(&counters));
                status.message = format!("line {index}");
                status.end = Some(v1::AttemptEnd {
                    exit_code: Some(i32::from(failed)),
                    cpu_us: 1_000,
                    diagnostics: if failed { "no such luck".to_owned() } else { String::new() },
                    ..v1::AttemptEnd::default()
                });
            }
        }
        _ => {}
    }
}

/// Makes the history and starts on it; how long that took.
fn start_after(finished: u32, running: u32, snapshot: bool) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::new(dir.path(), "fifo", 16 << 20);
    (0..finished).for_each(|_| history.finish_a_job());
    if snapshot {
        history.recorder.sync().unwrap();
        history.go_on_with_a_snapshot();
    }
    (0..running).for_each(|_| history.submit());
    history.report();
    history.report();
    history.recorder.sync().unwrap();
    let launched = history.attempts.len();
    drop(history);
    let journal = std::fs::read_dir(dir.path().join("journal")).unwrap().flatten();
    let bytes: u64 = journal.map(|segment| segment.metadata().unwrap().len()).sum();
    if snapshot {
        let removed = crate::journal::leave_only_newest(dir.path());
        assert!(removed.segments > 0, "what came before the snapshot goes");
        eprintln!("of {bytes} bytes {} are removed", removed.bytes);
    }
    let began = Instant::now();
    let recovered = recover(dir.path(), &MasterConfig::default()).unwrap();
    let took = began.elapsed();
    assert_eq!(recovered.last_job, finished + running);
    assert_eq!(recovered.tables.live_jobs(), running as usize);
    assert_eq!(recovered.tables.statuses().len(), (finished + running) as usize);
    assert_eq!(launched, (running * MAPS).min(SLOTS.into()) as usize);
    let maps = recovered.tables.running(TaskKind::Map);
    assert_eq!(maps as usize, launched, "what ran runs");
    let batches = recovered.batches;
    let how = if snapshot { "a snapshot, " } else { "" };
    eprintln!("{how}{finished} jobs of history and {running} running, {batches} batches, {bytes} bytes: {took:.2?}");
    took
}

#[test]
fn a_start_after_a_history_finds_the_jobs_that_ran_and_what_they_ran() {
    start_after(50, 5, false);
    start_after(50, 5, true);
}

/// `cargo test --release --package howdah-master --lib long_history -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn a_start_after_ten_thousand_jobs_with_two_hundred_running() {
    let took = [1_000, 10_000].map(|finished| start_after(finished, 200, false));
    assert!(cfg!(debug_assertions) || took[1] < BAR, "{took:.2?}");
    let took = [1_000, 10_000].map(|finished| start_after(finished, 200, true));
    assert!(cfg!(debug_assertions) || took[1] < BAR, "{took:.2?}");
}

/// `cargo test --release --workspace --lib long_history -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn a_snapshot_of_a_master_with_fifty_thousand_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let mut history = History::new(dir.path(), "fifo", 16 << 20);
    // As long as its reduce waits, no job ends.
    (history.n_maps, history.n_reduces) = (500, 1);
    (0..100).for_each(|_| history.submit());
    history.report();
    // Half of the maps are over, as many run as there are slots.
    let over = |history: &History| -> u32 {
        history.recorder.tracker().state().jobs().map(|job| job.tasks(TaskKind::Map).n_succeeded()).sum()
    };
    while over(&history) < 25_000 {
        let maps = history.attempts.iter_mut().filter(|(id, _)| id.kind == TaskKind::Map);
        maps.for_each(|(_, state)| *state = AttemptState::Succeeded);
        history.report();
    }
    history.recorder.sync().unwrap();
    let Recovered { recorder, mut tables, .. } = recover(dir.path(), &MasterConfig::default()).unwrap();
    history.recorder = recorder;
    history.apply(&Input::Recovered);
    tables.recovered();
    let (live, tasks) = (tables.live_jobs(), 501 * tables.live_jobs());
    let began = Instant::now();
    let in_force = history.recorder.position.in_force.clone();
    history.apply(&Input::Snapshot(Box::new(in_force)));
    let became = began.elapsed();
    let known = tables.remembered(history.recorder.tracker().state());
    history.recorder.keep_snapshot(known).unwrap();
    let took = began.elapsed();
    let bytes = history.recorder.snapshot_bytes();
    let began = Instant::now();
    let again = recover(dir.path(), &MasterConfig::default()).unwrap();
    let start = began.elapsed();
    assert_eq!(again.tables.live_jobs(), live);
    eprintln!(
        "{live} jobs, {tasks} tasks: {became:.1?} to become it, {took:.1?} in all, {bytes} bytes; start {start:.1?}"
    );
}
