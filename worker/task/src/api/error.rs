//! Errors that cross the line between programs and the library.
//!
//! A program may fail with anything that is an error, so its side is a boxed error and `?` works on all of them.
//! The library's own failures are [`TaskError`]s, which name the thing, where in it, and what was expected.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Any error. Strings convert into it too: `return Err("the puzzle has no solution".into())`.
pub type Error = Box<dyn StdError + Send + Sync>;

/// What functions of programs return.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// What the library itself reports.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file operation.
    #[error("{action} `{path}`")]
    Io {
        /// A verb phrase: `open`, `read at byte 17`.
        action: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A property whose value cannot be read.
    #[error("property `{key}`: `{value}` is not {expected}")]
    Property {
        /// Its name.
        key: String,
        /// As given.
        value: String,
        /// A noun phrase.
        expected: String,
    },
    /// Stored or fetched data that does not hold what was written.
    #[error("{what} is damaged at byte {offset}: {detail}")]
    Damaged {
        /// The file or the fetched segment.
        what: String,
        /// Where in it.
        offset: u64,
        /// What was found and what was expected.
        detail: String,
    },
    /// A record that breaks a rule of the interface.
    #[error("{0}")]
    Rule(String),
    /// What a user's function returned, with the record it was working on.
    #[error("{place}")]
    Program {
        /// The file and the record.
        place: String,
        /// The program's own error.
        source: Error,
    },
    /// The worker is gone or speaks nonsense.
    #[error("the worker's umbilical: {0}")]
    Umbilical(String),
}

impl TaskError {
    /// Shortens `map_err` on file operations.
    pub(crate) fn io(action: impl Into<String>, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> TaskError {
        let (action, path) = (action.into(), path.into());
        move |source| TaskError::Io { action, path, source }
    }
}

/// An error and its causes on one line, as `outer: inner: innermost`.
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
