//! A folder and a mark for a test that starts its processes itself.

use std::path::PathBuf;

use tempfile::TempDir;

use super::processes::Mark;

/// Whatever carries the mark when this goes out of scope is killed, also when the test panics; then the folder goes.
pub(crate) struct Scene {
    pub(crate) mark: Mark,
    pub(crate) folder: TempDir,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.mark.kill_all();
    }
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene { mark: Mark::new(), folder: tempfile::tempdir().expect("make a folder") }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
