//! Handles on users' output directories of this machine's file systems: the one place of the master that touches them.
//!
//! Tasks are users' programs. They may put symbolic links, devices or reserved names where the master expects files, or
//! exchange a directory for a link while it works. So everything goes through the handle of a directory and a plain name in
//! it, links are never followed, files are made exclusively, and a rename never replaces anything. Removal takes a bounded
//! number of descriptors, however deep the tree is that a task left. Before every step that changes an output or puts it on its
//! disk stands a call of `step`, by which tests count the steps, refuse them, or end the work between two of them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use howdah_guards::Guard;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

#[cfg(test)]
use super::steps::step;
use super::store::{Kind, Store, TEMPORARY, mark_name};

/// Of a directory that is only looked into: nothing that a task put there is opened by it.
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);
/// Bytes of a mark: a job's id and the end of its line.
const LONGEST_MARK: u64 = 256;
/// Rounds of removing before what others keep adding is left.
const ROUNDS: u32 = 10;

/// Nothing but tests asks.
#[cfg(not(test))]
#[inline(always)]
fn step(_what: &str, _name: &OsStr) -> io::Result<()> {
    Ok(())
}

/// Whether a file system has no such call, or not for such a thing.
fn is_not_offered(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP))
}

/// Puts what is open on the disk. Where there is no such call, the file system has done what it does.
fn sync_open(open: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let synced = step("sync", name).and_then(|()| Ok(rustix::fs::fsync(open)?));
    synced.or_else(|error| if is_not_offered(&error) { Ok(()) } else { Err(error) })
}

/// Whether a disk says that it failed: what it was given is lost, and the next sync would not say so again.
pub(super) fn is_of_the_disk(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
}

/// Links in the place of directories are errors.
fn unlinked() -> OFlags {
    if Guard::OutputLinks.stands() { OFlags::NOFOLLOW } else { OFlags::empty() }
}

/// An open directory.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

impl Folder {
    /// Opens a directory by its path. Links on the way are followed, as administrators make them; the last name must be
    /// the directory itself.
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder(rustix::fs::openat(CWD, path, DIRECTORY | unlinked(), Mode::empty())?))
    }

    /// Makes a directory in this one; it must not exist.
    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    /// Makes a file with this text in it; it must not exist.
    pub(super) fn make_text(&self, name: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o644))?;
        File::from(file).write_all(text.as_bytes())
    }

    /// The job that the mark in the private part names, if one does.
    pub(super) fn marked_by(&self) -> Option<String> {
        let private = self.folder(TEMPORARY.as_ref()).ok()?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | unlinked();
        let mark = File::from(rustix::fs::openat(&private.0, mark_name(), flags, Mode::empty()).ok()?);
        let mut text = String::new();
        let is_file = mark.metadata().ok()?.is_file();
        is_file.then(|| mark.take(LONGEST_MARK).read_to_string(&mut text)).and_then(Result::ok)?;
        // A machine that lost its power may have kept the name and not the text.
        Some(text.trim_end().to_owned()).filter(|job| !job.is_empty())
    }

    /// Writes a file in the place of an empty one or of nothing. What else is there is an error.
    pub(super) fn write_mark(&self, text: &str) -> io::Result<()> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | unlinked();
        let mut mark = File::from(rustix::fs::openat(&self.0, mark_name(), flags, Mode::from_raw_mode(0o666))?);
        let found = mark.metadata()?;
        if !found.is_file() || found.len() > 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        mark.write_all(text.as_bytes())
    }

    /// Puts its own name on the disk, as far as the directory above may be read.
    pub(super) fn sync_name(&self) -> io::Result<()> {
        let above = OsStr::new("..");
        match self.folder(above) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            folder => sync_open(&folder?.0, above),
        }
    }

    fn unlink(&self, name: &OsStr, flags: AtFlags) -> io::Result<()> {
        step("remove", name)?;
        Ok(rustix::fs::unlinkat(&self.0, name, flags)?)
    }

    fn move_by_link(&self, name: &OsStr, target: &Folder) -> io::Result<()> {
        if self.kind(name)? == Kind::Folder {
            return match target.kind(name) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    step("move", name)?;
                    Ok(rustix::fs::renameat(&self.0, name, &target.0, name)?)
                }
                Err(error) => Err(error),
            };
        }
        step("link", name)?;
        rustix::fs::linkat(&self.0, name, &target.0, name, AtFlags::empty())?;
        self.unlink(name, AtFlags::empty())
    }

    fn remove_once(&self, name: &OsStr) -> io::Result<()> {
        if self.kind(name)? != Kind::Folder {
            return self.unlink(name, AtFlags::empty());
        }
        self.folder(name)?.clear()?;
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    /// Removes all that is in it and can be removed. Directories inside directories are first moved up, so that no depth
    /// matters. What cannot be removed, as a file that somebody has open on a network file system, keeps nothing else.
    fn clear(&self) -> io::Result<()> {
        let mut moved = 0_u64;
        loop {
            let names = self.names()?;
            let all = names.len();
            let problems: Vec<io::Error> =
                names.iter().filter_map(|name| self.clear_away(name, &mut moved).err()).collect();
            // The others may have brought more up.
            if problems.len() == all {
                return problems.into_iter().next().map_or(Ok(()), Err);
            }
        }
    }

    fn clear_away(&self, name: &OsStr, moved: &mut u64) -> io::Result<()> {
        step("remove", name)?;
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let inner = self.folder(name)?;
        let mut problem = None;
        for child in inner.names()? {
            step("remove", &child)?;
            let removed = match rustix::fs::unlinkat(&inner.0, &child, AtFlags::empty()) {
                Err(Errno::NOENT) => Ok(()),
                Err(Errno::ISDIR | Errno::PERM) => {
                    // A name that no other process is likely to have; one that does is overtaken by the next round. One that was
                    // killed may have had our number, as in a container, and left some.
                    let up = loop {
                        *moved += 1;
                        let up = format!(".removed-{}-{moved}", std::process::id());
                        if self.kind(up.as_ref()).is_err() {
                            break up;
                        }
                    };
                    step("rename", &child)?;
                    rustix::fs::renameat_with(&inner.0, &child, &self.0, &up, RenameFlags::empty())
                }
                removed => removed,
            };
            problem = problem.or(removed.err());
        }
        if let Some(problem) = problem {
            return Err(problem.into());
        }
        step("remove", name)?;
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            // Someone added something meanwhile: the next round finds it.
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Store for Folder {
    fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        Ok(Folder(rustix::fs::openat(&self.0, name, DIRECTORY | unlinked(), Mode::empty())?))
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        let flags = if Guard::OutputLinks.stands() { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
        let stat = rustix::fs::statat(&self.0, name, flags)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Other("a symbolic link"),
            FileType::Fifo => Kind::Other("a named pipe"),
            FileType::Socket => Kind::Other("a socket"),
            _ => Kind::Other("a device"),
        })
    }

    fn make_file(&self, name: &str) -> io::Result<()> {
        let own = if Guard::OutputLinks.stands() { OFlags::EXCL | OFlags::NOFOLLOW } else { OFlags::TRUNC };
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | own;
        step("create", name.as_ref())?;
        rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?;
        Ok(())
    }

    fn move_to(&self, name: &OsStr, target: &Folder) -> io::Result<()> {
        let renamed = step("move", name)
            .and_then(|()| Ok(rustix::fs::renameat_with(&self.0, name, &target.0, name, RenameFlags::NOREPLACE)?));
        let moved = match renamed {
            // Network file systems do not have it; a second link is as exclusive, for all but directories.
            Err(error) if is_not_offered(&error) => self.move_by_link(name, target),
            renamed => renamed,
        };
        match moved {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_linked_to(name, target)? => {
                self.unlink(name, AtFlags::empty())
            }
            moved => moved,
        }
    }

    fn sync(&self) -> io::Result<()> {
        sync_open(&self.0, ".".as_ref())
    }

    fn sync_file(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | unlinked();
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        sync_open(&file, name.as_ref())
    }

    fn is_linked_to(&self, name: &OsStr, target: &Folder) -> io::Result<bool> {
        let look = |folder: &Folder| rustix::fs::statat(&folder.0, name, AtFlags::SYMLINK_NOFOLLOW);
        let (own, there) = (look(self)?, look(target)?);
        let is_file = FileType::from_raw_mode(own.st_mode) == FileType::RegularFile;
        Ok(is_file && (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino))
    }

    /// What others add meanwhile may stay, and is an error.
    fn remove(&self, name: &OsStr) -> io::Result<()> {
        let mut last = Ok(());
        for _ in 0..ROUNDS {
            last = self.remove_once(name);
            match &last {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(_) => {}
            }
        }
        last
    }

    fn is_out_of_reach(error: &io::Error) -> bool {
        let away = [
            Errno::STALE,
            Errno::NOTCONN,
            Errno::IO,
            Errno::TIMEDOUT,
            Errno::HOSTDOWN,
            Errno::HOSTUNREACH,
            Errno::NETDOWN,
            Errno::NETUNREACH,
            Errno::CONNABORTED,
            Errno::CONNREFUSED,
        ];
        Errno::from_io_error(error).is_some_and(|errno| away.contains(&errno))
    }
}

/// Removes an empty directory by its path; one that is not empty stays.
pub(super) fn remove_if_empty(path: &Path) -> io::Result<()> {
    match rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR) {
        // A link in its place is not ours.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
