//! How many tasks run or wait for a core, and how many of them are not the worker's own: attempts, and probes.
//!
//! Looked at several times a second and smoothed, because the kernel keeps no such mean: its load average covers a
//! minute and the whole machine. Of the whole machine the kernel's count is taken, less the thread that looks. In a
//! control group the tasks are counted one by one: one that the group's quota holds back shows as runnable there,
//! rightly, since it waits for a core, while the kernel's count leaves it out. The worker's daemon itself is
//! neither own nor foreign in a group; of the machine it is foreign for the moments in which it works.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::proc::{self, LoadAverage};
use super::smooth::Smoothed;

/// The processes of attempts that keepers hold now, and of probes that run; each leads its process group.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnProcesses(Arc<Mutex<BTreeSet<u32>>>);

impl OwnProcesses {
    /// Counts this process's tasks as the worker's own from now on.
    pub(crate) fn add(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
    }

    /// To be called before the process is reaped, while the number is still its own.
    pub(crate) fn remove(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
    }

    #[cfg(test)]
    pub(crate) fn has(&self, pid: u32) -> bool {
        self.leaders().contains(&pid)
    }

    fn leaders(&self) -> BTreeSet<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Where tasks are counted.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    Host,
    /// Directory of the control group.
    Group(PathBuf),
}

/// One look, in tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: u32,
    /// Of attempts and probes.
    pub(super) own: u32,
}

impl Scope {
    /// Counts now; `machine` is what the kernel has just said of the host.
    pub(super) fn count(&self, own: &OwnProcesses, machine: &LoadAverage) -> Counts {
        let leaders = own.leaders();
        let mut known = leaders.clone();
        leaders.iter().for_each(|&leader| proc::add_descendants(leader, &mut known));
        match self {
            Scope::Host => {
                let tasks = |&pid: &u32| proc::look(pid).map_or(0, |process| process.runnable_tasks());
                Counts { all: machine.running.saturating_sub(1), own: known.iter().map(tasks).sum() }
            }
            Scope::Group(dir) => {
                let mut counts = Counts::default();
                let mut pids = BTreeSet::new();
                members(dir, &mut pids);
                pids.remove(&std::process::id());
                for pid in pids {
                    let Some(process) = proc::look(pid) else { continue };
                    let tasks = process.runnable_tasks();
                    counts.all += tasks;
                    if known.contains(&pid) || leaders.contains(&process.group) {
                        counts.own += tasks;
                    }
                }
                counts
            }
        }
    }
}

/// The processes of a group and of the groups below it.
fn members(dir: &Path, pids: &mut BTreeSet<u32>) {
    let list = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    // Processes outside our own namespace are written as 0.
    pids.extend(list.lines().filter_map(|pid| pid.parse::<u32>().ok()).filter(|&pid| pid > 0));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            members(&entry.path(), pids);
        }
    }
}

/// Means of what the looks have shown.
#[derive(Clone, Debug)]
pub(super) struct RunQueue {
    all: Smoothed,
    /// Smoothed before it is cut at 0: the kernel's count and ours are not of the same instant.
    foreign: Smoothed,
    /// As the kernel's load averages, but of these looks.
    averages: [Smoothed; 3],
}

impl RunQueue {
    pub(super) fn new(constant: Duration) -> RunQueue {
        let minutes = |n: u64| Smoothed::new(Duration::from_secs(60 * n));
        RunQueue {
            all: Smoothed::new(constant),
            foreign: Smoothed::new(constant),
            averages: [minutes(1), minutes(5), minutes(15)],
        }
    }

    pub(super) fn add(&mut self, counts: Counts, passed: Duration) {
        let (all, own) = (f64::from(counts.all), f64::from(counts.own));
        self.all.add(all, passed);
        self.foreign.add(all - own, passed);
        self.averages.iter_mut().for_each(|average| average.add(all, passed));
    }

    /// Tasks that run or wait, in thousandths.
    pub(super) fn all_milli(&self) -> u32 {
        self.all.milli()
    }

    /// Of these not the worker's own attempts'.
    pub(super) fn foreign_milli(&self) -> u32 {
        self.foreign.milli()
    }

    /// Over one, five and fifteen minutes.
    pub(super) fn averages_milli(&self) -> [u32; 3] {
        self.averages.map(|average| average.milli())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: u32, own: u32) -> Counts {
        Counts { all, own }
    }

    #[test]
    fn the_workers_own_attempts_are_no_foreign_load() {
        let mut queue = RunQueue::new(Duration::from_secs(3));
        for _ in 0..100 {
            queue.add(counts(5, 2), Duration::from_millis(250));
        }
        assert_eq!((queue.all_milli(), queue.foreign_milli()), (5_000, 3_000));
    }

    #[test]
    fn looks_that_miss_each_other_even_out() {
        // Own tasks that start and stop between the kernel's count and ours: as often too many as too few.
        let mut queue = RunQueue::new(Duration::from_secs(3));
        for n in 0..400 {
            queue.add(if n % 2 == 0 { counts(1, 2) } else { counts(2, 1) }, Duration::from_millis(250));
        }
        assert!(queue.foreign_milli() < 100, "{queue:?}");
    }

    #[test]
    fn a_process_that_vanishes_midway_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        fs::write(dir.path().join("cgroup.procs"), format!("{gone}\n0\n{}\n", std::process::id())).unwrap();
        let own = OwnProcesses::default();
        own.add(gone);
        for scope in [Scope::Host, Scope::Group(dir.path().to_owned())] {
            assert_eq!(scope.count(&own, &LoadAverage::default()), counts(0, 0), "{scope:?}");
        }
    }

    #[test]
    fn tasks_of_attempts_and_of_others_are_told_apart_in_a_group() {
        use std::os::unix::process::CommandExt;
        let dir = tempfile::tempdir().unwrap();
        let busy = || {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "while :; do :; done"]).process_group(0).spawn().unwrap()
        };
        let mut children = [busy(), busy(), busy()];
        let below = dir.path().join("attempt");
        fs::create_dir(&below).unwrap();
        fs::write(below.join("cgroup.procs"), children[0].id().to_string()).unwrap();
        fs::write(dir.path().join("cgroup.procs"), format!("{}\n{}", children[1].id(), children[2].id())).unwrap();
        let own = OwnProcesses::default();
        own.add(children[0].id());
        let scope = Scope::Group(dir.path().to_owned());
        // A shell that was just started may still be on its way.
        let began = std::time::Instant::now();
        while scope.count(&own, &LoadAverage::default()) != counts(3, 1) {
            assert!(began.elapsed() < Duration::from_secs(30));
            std::thread::yield_now();
        }
        own.remove(children[0].id());
        assert_eq!(scope.count(&own, &LoadAverage::default()), counts(3, 0));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
