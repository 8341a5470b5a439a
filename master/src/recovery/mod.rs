//! A master that starts again where another one stopped, however it stopped.
//!
//! It begins with the journal's newest snapshot, or with nothing where there is none. The inputs behind it go through the
//! core, batch by batch, and each batch must do what is recorded. The policy replays the inputs at first: as long as it decides alike, its own books are as they were, too. A build, or an external
//! program, that decides otherwise must not rewrite what workers already do: then the start begins again, applies the
//! recorded decisions, and the policy takes over what is there at the end. Where even that does not lead to what is
//! recorded, the build's other rules have changed, and it refuses. What people see (names, counters, times) is rebuilt
//! from the same inputs and the job files. Then the input `Recovered` starts all clocks again.

mod books;
mod error;
#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod late_tests;
mod leftovers;
#[cfg(test)]
mod long_history;
#[cfg(test)]
mod snapshot_tests;
#[cfg(test)]
mod tests;
mod unfinished;

pub(crate) use self::error::RecoveryError;
pub(crate) use self::leftovers::{clear_leftovers, make_outputs_again};
pub(crate) use self::unfinished::Unfinished;

use std::path::Path;

use howdah_core::job::{ClusterId, JobId, JobState};
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{Scheduler, SchedulerError};
use howdah_core::time::Time;
use howdah_core::tracker::{Input, SchedulerChoice};
use howdah_guards::Guard;
use howdah_proto::convert::{ConvertError, recorded};
use howdah_proto::v1;

use self::books::Books;
use crate::config::MasterConfig;
use crate::digest::Chain;
use crate::history::{find_history, job_file_path, read_excerpt};
use crate::journal;
use crate::journal::{DamagedSnapshot, JournalError, JournalReader, JournalWriter};
use crate::policies;
use crate::recorder::Recorder;
use crate::replay::{Begun, Build, ReplayError, begin, build_of};
use crate::spool::Spooled;
use crate::tables::{JobRow, Tables};

/// Makes a policy from its name and parameters.
type Make = fn(&str, &Params) -> Result<Box<dyn Scheduler>, SchedulerError>;

/// A core, its journal and the tables, as they were.
pub(crate) struct Recovered {
    pub(crate) recorder: Recorder,
    pub(crate) tables: Tables,
    pub(crate) unfinished: Unfinished,
    /// The policy in charge, before `unfinished` changes it.
    pub(crate) in_force: SchedulerChoice,
    /// Of the last batch.
    pub(crate) last: Time,
    pub(crate) last_job: u32,
    pub(crate) batches: u64,
    /// The end was torn, as after a crash, and is cut off.
    pub(crate) torn: bool,
}

/// The header of a run that a master can go on with; recordings of before frames were numbered are only to be read.
pub(crate) fn header_of(run_dir: &Path) -> Result<v1::JournalHeader, RecoveryError> {
    let header = journal::read_header(run_dir)?;
    if header.version == journal::VERSION {
        return Ok(header);
    }
    Err(JournalError::Older { path: run_dir.join("header"), found: header.version }.into())
}

/// Who says what is decided in a batch of the past.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    /// The policy, as it did then.
    Again,
    AsRecorded,
}

/// Reads the run and makes its journal ready to be continued. Nobody else may use it.
pub(crate) fn recover(run_dir: &Path, config: &MasterConfig) -> Result<Recovered, RecoveryError> {
    recover_with(run_dir, config, policies::make)
}

/// As [`recover`], with policies made by the caller.
fn recover_with(run_dir: &Path, config: &MasterConfig, make: Make) -> Result<Recovered, RecoveryError> {
    let failed = |source| RecoveryError::Spool { path: run_dir.to_owned(), source };
    let spooled = Spooled::read(run_dir).map_err(failed)?;
    let mut recovered = match go_through(run_dir, config, make, Decided::Again, &spooled) {
        Err(RecoveryError::Differs { batch, version, .. }) => {
            let recovered = go_through(run_dir, config, make, Decided::AsRecorded, &spooled)?;
            tracing::warn!(batch, version, "this build decides otherwise; what was decided before it stands");
            recovered
        }
        recovered => recovered?,
    };
    let rows = &recovered.tables.jobs;
    let is_live = |job| rows.get(&job).is_some_and(|row| !row.state.is_final());
    spooled.restore(run_dir, recovered.tables.cluster, recovered.last_job, is_live).map_err(failed)?;
    recovered.unfinished.histories = without_history(run_dir, &recovered.tables);
    recovered.unfinished.spools = spooled.paths;
    Ok(recovered)
}

/// Jobs that are over and have none, or one that lacks what was said after the job's end; one without its file was let go.
fn without_history(run_dir: &Path, tables: &Tables) -> Vec<JobId> {
    let cluster = tables.cluster;
    let over = tables.jobs.iter().filter(|(_, row)| row.state.is_final());
    over.filter(|&(&job, _)| job_file_path(run_dir, cluster, job).exists())
        .filter(|&(&job, row)| find_history(run_dir, cluster, job).is_none_or(|path| lacks_an_end(&path, cluster, row)))
        .map(|(&job, _)| job)
        .collect()
}

/// Whether a history does not say how an attempt ended although its worker has said it; few jobs were told so late that theirs
/// is looked at.
fn lacks_an_end(path: &Path, cluster: ClusterId, row: &JobRow) -> bool {
    if !row.was_told_late() {
        return false;
    }
    let mut lacks = false;
    let read = read_excerpt(path, 0..usize::MAX, |attempt| {
        let known = || cluster.parse_attempt(&attempt.attempt).ok().and_then(|id| row.attempt(id));
        lacks |= attempt.finished_ms_epoch == 0 && known().is_some_and(|record| record.end.is_some());
    });
    lacks || read.is_err()
}

fn go_through(
    run_dir: &Path,
    config: &MasterConfig,
    make: Make,
    decided: Decided,
    spooled: &Spooled,
) -> Result<Recovered, RecoveryError> {
    let mut reader = JournalReader::open_latest(run_dir)?;
    let recorded_by = build_of(reader.header());
    let cluster = ClusterId(reader.header().cluster_id);
    let Begun { mut tracker, mut digest, last, mut position } = begin(run_dir, &reader, make)?;
    let mut last = last.unwrap_or(Time::ZERO);
    let mut books = Books::new(cluster, run_dir, &config.limits, tracker.config().free_lost_names, spooled);
    if let Some(since) = reader.began() {
        books.remember(since.snapshot.clone(), tracker.state());
    }
    let (mut inputs, mut effects) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame()? {
        let batches = position.batches + 1;
        let time = Time::from_us(frame.time_us);
        if time <= last {
            return Err(order(run_dir, batches, frame.time_us).into());
        }
        last = time;
        inputs.clear();
        for wire in &frame.inputs {
            inputs.push(Input::try_from(wire).map_err(|source| input(run_dir, batches, source))?);
        }
        let recorded = recorded(&frame).map_err(|source| input(run_dir, batches, source))?;
        books.before(&inputs, frame.inputs, time);
        effects.clear();
        match decided {
            Decided::Again => tracker.apply(time, &inputs, &mut effects),
            Decided::AsRecorded => tracker.apply_recorded(time, &inputs, recorded, &mut effects),
        }
        digest = Chain::after(digest).add(&effects);
        if digest[..] != frame.digest[..] && Guard::WholeJournal.stands() {
            return Err(differs(run_dir, batches, recorded_by));
        }
        position.note(time, &inputs, &effects, tracker.state().last_job());
        let notes = tracker.take_notes();
        books.after(&effects, time, tracker.state(), notes);
    }
    if decided == Decided::AsRecorded {
        // It only looked on: its own books begin with what there is.
        tracker.switch_scheduler(policy(run_dir, &position.in_force, make)?);
    }
    for DamagedSnapshot { path, problem } in reader.damaged_snapshots() {
        let path = path.display();
        tracing::warn!(%path, offset = 0, problem, "a damaged snapshot; this start goes on from the one before it");
    }
    let torn = reader.truncation().is_some();
    let journal = JournalWriter::resume(run_dir, &reader.tail(), config.segment_bytes())?;
    let last_job = tracker.state().last_job();
    let (tables, aborts) = books.close()?;
    let unfinished = Unfinished {
        scheduler: None,
        promotions: in_state(&tables, |state| state == JobState::Committing),
        histories: Vec::new(),
        aborts,
        spools: Vec::new(),
    };
    position.bytes = reader.bytes();
    let (in_force, batches) = (position.in_force.clone(), position.batches);
    let recorder = Recorder::resumed(tracker, digest, journal, position);
    Ok(Recovered { recorder, tables, unfinished, in_force, last, last_job, batches, torn })
}

fn policy(run_dir: &Path, choice: &SchedulerChoice, make: Make) -> Result<Box<dyn Scheduler>, ReplayError> {
    let failed = |source| ReplayError::Scheduler { path: run_dir.to_owned(), source };
    make(&choice.name, &choice.params).map_err(failed)
}

fn in_state(tables: &Tables, wanted: impl Fn(JobState) -> bool) -> Vec<JobId> {
    tables.jobs.iter().filter(|(_, row)| wanted(row.state)).map(|(&job, _)| job).collect()
}

fn order(path: &Path, batch: u64, time_us: u64) -> ReplayError {
    ReplayError::Order { path: path.to_owned(), batch, time_us }
}

fn input(path: &Path, batch: u64, source: ConvertError) -> RecoveryError {
    ReplayError::Input { path: path.to_owned(), batch, source }.into()
}

fn differs(path: &Path, batch: u64, by: Build) -> RecoveryError {
    RecoveryError::Differs { path: path.to_owned(), batch, version: by.version }
}
