//! Where a run's files are, and which runs a directory has.

use std::path::{Path, PathBuf};

use super::error::JournalError;

/// The file of a segment.
pub(super) fn segment_path(run_dir: &Path, number: u32) -> PathBuf {
    run_dir.join("journal").join(format!("{number:08}.seg"))
}

/// The file of the run's header.
pub(super) fn header_path(run_dir: &Path) -> PathBuf {
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
