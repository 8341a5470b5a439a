//! The logs of an attempt that runs: files that its keeper made and holds open, in a directory that it holds as well.
//!
//! A task may put links, FIFOs or another directory in their place. Only what was made here is collected, by the handles,
//! and only names in the directory that was made here are deleted. What else a task has left in the directory stays there.
//!
//! A process that goes on to another attempt has the same files, and so has the next process of the same job: file systems
//! are slow to make files soon after others were deleted. How much of each file belongs to attempts that are over stands in
//! a file beside them, for readers and for the next start of the worker.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use howdah_guards::Guard;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat, unlinkat};

use super::container::Source;
use super::record::FILES;
use super::written::Written;
use crate::plain;

/// How often a directory is made: that of its job may go at the same moment.
const TRIES: usize = 3;
/// The file that says what was collected of the others.
pub(super) const COLLECTED: &str = "collected";
/// Files that have become longer do not go on to another process.
const MAX_SPARE_BYTES: u64 = 1 << 20;
/// What is left of an attempt's log where the disk has no room for more.
const MAX_LEFT_BYTES: u64 = 64 << 10;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct LiveLogs {
    dir: File,
    written: Arc<Written>,
    collected_file: File,
    /// So much of each file belongs to attempts that are over.
    collected: [u64; 3],
}

impl LiveLogs {
    /// Makes an attempt's log files. The error names the path.
    pub(super) fn create(path: &Path) -> Result<LiveLogs, String> {
        let failed = |error| format!("create directory `{}`: {error}", path.display());
        let mut made = plain::make_dir(path);
        for _ in 1..TRIES {
            if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                made = plain::make_dir(path);
            }
        }
        made.map_err(failed)?;
        let create = |name: &str| {
            let path = path.join(name);
            plain::create(&path).map_err(|error| format!("create log file `{}`: {error}", path.display()))
        };
        let files = [create(FILES[0])?, create(FILES[1])?, create(FILES[2])?];
        let dir = open_dir(path).map_err(failed)?;
        let collected_file = create_collected(&dir).map_err(failed)?;
        Ok(LiveLogs { dir, written: Arc::new(Written::new(files)), collected_file, collected: [0; 3] })
    }

    /// Standard output and standard error, for the process.
    pub(crate) fn streams(&self) -> io::Result<[File; 2]> {
        let files = &self.written.files;
        Ok([files[0].try_clone()?, files[1].try_clone()?])
    }

    /// The files, for whoever watches how long they become.
    pub(crate) fn written(&self) -> &Arc<Written> {
        &self.written
    }

    /// Where the attempt's own lines of its standard error begin.
    pub(crate) fn stderr_begin(&self) -> u64 {
        self.collected[1]
    }

    /// Hands over what was written since the last time, and remembers that if it was taken.
    pub(super) fn collect(&mut self, path: &Path, append: impl FnOnce([Option<Source<'_>>; 3]) -> bool) -> bool {
        let named = (!Guard::PlainFiles.stands()).then(|| FILES.map(|name| plain::open(&path.join(name)).ok()));
        let mut sources = [None; 3];
        for (i, source) in sources.iter_mut().enumerate() {
            let file = named.as_ref().map_or(Some(&self.written.files[i]), |named| named[i].as_ref());
            *source = file.and_then(|file| Source::after(file, self.collected[i]));
        }
        if !append(sources) {
            return false;
        }
        for (collected, source) in self.collected.iter_mut().zip(sources) {
            *collected = source.map_or(*collected, |source| source.end);
        }
        self.written.set_before(self.collected.iter().sum());
        let bytes: Vec<u8> = self.collected.iter().flat_map(|length| length.to_le_bytes()).collect();
        // Without it a reader sees lines of earlier attempts while this process runs its next one.
        let _ = self.collected_file.write_all_at(&bytes, 0);
        true
    }

    /// Leaves the beginning only of what the attempt has written, as nothing of it can be added elsewhere; false if it is
    /// short as it is.
    pub(crate) fn shorten(&self) -> bool {
        let mut shortened = false;
        for (file, begin) in self.written.files.iter().zip(self.collected) {
            let length = file.metadata().map_or(0, |meta| meta.len());
            let end = begin + MAX_LEFT_BYTES;
            if length > end && file.set_len(end).is_ok() {
                shortened = true;
                let note = format!("\n[{} bytes that followed are gone: the disk was full]\n", length - end);
                // There is room now, or else it is missing.
                let _ = file.write_all_at(note.as_bytes(), end);
            }
        }
        shortened
    }

    pub(super) fn is_collected(&self) -> bool {
        let lengths = self.written.files.iter().map(|file| file.metadata().map(|meta| meta.len()).ok());
        lengths.eq(self.collected.map(Some))
    }

    /// Whether the files may go on to another process.
    pub(super) fn is_short(&self) -> bool {
        self.collected.iter().all(|&length| length <= MAX_SPARE_BYTES)
    }

    pub(super) fn delete(self, path: &Path) {
        delete_names(&self.dir);
        // Unless a task has left something of its own there; and that of its job, unless there is another attempt in it.
        if fs::remove_dir(path).is_ok()
            && let Some(job) = path.parent()
        {
            let _ = fs::remove_dir(job);
        }
    }

    /// Whether the directory holds what was made here, nothing else, and can be used as it is.
    pub(super) fn is_as_made(&self, path: &Path) -> bool {
        let is_same = |file: &File, name: &str| {
            let (Ok(own), Ok(there)) = (file.metadata(), statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)) else {
                return false;
            };
            (own.dev(), own.ino()) == (there.st_dev, there.st_ino) && own.permissions().mode() & 0o600 == 0o600
        };
        let is_dir = |meta: fs::Metadata| {
            let own = self.dir.metadata().map(|own| (own.dev(), own.ino())).ok();
            own == Some((meta.dev(), meta.ino())) && meta.permissions().mode() & 0o700 == 0o700
        };
        self.is_collected()
            && fs::symlink_metadata(path).is_ok_and(is_dir)
            && self.written.files.iter().zip(FILES).all(|(file, name)| is_same(file, name))
            && is_same(&self.collected_file, COLLECTED)
            && fs::read_dir(path).is_ok_and(|entries| entries.count() == FILES.len() + 1)
    }
}

fn create_collected(dir: &File) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let make = || openat(dir, COLLECTED, flags, Mode::from_raw_mode(0o644));
    let made = make().or_else(|_| unlinkat(dir, COLLECTED, AtFlags::empty()).and_then(|()| make()));
    Ok(File::from(made?))
}

pub(super) fn delete_names(dir: &File) {
    for name in FILES.into_iter().chain([COLLECTED]) {
        let _ = unlinkat(dir, name, AtFlags::empty());
    }
}

/// What was collected of each file; nothing, if that cannot be read.
pub(super) fn read_collected(file: Option<File>) -> [u64; 3] {
    let mut bytes = [0; 24];
    let read = file.is_some_and(|file| file.read_exact_at(&mut bytes, 0).is_ok());
    let mut collected = [0; 3];
    if read {
        for (length, bytes) in collected.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *length = u64::from_le_bytes(*bytes);
        }
    }
    collected
}

/// Opens a directory that is one itself.
pub(super) fn open_dir(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}
