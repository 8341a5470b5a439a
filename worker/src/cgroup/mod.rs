//! Control groups: where they are, one for the worker with its quota, one for each attempt.
//!
//! Version 1 has a hierarchy for each controller, version 2 one for all; machines that mount both are common. The
//! quota and the worker's own group are where the cpu controller is. What the files say is read by pure functions, line by
//! line: `procfs` refuses a whole list for one mount point that is no text.

mod attempts;
mod pace;
mod quota;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use procfs::process::Process;

pub(crate) use attempts::{AttemptGroup, Cgroups};
pub use pace::QuotaGroup;
pub use quota::cpus_milli;
pub(crate) use worker::WorkerGroup;

/// How to get a group that a worker may make others in.
const DELEGATED: &str = "run the worker as root or in a group that was delegated to it, as by \
                         `systemd-run --user --scope --property=Delegate=yes howdah worker ...`";

/// Names of workers' groups; the rest is the worker's process id.
const PREFIX: &str = "howdah-";

/// Which interface a hierarchy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// A hierarchy and the group of this process in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) version: Version,
    /// Where the hierarchy is mounted.
    pub(crate) mount: PathBuf,
    /// The directory of the group; the mount itself or below it.
    pub(crate) group: PathBuf,
}

/// The kernel's two lists, as read at one moment.
#[derive(Debug)]
pub(crate) struct Lists {
    mounts: String,
    own: String,
}

impl Lists {
    /// Those of this process.
    pub(crate) fn read() -> anyhow::Result<Lists> {
        let read = |path: &str| fs::read_to_string(path).with_context(|| format!("read `{path}`"));
        Ok(Lists { mounts: read("/proc/self/mountinfo")?, own: read("/proc/self/cgroup")? })
    }

    /// The hierarchy of version 1 with this controller.
    pub(crate) fn version_1(&self, controller: &str) -> Option<Place> {
        let (mount, root) = self.mounts.lines().find_map(|line| {
            let (head, kind, options) = mount_line(line)?;
            (kind == "cgroup" && options.split(',').any(|option| option == controller)).then_some(head)
        })?;
        let group = self.own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            controllers.split(',').any(|name| name == controller).then_some(path)
        })?;
        Some(Place { version: Version::One, group: below(&mount, &root, group), mount })
    }

    /// The hierarchy of version 2.
    pub(crate) fn version_2(&self) -> Option<Place> {
        let (mount, root) = self.mounts.lines().find_map(|line| {
            let (head, kind, _) = mount_line(line)?;
            (kind == "cgroup2").then_some(head)
        })?;
        let group = self.own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
        Some(Place { version: Version::Two, group: below(&mount, &root, group), mount })
    }
}

/// Mount point and root of a line of mountinfo, its file system and the options of that.
fn mount_line(line: &str) -> Option<((PathBuf, String), &str, &str)> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    let mut kind = kind.split(' ');
    let (kind, _, options) = (kind.next()?, kind.next()?, kind.next()?);
    // A space is written as octal; nothing else of that kind is likely in such a path.
    Some(((PathBuf::from(point.replace("\\040", " ")), root.to_owned()), kind, options))
}

/// Where a group is seen: in a container the mount may show a part of the hierarchy only.
fn below(mount: &Path, root: &str, group: &str) -> PathBuf {
    let inside = if root == "/" { Some(group) } else { group.strip_prefix(root) };
    mount.join(inside.unwrap_or("").trim_start_matches('/'))
}

/// Whether the rest of a group's name is a process that is no more: gone, or an entry that nobody has reaped yet.
fn is_left_over(name: &str) -> bool {
    let pid = name.strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok());
    pid.is_some_and(|pid| {
        !i32::try_from(pid).is_ok_and(|pid| Process::new(pid).is_ok_and(|process| process.is_alive()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
24 1 0:22 / /proc rw,nosuid - proc proc rw
33 24 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
34 24 0:31 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
42 24 0:29 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
";

    fn lists(mounts: &str, own: &str) -> Lists {
        Lists { mounts: mounts.to_owned(), own: own.to_owned() }
    }

    #[test]
    fn both_versions_are_found_where_both_are_mounted() {
        let lists = lists(HYBRID, "4:cpuacct:/b\n3:memory:/process/7\n1:cpu:/a\n0::/user.slice\n");
        let one = lists.version_1("cpu").expect("is mounted");
        assert_eq!((one.version, one.group), (Version::One, PathBuf::from("/sys/fs/cgroup/cpu/a")));
        assert_eq!(lists.version_1("cpuacct").expect("is mounted").group, Path::new("/sys/fs/cgroup/cpuacct/b"));
        assert_eq!(lists.version_1("memory"), None, "it has a group but no mount");
        let two = lists.version_2().expect("is mounted");
        assert_eq!((two.version, two.group), (Version::Two, PathBuf::from("/sys/fs/cgroup/unified/user.slice")));
    }

    #[test]
    fn a_machine_with_version_2_alone_has_no_other() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        let lists = lists(mounts, "0::/system.slice/howdah.service\n");
        assert_eq!(lists.version_1("cpu"), None);
        let place = lists.version_2().expect("is mounted");
        assert_eq!(place.group, Path::new("/sys/fs/cgroup/system.slice/howdah.service"));
        assert_eq!(place.mount, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn a_mount_that_shows_a_part_of_the_hierarchy_is_not_entered_twice() {
        let mounts = "30 24 0:26 /docker/c1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct";
        let group = |own: &str| lists(mounts, own).version_1("cpuacct").expect("is mounted").group;
        assert_eq!(group("2:cpu,cpuacct:/docker/c1/w\n"), Path::new("/sys/fs/cgroup/cpu,cpuacct/w"));
        assert_eq!(group("2:cpu,cpuacct:/docker/c1\n"), Path::new("/sys/fs/cgroup/cpu,cpuacct/"));
    }

    #[test]
    fn a_group_is_left_over_when_its_process_is_gone() {
        assert!(!is_left_over(&format!("{PREFIX}{}", std::process::id())));
        assert!(is_left_over(&format!("{PREFIX}4294967295")));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = format!("{PREFIX}{}", child.id());
        while !is_left_over(&name) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.wait().unwrap();
        assert!(!is_left_over("system.slice") && !is_left_over("howdah-worker"));
    }
}
