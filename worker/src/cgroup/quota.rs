//! How many cores a process may use: those that it may run on, or the smallest quota above it if that is less.

use std::fs;
use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use super::{Lists, Place, Version};

/// Cores in thousandths for this process, of `n_cpus` that the machine has. At least 1.
pub fn cpus_milli(n_cpus: u32) -> u32 {
    let allowed = allowed_cpus().unwrap_or(n_cpus).clamp(1, n_cpus.max(1));
    // Without the lists there is no quota that could be known.
    let quota = Lists::read().ok().and_then(|lists| smallest_quota(&lists));
    quota.map_or(u32::MAX, |quota| quota.max(1)).min(allowed.saturating_mul(1_000))
}

/// The smallest quota between the process's groups and the roots of their hierarchies, in thousandths of a core.
fn smallest_quota(lists: &Lists) -> Option<u32> {
    [lists.version_1("cpu"), lists.version_2()].iter().flatten().filter_map(quota_on_path).min()
}

fn quota_on_path(place: &Place) -> Option<u32> {
    let groups = place.group.ancestors().take_while(|group| group.starts_with(&place.mount));
    groups.filter_map(|group| quota_of(place.version, group)).min()
}

fn quota_of(version: Version, group: &Path) -> Option<u32> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    match version {
        Version::One => quota_1(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?),
        Version::Two => quota_2(&read("cpu.max")?),
    }
}

/// From `cpu.cfs_quota_us` and `cpu.cfs_period_us`, in thousandths of a core; none is written as -1.
fn quota_1(quota: &str, period: &str) -> Option<u32> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok().filter(|&period| period > 0)?;
    Some(u32::try_from(quota.saturating_mul(1_000) / period).unwrap_or(u32::MAX))
}

/// From `cpu.max`, in thousandths of a core; none is written as `max`.
fn quota_2(max: &str) -> Option<u32> {
    let (quota, period) = max.trim().split_once(' ')?;
    quota_1(quota, period)
}

/// How many cores this thread may run on.
fn allowed_cpus() -> Option<u32> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    u32::try_from((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).count()).ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn quotas_of_both_versions_are_read() {
        assert_eq!(quota_1("50000\n", "100000\n"), Some(500));
        assert_eq!(quota_1("-1\n", "100000\n"), None);
        assert_eq!(quota_1("50000\n", "0\n"), None);
        assert_eq!(quota_2("150000 100000\n"), Some(1_500));
        assert_eq!(quota_2("max 100000\n"), None);
        assert_eq!(quota_2("garbage"), None);
    }

    #[test]
    fn the_smallest_quota_on_the_way_to_the_root_holds() {
        let dir = tempfile::tempdir().unwrap();
        let group = dir.path().join("outer/inner");
        fs::create_dir_all(&group).unwrap();
        let place = |version| Place { version, mount: dir.path().to_owned(), group: group.clone() };
        assert_eq!(quota_on_path(&place(Version::Two)), None);
        fs::write(dir.path().join("outer/cpu.max"), "30000 20000\n").unwrap();
        fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        assert_eq!(quota_on_path(&place(Version::Two)), Some(1_500));
        fs::write(group.join("cpu.max"), "10000 20000\n").unwrap();
        assert_eq!(quota_on_path(&place(Version::Two)), Some(500));
        for (folder, quota) in [("outer", "250000"), ("outer/inner", "-1")] {
            let folder: PathBuf = dir.path().join(folder);
            fs::write(folder.join("cpu.cfs_quota_us"), quota).unwrap();
            fs::write(folder.join("cpu.cfs_period_us"), "100000").unwrap();
        }
        assert_eq!(quota_on_path(&place(Version::One)), Some(2_500));
    }

    #[test]
    fn the_cores_that_a_thread_may_run_on_are_counted() {
        let one = std::thread::spawn(|| {
            let here = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let first = (0..CpuSet::count()).find(|&core| here.is_set(core).unwrap()).unwrap();
            let mut set = CpuSet::new();
            set.set(first).unwrap();
            nix::sched::sched_setaffinity(Pid::from_raw(0), &set).unwrap();
            (allowed_cpus(), cpus_milli(64))
        });
        let (allowed, milli) = one.join().unwrap();
        assert_eq!(allowed, Some(1));
        assert!(milli <= 1_000, "{milli}");
    }
}
