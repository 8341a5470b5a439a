//! Where output may not lie: inside the directories of the master and of the workers.
//!
//! These directories are emptied, renamed and written by the daemons themselves, so that output there would be destroyed or
//! would destroy them. Paths are compared as they resolve, since a link may lead there.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that output must not lie in, and whose it is, such as "the master's".
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) whose: String,
    pub(super) directory: PathBuf,
}

/// Where a path leads: its longest part that exists is resolved, the rest is as it is.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut rest: Vec<OsString> = Vec::new();
    let mut part = path;
    loop {
        match fs::canonicalize(part) {
            Ok(found) => return Ok(rest.iter().rev().fold(found, |path, name| path.join(name))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        let (Some(parent), Some(name)) = (part.parent(), part.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        rest.push(name.to_owned());
        part = parent;
    }
}

/// The first place that a resolved path lies in, or that lies in it.
pub(super) fn collides<'a>(resolved: &Path, places: &'a [Place]) -> Option<&'a Place> {
    // A place inside the output cannot be where the output does not exist yet; equal paths are in both.
    places.iter().find(|place| resolved.starts_with(&place.directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_as_far_as_it_exists() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(real.join("master")).unwrap();
        std::os::unix::fs::symlink(real.join("master"), real.join("link")).unwrap();
        assert_eq!(resolve(&real.join("link/a/b")).unwrap(), real.join("master/a/b"));
        assert_eq!(resolve(&real.join("new/b")).unwrap(), real.join("new/b"));
        fs::write(real.join("file"), "").unwrap();
        assert!(resolve(&real.join("file/b")).is_err(), "a file has nothing in it");
    }

    #[test]
    fn output_inside_a_place_collides_however_it_is_spelt() {
        let places = [Place { whose: "the master's".to_owned(), directory: PathBuf::from("/data/master") }];
        let whose = |path: &str| collides(Path::new(path), &places).map(|place| place.whose.clone());
        assert_eq!(whose("/data/master/run/out").as_deref(), Some("the master's"));
        assert_eq!(whose("/data/master").as_deref(), Some("the master's"));
        assert_eq!(whose("/data/master-2/out"), None);
    }
}
