//! A disk that reads no faster than it is told to for the processes of one control group, and whose files are cold: nothing of them
//! is in memory after they were [cooled](SlowDisk::cool).
//!
//! It is an ext4 in a file, on a loop device whose reads the kernel holds back (`blkio.throttle.read_bps_device` of a v1 hierarchy,
//! `io.max` of a v2 one), mounted anew to cool it. No other disk and no other process is slower by it. Only root may do all this, and
//! not in every container: whoever cannot is told which step failed.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use nix::sys::stat::{major, minor};

/// See the module's documentation. Dropping it unmounts it.
#[derive(Debug)]
pub struct SlowDisk {
    image: PathBuf,
    at: PathBuf,
    group: Group,
    bytes_per_second: u64,
    is_mounted: bool,
}

/// A control group whose reads can be held back.
#[derive(Debug)]
struct Group {
    path: PathBuf,
    is_v2: bool,
    /// Where the controller was handed down for it alone, to be taken back.
    handed_down: Option<PathBuf>,
}

static GROUPS: AtomicU32 = AtomicU32::new(0);

impl SlowDisk {
    /// Makes one of so many MiB in `dir`, mounted there as `slow-disk`.
    ///
    /// # Errors
    /// Names the step that this machine, or this user, does not permit.
    pub fn make(dir: &Path, mib: u64, bytes_per_second: u64) -> Result<SlowDisk> {
        let (image, at) = (dir.join("slow-disk.img"), dir.join("slow-disk"));
        let file = File::create(&image).with_context(|| format!("create `{}`", image.display()))?;
        file.set_len(mib << 20).with_context(|| format!("make `{}` of {mib} MiB", image.display()))?;
        run(Command::new("mkfs.ext4").args(["-q", "-F", "-O", "^has_journal"]).arg(&image))?;
        fs::create_dir(&at).with_context(|| format!("make directory `{}`", at.display()))?;
        let mut disk = SlowDisk { image, at, group: Group::make()?, bytes_per_second, is_mounted: false };
        disk.mount()?;
        Ok(disk)
    }

    /// Where its files are.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Holds back what a process, and whatever it starts from now on, reads of it.
    ///
    /// # Errors
    /// When the process does not enter the control group.
    pub fn hold_back(&self, pid: u32) -> Result<()> {
        let members = self.group.path.join("cgroup.procs");
        fs::write(&members, pid.to_string()).with_context(|| format!("put process {pid} into `{}`", members.display()))
    }

    /// Forgets what is in memory of its files; nobody may have one open.
    ///
    /// # Errors
    /// When it cannot be mounted anew.
    pub fn cool(&mut self) -> Result<()> {
        run(Command::new("umount").arg(&self.at))?;
        self.is_mounted = false;
        self.mount()
    }

    fn mount(&mut self) -> Result<()> {
        run(Command::new("mount").args(["-o", "loop,noatime"]).args([&self.image, &self.at]))?;
        self.is_mounted = true;
        let device = fs::metadata(&self.at).with_context(|| format!("look at `{}`", self.at.display()))?.dev();
        self.group.limit(device, self.bytes_per_second)
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        if self.is_mounted
            && let Err(error) = run(Command::new("umount").arg("--lazy").arg(&self.at))
        {
            eprintln!("warning: `{}` stays mounted: {error:#}", self.at.display());
        }
    }
}

impl Group {
    fn make() -> Result<Group> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").context("read the list of mounts")?;
        let (root, is_v2) = hierarchy(&mounts, |root| controls_io(&root.join("cgroup.controllers"))).context(
            "find the controller of reads, `blkio` or `io`, among the mounted control groups: there is none",
        )?;
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("howdah-slow-disk-{}-{number}", std::process::id()));
        let children = root.join("cgroup.subtree_control");
        let is_new = is_v2 && !controls_io(&children);
        let group = Group { path, is_v2, handed_down: is_new.then(|| children.clone()) };
        if is_new {
            fs::write(&children, "+io").with_context(|| format!("write `+io` to `{}`", children.display()))?;
        }
        let path = &group.path;
        fs::create_dir(path).with_context(|| format!("create control group `{}`", path.display()))?;
        Ok(group)
    }

    fn limit(&self, device: u64, bytes_per_second: u64) -> Result<()> {
        let (major, minor) = (major(device), minor(device));
        let (file, line) = match self.is_v2 {
            true => ("io.max", format!("{major}:{minor} rbps={bytes_per_second}")),
            false => ("blkio.throttle.read_bps_device", format!("{major}:{minor} {bytes_per_second}")),
        };
        let file = self.path.join(file);
        fs::write(&file, &line).with_context(|| format!("write `{line}` to `{}`", file.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // While a process of it is being waited for it stays, and does nothing.
        let _ = fs::remove_dir(&self.path);
        // Best effort: another group may have come to need it.
        let _ = self.handed_down.as_ref().map(|children| fs::write(children, "-io"));
    }
}

fn controls_io(controllers: &Path) -> bool {
    fs::read_to_string(controllers).is_ok_and(|names| names.split_whitespace().any(|name| name == "io"))
}

/// Where reads are held back by group, and whether that is a v2 hierarchy.
fn hierarchy(mountinfo: &str, has_io: impl Fn(&Path) -> bool) -> Option<(PathBuf, bool)> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let at = PathBuf::from(mount.split(' ').nth(4)?);
        let mut system = system.split(' ');
        Some((at, system.next()?, system.nth(1)?))
    });
    let mut found = None;
    for (at, kind, options) in mounts {
        if kind == "cgroup" && options.split(',').any(|option| option == "blkio") {
            return Some((at, false));
        }
        if kind == "cgroup2" && has_io(&at) {
            found = Some((at, true));
        }
    }
    found
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("run `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{name}` ended with {}: {}", output.status, said.lines().last().unwrap_or("it said nothing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_held_back_where_the_controller_is_in_either_hierarchy_or_nowhere() {
        let v1 = "31 23 0:27 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio\n";
        let v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let other = "24 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
        let found =
            |text: &str, has_io| hierarchy(text, |_| has_io).map(|(at, is_v2)| (at.display().to_string(), is_v2));
        let of = |path: &str, is_v2| Some((path.to_owned(), is_v2));
        assert_eq!(found(&[other, v2, v1].concat(), true), of("/sys/fs/cgroup/blkio", false));
        assert_eq!(found(&[v2, other].concat(), true), of("/sys/fs/cgroup", true));
        assert_eq!((found(v2, false), found(other, true)), (None, None));
    }
}
