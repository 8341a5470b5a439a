//! Reads a whole journal and says what is in it and whether it is whole.

use std::path::{Path, PathBuf};

use howdah_core::tracker::Snapshot;

use super::paths::find_run;
use super::{DamagedSnapshot, JournalError, JournalReader, Truncation};

/// What a look at a whole journal found.
#[derive(Debug)]
pub struct Check {
    /// The run's directory.
    pub run: PathBuf,
    /// Of the layout.
    pub version: u32,
    /// Of the program that began it.
    pub program_version: String,
    /// Batches that are gone: the journal begins with a snapshot after them. 0 where it begins with the first batch.
    pub gone: u64,
    /// Snapshots in it, without damaged ones.
    pub snapshots: u64,
    /// Snapshots that do not read and are done without, oldest first.
    pub damaged_snapshots: Vec<DamagedSnapshot>,
    /// Whole batches.
    pub batches: u64,
    /// Inputs in them.
    pub inputs: u64,
    /// Microseconds since the epoch of the first and the last batch; 0 without batches.
    pub first_us: u64,
    /// As above.
    pub last_us: u64,
    /// Starts of a master on it, the first one included.
    pub starts: u64,
    /// The master stopped of its own accord; otherwise it was killed, or still runs.
    pub ended: bool,
    /// The last write is torn here, as after a crash.
    pub torn: Option<Truncation>,
    /// Frames behind this place cannot be trusted.
    pub damage: Option<JournalError>,
}

/// Reads again when a running master removed what was being read, at most so often.
const MAX_READINGS: usize = 5;

/// Reads the journal of the run that `dir` names.
///
/// # Errors
/// When there is none or a file cannot be read; damage is no error but part of the answer.
pub fn check(dir: &Path) -> Result<Check, JournalError> {
    let run = find_run(dir)?;
    let mut tries = 1..MAX_READINGS;
    loop {
        match check_once(run.clone()) {
            Err(JournalError::Removed { .. }) if tries.next().is_some() => {}
            found => return found,
        }
    }
}

fn check_once(run: PathBuf) -> Result<Check, JournalError> {
    let mut reader = JournalReader::open(&run)?;
    let header = reader.header();
    let mut check = Check {
        version: header.version,
        program_version: header.program_version.clone(),
        run,
        gone: 0,
        snapshots: 0,
        damaged_snapshots: Vec::new(),
        batches: 0,
        inputs: 0,
        first_us: 0,
        last_us: 0,
        starts: 1,
        ended: false,
        torn: None,
        damage: None,
    };
    if let Some(since) = reader.began() {
        check.gone = since.snapshot.batches;
        check.snapshots = 1;
        let core = serde_json::from_slice::<Snapshot>(&since.snapshot.core_json);
        check.starts += core.map_or(0, |core| u64::from(core.epoch()));
    }
    loop {
        let next = reader.next_frame();
        check.snapshots += u64::from(reader.take_passed().is_some());
        match next {
            Ok(Some(frame)) => {
                check.batches += 1;
                check.inputs += frame.inputs.len() as u64;
                let recovered = howdah_proto::v1::journal_input::Kind::Recovered;
                let recovers = |input: &howdah_proto::v1::JournalInput| {
                    input.kind == Some(recovered(howdah_proto::v1::JournalRecovered {}))
                };
                check.starts += u64::from(frame.inputs.iter().any(recovers));
                if check.first_us == 0 {
                    check.first_us = frame.time_us;
                }
                check.last_us = frame.time_us;
            }
            Ok(None) => break,
            Err(damage) if damage.is_damage() => {
                check.damage = Some(damage);
                break;
            }
            Err(e) => return Err(e),
        }
    }
    check.damaged_snapshots = reader.damaged_snapshots().to_vec();
    check.ended = reader.ended();
    check.torn = reader.truncation().cloned();
    Ok(check)
}
