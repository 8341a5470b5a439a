//! The number of this start of a cluster's master.
//!
//! Starts are counted in the journal. One that was cut by `howdah journal repair` may have lost starts that workers have met, and
//! they would take its next one for a copy that another master has gone on from. So the newest number lies beside the journal
//! as well, and a start is younger than both.

use std::path::Path;

use crate::noted::{note, noted};

/// Name of the file in the run's directory.
const FILE: &str = "start";

/// The number of this start, of which the journal has counted `before`; on disk when it is given.
pub(crate) fn next(run_dir: &Path, before: u32) -> anyhow::Result<u32> {
    // What is no number, or is missing as in runs of earlier versions, is no more than the journal knows.
    let newest = noted(run_dir, FILE).map_or(before, |noted: u32| noted.max(before));
    let next = newest.saturating_add(1);
    note(run_dir, FILE, next)?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_younger_than_what_the_journal_counted_and_than_what_was_noted() {
        let dir = tempfile::tempdir().unwrap();
        let next = |before| next(dir.path(), before).unwrap();
        assert_eq!([next(0), next(1), next(2)], [1, 2, 3]);
        assert_eq!([next(0), next(1)], [4, 5], "the journal was cut");
        assert_eq!(next(9), 10, "the file is of an older copy");
        std::fs::write(dir.path().join(FILE), "soon\n").unwrap();
        assert_eq!(next(3), 4);
    }
}
