//! The worker's directory: who puts what where.
//!
//! ```text
//! DIR/lock                                     held while the worker runs
//! DIR/local/<job>/<attempt>/                   an attempt's working directory; a map's output stays here
//! DIR/userlogs/<job>/<attempt>/{stdout,stderr,syslog}
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use howdah_shared::job::{AttemptId, ClusterId, JobId};
use nix::fcntl::{Flock, FlockArg};

/// Paths below the worker's directory. Made of ids only, never of text from outside.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    /// Empty directories of attempts that are over. The next attempt's is one of them renamed: some file systems
    /// are slow to make files soon after others were deleted, because they avoid what was just in use.
    spares: Arc<Mutex<Vec<PathBuf>>>,
}

/// Empty directories that are kept; more would only lie about until their job is over.
const MAX_SPARES: usize = 256;

impl Directory {
    /// Takes the directory for this process, empties `local`, and makes what is missing.
    pub(crate) fn open(root: &Path) -> anyhow::Result<(Directory, Flock<File>)> {
        fs::create_dir_all(root).with_context(|| format!("create the worker's directory `{}`", root.display()))?;
        let root = root.canonicalize().with_context(|| format!("resolve `{}`", root.display()))?;
        let lock = File::create(root.join("lock")).with_context(|| format!("create `{}/lock`", root.display()))?;
        let Ok(lock) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
            bail!("directory `{}` is in use by another worker\nhelp: give each worker its own --dir", root.display());
        };
        let directory = Directory { root, spares: Arc::default() };
        directory.clear_local().with_context(|| format!("empty `{}/local`", directory.root.display()))?;
        for part in ["local", "userlogs"] {
            let part = directory.root.join(part);
            fs::create_dir_all(&part).with_context(|| format!("create `{}`", part.display()))?;
        }
        Ok((directory, lock))
    }

    /// Makes an attempt's working directory.
    pub(crate) fn make_attempt(&self, path: &Path) -> io::Result<()> {
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // A spare goes away with its job, and a new job has no directory to move it to: then make one.
        match spare.map(|spare| fs::rename(spare, path)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => fs::create_dir_all(path),
        }
    }

    /// Deletes what an attempt left in its working directory; the directory itself goes at the latest with its job.
    pub(crate) fn clear_attempt(&self, cluster: ClusterId, attempt: AttemptId) {
        let path = self.local(cluster, attempt);
        let is_empty = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
            if spares.len() < MAX_SPARES {
                spares.push(path);
                return;
            }
        }
        if let Err(error) = fs::remove_dir_all(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "failed to delete an attempt's files");
        }
    }

    /// Deletes everything that jobs left on the local disk, but for the logs.
    pub(crate) fn clear_local(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join("local")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn local_job(&self, cluster: ClusterId, job: JobId) -> PathBuf {
        self.root.join("local").join(cluster.job(job))
    }

    pub(crate) fn local(&self, cluster: ClusterId, attempt: AttemptId) -> PathBuf {
        self.local_job(cluster, attempt.job).join(cluster.attempt(attempt))
    }

    pub(crate) fn logs(&self, cluster: ClusterId, attempt: AttemptId) -> PathBuf {
        self.root.join("userlogs").join(cluster.job(attempt.job)).join(cluster.attempt(attempt))
    }

    /// Deletes the logs of jobs that nothing was written to for `keep`.
    pub(crate) fn prune_logs(&self, keep: Duration) {
        let Ok(jobs) = fs::read_dir(self.root.join("userlogs")) else { return };
        for job in jobs.flatten() {
            let age = job.metadata().and_then(|meta| meta.modified()).ok();
            let age = age.and_then(|time| SystemTime::now().duration_since(time).ok());
            if age.is_some_and(|age| age > keep)
                && let Err(error) = fs::remove_dir_all(job.path())
            {
                tracing::warn!(path = %job.path().display(), %error, "failed to delete old logs");
            }
        }
    }

    /// Free bytes on the directory's file system; 0 when unknown.
    pub(crate) fn free_bytes(&self) -> u64 {
        nix::sys::statvfs::statvfs(&self.root).map_or(0, |fs| fs.blocks_available() * fs.fragment_size())
    }
}
