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
    /// Of the last snapshot.
    pub(super) last_bytes: u64,
}

/// At work a snapshot comes when so many times the bytes have come that are waited for at rest, and so many times what the last
/// one took: large ones come rarely.
const AT_WORK: u64 = 2;

impl Compaction {
    /// For a run's directory.
    pub(crate) fn new(run_dir: PathBuf, every_bytes: u64, keep: KeepInputs) -> Compaction {
        Compaction { run_dir, every_bytes, keep, refused_at: 0, last_bytes: 0 }
    }

    /// Whether one is due, after so many bytes of frames since the last one, although jobs run.
    pub(super) fn is_due_at_work(&self, bytes: u64) -> bool {
        bytes >= AT_WORK.saturating_mul(self.every_bytes.max(self.last_bytes)).saturating_add(self.refused_at)
    }

    /// Whether one is due after so many bytes of frames since the last one.
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        bytes >= self.every_bytes.saturating_add(self.refused_at)
    }
}
