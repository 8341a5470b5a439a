//! A share as network file systems are: it may answer that a handle is stale or a quota used up, or not at all, and what is
//! removed while it is open stays as `.nfs…`.
//!
//! It is a file system in this process (FUSE), mounted where a machine's share is to be. A process that waits for its answer
//! waits in the kernel, in state D, and no signal ends it.

mod files;
mod mirror;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{BackgroundSession, MountOption};

use self::mirror::Mirror;

/// How the share behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    /// Nothing that it is asked is answered until it is well again.
    Hangs,
    /// Every handle is stale.
    Stale,
    /// The next read of an open file finds its handle stale, and no other.
    StaleOnce,
    /// Nothing more can be written.
    NoQuota,
    /// What others make is visible only when it is so old.
    Late(Duration),
}

/// What was asked of a share that hangs, to be refused one day.
type Parked = Box<dyn FnOnce() + Send>;

/// What the test and the file system share.
#[derive(Clone)]
pub(super) struct Temper(Arc<Mutex<(Mood, Vec<Parked>)>>);

impl Temper {
    fn lock(&self) -> MutexGuard<'_, (Mood, Vec<Parked>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A mounted share. It is well again when this is dropped, so that whatever waits for it can end.
pub(crate) struct NetworkShare {
    temper: Temper,
    /// Goes with the test's namespaces: what is still open would keep it from being unmounted.
    _session: std::mem::ManuallyDrop<BackgroundSession>,
}

impl NetworkShare {
    /// Shows a folder at another place. `None` where this machine has no such file systems, or does not permit them.
    pub(crate) fn mount(folder: &Path, at: &Path) -> std::io::Result<NetworkShare> {
        let temper = Temper(Arc::new(Mutex::new((Mood::Well, Vec::new()))));
        let mirror = Mirror::new(folder, temper.clone());
        let session = fuser::spawn_mount2(mirror, at, &[MountOption::FSName("lab".to_owned())])?;
        Ok(NetworkShare { temper, _session: std::mem::ManuallyDrop::new(session) })
    }

    pub(crate) fn set(&self, mood: Mood) {
        let parked = {
            let mut temper = self.temper.lock();
            temper.0 = mood;
            if mood == Mood::Hangs { Vec::new() } else { std::mem::take(&mut temper.1) }
        };
        parked.into_iter().for_each(|refuse| refuse());
    }

    /// How many questions wait for an answer.
    pub(crate) fn waiting(&self) -> usize {
        self.temper.lock().1.len()
    }
}

impl Drop for NetworkShare {
    fn drop(&mut self) {
        self.set(Mood::Well);
    }
}
