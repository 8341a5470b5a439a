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

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Fence {
    path: PathBuf,
    met: Mutex<Option<MasterStart>>,
}

impl Fence {
    /// With what an earlier run of the worker noted in this file; a file that does not read says nothing.
    pub(crate) fn open(path: PathBuf) -> Fence {
        let met = fs::read_to_string(&path).ok().and_then(|text| read(&text));
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
