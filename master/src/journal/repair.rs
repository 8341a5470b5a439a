//! Cuts a journal behind its last frame that can be trusted, or before a snapshot that does not need what is damaged.
//!
//! What is cut off is kept beside it under another name: segments from the cut on, or up to the snapshot, are copied to
//! `cut-N/` first.

use std::fs;
use std::path::{Path, PathBuf};

use super::paths::segment_path;
use super::start::{Start, latest, number_of};
use super::{JournalError, JournalReader, check};

/// What was done.
#[derive(Debug)]
pub struct Repair {
    /// The run's directory.
    pub run: PathBuf,
    /// Batches that stay.
    pub batches: u64,
    /// The segment that was cut, and where; `None` when there was nothing to cut.
    pub cut: Option<(PathBuf, u64)>,
    /// Where the segments lie as they were.
    pub kept: Option<PathBuf>,
}

/// Cuts the journal of the run that `dir` names behind its last good frame. No master may run on it.
///
/// # Errors
/// When there is none, or a file cannot be read, copied or cut.
pub fn repair(dir: &Path) -> Result<Repair, JournalError> {
    let found = check(dir)?;
    let run = found.run;
    if found.torn.is_none() && found.damage.is_none() {
        return Ok(Repair { run, batches: found.batches, cut: None, kept: None });
    }
    let mut reader = JournalReader::open(&run)?;
    while let Ok(Some(_)) = reader.next_frame() {}
    let tail = reader.tail();
    if let Ok(Start::Snapshot(number)) = latest(&run)
        && number > tail.segment
    {
        return cut_before(&run, number, (segment_path(&run, tail.segment), tail.offset));
    }
    let kept = keep(&run, segments_from(&run, tail.segment))?;
    let path = segment_path(&run, tail.segment);
    let file = fs::OpenOptions::new().write(true).open(&path).map_err(JournalError::io("open", &path))?;
    file.set_len(tail.offset).and_then(|()| file.sync_all()).map_err(JournalError::io("cut", &path))?;
    for later in segments_from(&run, tail.segment + 1) {
        fs::remove_file(&later).map_err(JournalError::io("remove", &later))?;
    }
    Ok(Repair { run, batches: found.batches, cut: Some((path, tail.offset)), kept: Some(kept) })
}

/// Lets go of what comes before a snapshot, as something is wrong with it at `damage`.
fn cut_before(run: &Path, snapshot: u32, damage: (PathBuf, u64)) -> Result<Repair, JournalError> {
    let mut old = segments_from(run, 0);
    old.retain(|path| number_of(path).is_some_and(|number| number < snapshot));
    old.sort();
    let kept = keep(run, old.clone())?;
    for path in old {
        fs::remove_file(&path).map_err(JournalError::io("remove", &path))?;
    }
    let batches = check(run)?.batches;
    Ok(Repair { run: run.to_owned(), batches, cut: Some(damage), kept: Some(kept) })
}

/// Copies segments to a directory of their own.
fn keep(run: &Path, segments: Vec<PathBuf>) -> Result<PathBuf, JournalError> {
    let mut number = 1;
    let kept = loop {
        let kept = run.join(format!("cut-{number}"));
        match fs::create_dir(&kept) {
            Ok(()) => break kept,
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(JournalError::io("create", &kept)(e)),
        }
    };
    for segment in segments {
        let Some(name) = segment.file_name() else { continue };
        fs::copy(&segment, kept.join(name)).map_err(JournalError::io("copy", &segment))?;
    }
    Ok(kept)
}

/// The segments there are from a number on; some between may be missing.
fn segments_from(run: &Path, from: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(run.join("journal")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| number_of(path).is_some_and(|number| number >= from)).collect()
}
