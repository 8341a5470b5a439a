//! When free memory goes back to the system.
//!
//! The C library keeps what was freed for the next who asks; only the free end of a heap goes back by itself. After a large job
//! its heaps are mostly free and as large as ever, for as long as the master lives.

use crate::heap::give_back;

/// Attempts of jobs that are over, after which it is worth the while: a few MB.
const ATTEMPTS: usize = 5_000;

/// When to give it back.
#[derive(Debug, Default)]
pub(super) struct Trim {
    attempts: usize,
}

impl Trim {
    /// So many attempts of a job that is over are on disk. Gives free memory back if it was a large job, or many small ones.
    pub(super) fn after(&mut self, attempts: usize) {
        if self.is_due(attempts) {
            give_back();
        }
    }

    fn is_due(&mut self, attempts: usize) -> bool {
        self.attempts += attempts;
        let due = self.attempts >= ATTEMPTS;
        if due {
            self.attempts = 0;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_jobs_add_up_to_a_large_one() {
        let mut trim = Trim::default();
        assert!(trim.is_due(ATTEMPTS) && !trim.is_due(0));
        assert_eq!((0..2 * ATTEMPTS).filter(|_| trim.is_due(1)).count(), 2);
    }
}
