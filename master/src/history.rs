//! What remains of a finished job: one compressed JSON file per job, schema `howdah/history/v1`.
//!
//! It holds the job's specification, properties, times, counters and every attempt, so that people, `job
//! history` and the extraction of templates need nothing else. It is written to a temporary name and renamed:
//! a reader never sees half of it.

mod excerpt;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use howdah_core::cluster::{EndCause, SpeculationCosts};
use howdah_core::job::counters::{Counters, JOB};
use howdah_core::job::{
    App, AttemptState, ClusterId, InputFormat, JobId, JobSpec, JobState, Locality, Phase, Priority, TaskKind,
};
use howdah_proto::convert::cause_text;
use howdah_proto::{limits, v1};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize, Serializer};

use crate::tables::{self, AttemptRecord, JobSnapshot};

pub(crate) use excerpt::read_excerpt;

/// Value of `schema` in every file.
pub const SCHEMA: &str = "howdah/history/v1";
/// Where they lie in a run's directory.
pub(crate) const DIRECTORY: &str = "history";
/// What follows the job's id in a file's name: `zcat` shows such a file.
const SUFFIX: &str = ".json.gz";
/// The same of files that masters wrote before histories were compressed.
const PLAIN: &str = ".json";
/// From this job on, ids were printed otherwise before.
const FIVE_DIGITS: u32 = 10_000;

/// A job as its history tells it; its attempts in memory, or made one by one while it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobHistory<A = Vec<AttemptHistory>> {
    /// [`SCHEMA`].
    pub schema: String,
    /// Printed id.
    pub id: String,
    /// Its state when this was written.
    pub state: JobState,
    /// As it was at the end; the specification has the one at submission.
    pub priority: Priority,
    /// Milliseconds since the epoch, as are the following; 0 where not reached.
    pub submit_ms_epoch: u64,
    /// First launch.
    pub launch_ms_epoch: u64,
    /// Last map finished.
    pub maps_done_ms_epoch: u64,
    /// Output promoted, or failure or kill complete.
    pub finish_ms_epoch: u64,
    /// Finished maps.
    pub maps_done: u32,
    /// Finished reduces.
    pub reduces_done: u32,
    /// Attempts that ended FAILED.
    pub failed_attempts: u32,
    /// Attempts that ended KILLED.
    pub killed_attempts: u32,
    /// How often the master was started again while the job was not over; 0 in histories of before that was counted.
    #[serde(default)]
    pub master_restarts: u32,
    /// Launched maps by locality.
    pub maps_by_locality: LocalityCounts,
    /// What its speculative attempts cost; zeros in histories of before that was counted.
    #[serde(default)]
    pub speculation: SpeculationHistory,
    /// Output directory; empty for jobs without output files.
    pub output: String,
    /// One line; empty unless it failed.
    pub why: String,
    /// What ran.
    pub app: App,
    /// How input was read.
    pub input_format: InputFormat,
    /// What the core knew.
    pub spec: JobSpec,
    /// As submitted.
    pub properties: BTreeMap<String, String>,
    /// Sums over the winning attempts, and the job's own counters.
    pub counters: Counters,
    /// By kind, index and number.
    pub attempts: A,
}

/// The attempts of a job as its history has them, each made when it is asked for: all at once they would be a GiB for a
/// job of a few hundred thousand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempts<'a> {
    records: &'a tables::Attempts,
    cluster: ClusterId,
    job: JobState,
}

impl<'a> Attempts<'a> {
    fn of(snapshot: &'a JobSnapshot, cluster: ClusterId) -> Attempts<'a> {
        Attempts { records: &snapshot.attempts, cluster, job: snapshot.state }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = AttemptHistory> + 'a {
        self.records.iter().map(move |record| record.history(self.cluster, self.job))
    }
}

impl Serialize for Attempts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// What whoever has a job's history keeps of its attempts.
pub(crate) trait Kept: DeserializeOwned {
    /// Of a job in memory.
    fn of(attempts: Attempts<'_>) -> Self;
}

impl Kept for Vec<AttemptHistory> {
    fn of(attempts: Attempts<'_>) -> Self {
        attempts.iter().collect()
    }
}

/// Nothing is kept of them: they are read over.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "IgnoredAny")]
pub(crate) struct NoAttempts;

impl From<IgnoredAny> for NoAttempts {
    fn from(_: IgnoredAny) -> NoAttempts {
        NoAttempts
    }
}

impl Kept for NoAttempts {
    fn of(_: Attempts<'_>) -> NoAttempts {
        NoAttempts
    }
}

impl IntoIterator for NoAttempts {
    type Item = AttemptHistory;
    type IntoIter = std::iter::Empty<AttemptHistory>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::empty()
    }
}

/// Speculative attempts of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeculationHistory {
    /// Assigned.
    pub launched: u32,
    /// Ended with success.
    pub won: u32,
    /// Ended in any other way.
    pub lost: u32,
    /// Slot time of losers, originals and copies, until the job was done with them.
    pub wasted_slot_ms: u64,
}

impl From<SpeculationCosts> for SpeculationHistory {
    fn from(costs: SpeculationCosts) -> SpeculationHistory {
        let SpeculationCosts { launched, won, lost, wasted } = costs;
        SpeculationHistory { launched, won, lost, wasted_slot_ms: wasted.as_ms() }
    }
}

impl From<SpeculationHistory> for v1::SpeculationCosts {
    fn from(costs: SpeculationHistory) -> v1::SpeculationCosts {
        let SpeculationHistory { launched, won, lost, wasted_slot_ms } = costs;
        v1::SpeculationCosts { launched, won, lost, wasted_slot_ms }
    }
}

/// Launched maps by how close to their data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalityCounts {
    /// On a host that holds the split.
    pub node: u32,
    /// In its rack.
    pub rack: u32,
    /// Elsewhere.
    pub off_rack: u32,
    /// The split has no known place.
    pub unknown: u32,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptHistory {
    /// Printed id.
    pub attempt: String,
    /// Printed id of its task.
    pub task: String,
    /// Map or reduce.
    pub kind: TaskKind,
    /// Of its task.
    pub index: u32,
    /// Which try.
    pub number: u16,
    /// How it ended, or what it is doing.
    pub state: AttemptState,
    /// Last one reported.
    pub phase: Phase,
    /// Last one reported, 0 to 1.
    pub progress: f64,
    /// Name of its worker.
    pub worker: String,
    /// Host of its worker.
    pub host: String,
    /// Rack of its worker; empty in histories of before it was written.
    #[serde(default)]
    pub rack: String,
    /// Of a map.
    pub locality: Locality,
    /// Whether another attempt of the task ran when it was launched.
    pub speculative: bool,
    /// On the master's clock.
    pub assigned_ms_epoch: u64,
    /// On the master's clock; 0 while it runs.
    pub ended_ms_epoch: u64,
    /// Why the master ended it; empty when it succeeded.
    pub cause: String,
    /// Of its process.
    pub exit_code: Option<i32>,
    /// That ended its process.
    pub signal: Option<i32>,
    /// As the task or the worker saw it.
    pub diagnostics: String,
    /// Last lines of standard error, unless it succeeded.
    pub stderr_tail: String,
    /// User and system, of the process and its children, in microseconds.
    pub cpu_us: u64,
    /// Peak resident memory.
    pub peak_memory_kib: u64,
    /// On the worker's clock: its process started.
    pub started_ms_epoch: u64,
    /// On the worker's clock; 0 for maps.
    pub shuffle_done_ms_epoch: u64,
    /// On the worker's clock; 0 for maps.
    pub sort_done_ms_epoch: u64,
    /// On the worker's clock: its process ended.
    pub finished_ms_epoch: u64,
    /// The user's last status line.
    pub message: String,
    /// Last ones reported.
    pub counters: Counters,
}

/// A history file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file system refused.
    #[error("{action} history `{path}`")]
    Io {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no history of this version.
    #[error("history `{path}`: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl<'a> JobHistory<Attempts<'a>> {
    /// To be written, attempt by attempt.
    pub(crate) fn streamed(snapshot: &'a JobSnapshot, cluster: ClusterId) -> JobHistory<Attempts<'a>> {
        JobHistory::of(snapshot, Attempts::of(snapshot, cluster))
    }
}

impl<A> JobHistory<A> {
    fn of(snapshot: &JobSnapshot, attempts: A) -> JobHistory<A> {
        let status = &snapshot.status;
        let file = &snapshot.meta.file;
        let [node, rack, off_rack, unknown] = snapshot.tally.maps_by_locality;
        JobHistory {
            schema: SCHEMA.to_owned(),
            id: status.job.clone(),
            state: snapshot.state,
            priority: snapshot.priority,
            submit_ms_epoch: status.submit_ms_epoch,
            launch_ms_epoch: status.launch_ms_epoch,
            maps_done_ms_epoch: status.maps_done_ms_epoch,
            finish_ms_epoch: status.finish_ms_epoch,
            maps_done: status.maps_done,
            reduces_done: status.reduces_done,
            failed_attempts: status.failed_attempts,
            killed_attempts: status.killed_attempts,
            master_restarts: status.master_restarts,
            maps_by_locality: LocalityCounts { node, rack, off_rack, unknown },
            speculation: snapshot.costs.into(),
            output: status.output.clone(),
            why: status.why.clone(),
            app: file.app.clone(),
            input_format: file.input_format.clone(),
            spec: file.spec.clone(),
            properties: file.properties.clone(),
            counters: counters(snapshot),
            attempts,
        }
    }
}

impl JobHistory {
    /// Reads one file, as [`JobHistory::write`] left it or plain as masters wrote it before.
    ///
    /// # Errors
    /// When it is missing or not a history of this version.
    pub fn read(path: &Path) -> Result<JobHistory, HistoryError> {
        JobHistory::read_as(path)
    }
}

impl<A> JobHistory<A> {
    /// With what is kept of its attempts in memory.
    pub(crate) fn new(snapshot: &JobSnapshot, cluster: ClusterId) -> JobHistory<A>
    where
        A: Kept,
    {
        JobHistory::of(snapshot, A::of(Attempts::of(snapshot, cluster)))
    }

    /// As [`JobHistory::read`].
    pub(crate) fn read_as(path: &Path) -> Result<JobHistory<A>, HistoryError>
    where
        A: Kept,
    {
        let file = File::open(path).map_err(|source| HistoryError::Io { action: "read", path: path.into(), source })?;
        let format = |problem: String| HistoryError::Format { path: path.into(), problem };
        let file = BufReader::new(file);
        let history: Result<JobHistory<A>, _> = if path.extension().is_some_and(|extension| extension == "gz") {
            serde_json::from_reader(BufReader::new(GzDecoder::new(file)))
        } else {
            serde_json::from_reader(file)
        };
        let history = history.map_err(|e| format(format_args!("{e}").to_string()))?;
        if history.schema != SCHEMA {
            return Err(format(format!("schema `{}`, expected `{SCHEMA}`", history.schema)));
        }
        Ok(history)
    }
}

impl<A: Serialize> JobHistory<A> {
    /// Writes it to its place in a run's directory.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, run_dir: &Path) -> Result<(), HistoryError> {
        let path = run_dir.join(DIRECTORY).join(format!("{}{SUFFIX}", self.id));
        let temporary = path.with_extension("tmp");
        let write = || {
            let mut out = BufWriter::new(GzEncoder::new(File::create(&temporary)?, Compression::default()));
            serde_json::to_writer(&mut out, self)?;
            out.write_all(b"\n")?;
            let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?;
            // Whoever looks for the oldest need not read them, and one that is written again is no younger.
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(self.finish_ms_epoch))?;
            file.sync_data()?;
            std::fs::rename(&temporary, &path)?;
            // One that a master of before wrote is replaced by this.
            let plain = run_dir.join(DIRECTORY).join(format!("{}{PLAIN}", self.id));
            std::fs::remove_file(plain).or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
        };
        write().map_err(|source| HistoryError::Io { action: "write", path: path.clone(), source })
    }
}

/// The history of a job in a run's directory, if it is there.
pub fn find_history(run_dir: &Path, cluster: ClusterId, job: JobId) -> Option<PathBuf> {
    let folder = run_dir.join(DIRECTORY);
    let paths = [SUFFIX, PLAIN].map(|suffix| folder.join(format!("{}{suffix}", cluster.job(job))));
    // Masters that printed five digits did not compress.
    let earlier = (job.0 >= FIVE_DIGITS).then(|| folder.join(earlier_name(cluster, job)));
    paths.into_iter().chain(earlier).find(|path| path.exists())
}

/// The job that a file of a run's histories is about; `None` for what is no history.
pub(crate) fn job_of(file_name: &str) -> Option<&str> {
    [SUFFIX, PLAIN].iter().find_map(|suffix| file_name.strip_suffix(suffix))
}

/// Where what a job was submitted as lies in a run's directory; there for every job that was not let go.
pub(crate) fn job_file_path(run_dir: &Path, cluster: ClusterId, job: JobId) -> PathBuf {
    file_of(&run_dir.join("jobs"), cluster, job)
}

/// A job's file under its printed id, or under that of earlier versions, which had more than four digits.
fn file_of(folder: &Path, cluster: ClusterId, job: JobId) -> PathBuf {
    let path = folder.join(format!("{}.json", cluster.job(job)));
    if job.0 < FIVE_DIGITS || path.exists() {
        return path;
    }
    let earlier = folder.join(earlier_name(cluster, job));
    if earlier.exists() { earlier } else { path }
}

/// The name of a job's file when printed ids had as many digits as it took.
fn earlier_name(cluster: ClusterId, job: JobId) -> String {
    format!("job_{}_{}{PLAIN}", cluster.0, job.0)
}

/// All histories of a run, by file name.
///
/// # Errors
/// When the directory or one of the files cannot be read.
pub fn read_all(run_dir: &Path) -> Result<Vec<JobHistory>, HistoryError> {
    let dir = run_dir.join(DIRECTORY);
    let io = |source| HistoryError::Io { action: "list", path: dir.clone(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| job_of(name).is_some()) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| JobHistory::read(path)).collect()
}

/// Sums of the winning attempts, and Hadoop's `Job Counters `.
fn counters(snapshot: &JobSnapshot) -> Counters {
    let mut sum = Counters::default();
    // Winners come in the order of the attempts: kind, index.
    let mut winners = snapshot.winners.iter(snapshot.meta.id).peekable();
    for record in snapshot.attempts.iter() {
        while winners.next_if(|winner| (winner.kind, winner.index) < (record.id.kind, record.id.index)).is_some() {}
        let counts = match winners.peek() {
            Some(winner) if winner.kind == record.id.kind && winner.index == record.id.index => *winner == record.id,
            // Until a task has finished, its running attempt speaks for it.
            _ => !record.state.is_final() && snapshot.attempts.first_live(record.id.task()) == Some(record.id),
        };
        if counts {
            sum.merge(&record.counters.unpack());
        }
    }
    let (mut sum, cut) = limits::within(sum, limits::COUNTERS_OF_JOB);
    if !cut.is_nothing() {
        tracing::debug!(%cut, "a job's counters were cut");
    }
    let tally = &snapshot.tally;
    let by_kind = [
        (tally.launched, ["Launched map tasks", "Launched reduce tasks"]),
        (tally.failed, ["Failed map tasks", "Failed reduce tasks"]),
        (tally.killed, ["Killed map tasks", "Killed reduce tasks"]),
    ];
    let mut add = |name: &str, value: i64| {
        if value != 0 {
            sum.add(JOB, name, value);
        }
    };
    for (values, names) in by_kind {
        add(names[0], values[0].into());
        add(names[1], values[1].into());
    }
    add("Data-local map tasks", tally.maps_by_locality[Locality::Node as usize].into());
    add("Rack-local map tasks", tally.maps_by_locality[Locality::Rack as usize].into());
    add("Other local map tasks", tally.maps_by_locality[Locality::OffRack as usize].into());
    add("SLOTS_MILLIS_MAPS", (tally.slot_us[0] / 1_000) as i64);
    add("SLOTS_MILLIS_REDUCES", (tally.slot_us[1] / 1_000) as i64);
    sum
}

/// Why an attempt ended, and if that was because its job did, how the job ended.
const fn cause_within(cause: EndCause, job: JobState) -> &'static str {
    match (cause, job) {
        (EndCause::JobEnded, JobState::Killed) => "its job was killed by request",
        (EndCause::JobEnded, JobState::Failed) => "its job failed",
        _ => cause_text(cause),
    }
}

impl AttemptRecord {
    /// As the history of a job in this state stores it.
    pub(crate) fn history(&self, cluster: ClusterId, job: JobState) -> AttemptHistory {
        let end = self.end.as_deref();
        AttemptHistory {
            attempt: cluster.attempt(self.id),
            task: cluster.task(self.id.task()),
            kind: self.id.kind,
            index: self.id.index,
            number: self.id.number,
            state: self.state,
            phase: self.phase,
            progress: self.progress.fraction(),
            worker: self.worker.to_string(),
            host: self.host.to_string(),
            rack: self.rack.to_string(),
            locality: self.locality,
            speculative: self.speculative,
            assigned_ms_epoch: self.assigned.as_ms(),
            ended_ms_epoch: self.ended.as_ms(),
            cause: self.cause.map_or("", |cause| cause_within(cause, job)).to_owned(),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal),
            diagnostics: end.map_or_else(String::new, |end| end.diagnostics.clone()),
            stderr_tail: end.map_or_else(String::new, |end| end.stderr_tail.clone()),
            cpu_us: end.map_or(0, |end| end.cpu_us),
            peak_memory_kib: end.map_or(0, |end| end.peak_memory_kib),
            started_ms_epoch: end.map_or(0, |end| end.started_ms_epoch),
            shuffle_done_ms_epoch: end.map_or(0, |end| end.shuffle_done_ms_epoch),
            sort_done_ms_epoch: end.map_or(0, |end| end.sort_done_ms_epoch),
            finished_ms_epoch: end.map_or(0, |end| end.finished_ms_epoch),
            message: self.message.clone(),
            counters: self.counters.unpack(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_under_the_five_digits_of_earlier_versions_are_found() {
        let run = tempfile::tempdir().expect("a directory");
        let (cluster, job) = (ClusterId(202_611_201_200), JobId(10_000));
        for folder in [DIRECTORY, "jobs"] {
            std::fs::create_dir(run.path().join(folder)).expect("made");
        }
        assert_eq!(find_history(run.path(), cluster, job), None);
        let earlier = |folder: &str| run.path().join(folder).join("job_202611201200_10000.json");
        [DIRECTORY, "jobs"].iter().for_each(|folder| std::fs::write(earlier(folder), "{}").expect("written"));
        assert_eq!(find_history(run.path(), cluster, job), Some(earlier(DIRECTORY)));
        assert_eq!(job_file_path(run.path(), cluster, job), earlier("jobs"));
        let now = run.path().join("jobs/job_202611201200000001_0001.json");
        std::fs::write(&now, "{}").expect("written");
        assert_eq!(job_file_path(run.path(), cluster, job), now);
    }
}
