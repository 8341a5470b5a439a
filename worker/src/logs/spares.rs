//! Log files of processes that are over, for the next process of the same job; no other job gets them.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::live::LiveLogs;

/// Those that are kept; each holds a few files open.
const MAX_SPARES: usize = 32;
/// Jobs that are known to be over: long enough for their last processes to end.
const MAX_OVER: usize = 64;

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    /// With where their directories are.
    spares: Vec<(PathBuf, LiveLogs)>,
    /// Directories of jobs that are over.
    over: VecDeque<PathBuf>,
}

impl Pool {
    fn is_over(&self, path: &Path) -> bool {
        self.over.iter().any(|job| path.parent() == Some(job))
    }
}

impl Spares {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves one to where an attempt of its job wants it.
    pub(super) fn take(&self, path: &Path) -> Option<LiveLogs> {
        let (old, live) = {
            let spares = &mut self.pool().spares;
            let at = spares.iter().rposition(|(spare, _)| spare.parent() == path.parent())?;
            spares.swap_remove(at)
        };
        // A process that got away may have put something there since.
        if live.is_as_made(&old) && fs::rename(&old, path).is_ok() {
            return Some(live);
        }
        live.delete(&old);
        None
    }

    pub(super) fn put(&self, path: &Path, live: LiveLogs) {
        let gone = {
            let mut pool = self.pool();
            pool.spares.push((path.to_owned(), live));
            if pool.is_over(path) {
                pool.spares.pop()
            } else if pool.spares.len() > MAX_SPARES {
                Some(pool.spares.remove(0))
            } else {
                None
            }
        };
        if let Some((path, live)) = gone {
            live.delete(&path);
        }
    }

    /// A job is over: its files go, and so do those of its processes that end later.
    pub(super) fn forget(&self, job: &Path) {
        {
            let over = &mut self.pool().over;
            over.push_back(job.to_owned());
            if over.len() > MAX_OVER {
                over.pop_front();
            }
        }
        self.delete(|path| path.parent() == Some(job));
    }

    pub(super) fn delete_all(&self) {
        self.delete(|_| true);
    }

    fn delete(&self, is_meant: impl Fn(&Path) -> bool) {
        let gone: Vec<_> = self.pool().spares.extract_if(.., |(path, _)| is_meant(path)).collect();
        for (path, live) in gone {
            live.delete(&path);
        }
    }
}
