//! How many readings a target makes, and how many it has made.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::ProptestConfig;

/// One of so many of the cases that a target has by default or by `PROPTEST_CASES`: for those whose cases take longer. What fails
/// is said with its bytes, and is written into no file.
pub fn cases(one_of: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: (usual.cases / one_of).max(1), failure_persistence: None, ..usual }
}

/// A target's count.
#[derive(Debug)]
pub struct Readings {
    what: &'static str,
    count: AtomicU64,
}

impl Readings {
    /// Of these.
    pub const fn of(what: &'static str) -> Readings {
        Readings { what, count: AtomicU64::new(0) }
    }

    /// So many more, which whoever runs the test with `--nocapture` sees.
    pub fn add(&self, more: u64) {
        let all = self.count.fetch_add(more, Ordering::Relaxed) + more;
        eprint!("\r{all} readings of {}", self.what);
    }
}
