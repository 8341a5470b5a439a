//! What came before a snapshot goes, up to what is to be kept of it.
//!
//! Whoever calls this knows that the snapshot is on disk; that it reads does not say so. The oldest segments go first, so
//! that what is left after a kill in the middle is the journal's end. **Invariant: that snapshot, the one before it or the
//! journal's beginning, and all behind them stay, so that a start does not depend on one snapshot.**

use std::path::Path;

use super::JournalError;
use super::paths::segment_path;
use super::start::{begins_with_snapshot, last_segments, number_of};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// So many files.
    pub segments: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// Removes segments before the snapshot that precedes the one that begins segment `snapshot` and is on disk. Those before
/// the latter, from an older snapshot on, stay as well if they have `keep` bytes at most together. A younger snapshot may be
/// under way, and is let alone.
///
/// # Errors
/// When the directory cannot be read or a file not be removed; the rest goes next time.
pub fn remove_before_snapshot(run_dir: &Path, snapshot: u32, keep: u64) -> Result<Removed, JournalError> {
    let journal = run_dir.join("journal");
    let mut segments = last_segments(run_dir);
    segments.retain(|&number| number <= snapshot);
    let size = |number: u32| segment_path(run_dir, number).metadata().map_or(0, |data| data.len());
    let (mut first, mut kept) = (None, 0_u64);
    for &number in segments.iter().rev() {
        kept = if first.is_some() { kept.saturating_add(size(number)) } else { 0 };
        if kept > keep && first != Some(snapshot) {
            break;
        }
        if begins_with_snapshot(run_dir, number) {
            first = Some(number);
        }
    }
    // All of it stays if it fits from the very beginning on, or if there is no other snapshot.
    let whole = segments.first() == Some(&1) && (kept <= keep || first == Some(snapshot));
    let Some(first) = first.filter(|_| !whole) else { return Ok(Removed::default()) };
    let entries = std::fs::read_dir(&journal).map_err(JournalError::io("read", &journal))?;
    let mut old: Vec<u32> = entries.filter_map(|entry| number_of(&entry.ok()?.path())).collect();
    old.retain(|&number| number < first);
    old.sort_unstable();
    let mut removed = Removed::default();
    for number in old {
        let path = segment_path(run_dir, number);
        let bytes = size(number);
        match std::fs::remove_file(&path) {
            // Another removal was faster.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            done => done.map_err(JournalError::io("remove", &path))?,
        }
        removed = Removed { segments: removed.segments + 1, bytes: removed.bytes + bytes };
    }
    Ok(removed)
}

/// Removes all before the newest snapshot, as builds did that knew no way around a damaged one.
#[cfg(test)]
pub(crate) fn leave_only_newest(run_dir: &Path) -> Removed {
    let segments = last_segments(run_dir);
    let newest = segments.iter().copied().rev().find(|&number| begins_with_snapshot(run_dir, number));
    let newest = newest.expect("there is a snapshot");
    let mut removed = Removed::default();
    for path in segments.into_iter().filter(|&number| number < newest).map(|number| segment_path(run_dir, number)) {
        removed = Removed { segments: removed.segments + 1, bytes: removed.bytes + path.metadata().unwrap().len() };
        std::fs::remove_file(path).unwrap();
    }
    removed
}

/// As [`remove_before_snapshot`], with the newest one that there is.
#[cfg(test)]
pub(super) fn remove_before_newest(run_dir: &Path, keep: u64) -> Result<Removed, JournalError> {
    let newest = last_segments(run_dir).into_iter().rev().find(|&number| begins_with_snapshot(run_dir, number));
    remove_before_snapshot(run_dir, newest.expect("there is a snapshot"), keep)
}
