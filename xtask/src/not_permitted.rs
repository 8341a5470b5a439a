//! What the machine or its user did not permit, named at the end of a run.
//!
//! Tests write a line into a file for each thing that they could not test (`cli/tests/permitted`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// As the tests read it.
pub(crate) const VARIABLE: &str = "HOWDAH_TEST_NOT_PERMITTED";

/// The file of the run.
pub(crate) fn file() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| std::env::temp_dir().join(format!("howdah-not-permitted-{}", std::process::id())))
}

/// The lines of a file, each once; it is removed.
pub(crate) fn take(file: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let _ = std::fs::remove_file(file);
    text.lines().map(str::to_owned).collect()
}
