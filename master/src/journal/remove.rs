//! What came before a snapshot goes, up to what is to be kept of it.
//!
//! Whoever calls this has the snapshot on disk. The oldest segments go first, so that what is left after a kill in the
//! middle is the journal's end. **Invariant: the newest snapshot, and all behind it, stays.**

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

/// Removes segments before the newest snapshot. Those before it from an older snapshot on stay, if they have `keep` bytes
/// at most.
///
/// # Errors
/// When the directory cannot be read or a file not be removed; the rest goes next time.
pub fn remove_before_snapshot(run_dir: &Path, keep: u64) -> Result<Removed, JournalError> {
    let journal = run_dir.join("journal");
    let segments = last_segments(run_dir);
    let size = |number: u32| segment_path(run_dir, number).metadata().map_or(0, |data| data.len());
    let (mut first, mut kept) = (None, 0_u64);
    for &number in segments.iter().rev() {
        kept = if first.is_some() { kept.saturating_add(size(number)) } else { 0 };
        if kept > keep {
            break;
        }
        if begins_with_snapshot(run_dir, number) {
            first = Some(number);
        }
    }
    // All of it fits if it fits from the very beginning on.
    let whole = segments.first() == Some(&1) && kept <= keep;
    let Some(first) = first.filter(|_| !whole) else { return Ok(Removed::default()) };
    let entries = std::fs::read_dir(&journal).map_err(JournalError::io("read", &journal))?;
    let mut old: Vec<u32> = entries.filter_map(|entry| number_of(&entry.ok()?.path())).collect();
    old.retain(|&number| number < first);
    old.sort_unstable();
    let mut removed = Removed::default();
    for number in old {
        let path = segment_path(run_dir, number);
        let bytes = size(number);
        std::fs::remove_file(&path).map_err(JournalError::io("remove", &path))?;
        removed = Removed { segments: removed.segments + 1, bytes: removed.bytes + bytes };
    }
    Ok(removed)
}
