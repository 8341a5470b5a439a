//! How a benchmark is to run, and where.

use std::path::PathBuf;

use crate::output::{Screen, note};

/// How a benchmark is to run.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) screen: &'a Screen,
    pub(crate) dir: PathBuf,
    pub(crate) quick: bool,
    pub(crate) repeats: Option<u32>,
    /// Maps of the job whose memory is measured.
    pub(crate) tasks: Option<u32>,
    /// Clusters started so far.
    pub(crate) n_clusters: std::sync::atomic::AtomicU32,
}

impl Bench<'_> {
    /// A directory for another cluster. Nothing is deleted between measurements: ext4 makes new files slowly for
    /// minutes after many were deleted, which would be charged to whatever is measured next.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        let number = self.n_clusters.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.dir.join(format!("{name}-{number}"))
    }

    /// Repeats of each measurement.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// `full`, or `quick` when that was asked for.
    pub(crate) fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A line about the way there.
    pub(crate) fn tell(&self, text: impl AsRef<str>) {
        note(format!("  {}", text.as_ref()));
    }
}
