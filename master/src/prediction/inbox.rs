//! Where launched and finished tasks wait until the prediction thread looks.
//!
//! Waking a thread for each of them would cost the core's thread more than all else that it does for prediction, so they
//! wait here until somebody asks for a forecast, or for a second.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use howdah_planning::prediction::Learned;

/// Launched and finished tasks that may wait, of a few hundred bytes each. What comes beyond is not learnt: the core never waits.
const MOST: usize = 65_536;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    waiting: Mutex<VecDeque<Learned>>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Learned>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves what was learnt of one batch.
    pub(super) fn put(&self, learned: impl Iterator<Item = Learned>) {
        let mut waiting = self.lock();
        let room = MOST.saturating_sub(waiting.len());
        waiting.extend(learned.take(room));
    }

    /// Takes everything, oldest first.
    pub(super) fn take(&self) -> VecDeque<Learned> {
        std::mem::take(&mut *self.lock())
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::*;

    #[test]
    fn what_nobody_takes_is_bounded() {
        let inbox = Inbox::default();
        for _ in 0..3 {
            inbox.put((0..MOST).map(|_| Learned::Commit(Span::from_ms(1))));
        }
        assert_eq!(inbox.take().len(), MOST);
        assert!(inbox.take().is_empty());
    }
}
