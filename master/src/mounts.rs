//! Which mounted file system a path of this machine lies in, told without touching it: one that hangs must not hang this.
//!
//! Work on file systems is kept apart by it, so that one that does not answer holds up nobody whose files lie in another. A
//! link on the way is not followed: what it leads to counts as where the link is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use procfs::process::Process;

/// The mount point above a path; the root where the kernel does not say.
pub(crate) fn mount_of(path: &Path) -> PathBuf {
    above(path, &mounts())
}

/// Those above these paths, of which a job may have thousands: the kernel is asked once.
pub(crate) fn mounts_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let mounts = mounts();
    paths.into_iter().map(|path| above(path, &mounts)).collect()
}

fn mounts() -> Vec<PathBuf> {
    let mounts = Process::myself().and_then(|own| own.mountinfo()).map(|mounts| mounts.0).unwrap_or_default();
    mounts.into_iter().map(|mount| mount.mount_point).collect()
}

fn above(path: &Path, mounts: &[PathBuf]) -> PathBuf {
    let above = mounts.iter().filter(|mount| path.starts_with(mount));
    above.max_by_key(|mount| mount.components().count()).cloned().unwrap_or_else(|| PathBuf::from("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_above_a_path_is_its() {
        let mounts = ["/", "/share", "/share/deep", "/sh"].map(PathBuf::from);
        let of = |path: &str| above(Path::new(path), &mounts);
        for (path, mount) in [
            ("/share/deep/out", "/share/deep"),
            ("/share/deeper", "/share"),
            ("/share", "/share"),
            ("/sh/x", "/sh"),
            ("/other", "/"),
        ] {
            assert_eq!(of(path), Path::new(mount), "{path}");
        }
        assert_eq!(above(Path::new("/x"), &[]), Path::new("/"));
        assert_eq!(mount_of(Path::new("/proc/self/stat")), Path::new("/proc"));
    }
}
