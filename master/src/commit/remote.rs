//! Directories of an output that lies in an HDFS.
//!
//! There are no links there, and no handles: every path begins at the root. What keeps others' output safe is the job's mark,
//! which is looked at before anything is moved or removed, and moves that replace nothing. A name node that is away for a while
//! is waited for, because a job's work is done by then; a master that ends meanwhile goes on after its next start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use howdah_core::job::OUTPUT_MARK;
use howdah_webhdfs::{Client, Error, FileKind, JobOutput, Owner};

use super::listed::{Listed, path_in};
use super::store::{Kind, Store, mark_name};
use super::waits::{LONG, SOON};

/// A directory.
#[derive(Debug)]
pub(super) struct RemoteFolder {
    client: Client,
    output: JobOutput,
    path: String,
    listed: Listed,
}

/// The system's kind of what a name node says.
pub(super) fn as_io(error: Error) -> io::Error {
    let kind = match &error {
        error if error.is_missing() => io::ErrorKind::NotFound,
        error if error.is_existing() => io::ErrorKind::AlreadyExists,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// Makes the output directory with the job's mark, after `begin` when its place is free; an error when the directory was there before.
pub(super) fn reserve(output: &JobOutput, begin: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let client = output.client(SOON);
    output.check_free(&client).map_err(as_io)?;
    begin()?;
    output.reserve(&client, OUTPUT_MARK).map_err(as_io)
}

/// Opens a job's output to promote it. That of another job is an error.
pub(super) fn open(output: &JobOutput) -> io::Result<RemoteFolder> {
    let client = output.client(LONG);
    if output.owner(&client, OUTPUT_MARK).map_err(as_io)? == Owner::Theirs {
        return Err(io::Error::other(format!("`{OUTPUT_MARK}` in it is the mark of another job")));
    }
    RemoteFolder::list(client, output, output.path.path.clone())
}

/// Clears away what attempts left, if it is this job's; the directory too if nothing else is in it.
pub(super) fn abort(output: &JobOutput, private: &str, success: &str) -> io::Result<()> {
    let client = output.client(SOON);
    match output.owner(&client, OUTPUT_MARK).map_err(as_io)? {
        // Somebody has made the same directory anew, or has one without a mark, empty or not.
        Owner::Theirs | Owner::Nobody => output.clear_aside(&client, private).map_err(as_io),
        // The mark goes last, so that who is interrupted finds it again.
        Owner::Ours => {
            let folder = RemoteFolder::list(client.clone(), output, output.inside(private))?;
            for name in folder.names()?.iter().filter(|name| *name != mark_name()) {
                folder.remove(name)?;
            }
            client.remove(&output.inside(success)).map_err(as_io)?;
            output.let_go(&client, private).map_err(as_io)
        }
    }
}

impl RemoteFolder {
    fn list(client: Client, output: &JobOutput, path: String) -> io::Result<RemoteFolder> {
        let folder = RemoteFolder { client, output: output.clone(), path, listed: Listed::default() };
        folder.names()?;
        Ok(folder)
    }

    fn path(&self, name: &OsStr) -> io::Result<String> {
        path_in(&self.path, name)
    }
}

impl Store for RemoteFolder {
    fn folder(&self, name: &OsStr) -> io::Result<RemoteFolder> {
        RemoteFolder::list(self.client.clone(), &self.output, self.path(name)?)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = self.client.again(|_| self.client.list(&self.path)).map_err(as_io)?;
        if entries.iter().any(|entry| entry.name.is_empty()) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let kind = |kind: FileKind| match kind {
            FileKind::File => Kind::File,
            FileKind::Directory => Kind::Folder,
            FileKind::Other => Kind::Other("a symbolic link"),
        };
        let listed: BTreeMap<OsString, Kind> =
            entries.into_iter().map(|entry| (entry.name.into(), kind(entry.kind))).collect();
        Ok(self.listed.set(listed))
    }

    fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        self.listed.kind(name, || self.names())
    }

    fn make_file(&self, name: &str) -> io::Result<()> {
        let path = self.path(name.as_ref())?;
        self.client.create(&path, b"", &self.output.own(&path)).map_err(as_io)
    }

    fn move_to(&self, name: &OsStr, target: &RemoteFolder) -> io::Result<()> {
        self.client.rename(&self.path(name)?, &target.path(name)?).map_err(as_io)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.client.remove(&self.path(name)?).map_err(as_io)
    }

    fn is_out_of_reach(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).is_some_and(Error::is_trouble)
    }
}
