//! The newest start of a master that this worker has met: answers of an older one of the same cluster are not taken.
//!
//! It is kept in the worker's directory, so that a worker that was started again does not fall for a master that another one has
//! taken over from. A master of another cluster is obeyed, and is what counts from then on; so is one of a cluster that began in
//! the same minute, whose id is the same and whose nonce is not.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use howdah_proto::v1::MasterStart;
use tonic::Status;

use crate::plain;

/// Four numbers and what stands between them.
const MOST_BYTES: u64 = 256;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Fence {
    path: PathBuf,
    met: Mutex<Option<MasterStart>>,
}

impl Fence {
    /// With what an earlier run of the worker noted in this file; a file that does not read says nothing.
    pub(crate) fn open(path: PathBuf) -> Fence {
        let met = plain::small_text(&path, MOST_BYTES).ok().and_then(|text| read(&text));
        Fence { path, met: Mutex::new(met) }
    }

    pub(crate) fn met(&self) -> Option<MasterStart> {
        *self.lock()
    }

    /// Whether an answer of this start of a master counts. One that does not say which it is, is of an earlier version.
    ///
    /// # Errors
    /// When a newer start of its cluster has been met.
    pub(crate) fn admit(&self, start: Option<MasterStart>) -> Result<(), Status> {
        let Some(start) = start else { return Ok(()) };
        let mut met = self.lock();
        match &*met {
            Some(newest) if *newest == start => return Ok(()),
            Some(newest) if start.is_older_than(newest) => {
                let (cluster, own, newer) = (start.cluster_id, start.epoch, newest.epoch);
                return Err(Status::permission_denied(format!(
                    "it is start {own} of cluster {cluster}, of which this worker has met the newer start {newer}: stop it; if it \
                     is a copy from before, or was begun anew, on purpose, remove `{}` and start the worker again",
                    self.path.display()
                )));
            }
            _ => {}
        }
        let MasterStart { cluster_id, epoch, began_us, nonce } = start;
        let text = format!("{cluster_id} {epoch} {began_us} {nonce}\n");
        let temporary = self.path.with_extension("tmp");
        let written: io::Result<()> = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &self.path));
        if let Err(error) = written {
            // It holds as long as this process.
            tracing::warn!(path = %self.path.display(), %error, "failed to note the master's start");
        }
        *met = Some(start);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<MasterStart>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Earlier versions wrote no nonce.
fn read(text: &str) -> Option<MasterStart> {
    let mut words = text.split_whitespace();
    let start = MasterStart {
        cluster_id: words.next()?.parse().ok()?,
        epoch: words.next()?.parse().ok()?,
        began_us: words.next()?.parse().ok()?,
        nonce: words.next().map_or(Ok(0), str::parse).ok()?,
    };
    words.next().is_none().then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(cluster_id: u64, epoch: u32, began_us: u64, nonce: u64) -> Option<MasterStart> {
        Some(MasterStart { cluster_id, epoch, began_us, nonce })
    }

    #[test]
    fn an_older_start_of_the_same_cluster_is_refused_also_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("met");
        let fence = Fence::open(path.clone());
        assert_eq!(fence.met(), None);
        fence.admit(None).unwrap();
        fence.admit(start(1, 2, 50, 7)).unwrap();
        fence.admit(start(1, 2, 50, 7)).unwrap();
        fence.admit(start(1, 3, 40, 7)).unwrap();
        for fence in [fence, Fence::open(path.clone())] {
            assert_eq!(fence.met(), start(1, 3, 40, 7));
            let refused = fence.admit(start(1, 2, 50, 7)).unwrap_err();
            assert!(refused.message().starts_with("it is start 2 of cluster 1, of which"), "{refused}");
            fence.admit(start(1, 3, 39, 7)).unwrap_err();
            fence.admit(None).unwrap();
        }
        Fence::open(path.clone()).admit(start(2, 1, 1, 8)).unwrap();
        assert_eq!(Fence::open(path.clone()).met(), start(2, 1, 1, 8));
        for damaged in ["", "1 2", "1 2 3 4 5", "x 2 3", "1 2 3 x"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(Fence::open(path.clone()).met(), None, "{damaged}");
        }
    }

    #[test]
    fn a_cluster_that_began_in_the_same_minute_is_another_one_unless_it_has_no_nonce() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("met");
        Fence::open(path.clone()).admit(start(1, 9, 9, 7)).unwrap();
        Fence::open(path.clone()).admit(start(1, 1, 1, 8)).unwrap();
        assert_eq!(Fence::open(path.clone()).met(), start(1, 1, 1, 8));
        // As an earlier version noted it.
        fs::write(&path, "1 9 9\n").unwrap();
        let fence = Fence::open(path.clone());
        assert_eq!(fence.met(), start(1, 9, 9, 0));
        fence.admit(start(1, 1, 1, 8)).unwrap_err();
        fence.admit(start(1, 10, 1, 8)).unwrap();
        fence.admit(start(1, 9, 9, 0)).unwrap_err();
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes, most_held};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("notes of masters");

    proptest! {
        #![proptest_config(cases(1))]

        #[test]
        fn a_changed_note_is_of_a_start_or_says_nothing_and_the_next_master_is_noted(
            changes in changes(),
            noise in prop::option::weighted(0.2, prop::collection::vec(any::<u8>(), 0..400)),
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let path = dir.path().join("master");
            let bytes = noise.unwrap_or_else(|| changed(b"202611201200 7 1795688944855000 8125601773\n", &changes));
            fs::write(&path, &bytes).expect("write");
            let (fence, held) = most_held(|| Fence::open(path.clone()));
            prop_assert!(held < 4 << 10, "{} bytes were held for {}", held, bytes.len());
            if let Some(MasterStart { cluster_id, epoch, began_us, nonce }) = fence.met() {
                let said = String::from_utf8(bytes).expect("it was read");
                let of = |word: &str| word.parse::<u64>().expect("it was read");
                let mut words: Vec<u64> = said.split_whitespace().map(of).collect();
                words.resize(4, 0);
                prop_assert_eq!(words, [cluster_id, u64::from(epoch), began_us, nonce]);
            }
            // One of another cluster is always obeyed, and is what the next start of the worker knows.
            let cluster_id = fence.met().map_or(1, |met| met.cluster_id ^ 1);
            let other = MasterStart { cluster_id, epoch: 1, began_us: 9, nonce: 3 };
            fence.admit(Some(other)).expect("another cluster");
            prop_assert_eq!(Fence::open(path).met(), Some(other));
            READINGS.add(1);
        }
    }
}
