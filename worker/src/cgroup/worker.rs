//! The worker's own control group: its quota, and the border between its load and that of others.
//!
//! The worker puts itself in before it starts anything, so all its attempts are in it too. Whoever shall be foreign
//! load of this worker alone joins the group (`howdah load`). The group is where the cpu controller is: version 1
//! where that is mounted, else version 2, where a group with a quota needs a parent that hands the controller down.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use super::{DELEGATED, Lists, PREFIX, Place, Version, is_left_over};

/// Short, so that a task of a second already runs at its quota's rate; the kernel's default of 100 ms would let
/// it run ahead of it or behind.
const PERIOD_US: u64 = 20_000;

/// See the module's documentation. Removed with [`WorkerGroup::close`].
#[derive(Clone, Debug)]
pub(crate) struct WorkerGroup {
    version: Version,
    /// Of the hierarchy with the cpu controller first, then with CPU accounting if that is another one.
    dirs: Vec<PathBuf>,
    /// Where this process was before, in the same order.
    homes: Vec<PathBuf>,
}

impl WorkerGroup {
    /// Makes the group, with a quota in thousandths of a core if one is given, and moves this process into it.
    pub(crate) fn open(quota_milli: Option<u32>) -> anyhow::Result<WorkerGroup> {
        let group = WorkerGroup::make_with(quota_milli)?;
        let entered = group.enter();
        if entered.is_err() {
            group.close();
        }
        entered.map(|()| group)
    }

    /// Makes the group for others to enter.
    pub(super) fn make_with(quota_milli: Option<u32>) -> anyhow::Result<WorkerGroup> {
        let lists = Lists::read()?;
        let place = lists.version_1("cpu").or_else(|| lists.version_2());
        let Some(place) = place else {
            bail!("no control groups are mounted, expected version 1 with the cpu controller or version 2");
        };
        let accounting = lists.version_1("cpuacct").filter(|other| other.mount != place.mount);
        let base = match (place.version, quota_milli) {
            (Version::Two, Some(_)) => parent_with_cpu(&place)?,
            _ => place.group.clone(),
        };
        let name = format!("{PREFIX}{}", std::process::id());
        let mut group = WorkerGroup { version: place.version, dirs: Vec::new(), homes: Vec::new() };
        let made = group.make(&base, place.group, &name).and_then(|()| match quota_milli {
            Some(quota) => group.set_quota(quota),
            None => Ok(()),
        });
        // Accounting is for pages alone, so a worker does without it where it must.
        if let Some(other) = accounting.filter(|_| made.is_ok())
            && let Err(error) = group.make(&other.group.clone(), other.group, &name)
        {
            tracing::debug!(error = format!("{error:#}"), "no CPU accounting for the worker's control group");
        }
        if made.is_err() {
            group.close();
        }
        made.map(|()| group)
    }

    /// Its directories; the one with the cpu controller first.
    pub(crate) fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// CPU time of everything that ran in the group, in microseconds.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        let dir = self.dirs.last()?;
        match self.version {
            Version::One => {
                Some(fs::read_to_string(dir.join("cpuacct.usage")).ok()?.trim().parse::<u64>().ok()? / 1_000)
            }
            Version::Two => {
                let stat = fs::read_to_string(dir.join("cpu.stat")).ok()?;
                stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?.trim().parse().ok()
            }
        }
    }

    /// Puts everything that is in it back to where the worker came from and removes it.
    pub(crate) fn close(&self) {
        for (dir, home) in self.dirs.iter().zip(&self.homes) {
            empty(dir, home);
        }
    }

    fn make(&mut self, base: &Path, home: PathBuf, name: &str) -> anyhow::Result<()> {
        remove_leftovers(base, &home);
        let dir = base.join(name);
        // What a worker of the same number left.
        empty(&dir, &home);
        fs::create_dir(&dir)
            .map_err(|error| anyhow!("create control group `{}`: {error}\nhelp: {DELEGATED}", dir.display()))?;
        self.dirs.push(dir);
        self.homes.push(home);
        Ok(())
    }

    pub(super) fn set_quota(&self, quota_milli: u32) -> anyhow::Result<()> {
        let quota_us = u64::from(quota_milli) * PERIOD_US / 1_000;
        let Some(dir) = self.dirs.first() else { return Ok(()) };
        let files = match self.version {
            Version::One => {
                vec![("cpu.cfs_period_us", PERIOD_US.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())]
            }
            Version::Two => vec![("cpu.max", format!("{quota_us} {PERIOD_US}"))],
        };
        for (name, text) in files {
            let path = dir.join(name);
            let help = "the quota must fit into that of the group above";
            fs::write(&path, &text)
                .map_err(|error| anyhow!("write `{text}` to `{}`: {error}\nhelp: {help}", path.display()))?;
        }
        Ok(())
    }

    fn enter(&self) -> anyhow::Result<()> {
        for dir in &self.dirs {
            let path = dir.join("cgroup.procs");
            let own = std::process::id().to_string();
            fs::write(&path, own).with_context(|| format!("enter control group `{}`", dir.display()))?;
        }
        Ok(())
    }
}

/// Of version 2: the group, or the nearest one above it, whose children have the cpu controller.
fn parent_with_cpu(place: &Place) -> anyhow::Result<PathBuf> {
    let has_cpu = |group: &&Path| {
        let enabled = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
        enabled.split_whitespace().any(|controller| controller == "cpu")
    };
    let mut groups = place.group.ancestors().take_while(|group| group.starts_with(&place.mount));
    if let Some(found) = groups.find(has_cpu) {
        return Ok(found.to_owned());
    }
    let controllers = fs::read_to_string(place.mount.join("cgroup.controllers")).unwrap_or_default();
    if !controllers.is_empty() && !controllers.split_whitespace().any(|controller| controller == "cpu") {
        bail!(
            "control groups of version 2 at `{}` have the controllers `{}`, expected cpu among them\nhelp: a controller \
             belongs to one version at a time; mount version 1 with it, or unmount that",
            place.mount.display(),
            controllers.trim()
        );
    }
    // Only the root may hand it down while it has processes of its own.
    let help = "`echo +cpu > cgroup.subtree_control` in the group above enables it, as root";
    fs::write(place.mount.join("cgroup.subtree_control"), "+cpu").map_err(|error| {
        let (group, mount) = (place.group.display(), place.mount.display());
        anyhow!("no group from `{group}` to `{mount}` hands the cpu controller down: {error}\nhelp: {help}")
    })?;
    Ok(place.mount.clone())
}

/// Moves the processes of a group away and removes it with what is below it. Some may vanish or fork meanwhile, so
/// a few tries are made; the next start removes what remains.
fn empty(dir: &Path, home: &Path) {
    for below in fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
        // An attempt's, of version 2: what has escaped from it ends with its worker.
        let _ = fs::write(below.path().join("cgroup.kill"), "1");
        empty(&below.path(), home);
    }
    for _ in 0..20 {
        match fs::remove_dir(dir) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => {
                for pid in fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default().lines() {
                    let _ = fs::write(home.join("cgroup.procs"), pid);
                }
            }
        }
    }
}

/// Removes the groups of workers that were killed.
fn remove_leftovers(base: &Path, home: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_left_over) {
            empty(&entry.path(), home);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_group_can_be_made_the_error_says_how_to_get_one_delegated() {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = dir.path().join("nowhere");
        let mut group = WorkerGroup { version: Version::Two, dirs: Vec::new(), homes: Vec::new() };
        let error = group.make(&nowhere, dir.path().to_owned(), "howdah-1").unwrap_err().to_string();
        let place = nowhere.join("howdah-1");
        assert!(error.starts_with(&format!("create control group `{}`: No such file", place.display())), "{error}");
        assert!(error.contains("\nhelp: ") && error.contains("systemd-run --user --scope"), "{error}");
    }

    #[test]
    fn a_group_with_a_quota_is_made_where_the_controller_is_handed_down() {
        let dir = tempfile::tempdir().unwrap();
        let group = dir.path().join("app.slice/run.scope");
        fs::create_dir_all(&group).unwrap();
        let place = Place { version: Version::Two, mount: dir.path().to_owned(), group: group.clone() };
        fs::write(group.join("cgroup.subtree_control"), "memory pids\n").unwrap();
        fs::write(dir.path().join("app.slice/cgroup.subtree_control"), "cpuset cpu io\n").unwrap();
        assert_eq!(parent_with_cpu(&place).unwrap(), dir.path().join("app.slice"));
        fs::write(group.join("cgroup.subtree_control"), "cpu\n").unwrap();
        assert_eq!(parent_with_cpu(&place).unwrap(), group);
    }

    #[test]
    fn a_machine_that_hands_nothing_down_is_told_how_to() {
        let dir = tempfile::tempdir().unwrap();
        let mount = dir.path().join("gone");
        let place = Place { version: Version::Two, mount: mount.clone(), group: mount };
        let error = format!("{:#}", parent_with_cpu(&place).unwrap_err());
        assert!(error.starts_with("no group from") && error.contains("\nhelp: "), "{error}");
    }

    /// As where version 1 has the controller too, and nobody looks there.
    #[test]
    fn a_hierarchy_whose_cpu_controller_is_elsewhere_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.controllers"), "hugetlb pids\n").unwrap();
        let place = Place { version: Version::Two, mount: dir.path().to_owned(), group: dir.path().to_owned() };
        let error = format!("{:#}", parent_with_cpu(&place).unwrap_err());
        assert!(error.contains("have the controllers `hugetlb pids`, expected cpu among them\nhelp: "), "{error}");
        assert!(!dir.path().join("cgroup.subtree_control").exists(), "nothing was tried");
    }
}
