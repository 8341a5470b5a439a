//! How much is in the log files of an attempt that runs, for whoever watches the disk.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// An attempt's log files, by handles: whatever is done to their names.
#[derive(Debug)]
pub(crate) struct Written {
    pub(super) files: [File; 3],
    /// So much belongs to attempts that are over, in all of them together.
    before: AtomicU64,
}

impl Written {
    pub(crate) fn new(files: [File; 3]) -> Written {
        Written { files, before: AtomicU64::new(0) }
    }

    pub(super) fn set_before(&self, bytes: u64) {
        self.before.store(bytes, Ordering::Relaxed);
    }

    /// What the attempt itself has written.
    pub(crate) fn bytes(&self) -> u64 {
        self.sum(|meta| meta.len()).saturating_sub(self.before.load(Ordering::Relaxed))
    }

    /// What the files take of the disk.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.sum(|meta| meta.blocks() * 512)
    }

    fn sum(&self, part: impl Fn(Metadata) -> u64) -> u64 {
        self.files.iter().filter_map(|file| file.metadata().ok()).map(part).sum()
    }
}
