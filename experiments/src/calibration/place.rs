//! Where work is measured, and the foreign load beside it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::live::{HeldLoad, Program};

/// Where work and load run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Where this program runs.
    #[default]
    Here,
    /// In this control group, a worker's for example.
    Group(PathBuf),
}

impl Place {
    /// Holds so many busy tasks there until they are dropped; none is no process.
    pub(super) fn hold(&self, program: &Program, load: f64) -> Result<Option<HeldLoad>> {
        if load <= 0.0 {
            return Ok(None);
        }
        // Longer than any measurement, so that a lost parent does not leave it for ever.
        let mut words: Vec<OsString> = ["--load", &load.to_string(), "--for", "1h"].map(OsString::from).to_vec();
        if let Place::Group(group) = self {
            words.extend(["--group".into(), group.into()]);
        }
        HeldLoad::start(program, words).map(Some)
    }

    /// Makes a process that is about to start a member.
    pub(super) fn join(&self, command: &mut Command) {
        if let Place::Group(group) = self {
            // The shell moves itself and then becomes the program, so that not even its first instant is elsewhere.
            let program = command.get_program().to_owned();
            let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            let mut moved = Command::new("/bin/sh");
            moved.arg("-c").arg("echo $$ > \"$0\" && exec \"$@\"").arg(group.join("cgroup.procs"));
            moved.arg(program).args(args);
            *command = moved;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_process_in_a_group_is_moved_before_it_becomes_the_program() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut command = Command::new("/bin/echo");
        command.arg("two words");
        Place::Group(dir.path().to_owned()).join(&mut command);
        let output = command.output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "two words\n");
        let moved = fs::read_to_string(dir.path().join("cgroup.procs")).expect("it wrote its number");
        assert!(moved.trim().parse::<u32>().is_ok(), "{moved}");
    }
}
