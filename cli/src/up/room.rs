//! Whether there is room on a directory's disk for workers to take tasks.

use std::path::Path;

use crate::units;

/// What to say where there is less room than the least with which workers take tasks.
pub(super) fn warning(dir: &Path, least: u64) -> Option<String> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let (free, least) = (free < least).then(|| (units::bytes(free), units::bytes(least)))?;
    let dir = dir.display();
    Some(format!(
        "warning: of {least} that workers need to take tasks (min_free_disk_bytes) {free} are free in `{dir}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_said_with_what_is_needed() {
        let dir = tempfile::tempdir().expect("a directory");
        let said = warning(dir.path(), u64::MAX).expect("no disk has so much");
        assert!(said.starts_with("warning: of 16384.0 PiB that workers need "), "{said}");
        assert!(said.ends_with(&format!(" are free in `{}`", dir.path().display())), "{said}");
        assert_eq!(warning(dir.path(), 0), None);
        assert_eq!(warning(&dir.path().join("nothing"), u64::MAX), None);
    }
}
