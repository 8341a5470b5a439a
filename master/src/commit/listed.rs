//! Directories that are reached by paths, name by name: what was listed of one last, and the paths of what is in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use super::store::Kind;

/// The names in a directory, by kind, as they were listed last: who moves ten thousand parts does not ask for each.
#[derive(Debug, Default)]
pub(super) struct Listed(RefCell<BTreeMap<OsString, Kind>>);

impl Listed {
    /// Takes a new list, and says its names.
    pub(super) fn set(&self, listed: BTreeMap<OsString, Kind>) -> Vec<OsString> {
        let names = listed.keys().cloned().collect();
        *self.0.borrow_mut() = listed;
        names
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// The kind of a name; one that is not known is looked for in a list that is made anew.
    pub(super) fn kind(&self, name: &OsStr, list: impl FnOnce() -> io::Result<Vec<OsString>>) -> io::Result<Kind> {
        if !self.0.borrow().contains_key(name) {
            list()?;
        }
        self.0.borrow().get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The path of a name in a directory.
pub(super) fn path_in(directory: &str, name: &OsStr) -> io::Result<String> {
    let name = name.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
    Ok(format!("{}/{name}", directory.trim_end_matches('/')))
}
