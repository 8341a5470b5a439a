//! How many readings a target makes, and how many it has made.
//!
//! Targets are tests in many processes, of which the test runner shows nothing. `cargo xtask soak fuzz` names a folder, into which each
//! writes its count, a file for each process and target.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use proptest::prelude::ProptestConfig;

/// One of so many of the cases that a target has by default or by `PROPTEST_CASES`: for those whose cases take longer. What fails
/// is said with its bytes, and is written into no file.
pub fn cases(one_of: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: (usual.cases / one_of).max(1), failure_persistence: None, ..usual }
}

/// Names the folder for counts.
const VARIABLE: &str = "HOWDAH_TEST_READINGS";

/// A target's count.
#[derive(Debug)]
pub struct Readings {
    what: &'static str,
    count: Mutex<u64>,
}

impl Readings {
    /// Of these.
    pub const fn of(what: &'static str) -> Readings {
        Readings { what, count: Mutex::new(0) }
    }

    /// So many more, which whoever runs the test with `--nocapture` sees.
    pub fn add(&self, more: u64) {
        self.add_in(std::env::var_os(VARIABLE).as_deref(), more);
    }

    /// Panics where the count cannot be written: a sum without it would be wrong.
    fn add_in(&self, folder: Option<&OsStr>, more: u64) {
        // Held while it is written, so that no smaller number comes later.
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += more;
        eprint!("\r{count} readings of {}", self.what);
        if let Some(folder) = folder {
            let file = Path::new(folder).join(format!("{} {}", std::process::id(), self.what));
            let written = std::fs::write(&file, count.to_string());
            written.unwrap_or_else(|error| panic!("{VARIABLE}: `{}`: {error}", file.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_leaves_its_last_count_of_each_target() {
        let folder = std::env::temp_dir().join(format!("howdah-readings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let readings = Readings::of("bytes of a test");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| readings.add_in(Some(folder.as_os_str()), 2)));
            }
        });
        readings.add_in(None, 1_000);
        let file = folder.join(format!("{} bytes of a test", std::process::id()));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "400");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
