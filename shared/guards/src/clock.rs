//! The wall clock of the machine, as daemons and the command read it.
//!
//! Machines' clocks differ, and nothing but what is shown may depend on it. In one machine all processes have one clock, so
//! the tests of a lab set a machine's clock wrong by a variable, `HOWDAH_TEST_CLOCK_OFFSET_MS`, that its processes have.
//! As with guards, what users build does not know it. Times of files are the file system's and stay right.

use std::time::SystemTime;

/// Now.
#[cfg(not(feature = "switch"))]
#[inline(always)]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Now, and as much later or earlier as this process's environment says.
#[cfg(feature = "switch")]
pub fn now() -> SystemTime {
    offset::add(SystemTime::now(), offset::ms())
}

#[cfg(feature = "switch")]
pub use offset::VARIABLE as OFFSET_VARIABLE;

#[cfg(feature = "switch")]
mod offset {
    use std::sync::OnceLock;
    use std::time::{Duration, SystemTime};

    /// By how many milliseconds the clock is ahead; less than 0 if it is behind.
    pub const VARIABLE: &str = "HOWDAH_TEST_CLOCK_OFFSET_MS";

    /// What the environment says, read once. What is no number ends the process: a test would believe that the clock is off.
    pub(super) fn ms() -> i64 {
        static OFFSET: OnceLock<i64> = OnceLock::new();
        *OFFSET.get_or_init(|| match std::env::var(VARIABLE) {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("{VARIABLE}: expected a number, found `{text}`")),
            Err(_) => 0,
        })
    }

    pub(super) fn add(now: SystemTime, ms: i64) -> SystemTime {
        let by = Duration::from_millis(ms.unsigned_abs());
        if ms < 0 { now - by } else { now + by }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_clock_is_ahead_or_behind() {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(5_000);
            assert_eq!(add(now, -3_600_000), SystemTime::UNIX_EPOCH + Duration::from_secs(1_400));
            assert_eq!(add(now, 3_600_000), SystemTime::UNIX_EPOCH + Duration::from_secs(8_600));
        }
    }
}
