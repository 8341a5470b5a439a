//! What `doctor` looks at on this machine itself.

use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};

use super::checks::Check;

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

/// How many files a process may have open.
pub(super) fn open_files() -> Check {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, hard)) if hard < FEW_FILES => {
            let help = "raise it: LimitNOFILE of the unit, or /etc/security/limits.conf".to_owned();
            Check::bad(HERE, "open files", format!("{soft} of at most {hard}"), help)
        }
        Ok((soft, hard)) => Check::good(HERE, "open files", format!("{soft} of at most {hard}")),
        Err(error) => Check::bad(HERE, "open files", error.to_string(), String::new()),
    }
}

/// Whether a shared folder is there and can be written.
pub(super) fn share(path: &Path) -> Check {
    let of = path.display().to_string();
    let probe = tempfile::Builder::new().prefix(".howdah-doctor-").tempfile_in(path);
    match probe {
        Ok(_) => Check::good(&of, "share", "can be written here".to_owned()),
        Err(error) => {
            let help = "mount it on every machine at this place, writable for the workers' user".to_owned();
            Check::bad(&of, "share", error.to_string(), help)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_to_and_one_that_is_not_there_is_bad() {
        let folder = tempfile::tempdir().unwrap();
        assert!(share(folder.path()).problem.is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the probe is gone");
        let check = share(&folder.path().join("nothing"));
        assert!(check.problem.is_some() && !check.help.is_empty());
    }
}
