//! A control group for each attempt: a kill reaches every descendant, also those that left the process group.
//!
//! Version 2 only, wherever it is mounted; its CPU accounting needs no controller. Memory figures come from
//! `memory.peak` where the memory controller is delegated to us.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{DELEGATED, Lists, PREFIX, is_left_over};

/// The worker's own group, parent of its attempts' groups.
#[derive(Clone, Debug)]
pub(crate) struct Cgroups {
    root: PathBuf,
}

/// One attempt's group. Removed with [`AttemptGroup::remove`].
#[derive(Debug)]
pub(crate) struct AttemptGroup {
    path: PathBuf,
}

impl Cgroups {
    /// Makes the worker's group below the one it runs in.
    pub(crate) fn open() -> anyhow::Result<Cgroups> {
        let Some(place) = Lists::read()?.version_2() else {
            bail!("setting `cgroups`: no control groups of version 2 are mounted\nhelp: set cgroups = false");
        };
        let above = place.group;
        remove_leftovers(&above);
        let root = above.join(format!("{PREFIX}{}", std::process::id()));
        let cgroups = Cgroups { root };
        // What a worker of the same number left.
        cgroups.close();
        fs::create_dir_all(&cgroups.root).with_context(|| {
            let place = cgroups.root.display();
            format!("create control group `{place}`\nhelp: {DELEGATED}; or set cgroups = false")
        })?;
        // Found out now, not with the first attempt.
        cgroups.take_in("probe", None).map(AttemptGroup::remove).context("make a control group for an attempt")?;
        Ok(cgroups)
    }

    /// Makes a group of this name and puts a process into it.
    pub(crate) fn take_in(&self, name: &str, pid: Option<u32>) -> io::Result<AttemptGroup> {
        let group = AttemptGroup { path: self.root.join(name) };
        fs::create_dir(&group.path)?;
        match pid.map_or(Ok(()), |pid| fs::write(group.path.join("cgroup.procs"), pid.to_string())) {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// Removes the worker's group and what is left in it.
    pub(crate) fn close(&self) {
        for group in fs::read_dir(&self.root).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
            AttemptGroup { path: group.path() }.remove();
        }
        let _ = fs::remove_dir(&self.root);
    }
}

impl AttemptGroup {
    /// Ends every process in the group. Kernels before 5.14 lack the file; the process group is killed anyway.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// CPU time of everything that ran in the group, in microseconds.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        let stat = fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?.trim().parse().ok()
    }

    /// Peak memory in KiB, where the controller is there.
    pub(crate) fn peak_kib(&self) -> Option<u64> {
        let bytes: u64 = fs::read_to_string(self.path.join("memory.peak")).ok()?.trim().parse().ok()?;
        Some(bytes / 1_024)
    }

    /// Kills what is left and removes the group. A group is busy until its last process is reaped, which for
    /// orphans is init's work, so a few tries are made; the worker's end removes what remains.
    pub(crate) fn remove(self) {
        for _ in 0..50 {
            match fs::remove_dir(&self.path) {
                Ok(()) => return,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                Err(_) => self.kill(),
            }
            std::thread::yield_now();
        }
    }
}

/// Removes the groups of workers that were killed.
fn remove_leftovers(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_left_over) {
            Cgroups { root: entry.path() }.close();
        }
    }
}
