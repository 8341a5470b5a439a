//! What is wrong with a journal.

use std::path::{Path, PathBuf};

/// Version of the layout that is written, and gone on with; readers know all up to it. A field that is added is no new version:
/// who does not know it reads on without.
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
    #[error("journal `{path}`: version {found} of the layout, expected 1 to {VERSION}")]
    Version {
        /// The header file.
        path: PathBuf,
        /// The version there.
        found: u32,
    },
    /// A layout that is read and not written any more.
    #[error("journal `{path}`: version {found} of the layout, expected {VERSION} to go on with it")]
    Older {
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
    /// What came before a snapshot is gone, and the snapshot does not read.
    #[error(
        "journal `{path}`: frame at offset 0 is no whole snapshot ({problem}), and the segments before it are gone"
    )]
    NoSnapshot {
        /// The oldest segment that is left.
        path: PathBuf,
        /// What is wrong with its first frame.
        problem: String,
    },
    /// A master that runs removed what is not needed for a start any more.
    #[error("journal `{path}`: the master removed it while it was read, as it took a snapshot; read again")]
    Removed {
        /// What was to be read next.
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
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> JournalError {
        let path = path.to_owned();
        move |source| JournalError::Io { action, path, source }
    }
}

impl JournalError {
    /// Whether a file is not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, JournalError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether the journal reads up to a place where something is wrong with it.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            JournalError::Corrupt { .. }
                | JournalError::Missing { .. }
                | JournalError::MissingSegment { .. }
                | JournalError::NoSnapshot { .. }
        )
    }

    /// What a person can do about it, for a `help:` line.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            JournalError::NoSnapshot { .. } => Some(
                "nothing is left to begin with: put back a copy of the run's directory, or begin another cluster in the \
                 master's directory with --new-cluster",
            ),
            JournalError::Version { .. } => Some(
                "another version of howdah wrote it: start that one, or begin another cluster in the master's directory with \
                 --new-cluster",
            ),
            JournalError::Older { .. } => Some(
                "an older version of howdah wrote it: start that one, or begin another cluster in the master's directory with \
                 --new-cluster; `howdah validate` and `howdah journal` read it still",
            ),
            error if error.is_damage() => Some(
                "`howdah journal check` says how much reads; `howdah journal repair` cuts the journal there; \
                 --new-cluster begins another cluster in this directory",
            ),
            _ => None,
        }
    }
}
