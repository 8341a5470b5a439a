//! Output directories of failed jobs that are about to be cleared away.
//!
//! A job is reported as failed before its output is gone. Whoever wants the same directory for the next job
//! waits here, or would be told that it exists, or would lose it again to the clearing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// A file system that hangs must not hold a submission for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shared by the core's thread, the one that clears, and submissions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clearing(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Clearing {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, output: &Path) {
        self.lock().insert(output.to_owned());
    }

    pub(super) fn end(&self, output: &Path) {
        self.lock().remove(output);
    }

    /// Waits until a directory is not about to be cleared away, within reason.
    pub(crate) async fn wait(&self, output: &Path) {
        let gone = async {
            while self.lock().contains(output) {
                tokio::time::sleep(PAUSE).await;
            }
        };
        // Reserving the directory will say what is wrong.
        let _ = tokio::time::timeout(PATIENCE, gone).await;
    }
}
