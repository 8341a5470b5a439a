//! What a promotion needs of the file system that an output lies in: directories by handle, and plain names in them.
//!
//! Errors are the system's, also of a store that is none: `NotFound` and `AlreadyExists` mean everywhere what they mean there.

use std::ffi::{OsStr, OsString};
use std::io;

use howdah_core::job::OUTPUT_MARK;

/// Directory of private output inside the output directory.
pub(super) const TEMPORARY: &str = "_temporary";

/// The name of the job's mark in it.
pub(super) fn mark_name() -> &'static str {
    OUTPUT_MARK.rsplit_once('/').map_or(OUTPUT_MARK, |(_, name)| name)
}

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A link, a device, a pipe or a socket, in words.
    Other(&'static str),
}

/// A directory of an output.
pub(super) trait Store: Sized {
    /// A directory in this one.
    fn folder(&self, name: &OsStr) -> io::Result<Self>;
    /// All names in it, in no order.
    fn names(&self) -> io::Result<Vec<OsString>>;
    /// What stands under a name, links not followed.
    fn kind(&self, name: &OsStr) -> io::Result<Kind>;
    /// Makes an empty file; it must not exist.
    fn make_file(&self, name: &str) -> io::Result<()>;
    /// Moves a name into another directory, where it must not exist.
    fn move_to(&self, name: &OsStr, target: &Self) -> io::Result<()>;
    /// Whether the same file stands under this name there: a second link to it was made, and then somebody was interrupted.
    fn is_linked_to(&self, _name: &OsStr, _target: &Self) -> io::Result<bool> {
        Ok(false)
    }
    /// Puts what was made in it, moved into it or removed from it on the disk; elsewhere than here it is there when it is answered.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    /// The same of a file in it.
    fn sync_file(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }
    /// Removes what stands under a name, with all that is in it; fine if nothing does.
    fn remove(&self, name: &OsStr) -> io::Result<()>;
    /// Whether more may go wrong of what an error says, with anything that is asked next.
    fn is_out_of_reach(error: &io::Error) -> bool;
}
