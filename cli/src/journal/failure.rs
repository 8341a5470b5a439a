//! What is wrong with a journal, as a failure of the command.

use howdah_master::journal::JournalError;

use crate::failure::Failure;

/// What cannot be read is bad input.
pub(super) fn failure(error: JournalError) -> Failure {
    let failure = Failure::usage(one_line(&error));
    match error {
        JournalError::NoSnapshot { .. } | JournalError::Version { .. } => {
            failure.help(error.advice().unwrap_or_default())
        }
        _ => failure,
    }
}

pub(super) fn one_line(error: &JournalError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
