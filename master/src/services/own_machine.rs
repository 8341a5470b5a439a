//! The master's own machine: what it is called, and what it has left, for `howdah doctor`. Nothing that is decided hangs on it.

use std::path::Path;

use howdah_proto::v1;
use procfs::Current;

/// What it calls itself.
pub(super) fn name() -> String {
    nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned()
}

/// Of the disk that a directory lies on, and of memory; what the system does not tell is absent.
pub(super) fn look(dir: &Path) -> v1::MasterMachine {
    let disk = rustix::fs::statvfs(dir).ok();
    let memory = procfs::Meminfo::current().ok();
    v1::MasterMachine {
        disk_free_kib: disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) / 1_024),
        memory_total_kib: memory.as_ref().map(|memory| memory.mem_total / 1_024),
        memory_free_kib: memory.and_then(|memory| memory.mem_available).map(|bytes| bytes / 1_024),
        user: Some(v1::User::own()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_some_disk_and_more_memory_than_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let seen = look(dir.path());
        assert!(seen.disk_free_kib.is_some());
        assert!(seen.memory_total_kib > seen.memory_free_kib && seen.memory_free_kib > Some(0), "{seen:?}");
        assert_eq!(look(Path::new("/nowhere/at/all")).disk_free_kib, None);
    }
}
