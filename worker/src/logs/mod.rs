//! The logs of attempts: files of their own while an attempt runs, then a record in the container of their job.
//!
//! ```text
//! DIR/userlogs/<job>/<attempt>/{stdout,stderr,syslog,collected}    while the attempt runs
//! DIR/userlogs/<job>.logs                                          all attempts of the job that are over
//! ```
//!
//! A million attempts would leave four million files otherwise. A keeper moves an attempt's logs, on its own thread: the
//! record is whole before the files go. So a reader who finds no record takes the files and then looks once more. What a
//! worker that was killed has left as files is collected when it starts again. A container that a task has spoilt or
//! replaced takes nothing in: the logs then stay files. Not synced: a power cut may cost logs, as it may cost files.

mod container;
#[cfg(test)]
mod fuzz;
mod index;
mod keeping;
mod live;
mod reading;
mod record;
mod recovery;
mod spares;
mod written;

pub(crate) use self::live::LiveLogs;
pub(crate) use self::reading::Piece;
pub(crate) use self::record::FILES;
pub(crate) use self::recovery::parse_attempt;
pub(crate) use self::written::Written;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use howdah_core::job::{AttemptId, ClusterId, JobId};

use self::container::{Container, Source};
use self::index::Indexes;
use self::spares::Spares;

/// Containers that are kept open.
const MAX_OPEN: usize = 32;
/// What a container's name has after its job's.
const SUFFIX: &str = ".logs";

/// By the container's path.
type Writers = HashMap<PathBuf, Arc<Mutex<Option<Container>>>>;

/// All logs on this worker.
#[derive(Debug)]
pub(crate) struct Logs {
    /// `DIR/userlogs`
    root: PathBuf,
    /// What a container may hold.
    bound: u64,
    writers: Mutex<Writers>,
    indexes: Indexes,
    spares: Spares,
    /// Whether it was said that logs stay files.
    warned: AtomicBool,
}

impl Logs {
    pub(crate) fn new(root: PathBuf, bound: u64) -> Logs {
        Logs {
            root,
            bound,
            writers: Mutex::default(),
            indexes: Indexes::default(),
            spares: Spares::default(),
            warned: AtomicBool::new(false),
        }
    }

    /// Where an attempt's logs are while it runs.
    pub(crate) fn live(&self, cluster: ClusterId, attempt: AttemptId) -> PathBuf {
        self.root.join(cluster.job(attempt.job)).join(cluster.attempt(attempt))
    }

    fn container(&self, cluster: ClusterId, job: JobId) -> PathBuf {
        self.root.join(cluster.job(job) + SUFFIX)
    }

    /// Adds what is in an attempt's files to its job's container; false when they must stay.
    fn append(&self, cluster: ClusterId, attempt: AttemptId, files: [Option<Source<'_>>; 3]) -> bool {
        let path = self.container(cluster, attempt.job);
        let writer = self.writer(&path);
        // One writer at a time for each job.
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let added = (|| -> io::Result<()> {
            let container = match &mut *writer {
                Some(container) if container.is_intact() => container,
                other => other.insert(Container::open(&path)?),
            };
            container.append(attempt, files, self.bound)
        })();
        if let Err(error) = &added {
            *writer = None;
            if !self.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(path = %path.display(), %error, "failed to add to a job's logs; they stay files");
            }
        }
        added.is_ok()
    }

    fn writer(&self, path: &Path) -> Arc<Mutex<Option<Container>>> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if !writers.contains_key(path) && writers.len() >= MAX_OPEN {
            // Whoever has one holds it, so no file ever has two writers.
            writers.retain(|_, writer| Arc::strong_count(writer) > 1);
        }
        writers.entry(path.to_owned()).or_default().clone()
    }

    /// A job is over: nothing is written to its logs any more, or only what still ends.
    pub(crate) fn forget(&self, cluster: ClusterId, job: JobId) {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.container(cluster, job);
        if writers.get(&path).is_some_and(|writer| Arc::strong_count(writer) == 1) {
            writers.remove(&path);
        }
        drop(writers);
        let live = self.root.join(cluster.job(job));
        self.spares.forget(&live);
        // Unless there are logs in it.
        let _ = fs::remove_dir(live);
    }

    /// Deletes the logs of jobs to which nothing was written for `keep`.
    pub(crate) fn prune(&self, keep: Duration) {
        self.spares.delete_all();
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        let mut jobs: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let job = path.with_file_name(name.strip_suffix(SUFFIX).unwrap_or(&name));
            jobs.entry(job).or_default().push(path);
        }
        for paths in jobs.into_values() {
            let newest = paths.iter().filter_map(|path| last_written(path, 2)).max();
            let age = newest.and_then(|time| SystemTime::now().duration_since(time).ok());
            if age.is_some_and(|age| age > keep) {
                paths.iter().for_each(|path| delete(path));
            }
        }
    }
}

fn delete(path: &Path) {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let deleted = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = deleted {
        tracing::warn!(path = %path.display(), %error, "failed to delete old logs");
    }
}

/// When something at or below a path was last written, to a depth.
fn last_written(path: &Path, depth: u32) -> Option<SystemTime> {
    let own = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let entries = if depth > 0 { fs::read_dir(path).ok() } else { None };
    let below = entries.into_iter().flatten().flatten().filter_map(|entry| last_written(&entry.path(), depth - 1));
    below.chain(own).max()
}

#[cfg(test)]
mod tests;
