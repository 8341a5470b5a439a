//! Foreign load beside the work: `howdah load`, which ends with us.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::live::Program;

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
    /// The group's quota in cores, if it has one, in either version's files.
    pub(super) fn quota_cores(&self) -> Option<f64> {
        let Place::Group(group) = self else { return None };
        let read = |name: &str| fs::read_to_string(group.join(name)).ok();
        if let Some(text) = read("cpu.max") {
            let mut words = text.split_ascii_whitespace();
            return quota(words.next()?, words.next()?);
        }
        quota(read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
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

fn quota(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Held until dropped.
pub(super) struct Foreign(Option<Child>);

impl Foreign {
    /// So many busy tasks; none is no process.
    pub(super) fn hold(program: &Program, load: f64, place: &Place) -> Result<Foreign> {
        if load <= 0.0 {
            return Ok(Foreign(None));
        }
        let mut command = program.command();
        // Longer than any measurement, so that a lost parent does not leave it for ever.
        command.args(["load", "--load", &load.to_string(), "--for", "1h", "--stop-with-stdin"]);
        if let Place::Group(group) = place {
            command.arg("--group").arg(Path::new(group));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("start `howdah load`")?;
        Ok(Foreign(Some(child)))
    }

    /// Fails if the load has ended meanwhile: then nothing was measured.
    pub(super) fn check(&mut self) -> Result<()> {
        let Some(child) = &mut self.0 else { return Ok(()) };
        match child.try_wait().context("look at `howdah load`")? {
            None => Ok(()),
            Some(status) => bail!("`howdah load` ended early with {status}"),
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // Gone in between is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_both_versions_read_and_none_is_no_limit() {
        assert_eq!(quota("50000", "100000"), Some(0.5));
        assert_eq!(quota("max", "100000"), None);
        assert_eq!(quota("-1", "100000"), None);
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place::Group(dir.path().to_owned());
        assert_eq!(place.quota_cores(), None);
        fs::write(dir.path().join("cpu.cfs_quota_us"), "30000\n").expect("written");
        fs::write(dir.path().join("cpu.cfs_period_us"), "20000\n").expect("written");
        assert_eq!(place.quota_cores(), Some(1.5));
        fs::write(dir.path().join("cpu.max"), "25000 100000\n").expect("written");
        assert_eq!(place.quota_cores(), Some(0.25));
    }

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
