//! What `/proc` says of tasks and of the machine, as pure functions over the text of its files, and of process trees.
//!
//! Everything here may vanish between two looks: what is gone counts for nothing and is no error.

use std::collections::BTreeSet;
use std::fs;

/// A task or a process as `stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// It runs or waits for a core. A task that a quota holds back waits.
    pub(crate) runnable: bool,
    /// Process group.
    pub(crate) group: u32,
    pub(crate) n_threads: u32,
}

/// Reads the text of a `stat`. The name in it may hold anything, a `)` included.
pub(super) fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    // From field 3 of proc(5) on: state, parent, group; threads are field 20.
    let runnable = fields.next()? == "R";
    let group = fields.nth(1)?.parse().ok()?;
    let n_threads = fields.nth(14)?.parse().ok()?;
    Some(Stat { runnable, group, n_threads })
}

/// Load averages and the number of tasks that run or wait, of `/proc/loadavg`, in thousandths and in tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadAverage {
    pub(super) milli: [u32; 3],
    pub(super) running: u32,
}

/// Reads the text of `/proc/loadavg`.
pub(super) fn parse_loadavg(text: &str) -> Option<LoadAverage> {
    let mut fields = text.split_ascii_whitespace();
    let mut milli = [0; 3];
    for value in &mut milli {
        *value = super::milli::milli(fields.next()?.parse().ok()?);
    }
    let running = fields.next()?.split_once('/')?.0.parse().ok()?;
    Some(LoadAverage { milli, running })
}

/// The process, unless it is gone.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Tasks of a process that run or wait.
pub(super) fn runnable_tasks(pid: u32, process: Stat) -> u32 {
    if process.n_threads <= 1 {
        return u32::from(process.runnable);
    }
    let runnable = |task: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{task}/stat"));
        text.ok().and_then(|text| parse_stat(&text)).is_some_and(|task| task.runnable)
    };
    numbers_in(&format!("/proc/{pid}/task")).iter().filter(|task| runnable(task)).count() as u32
}

/// Adds the children of a process, their children and so on.
pub(crate) fn add_descendants(pid: u32, found: &mut BTreeSet<u32>) {
    for task in numbers_in(&format!("/proc/{pid}/task")) {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{task}/children")).unwrap_or_default();
        for child in children.split_ascii_whitespace().filter_map(|child| child.parse().ok()) {
            if found.insert(child) {
                add_descendants(child, found);
            }
        }
    }
}

/// The names in a directory that are numbers.
pub(crate) fn numbers_in(path: &str) -> Vec<u32> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_whatever_the_name_is() {
        let line = "77 (a) b) R 1 70 70 0 -1 4194304 1 0 0 0 5 5 0 0 20 0 3 0 99 1000 10";
        assert_eq!(parse_stat(line), Some(Stat { runnable: true, group: 70, n_threads: 3 }));
        let line = line.replace(" R ", " S ");
        assert_eq!(parse_stat(&line).map(|stat| stat.runnable), Some(false));
        assert_eq!(parse_stat("77 (cut"), None);
        assert_eq!(parse_stat("77 (cut) R 1"), None);
    }

    #[test]
    fn load_averages_are_thousandths() {
        let read = parse_loadavg("3.96 2.06 0.07 4/92 26158\n");
        assert_eq!(read, Some(LoadAverage { milli: [3_960, 2_060, 70], running: 4 }));
        assert_eq!(parse_loadavg("3.96 2.06"), None);
    }

    #[test]
    fn this_process_runs_and_a_vanished_one_counts_for_nothing() {
        let own = stat(std::process::id()).expect("this process is there");
        assert!(own.n_threads >= 1);
        assert!(runnable_tasks(std::process::id(), own) >= 1, "the task that looks is running");
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let mut found = BTreeSet::new();
        add_descendants(std::process::id(), &mut found);
        assert!(found.contains(&child.id()));
        let seen = stat(child.id()).expect("it sleeps");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(stat(child.id()), None);
        assert_eq!(runnable_tasks(child.id(), Stat { n_threads: 2, ..seen }), 0);
        found.clear();
        add_descendants(child.id(), &mut found);
        assert_eq!(found, BTreeSet::new());
    }
}
