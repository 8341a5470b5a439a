//! The settings of compaction, and when a snapshot is due; `compact.rs` takes it.

use std::path::PathBuf;

use crate::config::KeepInputs;

/// The master's settings for it.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(super) run_dir: PathBuf,
    /// Bytes of frames from one snapshot to the next.
    every_bytes: u64,
    pub(super) keep: KeepInputs,
    /// How many bytes there were when one could not be taken: the next try is a whole interval later. Zero otherwise.
    pub(super) refused_at: u64,
}

impl Compaction {
    /// For a run's directory.
    pub(crate) fn new(run_dir: PathBuf, every_bytes: u64, keep: KeepInputs) -> Compaction {
        Compaction { run_dir, every_bytes, keep, refused_at: 0 }
    }

    /// Whether one is due after so many bytes of frames since the last one.
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        bytes >= self.every_bytes.saturating_add(self.refused_at)
    }
}
