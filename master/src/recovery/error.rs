//! Why a master cannot go on with a run.

use std::path::PathBuf;

use crate::journal::JournalError;
use crate::replay::ReplayError;

/// A run that a master cannot go on with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoveryError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A damaged journal, of which only the end is cut here, or one of another version.
    #[error("{refusal}\nhelp: {advice}", refusal = .0, advice = .0.advice().unwrap_or_default())]
    Refused(JournalError),
    #[error(
        "run `{path}`, batch {batch}: this build makes something else of it than version {version}, which recorded it\n\
         help: start that version, or begin another cluster in this directory with --new-cluster"
    )]
    Differs { path: PathBuf, batch: u64, version: String },
    #[error("run `{path}`: the spools of submissions: {source}")]
    Spool { path: PathBuf, source: std::io::Error },
    #[error("run `{path}`: the file of {job}, which is not over, does not read: {problem}")]
    JobFile { path: PathBuf, job: String, problem: String },
}

impl From<JournalError> for RecoveryError {
    fn from(error: JournalError) -> RecoveryError {
        if error.advice().is_some() { RecoveryError::Refused(error) } else { RecoveryError::Replay(error.into()) }
    }
}
