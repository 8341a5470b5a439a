//! Directories of daemons, and what in them is left over from earlier days.
//!
//! Only paths are named that daemons make, by their names; whatever else lies there is somebody's own. Links are not
//! followed.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use howdah_master::journal::runs_in;

/// Deeper than anything that daemons make.
const DEPTH: u32 = 64;

/// Something that may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leftover {
    pub(super) path: PathBuf,
    pub(super) what: &'static str,
    pub(super) bytes: u64,
    /// When anything in it was last written.
    pub(super) written: SystemTime,
}

/// A directory that one daemon was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) dir: PathBuf,
    is_master: bool,
}

/// The directory itself, or those in it.
pub(super) fn homes(dir: &Path) -> Vec<Home> {
    if let Some(home) = Home::of(dir) {
        return vec![home];
    }
    let mut found: Vec<Home> = entries(dir).iter().filter_map(|entry| Home::of(&entry.path())).collect();
    found.sort_by(|a, b| a.dir.cmp(&b.dir));
    found
}

impl Home {
    fn of(dir: &Path) -> Option<Home> {
        let is_master = !runs_in(dir).is_empty();
        let is_worker = dir.join("incarnation").is_file() && dir.join("userlogs").is_dir();
        (is_master || is_worker).then(|| Home { dir: dir.to_owned(), is_master })
    }

    /// What may go; of a daemon that runs, only what it does not look at.
    pub(super) fn leftovers(&self, is_free: bool) -> Vec<Leftover> {
        let mut found = Vec::new();
        if self.is_master {
            let mut runs = runs_in(&self.dir);
            // The master goes on with the last one, if not now, then when it starts again.
            runs.pop();
            found.extend(runs.into_iter().filter_map(|run| leftover(run, "run")));
        } else if is_free {
            // A worker that runs clears away its own; one that starts empties its work folders.
            for (folder, what) in [("userlogs", "attempts' logs"), ("local", "work folder")] {
                let all = entries(&self.dir.join(folder));
                found.extend(all.iter().filter_map(|entry| leftover(entry.path(), what)));
            }
        }
        // `up` on one machine has them in a folder of their own.
        for folder in [self.dir.clone(), self.dir.join("logs")] {
            let old = entries(&folder).into_iter().filter(is_old_log);
            found.extend(old.filter_map(|entry| leftover(entry.path(), "log")));
        }
        found
    }
}

/// `master.log.1` and the like: what a daemon's log was before.
fn is_old_log(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy().into_owned();
    let number = name.strip_prefix("master.log.").or_else(|| name.strip_prefix("worker.log."));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
        && entry.file_type().is_ok_and(|kind| kind.is_file())
}

fn entries(dir: &Path) -> Vec<DirEntry> {
    fs::read_dir(dir).map(|entries| entries.flatten().collect()).unwrap_or_default()
}

fn leftover(path: PathBuf, what: &'static str) -> Option<Leftover> {
    let (bytes, written) = measure(&path, DEPTH)?;
    Some(Leftover { path, what, bytes, written })
}

/// Bytes at and below a path, and when the last of them was written.
fn measure(path: &Path, depth: u32) -> Option<(u64, SystemTime)> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mut sum = (meta.len(), meta.modified().ok()?);
    if meta.is_dir() && depth > 0 {
        for entry in entries(path) {
            if let Some((bytes, written)) = measure(&entry.path(), depth - 1) {
                sum = (sum.0.saturating_add(bytes), sum.1.max(written));
            }
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
            fs::write(path, "12345").expect("write a file");
        }
    }

    fn names(root: &Path, is_free: bool) -> Vec<String> {
        let all = homes(root).into_iter().flat_map(|home| home.leftovers(is_free));
        let mut names: Vec<String> =
            all.map(|one| one.path.strip_prefix(root).expect("below it").display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_masters_last_run_stays_whoever_runs() {
        let root = tempfile::tempdir().expect("make a folder");
        make(
            root.path(),
            &[
                "master/run-202601010000-1/journal/0",
                "master/run-202601020000-1/journal/0",
                "master/address",
                "master/mine.log.1",
                "master/master.log.1",
                "master/logs/master.log",
                "master/logs/master.log.2",
            ],
        );
        let free = ["master/logs/master.log.2", "master/master.log.1", "master/run-202601010000-1"];
        for is_free in [true, false] {
            assert_eq!(names(root.path(), is_free), free);
        }
        // Named itself it is the same.
        assert_eq!(homes(&root.path().join("master")).len(), 1);
    }

    #[test]
    fn a_worker_that_runs_keeps_its_own_and_one_that_does_not_leaves_logs_and_work() {
        let root = tempfile::tempdir().expect("make a folder");
        make(
            root.path(),
            &[
                "worker-1/incarnation",
                "worker-1/userlogs/job_1/a/stdout",
                "worker-1/local/job_1/a/x",
                "worker-1/mine",
                "worker-1/worker.log",
            ],
        );
        assert_eq!(names(root.path(), true), ["worker-1/local/job_1", "worker-1/userlogs/job_1"]);
        assert_eq!(names(root.path(), false), Vec::<String>::new());
        let size = homes(root.path())[0].leftovers(true)[0].bytes;
        assert!(size >= 5, "{size}");
    }

    #[test]
    fn a_folder_of_somebodys_own_has_nothing_to_clean() {
        let root = tempfile::tempdir().expect("make a folder");
        make(root.path(), &["photos/run-2026/x", "userlogs/x", "local/x"]);
        assert_eq!(homes(root.path()), Vec::new());
    }
}
