//! Walking input directories: every file below, links followed, within bounds and until someone says stop.
//!
//! Inputs are users' trees. Links can lead in a circle, or make few directories look like millions; a tree can be larger than
//! anyone meant. So a walk enters no directory that it is already inside of, it counts what it looks at, and it can be
//! stopped by whoever asked for it.

use std::fs;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use howdah_guards::Guard;

use super::input_error::{InputError, MAX_DEPTH, MAX_ENTRIES};

/// Set when nobody waits for a walk any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Cancel(Arc<Wanted>);

#[derive(Debug, Default)]
struct Wanted {
    no_more: AtomicBool,
    looks: AtomicU64,
}

/// Cancels when dropped.
#[derive(Debug)]
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.no_more.store(true, Ordering::Relaxed);
    }
}

impl Cancel {
    pub(super) fn is_set(&self) -> bool {
        self.0.looks.fetch_add(1, Ordering::Relaxed);
        self.0.no_more.load(Ordering::Relaxed)
    }

    /// How often it was looked at: whoever looks is alive.
    pub(super) fn looks(&self) -> u64 {
        self.0.looks.load(Ordering::Relaxed)
    }
}

/// One walk over a job's inputs.
#[derive(Debug)]
pub(super) struct Walk {
    recursive: bool,
    cancel: Cancel,
    entries: usize,
    /// Device and number of the directories that the walk is inside of.
    inside: Vec<(u64, u64)>,
}

impl Walk {
    pub(super) fn new(recursive: bool, cancel: Cancel) -> Walk {
        Walk { recursive, cancel, entries: 0, inside: Vec::new() }
    }

    /// Calls `take` for each file at or below `path`, in order of their paths.
    pub(super) fn files(
        &mut self,
        path: &Path,
        take: &mut dyn FnMut(&Path, &Metadata) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let io = |source| InputError::Io { path: path.to_owned(), source };
        self.count()?;
        let meta = fs::metadata(path).map_err(io)?;
        if meta.is_file() {
            return take(path, &meta);
        }
        if !meta.is_dir() {
            return Err(InputError::Special { path: path.to_owned() });
        }
        if !self.inside.is_empty() && !self.recursive {
            return Err(InputError::Nested { path: path.to_owned() });
        }
        let this = (meta.dev(), meta.ino());
        let is_circle = self.inside.contains(&this) || self.inside.len() >= MAX_DEPTH;
        if is_circle && Guard::InputWalk.stands() {
            return Err(InputError::Circle { path: path.to_owned() });
        }
        let children = self.children(path)?;
        self.inside.push(this);
        let walked = children.iter().try_for_each(|child| self.files(child, take));
        self.inside.pop();
        walked
    }

    fn children(&mut self, path: &Path) -> Result<Vec<PathBuf>, InputError> {
        let io = |source| InputError::Io { path: path.to_owned(), source };
        let mut children = Vec::new();
        for entry in fs::read_dir(path).map_err(io)? {
            self.count()?;
            let child = entry.map_err(io)?.path();
            if !is_hidden(&child) {
                children.push(child);
            }
        }
        children.sort();
        Ok(children)
    }

    fn count(&mut self) -> Result<(), InputError> {
        let is_wanted = !self.cancel.is_set();
        if !Guard::InputWalk.stands() {
            return Ok(());
        }
        if !is_wanted {
            return Err(InputError::Cancelled);
        }
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(InputError::TooManyEntries) } else { Ok(()) }
    }
}

/// Whether Hadoop leaves a file of this name alone.
pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().first().is_some_and(|b| matches!(b, b'_' | b'.')))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn count(path: &Path, cancel: Cancel) -> Result<usize, InputError> {
        let mut n = 0;
        Walk::new(true, cancel).files(path, &mut |_, _| {
            n += 1;
            Ok(())
        })?;
        Ok(n)
    }

    #[test]
    fn links_in_a_circle_are_an_error_and_links_side_by_side_are_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/f"), "x").unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert_eq!(count(dir.path(), Cancel::default()).unwrap(), 2);
        symlink("..", dir.path().join("a/up")).unwrap();
        let error = count(dir.path(), Cancel::default()).unwrap_err();
        assert!(matches!(error, InputError::Circle { .. }), "{error}");
    }

    #[test]
    fn a_graph_of_links_that_looks_like_millions_of_directories_is_left_when_nobody_waits() {
        let dir = tempfile::tempdir().unwrap();
        // Two links from each of thirty directories to the next: 2^30 paths.
        for n in 0..30 {
            let at = dir.path().join(format!("d{n}"));
            fs::create_dir(&at).unwrap();
            for name in ["l", "r"] {
                symlink(format!("../d{}", n + 1), at.join(name)).unwrap();
            }
        }
        fs::create_dir(dir.path().join("d30")).unwrap();
        let cancel = Cancel::default();
        let guard = CancelOnDrop(cancel.clone());
        let start = dir.path().join("d0");
        let walk = std::thread::spawn(move || count(&start, cancel));
        drop(guard);
        let error = walk.join().unwrap().unwrap_err();
        assert!(matches!(error, InputError::Cancelled | InputError::TooManyEntries), "{error}");
    }
}
