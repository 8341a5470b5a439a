//! The journal: every batch of inputs that the core received, beside what it decided.
//!
//! A run's directory holds `header` and `journal/NNNNNNNN.seg`. Everything is stored in frames (`frame.rs`): a few
//! bytes that find and check it, then the payload, a protobuf message of `journal.proto`. Segments are filled with
//! zeros before use, so that syncing a frame touches no metadata; zeros where a frame would begin therefore end a
//! segment. A frame never spans segments. Frames are numbered, and each holds the hash of the one before, so that
//! whole frames cannot go missing unnoticed; a master that stops of its own accord leaves an end mark.
//!
//! **Invariant: no effect leaves the master before the frame of its batch is on disk.**

mod check;
mod frame;
mod reader;
mod repair;
#[cfg(test)]
mod tests;
mod writer;

use std::path::{Path, PathBuf};

pub use check::{Check, check};
pub use reader::{JournalReader, Tail, Truncation, read_header};
pub use repair::{Repair, repair};
pub use writer::JournalWriter;

/// Version of the layout that is written; readers know all up to it.
pub const VERSION: u32 = 2;

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("{action} `{path}`")]
    Io {
        /// A verb phrase.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A frame whose checksum or content is wrong, with valid data behind it.
    #[error("journal `{path}`: frame at offset {offset} is damaged: {problem}")]
    Corrupt {
        /// The segment or header file.
        path: PathBuf,
        /// Of the frame's first byte.
        offset: u64,
        /// What is wrong.
        problem: String,
    },
    /// Frames between two others are gone, or a frame is of another journal.
    #[error("journal `{path}`: frame at offset {offset} {problem}")]
    Missing {
        /// The segment.
        path: PathBuf,
        /// Of the frame's first byte.
        offset: u64,
        /// What does not fit.
        problem: String,
    },
    /// A layout that this program does not know.
    #[error("journal `{path}`: version {found}, expected at most {VERSION}")]
    Version {
        /// The header file.
        path: PathBuf,
        /// The version there.
        found: u32,
    },
    /// A segment is missing between two others.
    #[error("journal `{path}`: missing, but a later segment exists")]
    MissingSegment {
        /// Where it should be.
        path: PathBuf,
    },
    /// The directory holds no run.
    #[error("no recorded run in `{path}`, expected a directory `run-…` with a file `header`")]
    NoRun {
        /// The directory asked for.
        path: PathBuf,
    },
}

impl JournalError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> JournalError {
        let path = path.to_owned();
        move |source| JournalError::Io { action, path, source }
    }
}

impl JournalError {
    /// Whether the journal reads up to a place where something is wrong with it.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            JournalError::Corrupt { .. } | JournalError::Missing { .. } | JournalError::MissingSegment { .. }
        )
    }
}

fn segment_path(run_dir: &Path, number: u32) -> PathBuf {
    run_dir.join("journal").join(format!("{number:08}.seg"))
}

/// The file of the run's header.
fn header_path(run_dir: &Path) -> PathBuf {
    run_dir.join("header")
}

/// Whether a run's directory has a journal; one whose master was killed while it was made has none.
pub(crate) fn has_header(run_dir: &Path) -> bool {
    header_path(run_dir).is_file()
}

/// The recorded run that `dir` names: itself, or the latest `run-…` in it or in its `master` directory.
///
/// # Errors
/// When there is none.
pub fn find_run(dir: &Path) -> Result<PathBuf, JournalError> {
    if header_path(dir).is_file() {
        return Ok(dir.to_owned());
    }
    for place in [dir.to_owned(), dir.join("master")] {
        if let Some(run) = runs_in(&place).into_iter().rev().find(|run| header_path(run).is_file()) {
            return Ok(run);
        }
    }
    Err(JournalError::NoRun { path: dir.to_owned() })
}

/// The runs in a master's directory, oldest first.
pub fn runs_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut runs: Vec<(u64, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_prefix("run-")?;
            let (cluster, serial) = name.split_once('-')?;
            Some((cluster.parse().ok()?, serial.parse().ok()?, path))
        })
        .collect();
    runs.sort_unstable();
    runs.into_iter().map(|(_, _, path)| path).collect()
}
