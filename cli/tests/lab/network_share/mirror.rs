//! The file system itself: a folder's files at another place, by a mood.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fuser::consts::FOPEN_DIRECT_IO;
use fuser::{
    Filesystem, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow,
};
use howdah_core::job::OUTPUT_MARK;

use super::files::{Files, kind};
use super::{Mood, Temper};

/// The kernel remembers nothing: every question is asked anew.
const TTL: Duration = Duration::ZERO;

pub(super) struct Mirror {
    files: Files,
    temper: Temper,
}

/// What a question does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Looks,
    Reads,
    Writes,
}

/// An answer that can say no.
trait Refusable: Send + 'static {
    fn refuse(self, errno: i32);
}

macro_rules! refusable {
    ($($reply:ty),*) => { $(impl Refusable for $reply { fn refuse(self, errno: i32) { self.error(errno); } })* };
}
refusable!(ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite);

fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl Mirror {
    pub(super) fn new(folder: &Path, temper: Temper) -> Mirror {
        Mirror { files: Files::new(folder), temper }
    }

    /// The answer's own way, or `None` where the share's mood has it.
    fn admit<R: Refusable>(&self, does: Does, reply: R) -> Option<R> {
        let mut temper = self.temper.lock();
        let errno = match temper.0 {
            Mood::Hangs => {
                temper.1.push(Box::new(move || reply.refuse(libc::ESTALE)));
                return None;
            }
            Mood::StaleOnce if does == Does::Reads => {
                temper.0 = Mood::Well;
                libc::ESTALE
            }
            Mood::Stale => libc::ESTALE,
            Mood::NoQuota if does == Does::Writes => libc::EDQUOT,
            Mood::Well | Mood::StaleOnce | Mood::NoQuota | Mood::Late(_) => return Some(reply),
        };
        drop(temper);
        reply.refuse(errno);
        None
    }

    /// Whether somebody else made it too short a time ago to be told of.
    fn is_late(&self, path: &Path) -> bool {
        let Mood::Late(by) = self.temper.lock().0 else { return false };
        let metadata = fs::symlink_metadata(path);
        let made = metadata.and_then(|metadata| metadata.created().or_else(|_| metadata.modified()));
        !self.files.is_known(path) && made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < by))
    }

    fn child(&self, parent: u64, name: &OsStr) -> io::Result<PathBuf> {
        Ok(self.files.path(parent)?.join(name))
    }

    fn entry(&mut self, reply: ReplyEntry, path: io::Result<PathBuf>) {
        match path.and_then(|path| self.files.attr(&path)) {
            Ok(attr) => reply.entry(&TTL, &attr, 0),
            Err(error) => reply.error(number(&error)),
        }
    }
}

fn done(reply: ReplyEmpty, result: io::Result<()>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(number(&error)),
    }
}

/// As an open file's flags ask; that it is new is the kernel's business.
fn options(flags: i32) -> OpenOptions {
    let mut options = OpenOptions::new();
    let access = flags & libc::O_ACCMODE;
    options.read(access != libc::O_WRONLY).write(access != libc::O_RDONLY).truncate(flags & libc::O_TRUNC != 0);
    options
}

impl Filesystem for Mirror {
    fn lookup(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        let path = self.child(parent, name);
        match path {
            Ok(path) if self.is_late(&path) => reply.error(libc::ENOENT),
            path => self.entry(reply, path),
        }
    }

    fn getattr(&mut self, _: &Request<'_>, ino: u64, _: Option<u64>, reply: ReplyAttr) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        match self.files.path(ino).and_then(|path| self.files.attr(&path)) {
            Ok(attr) => reply.attr(&TTL, &attr),
            Err(error) => reply.error(number(&error)),
        }
    }

    fn setattr(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<u64>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<u32>,
        reply: ReplyAttr,
    ) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        let changed = self.files.path(ino).and_then(|path| {
            if let Some(size) = size {
                OpenOptions::new().write(true).open(&path)?.set_len(size)?;
            }
            if let Some(mode) = mode {
                fs::set_permissions(&path, Permissions::from_mode(mode & 0o7777))?;
            }
            self.files.attr(&path)
        });
        match changed {
            Ok(attr) => reply.attr(&TTL, &attr),
            Err(error) => reply.error(number(&error)),
        }
    }

    fn mkdir(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let Some(reply) = self.admit(Does::Writes, reply) else { return };
        let made = self.child(parent, name).and_then(|path| {
            DirBuilder::new().mode(mode & !umask).create(&path)?;
            Ok(path)
        });
        self.entry(reply, made);
    }

    fn unlink(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        let removed = self.child(parent, name).and_then(|path| self.files.unlink(&path));
        done(reply, removed);
    }

    fn rmdir(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        let removed = self.child(parent, name).and_then(|path| {
            fs::remove_dir(&path)?;
            self.files.forget(&path);
            Ok(())
        });
        done(reply, removed);
    }

    fn rename(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        new_parent: u64,
        new_name: &OsStr,
        flags: u32,
        reply: ReplyEmpty,
    ) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        // As NFS, which knows no such requests.
        if flags != 0 {
            return reply.error(libc::EINVAL);
        }
        let moved = self.child(parent, name).and_then(|from| {
            let to = self.child(new_parent, new_name)?;
            self.files.rename(&from, &to)
        });
        done(reply, moved);
    }

    fn link(&mut self, _: &Request<'_>, ino: u64, new_parent: u64, new_name: &OsStr, reply: ReplyEntry) {
        let Some(reply) = self.admit(Does::Writes, reply) else { return };
        let linked = self.child(new_parent, new_name).and_then(|path| {
            fs::hard_link(self.files.path(ino)?, &path)?;
            Ok(path)
        });
        self.entry(reply, linked);
    }

    fn open(&mut self, _: &Request<'_>, ino: u64, flags: i32, reply: ReplyOpen) {
        let Some(reply) = self.admit(Does::Looks, reply) else { return };
        match self.files.path(ino).and_then(|path| options(flags).open(path)) {
            Ok(file) => {
                let handle = self.files.add(ino, file);
                reply.opened(handle, FOPEN_DIRECT_IO);
            }
            Err(error) => reply.error(number(&error)),
        }
    }

    fn create(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let Some(reply) = self.admit(Does::Writes, reply) else { return };
        let made = self.child(parent, name).and_then(|path| {
            let mut options = options(flags);
            options.write(true).mode(mode & !umask);
            let file = match flags & libc::O_EXCL {
                0 => options.create(true).open(&path),
                _ => options.create_new(true).open(&path),
            };
            Ok((file?, self.files.attr(&path)?))
        });
        match made {
            Ok((file, attr)) => {
                let handle = self.files.add(attr.ino, file);
                reply.created(&TTL, &attr, 0, handle, FOPEN_DIRECT_IO);
            }
            Err(error) => reply.error(number(&error)),
        }
    }

    fn read(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        handle: u64,
        offset: i64,
        size: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyData,
    ) {
        // The mark of a job is read by who can read it again.
        let is_mark = self.files.path(ino).is_ok_and(|path| path.ends_with(OUTPUT_MARK));
        let does = if is_mark { Does::Looks } else { Does::Reads };
        let Some(reply) = self.admit(does, reply) else { return };
        let mut data = vec![0; size as usize];
        match self.files.opened(handle).and_then(|file| file.read_at(&mut data, offset as u64)) {
            Ok(read) => reply.data(&data[..read]),
            Err(error) => reply.error(number(&error)),
        }
    }

    fn write(
        &mut self,
        _: &Request<'_>,
        _: u64,
        handle: u64,
        offset: i64,
        data: &[u8],
        _: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyWrite,
    ) {
        let Some(reply) = self.admit(Does::Writes, reply) else { return };
        match self.files.opened(handle).and_then(|file| file.write_all_at(data, offset as u64)) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(number(&error)),
        }
    }

    fn flush(&mut self, _: &Request<'_>, _: u64, _: u64, _: u64, reply: ReplyEmpty) {
        self.admit(Does::Looks, reply).into_iter().for_each(ReplyEmpty::ok);
    }

    fn fsync(&mut self, _: &Request<'_>, _: u64, _: u64, _: bool, reply: ReplyEmpty) {
        self.admit(Does::Looks, reply).into_iter().for_each(ReplyEmpty::ok);
    }

    /// Nobody waits for this, whatever the mood.
    fn release(&mut self, _: &Request<'_>, _: u64, handle: u64, _: i32, _: Option<u64>, _: bool, reply: ReplyEmpty) {
        self.files.close(handle);
        reply.ok();
    }

    fn readdir(&mut self, _: &Request<'_>, ino: u64, _: u64, offset: i64, reply: ReplyDirectory) {
        let Some(mut reply) = self.admit(Does::Looks, reply) else { return };
        let listed = self.files.path(ino).and_then(|path| {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                if self.is_late(&entry.path()) {
                    continue;
                }
                let attr = self.files.attr(&entry.path())?;
                entries.push((attr.ino, kind(entry.file_type()?), entry.file_name()));
            }
            Ok(entries)
        });
        match listed {
            Ok(entries) => {
                for (place, (ino, kind, name)) in entries.into_iter().enumerate().skip(offset as usize) {
                    if reply.add(ino, place as i64 + 1, kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(error) => reply.error(number(&error)),
        }
    }
}
