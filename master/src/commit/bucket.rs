//! Directories of an output that lies in a bucket.
//!
//! A store moves no names, and an object is there with all its bytes or not at all. So what attempts leave in `_temporary` are
//! not files but what is pending of them: uploads to where the files are to be, without their last step. To move such a name is
//! to take that step, and to remove it is to drop the upload. Nobody sees anything of an output before. An empty object called as
//! the attempt says that all of it is there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use howdah_core::job::OUTPUT_MARK;
use howdah_s3::{Client, Error, JobBucket, Pending};
use howdah_webhdfs::{FileKind, Owner};

use super::listed::{Listed, path_in};
use super::store::{Kind, Store, TEMPORARY, mark_name};
use super::waits::{LONG, SOON};

/// Entries of one directory of an output.
const MOST_ENTRIES: usize = 2_000_000;

/// A directory.
#[derive(Debug)]
pub(super) struct BucketFolder {
    client: Client,
    path: String,
    /// Whether names in it are what is pending.
    is_private: bool,
    listed: Listed,
}

/// The system's kind of what a store says.
fn as_io(error: Error) -> io::Error {
    let kind = match &error {
        Error::Missing => io::ErrorKind::NotFound,
        Error::Exists => io::ErrorKind::AlreadyExists,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// Makes the job's mark, after `begin` when nothing is in the directory; an error otherwise.
pub(super) fn reserve(output: &JobBucket, begin: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let client = output.client(SOON).map_err(as_io)?;
    output.check_free(&client).map_err(as_io)?;
    begin()?;
    output.reserve(&client, OUTPUT_MARK).map_err(as_io)
}

/// Opens a job's output to promote it. That of another job is an error.
pub(super) fn open(output: &JobBucket) -> io::Result<BucketFolder> {
    let client = output.client(LONG).map_err(as_io)?;
    if output.owner(&client, OUTPUT_MARK).map_err(as_io)? == Owner::Theirs {
        return Err(io::Error::other(format!("`{OUTPUT_MARK}` in it is the mark of another job")));
    }
    BucketFolder::list(client, output.path.path.clone(), false)
}

/// Clears away what attempts left, if it is this job's.
pub(super) fn abort(output: &JobBucket, private: &str, success: &str) -> io::Result<()> {
    let client = output.client(SOON).map_err(as_io)?;
    if output.owner(&client, OUTPUT_MARK).map_err(as_io)? != Owner::Ours {
        return Ok(());
    }
    let folder = BucketFolder::list(client.clone(), output.inside(private), true)?;
    // The mark goes last, so that who is interrupted finds it again.
    for name in folder.names()?.iter().filter(|name| *name != mark_name()) {
        folder.remove(name)?;
    }
    client.delete(&output.inside(success)).map_err(as_io)?;
    client.delete(&output.inside(OUTPUT_MARK)).map_err(as_io)
}

impl BucketFolder {
    fn list(client: Client, path: String, is_private: bool) -> io::Result<BucketFolder> {
        let folder = BucketFolder { client, path, is_private, listed: Listed::default() };
        folder.names()?;
        Ok(folder)
    }

    fn path(&self, name: &OsStr) -> io::Result<String> {
        path_in(&self.path, name)
    }

    /// What an object of a private directory says.
    fn pending(&self, path: &str) -> io::Result<Option<Pending>> {
        Ok(Pending::from_bytes(&self.client.small(path).map_err(as_io)?))
    }

    /// Takes the last step for what is pending under a name, below a directory for all that is.
    fn settle(&self, name: &OsStr, target: &str) -> io::Result<()> {
        let path = self.path(name)?;
        if self.kind(name)? == Kind::Folder {
            let inner = BucketFolder::list(self.client.clone(), path, true)?;
            return inner.names()?.iter().try_for_each(|name| {
                let plain = name.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
                inner.settle(name, &format!("{target}/{plain}"))
            });
        }
        let pending = self.pending(&path)?.filter(|pending| pending.path == target);
        let pending = pending.ok_or_else(|| io::Error::other(format!("it says of no upload to `{target}`")))?;
        // A store would replace what is there. An object of this very length is there if this was done before.
        match self.client.status(target) {
            Ok(there) if there.kind == FileKind::Directory || there.length != pending.length => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Ok(_) | Err(Error::Missing) => {}
            Err(error) => return Err(as_io(error)),
        }
        self.client.complete(&pending).map_err(as_io)?;
        self.client.delete(&path).map_err(as_io)
    }
}

impl Store for BucketFolder {
    fn folder(&self, name: &OsStr) -> io::Result<BucketFolder> {
        let is_private = self.is_private || name == TEMPORARY;
        let folder = BucketFolder::list(self.client.clone(), self.path(name)?, is_private)?;
        // An attempt that wrote nothing has left its name.
        if folder.listed.is_empty() && self.kind(name)? == Kind::Folder {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(folder)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = self.client.list(&self.path, MOST_ENTRIES, &|| true).map_err(as_io)?;
        let mut listed: BTreeMap<OsString, Kind> = BTreeMap::new();
        for entry in entries {
            let kind = if entry.kind == FileKind::Directory { Kind::Folder } else { Kind::File };
            // Under one name there may be an object and a directory.
            let known = listed.entry(entry.name.into()).or_insert(kind);
            if kind == Kind::Folder {
                *known = kind;
            }
        }
        Ok(self.listed.set(listed))
    }

    fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        self.listed.kind(name, || self.names())
    }

    fn make_file(&self, name: &str) -> io::Result<()> {
        self.client.put_new(&self.path(name.as_ref())?, Vec::new()).map_err(as_io)
    }

    fn move_to(&self, name: &OsStr, target: &BucketFolder) -> io::Result<()> {
        self.settle(name, &target.path(name)?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.client.remove(&self.path(name)?, self.is_private || name == TEMPORARY).map_err(as_io)
    }

    fn is_out_of_reach(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).is_some_and(Error::is_trouble)
    }
}
