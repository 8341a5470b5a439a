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
    /// A file of an HDFS.
    #[error("{what} `{path}`")]
    Hdfs {
        /// `input` or `output`.
        what: &'static str,
        /// Its address.
        path: String,
        /// What went wrong.
        source: howdah_webhdfs::Error,
    },
    /// An object in a bucket.
    #[error("{what} `{path}`")]
    S3 {
        /// `input`.
        what: &'static str,
        /// Its address.
        path: String,
        /// What went wrong.
        source: howdah_s3::Error,
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
    /// A path that the job needs and this machine does not see.
    #[error("this machine does not see `{path}`: {problem}; is the file system that all machines share mounted here?")]
    Unseen {
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// Stored or fetched data that is not what was written.
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
    /// Something that the job needs is not on this machine: a command, an input.
    #[error("{what}")]
    Missing {
        /// A verb phrase with its name: ``start the command `x` ``.
        what: String,
        /// What the system said.
        source: std::io::Error,
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

/// Whether no other attempt of the task could end better than with this error. Attempts of any number fail by the same
/// bad property. What is missing on one machine may be there on another, so a speculative attempt looks for it before
/// that counts as fatal, and Hadoop's rule sends that one elsewhere where it can.
pub(crate) fn is_fatal(error: &(dyn StdError + 'static), attempt_number: u16) -> bool {
    let missing = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied)
    };
    let is_second = !attempt_number.is_multiple_of(1_000);
    let mut cause = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<TaskError>() {
            Some(TaskError::Property { .. }) => return true,
            Some(TaskError::Missing { source, .. }) if is_second && missing(source) => return true,
            _ => cause = error.source(),
        }
    }
    false
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_property_is_fatal_at_once_and_what_is_missing_at_the_second_try() {
        let within =
            |source: TaskError| TaskError::Program { place: "the map's setup".to_owned(), source: source.into() };
        let property = || TaskError::Property { key: "k".into(), value: "v".into(), expected: "a size".into() };
        let missing = |kind: std::io::ErrorKind| TaskError::Missing { what: "start `x`".into(), source: kind.into() };
        assert!(is_fatal(&property(), 0) && is_fatal(&within(property()), 1_000));
        let not_found = std::io::ErrorKind::NotFound;
        assert!(!is_fatal(&within(missing(not_found)), 0) && !is_fatal(&missing(not_found), 1_000));
        assert!(is_fatal(&within(missing(not_found)), 1) && is_fatal(&missing(not_found), 1_002));
        assert!(!is_fatal(&missing(std::io::ErrorKind::OutOfMemory), 1));
        assert!(!is_fatal(&TaskError::Rule("a rule".into()), 3));
    }
}
