//! What `/proc` says of the machine's load, of trees of processes, and of the tasks of a process that run or wait for a core.
//!
//! Everything here may vanish between two looks: what is gone counts for nothing and is no error.

use std::collections::BTreeSet;

use procfs::Current;
use procfs::process::{Process, Task};

use super::milli::milli;

/// Load averages in thousandths, and how many tasks of the machine run or wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadAverage {
    pub(super) milli: [u32; 3],
    pub(super) running: u32,
}

/// As of now.
pub(super) fn load_average() -> Option<LoadAverage> {
    let now = procfs::LoadAverage::current().ok()?;
    Some(LoadAverage { milli: [now.one, now.five, now.fifteen].map(|load| milli(load.into())), running: now.cur })
}

/// A process as of one moment.
#[derive(Debug)]
pub(crate) struct Seen {
    process: Process,
    /// Process group.
    pub(crate) group: u32,
    /// It runs or waits for a core. A process that a quota holds back waits.
    is_runnable: bool,
    n_threads: i64,
}

/// The process, unless it is gone.
fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

/// How the process is, unless it is gone.
pub(crate) fn look(pid: u32) -> Option<Seen> {
    let process = process(pid)?;
    let stat = process.stat().ok()?;
    Some(Seen {
        group: u32::try_from(stat.pgrp).ok()?,
        is_runnable: stat.state == RUNNABLE,
        n_threads: stat.num_threads,
        process,
    })
}

/// As the kernel writes it.
const RUNNABLE: char = 'R';

impl Seen {
    /// Tasks of the process that run or wait.
    pub(super) fn runnable_tasks(&self) -> u32 {
        if self.n_threads <= 1 {
            return u32::from(self.is_runnable);
        }
        let is_runnable = |task: &Task| task.stat().is_ok_and(|stat| stat.state == RUNNABLE);
        tasks(&self.process).filter(is_runnable).count() as u32
    }
}

/// Adds the children of a process, their children and so on.
pub(crate) fn add_descendants(pid: u32, found: &mut BTreeSet<u32>) {
    for child in process(pid).iter().flat_map(tasks).flat_map(|task| task.children().unwrap_or_default()) {
        if found.insert(child) {
            add_descendants(child, found);
        }
    }
}

fn tasks(process: &Process) -> impl Iterator<Item = Task> {
    process.tasks().into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_load_counts_the_task_that_looks() {
        assert!(load_average().expect("this is Linux").running >= 1);
    }

    #[test]
    fn this_process_runs_and_a_vanished_one_counts_for_nothing() {
        let own = look(std::process::id()).expect("this process is there");
        assert!(own.n_threads >= 1);
        assert!(own.runnable_tasks() >= 1, "the task that looks is running");
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let mut found = BTreeSet::new();
        add_descendants(std::process::id(), &mut found);
        assert!(found.contains(&child.id()));
        let seen = look(child.id()).expect("it sleeps");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(look(child.id()).is_none());
        assert_eq!(Seen { n_threads: 2, ..seen }.runnable_tasks(), 0);
        found.clear();
        add_descendants(child.id(), &mut found);
        assert_eq!(found, BTreeSet::new());
    }
}
