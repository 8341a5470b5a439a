//! Who works on something now that may hang: so many submissions for each name node, for the store, and for each file system of
//! the master's machine, so that one that hangs holds up nobody whose files lie elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A number of turns for each that was asked for.
#[derive(Debug)]
pub(crate) struct Turns<K> {
    at_a_time: usize,
    all: Mutex<BTreeMap<K, Arc<Semaphore>>>,
}

impl<K: Ord> Turns<K> {
    pub(crate) fn new(at_a_time: usize) -> Turns<K> {
        Turns { at_a_time, all: Mutex::default() }
    }

    /// Waits for a turn at each of these, in one order for all, so that nobody waits in a circle.
    pub(super) async fn take(&self, places: BTreeSet<K>) -> Vec<OwnedSemaphorePermit> {
        let mut turns = Vec::new();
        for place in places {
            let turn = {
                let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(all.entry(place).or_insert_with(|| Arc::new(Semaphore::new(self.at_a_time))))
            };
            // They are never closed.
            turns.extend(turn.acquire_owned().await);
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::mounts::mounts_of;

    #[tokio::test]
    async fn a_file_system_whose_turns_are_taken_holds_up_no_other() {
        const AT_A_TIME: usize = 32;
        let turns = Turns::new(AT_A_TIME);
        let paths = |text: &'static str| mounts_of([Path::new(text)]);
        let mut taken = Vec::new();
        for _ in 0..AT_A_TIME {
            taken.extend(turns.take(paths("/proc/x")).await);
        }
        assert_eq!(taken.len(), AT_A_TIME);
        assert_eq!(turns.take(paths("/")).await.len(), 1);
        let mut waits = std::pin::pin!(turns.take(paths("/proc/y")));
        assert!(tokio::time::timeout(Duration::ZERO, &mut waits).await.is_err());
        taken.pop();
        assert_eq!(waits.await.len(), 1);
    }
}
