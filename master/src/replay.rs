//! Decision replay: the recorded inputs go through a fresh core, and what it does is compared with the record.
//!
//! The core is built from the journal's header and gets the inputs only, batch by batch with their times; no
//! recorded decision reaches it. A batch is identical when its effects hash to the recorded digest. Each batch
//! is hashed onto the recorded digest before it, so that one difference does not hide later agreement.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_core::job::ClusterId;
use howdah_core::schedulers::{Scheduler, SchedulerError};
use howdah_core::time::Time;
use howdah_core::tracker::{
    ClusterConfig, Effect, Input, JobTracker, SchedulerChoice, Snapshot, SnapshotError, WorkerState,
};
use howdah_proto::convert::{ConvertError, attempt_id, decision, locality};
use howdah_proto::v1;

use crate::digest::{Chain, DIGEST_BYTES};
use crate::journal::{JournalError, JournalReader, Since, find_run};
use crate::policies;
use crate::recorder::{Position, RULES};

/// A recorded run that cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The journal does not read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The header's configuration is not one of this program.
    #[error("run `{path}`: the configuration in its header is not understood: {problem}")]
    Config {
        /// The run.
        path: PathBuf,
        /// What the parser said.
        problem: String,
    },
    /// The header names a scheduler that cannot be made.
    #[error("run `{path}`: {source}")]
    Scheduler {
        /// The run.
        path: PathBuf,
        /// Why.
        source: SchedulerError,
    },
    /// The journal begins with a snapshot that is none.
    #[error("run `{path}`, snapshot after batch {batch}: {source}")]
    Snapshot {
        /// The run.
        path: PathBuf,
        /// From 1.
        batch: u64,
        /// Why.
        source: SnapshotProblem,
    },
    /// A frame holds an input that makes no sense.
    #[error("run `{path}`, batch {batch}: {source}")]
    Input {
        /// The run.
        path: PathBuf,
        /// From 1.
        batch: u64,
        /// Why.
        source: ConvertError,
    },
    /// A frame's time is not after the one before.
    #[error("run `{path}`, batch {batch}: its time {time_us} us is not after the batch before")]
    Order {
        /// The run.
        path: PathBuf,
        /// From 1.
        batch: u64,
        /// As recorded.
        time_us: u64,
    },
}

/// Why a stored snapshot is none.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotProblem {
    /// Its text does not read.
    #[error("what it says of the core does not read: {0}")]
    Text(serde_json::Error),
    /// It says what cannot be.
    #[error(transparent)]
    Core(#[from] SnapshotError),
}

/// Where the inputs that are left of a run begin: those before are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Batches that are gone.
    pub batches: u64,
    /// When the last of them was, on the run's clock.
    pub time: Time,
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionReport {
    /// The run that was replayed.
    pub run: PathBuf,
    /// Which build recorded it.
    pub recorded_by: Build,
    /// Where it begins, if inputs before that are gone.
    pub beginning: Option<Beginning>,
    /// Batches that were replayed.
    pub batches: u64,
    /// Inputs of the run.
    pub inputs: u64,
    /// Launches that the run sent its workers, once for each answer that carried them.
    pub decisions: u64,
    /// Effects that the run recorded or the replay produced, whichever is more, batch by batch.
    pub compared: u64,
    /// Effects in batches whose digest was the same.
    pub identical: u64,
    /// Where the two first differ.
    pub first_difference: Option<Difference>,
    /// The journal broke off in the middle of a frame, as after a crash.
    pub torn: bool,
    /// How often a worker was lost or left while a job was not over.
    pub workers_lost: u64,
    /// How often one was drained then.
    pub workers_drained: u64,
}

/// A build, as a recording names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Of the program, such as 0.1.0.
    pub version: String,
    /// Fingerprint of its rules, as [`RULES`]; empty from builds that did not record it.
    pub rules: String,
}

impl Build {
    /// Whether it decides by the rules of this one.
    pub fn has_our_rules(&self) -> bool {
        self.rules == RULES
    }
}

/// A batch in which the replay did something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// From 1.
    pub batch: u64,
    /// Of the batch, on the run's clock.
    pub time: Time,
    /// What the run did.
    pub expected: String,
    /// What the replay did.
    pub found: String,
}

/// Replays the run in `dir` (a run, a master's directory or a cluster's: the latest run) with its scheduler.
///
/// # Errors
/// When the run does not read; differences are no error but part of the report.
pub fn replay_decisions(dir: &Path) -> Result<DecisionReport, ReplayError> {
    replay_with(dir, policies::make)
}

/// As [`replay_decisions`], with schedulers made by the caller.
///
/// # Errors
/// When the run does not read.
pub fn replay_with(
    dir: &Path,
    scheduler: impl FnOnce(&str, &BTreeMap<String, String>) -> Result<Box<dyn Scheduler>, SchedulerError>,
) -> Result<DecisionReport, ReplayError> {
    replay_seen(dir, scheduler, |_, _, _, _| {})
}

/// As [`replay_with`], with a look at each batch's effects and at the core after it.
pub(crate) fn replay_seen(
    dir: &Path,
    scheduler: impl FnOnce(&str, &BTreeMap<String, String>) -> Result<Box<dyn Scheduler>, SchedulerError>,
    mut see: impl FnMut(ClusterId, Time, &[Effect], &mut JobTracker),
) -> Result<DecisionReport, ReplayError> {
    let run = find_run(dir)?;
    let mut reader = JournalReader::open(&run)?;
    let Begun { mut tracker, digest: mut before, mut last, position } = begin(&run, &reader, scheduler)?;
    let gone = position.batches;
    let cluster = ClusterId(reader.header().cluster_id);
    let mut report =
        DecisionReport { run: run.clone(), recorded_by: build_of(reader.header()), ..DecisionReport::default() };
    report.beginning = last.map(|time| Beginning { batches: gone, time });
    let mut inputs = Vec::new();
    let mut effects = Vec::new();
    while let Some(frame) = reader.next_frame()? {
        if let Some(snapshot) = reader.take_passed() {
            compare_snapshot(&snapshot, &tracker, gone, &mut report);
        }
        report.batches += 1;
        let batch = gone + report.batches;
        let time = Time::from_us(frame.time_us);
        if last.is_some_and(|last| last >= time) {
            return Err(ReplayError::Order { path: run, batch, time_us: frame.time_us });
        }
        last = Some(time);
        inputs.clear();
        for input in &frame.inputs {
            let input = Input::try_from(input);
            inputs.push(input.map_err(|source| ReplayError::Input { path: run.clone(), batch, source })?);
        }
        report.inputs += inputs.len() as u64;
        report.decisions += frame.decisions.len() as u64;
        effects.clear();
        tracker.apply(time, &inputs, &mut effects);
        if tracker.state().n_jobs() > 0 {
            report.workers_lost += effects.iter().filter(|effect| is_loss(effect)).count() as u64;
            report.workers_drained += inputs.iter().filter(|input| is_drain(input)).count() as u64;
        }
        see(cluster, time, &effects, &mut tracker);
        compare(&frame, &before, &effects, cluster, batch, &mut report);
        before = <[u8; DIGEST_BYTES]>::try_from(&frame.digest[..]).unwrap_or_default();
    }
    if let Some(snapshot) = reader.take_passed() {
        compare_snapshot(&snapshot, &tracker, gone, &mut report);
    }
    report.torn = reader.truncation().is_some();
    Ok(report)
}

fn is_loss(effect: &Effect) -> bool {
    matches!(effect, Effect::WorkerState { state: WorkerState::Lost, .. })
}

fn is_drain(input: &Input) -> bool {
    matches!(input, Input::Drain { drain: true, .. })
}

pub(crate) fn build_of(header: &v1::JournalHeader) -> Build {
    Build { version: header.program_version.clone(), rules: header.rules.clone() }
}

/// A core where reading begins.
pub(crate) struct Begun {
    pub(crate) tracker: JobTracker,
    /// Of the batch before, all zeros before the first.
    pub(crate) digest: [u8; DIGEST_BYTES],
    /// When that batch was; `None` before the first.
    pub(crate) last: Option<Time>,
    pub(crate) position: Position,
}

/// The core that the journal begins with: a fresh one, or the one of its snapshot.
pub(crate) fn begin(
    run: &Path,
    reader: &JournalReader,
    scheduler: impl FnOnce(&str, &BTreeMap<String, String>) -> Result<Box<dyn Scheduler>, SchedulerError>,
) -> Result<Begun, ReplayError> {
    let header = reader.header();
    let config: ClusterConfig = serde_json::from_str(&header.cluster_config_json)
        .map_err(|e| ReplayError::Config { path: run.to_owned(), problem: e.to_string() })?;
    let first = SchedulerChoice {
        name: header.scheduler.clone(),
        params: header.scheduler_params.clone().into_iter().collect(),
    };
    let since = reader.began();
    let in_force = since.and_then(|since| since.snapshot.scheduler.as_ref()).map_or(first, SchedulerChoice::from);
    let scheduler = scheduler(&in_force.name, &in_force.params)
        .map_err(|source| ReplayError::Scheduler { path: run.to_owned(), source })?;
    let Some(Since { snapshot, time_us, digest }) = since else {
        let tracker = JobTracker::new(config, scheduler);
        let position = Position { in_force, ..Position::default() };
        return Ok(Begun { tracker, digest: [0; DIGEST_BYTES], last: None, position });
    };
    let failed = |source| ReplayError::Snapshot { path: run.to_owned(), batch: snapshot.batches, source };
    let core: Snapshot = serde_json::from_slice(&snapshot.core_json).map_err(|e| failed(SnapshotProblem::Text(e)))?;
    let tracker = JobTracker::from_snapshot(config, scheduler, core).map_err(|e| failed(e.into()))?;
    let position = Position {
        in_force,
        batches: snapshot.batches,
        first_submission: Time::from_us(snapshot.first_submission_us),
        bytes: 0,
    };
    let digest = <[u8; DIGEST_BYTES]>::try_from(&digest[..]).unwrap_or_default();
    Ok(Begun { tracker, digest, last: Some(Time::from_us(*time_us)), position })
}

/// A snapshot in the middle says what the replay has come to, or it is the first difference.
fn compare_snapshot(snapshot: &v1::JournalSnapshot, tracker: &JobTracker, gone: u64, report: &mut DecisionReport) {
    let stored = serde_json::from_slice::<Snapshot>(&snapshot.core_json).ok();
    if report.first_difference.is_some() || (stored.is_some() && stored == tracker.snapshot()) {
        return;
    }
    // It counts as an effect that is not the same.
    report.compared += 1;
    let expected = "a snapshot after it".to_owned();
    let found = "another state than the snapshot's".to_owned();
    let (batch, time) = (gone + report.batches, tracker.state().now());
    report.first_difference = Some(Difference { batch, time, expected, found });
}

fn compare(
    frame: &v1::JournalFrame,
    before: &[u8; DIGEST_BYTES],
    effects: &[Effect],
    cluster: ClusterId,
    batch: u64,
    report: &mut DecisionReport,
) {
    let expected = u64::from(frame.n_effects);
    report.compared += expected.max(effects.len() as u64);
    if Chain::after(*before).add(effects)[..] == frame.digest[..] {
        report.identical += expected;
        return;
    }
    if report.first_difference.is_none() {
        let (expected, found) = describe(frame, effects, cluster);
        let time = Time::from_us(frame.time_us);
        report.first_difference = Some(Difference { batch, time, expected, found });
    }
}

/// The first decision that differs, or the effects as a whole when all decisions agree.
fn describe(frame: &v1::JournalFrame, effects: &[Effect], cluster: ClusterId) -> (String, String) {
    let found: Vec<v1::JournalDecision> = effects.iter().filter_map(decision).collect();
    let n = frame.decisions.len().max(found.len());
    for i in 0..n {
        let (a, b) = (frame.decisions.get(i), found.get(i));
        if a != b {
            let text = |d: Option<&v1::JournalDecision>| d.map_or("no launch".to_owned(), |d| launch_text(d, cluster));
            let at = format!("launch {} of {n}", i + 1);
            return (format!("{at}: {}", text(a)), format!("{at}: {}", text(b)));
        }
    }
    let digest: String = frame.digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let shown: Vec<String> = effects.iter().take(8).map(|effect| format!("{effect:?}")).collect();
    let more = if effects.len() > shown.len() { ", …" } else { "" };
    let expected = format!("{} effects with digest {digest}…", frame.n_effects);
    (expected, format!("{} effects: {}{more}", effects.len(), shown.join(", ")))
}

fn launch_text(decision: &v1::JournalDecision, cluster: ClusterId) -> String {
    let attempt = attempt_id("attempt", decision.attempt).map_or_else(|e| e.to_string(), |id| cluster.attempt(id));
    let locality = locality(decision.locality).map_or_else(|e| e.to_string(), |l| format!("{l:?}"));
    let speculative = if decision.speculative { ", speculative" } else { "" };
    format!("{attempt} on worker {} ({locality}{speculative})", decision.worker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{JournalWriter, read_header};
    use crate::recorder::{Origin, Recorder};

    #[test]
    fn a_recording_names_the_build_that_wrote_it() {
        let dir = tempfile::tempdir().unwrap();
        let origin = Origin {
            cluster_id: 202_611_201_200,
            cluster: ClusterConfig::default(),
            scheduler: "fifo".to_owned(),
            scheduler_params: BTreeMap::new(),
            seed: 0,
            nonce: 0,
        };
        let scheduler = policies::make("fifo", &BTreeMap::new()).unwrap();
        Recorder::create(dir.path(), &origin, scheduler, 1 << 16).unwrap().close().unwrap();
        let ours = replay_decisions(dir.path()).unwrap().recorded_by;
        assert!(ours.has_our_rules(), "{ours:?}");
        assert!(RULES.len() == 16 && RULES.bytes().all(|byte| byte.is_ascii_hexdigit()), "{RULES}");

        let older = tempfile::tempdir().unwrap();
        let header = v1::JournalHeader { rules: String::new(), ..read_header(dir.path()).unwrap() };
        JournalWriter::create(older.path(), &header, 1 << 16).unwrap().close().unwrap();
        let theirs = replay_decisions(older.path()).unwrap().recorded_by;
        assert!(!theirs.has_our_rules());
        assert_eq!(theirs, Build { version: ours.version, rules: String::new() });
    }
}
