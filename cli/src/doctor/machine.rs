//! What `doctor` looks at on this machine itself.

use nix::sys::resource::{Resource, getrlimit};
use procfs::Current;

use super::checks::{Check, LIMITS, memory};

/// As the table names it.
const HERE: &str = "this machine";
/// A worker of some slots holds a few dozen; a shuffle, hundreds.
const FEW_FILES: u64 = 1_024;

/// Under which name jobs are submitted.
pub(super) fn user() -> Check {
    let uid = nix::unistd::getuid();
    match howdah_proto::names::user_name(uid.as_raw()) {
        Some(name) => Check::good(HERE, "user", format!("{name} ({uid})")),
        None => {
            Check::good(HERE, "user", format!("{uid}, which has no name here: jobs are submitted under the number"))
        }
    }
}

/// How much memory there is for what is started here; nothing where the system does not tell.
pub(super) fn free_memory() -> Option<Check> {
    let memory = procfs::Meminfo::current().ok()?;
    Some(self::memory(HERE, memory.mem_available? / 1_024, memory.mem_total / 1_024))
}

/// How many files a process may have open.
pub(super) fn open_files() -> Check {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, hard)) if hard < FEW_FILES => {
            Check::bad(HERE, "open files", format!("{soft} of at most {hard}"), LIMITS.to_owned())
        }
        Ok((soft, hard)) => Check::good(HERE, "open files", format!("{soft} of at most {hard}")),
        Err(error) => Check::bad(HERE, "open files", error.to_string(), LIMITS.to_owned()),
    }
}
