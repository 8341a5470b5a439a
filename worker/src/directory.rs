//! The worker's directory: who puts what where.
//!
//! ```text
//! DIR/lock                                     held while the worker runs
//! DIR/incarnation                              the number of the newest start in this directory
//! DIR/master                                   the newest start of a master that was met; see `fence`
//! DIR/cgroup                                   the worker's control group, one directory a line, while it has one
//! DIR/local/<job>/<attempt>/                   an attempt's working directory; a map's output stays here, and is what a
//!                                              later start finds of an earlier one; see `kept`
//! DIR/userlogs/<job>/<attempt>/{stdout,stderr,syslog,collected}    while the attempt runs
//! DIR/userlogs/<job>.logs                      the logs of the job's attempts that are over; see `logs`
//! ```

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail};
use howdah_core::job::{AttemptId, ClusterId, JobId};
use howdah_guards::Guard;
use nix::fcntl::{Flock, FlockArg};

use crate::plain;

/// Paths below the worker's directory. Made of ids only, never of text from outside.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    /// Empty directories of attempts that are over. The next attempt of the same job gets one of them renamed: some file
    /// systems are slow to make files soon after others were deleted, because they avoid what was just in use. No other
    /// job gets it: a process that got away may still have it as its working directory.
    spares: Arc<Mutex<Vec<PathBuf>>>,
    /// Jobs whose files were set aside.
    forgotten: Arc<AtomicU64>,
}

/// How far a start's number is above the last start's at least: a worker counts on from it when its master sends
/// it back to register, and never comes so far.
const INCARNATION_STEP: u64 = 1_000_000;
/// A hundred years.
const MOST_AHEAD_US: u64 = 100 * 366 * 86_400 * 1_000_000;
/// A number and the end of its line.
const MOST_INCARNATION_BYTES: u64 = 64;
/// Empty directories that are kept; more would only lie about until their job is over.
const MAX_SPARES: usize = 256;

impl Directory {
    /// Takes the directory for this process and makes what is missing. What an earlier one left in `local` is `kept`'s business.
    pub(crate) fn open(root: &Path) -> anyhow::Result<(Directory, Flock<File>)> {
        fs::create_dir_all(root).with_context(|| format!("create the worker's directory `{}`", root.display()))?;
        let root = root.canonicalize().with_context(|| format!("resolve `{}`", root.display()))?;
        let lock = File::create(root.join("lock")).with_context(|| format!("create `{}/lock`", root.display()))?;
        let Ok(lock) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) else {
            bail!("directory `{}` is in use by another worker\nhelp: give each worker its own --dir", root.display());
        };
        let directory = Directory { root, spares: Arc::default(), forgotten: Arc::default() };
        // Map output is for those who have the job's token.
        for (part, mode) in [("local", 0o700), ("userlogs", 0o755)] {
            let part = directory.root.join(part);
            let made = fs::DirBuilder::new().recursive(true).mode(mode).create(&part);
            made.with_context(|| format!("create `{}`", part.display()))?;
        }
        Ok((directory, lock))
    }

    /// A number for this start of the worker: `now_us`, but larger than at any earlier start in this directory,
    /// also if the clock was set back, or the master would take this run for an older one.
    pub(crate) fn next_incarnation(&self, now_us: u64) -> anyhow::Result<u64> {
        let path = self.root.join("incarnation");
        let noted = plain::small_text(&path, MOST_INCARNATION_BYTES).ok();
        // What lies further ahead than any clock was ever wrong is not ours: from the largest number there would be no next one.
        let last = noted.and_then(|text| text.trim().parse::<u64>().ok());
        let last = last.filter(|last| last.saturating_sub(now_us) < MOST_AHEAD_US);
        let next = last.map_or(now_us, |last| now_us.max(last.saturating_add(INCARNATION_STEP)));
        let temporary = self.root.join("incarnation.tmp");
        let written = fs::write(&temporary, format!("{next}\n")).and_then(|()| fs::rename(&temporary, &path));
        written.with_context(|| format!("write `{}`", path.display()))?;
        Ok(next)
    }

    /// Where it is noted which start of a master was met.
    pub(crate) fn master_start(&self) -> PathBuf {
        self.root.join("master")
    }

    /// Says where the worker's control group is, for those who want to join it; `None` when it is gone.
    pub(crate) fn name_group(&self, dirs: Option<&[PathBuf]>) -> io::Result<()> {
        let path = self.root.join("cgroup");
        let Some(dirs) = dirs else { return fs::remove_file(path) };
        fs::write(path, dirs.iter().map(|dir| format!("{}\n", dir.display())).collect::<String>())
    }

    /// Sets a job's files aside, which is quick, and says where they wait to be deleted. An attempt of the job
    /// that comes while they are must not lose its files to that.
    pub(crate) fn set_aside(&self, cluster: ClusterId, job: JobId) -> Option<PathBuf> {
        let own = self.local_job(cluster, job);
        self.spares().retain(|spare| !spare.starts_with(&own));
        let n = self.forgotten.fetch_add(1, Ordering::Relaxed);
        let aside = self.root.join("local").join(format!("forgotten-{n}"));
        match fs::rename(own, &aside) {
            Ok(()) => Some(aside),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(job = cluster.job(job), %error, "failed to set a job's files aside");
                }
                None
            }
        }
    }

    /// Sets one attempt's files aside, and its job's directory if nothing else is in it; says where they wait to be deleted.
    pub(crate) fn set_aside_attempt(&self, path: &Path) -> Option<PathBuf> {
        self.spares().retain(|spare| spare != path);
        let n = self.forgotten.fetch_add(1, Ordering::Relaxed);
        let aside = self.local_root().join(format!("forgotten-{n}"));
        if let Err(error) = fs::rename(path, &aside) {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "failed to set an attempt's files aside");
            }
            return None;
        }
        // Fails where there are others.
        let _ = path.parent().map(fs::remove_dir);
        Some(aside)
    }

    /// Makes an attempt's working directory.
    pub(crate) fn make_attempt(&self, path: &Path) -> io::Result<()> {
        if !Guard::WorkDirectories.stands() {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
        }
        // Keepers add to them meanwhile, so the lock is not held while the file system is at work.
        match self.take_spare(path) {
            Some(spare) if fs::rename(&spare, path).is_ok() => Ok(()),
            _ => plain::make_dir(path),
        }
    }

    /// One that is the same job's.
    fn take_spare(&self, path: &Path) -> Option<PathBuf> {
        let mut spares = self.spares();
        let is_own = |spare: &PathBuf| spare.parent() == path.parent() || !Guard::WorkDirectories.stands();
        let at = spares.iter().rposition(is_own)?;
        Some(spares.swap_remove(at))
    }

    fn spares(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes what an attempt left in its working directory; the directory itself goes at the latest with its job.
    pub(crate) fn clear_attempt(&self, cluster: ClusterId, attempt: AttemptId) {
        let path = self.local(cluster, attempt);
        if is_as_new(&path) || !Guard::WorkDirectories.stands() {
            let mut spares = self.spares();
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

    /// Where the directories of jobs are.
    pub(crate) fn local_root(&self) -> PathBuf {
        self.root.join("local")
    }

    /// Where all logs are.
    pub(crate) fn userlogs(&self) -> PathBuf {
        self.root.join("userlogs")
    }

    pub(crate) fn local_job(&self, cluster: ClusterId, job: JobId) -> PathBuf {
        self.root.join("local").join(cluster.job(job))
    }

    pub(crate) fn local(&self, cluster: ClusterId, attempt: AttemptId) -> PathBuf {
        self.local_job(cluster, attempt.job).join(cluster.attempt(attempt))
    }

    /// Free bytes on the directory's file system; `None` when unknown.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let fs = nix::sys::statvfs::statvfs(&self.root).ok()?;
        Some(fs.blocks_available() * fs.fragment_size())
    }
}

/// Whether a directory holds nothing and may be used as one that was just made.
fn is_as_new(path: &Path) -> bool {
    let is_usable = |meta: fs::Metadata| meta.is_dir() && meta.permissions().mode() & 0o700 == 0o700;
    fs::symlink_metadata(path).is_ok_and(is_usable)
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_start_has_a_larger_incarnation_though_the_clock_was_set_back() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, lock) = Directory::open(dir.path()).unwrap();
        let first = directory.next_incarnation(5_000_000_000).unwrap();
        assert_eq!(first, 5_000_000_000);
        drop((directory, lock));
        let (directory, _lock) = Directory::open(dir.path()).unwrap();
        let second = directory.next_incarnation(1_000).unwrap();
        assert!(second > first + 1_000);
        assert_eq!(directory.next_incarnation(9_000_000_000).unwrap(), 9_000_000_000);
    }

    #[test]
    fn a_work_directory_is_handed_on_within_its_job_alone_and_only_empty() {
        use std::os::unix::fs::MetadataExt;

        use howdah_core::job::{TaskId, TaskKind};

        let dir = tempfile::tempdir().unwrap();
        let (directory, _lock) = Directory::open(dir.path()).unwrap();
        let cluster = ClusterId(1);
        let attempt = |job, index| TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0);
        let make = |job, index| {
            let path = directory.local(cluster, attempt(job, index));
            directory.make_attempt(&path).unwrap();
            assert!(is_as_new(&path), "{job} {index}");
            fs::metadata(&path).unwrap().ino()
        };
        let first = make(1, 0);
        // What still has it as its working directory can write there.
        let held = File::open(directory.local(cluster, attempt(1, 0))).unwrap();
        directory.clear_attempt(cluster, attempt(1, 0));
        assert_ne!(make(2, 0), first, "another job's");
        assert_eq!(make(1, 1), first, "the same job's");
        fs::write(directory.local(cluster, attempt(1, 1)).join("left"), "").unwrap();
        directory.clear_attempt(cluster, attempt(1, 1));
        assert_ne!(make(1, 2), first, "it was not empty");
        drop(held);
        fs::set_permissions(directory.local(cluster, attempt(1, 2)), fs::Permissions::from_mode(0o500)).unwrap();
        directory.clear_attempt(cluster, attempt(1, 2));
        assert!(directory.spares().is_empty(), "nobody could write there");
        make(1, 3);
        directory.clear_attempt(cluster, attempt(1, 3));
        directory.set_aside(cluster, JobId(1)).unwrap();
        assert!(directory.spares().is_empty(), "they went with their job");
    }

    #[test]
    fn files_that_are_set_aside_are_out_of_a_new_attempts_way() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, _lock) = Directory::open(dir.path()).unwrap();
        let (cluster, job) = (ClusterId(1), JobId(1));
        assert_eq!(directory.set_aside(cluster, job), None, "nothing is there");
        fs::create_dir_all(directory.local_job(cluster, job).join("old")).unwrap();
        let aside = directory.set_aside(cluster, job).unwrap();
        assert!(aside.join("old").exists() && !directory.local_job(cluster, job).exists());
        fs::create_dir_all(directory.local_job(cluster, job).join("new")).unwrap();
        assert_ne!(directory.set_aside(cluster, job).unwrap(), aside);
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::*;

    static READINGS: Readings = Readings::of("incarnations");

    proptest! {
        #![proptest_config(cases(4))]

        #[test]
        fn whatever_the_file_says_each_start_has_a_larger_number_than_the_one_before(
            changes in changes(),
            now_us in 0..u64::MAX / 4,
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let (directory, _lock) = Directory::open(dir.path()).expect("a worker's directory");
            fs::write(dir.path().join("incarnation"), changed(b"1795688944855000\n", &changes)).expect("write");
            let first = directory.next_incarnation(now_us).expect("it can be written");
            let second = directory.next_incarnation(now_us).expect("it can be written");
            prop_assert!(first >= now_us && second > first, "{} {}", first, second);
            READINGS.add(1);
        }
    }
}
