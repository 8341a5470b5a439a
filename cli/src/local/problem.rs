//! What cannot be done with a path, in one form.

use std::path::Path;

use crate::failure::Failure;

/// ``cannot WHAT `PATH`: why``
pub(crate) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot {what} `{}`: {error}", path.display()))
}
