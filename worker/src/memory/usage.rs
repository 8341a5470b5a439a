//! How much memory the processes of an attempt hold, as `/proc` says.
//!
//! What processes share after one split off the other is in the figures of each. So there are two ways: a sum of those
//! figures, which is quick and counts that again for each, and the kernel's division of what is shared, for which it goes
//! through all pages; that is asked for only where the sum is too much. Kernels before 4.14 do not divide, and the sum counts.
//! What is gone between two looks counts for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::vitals::proc;

/// The processes of each of these groups: its members, and what they started that has a group of its own.
pub(super) fn trees(leaders: impl Iterator<Item = u32>) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut trees: BTreeMap<u32, BTreeSet<u32>> = leaders.map(|leader| (leader, BTreeSet::from([leader]))).collect();
    for process in procfs::process::all_processes().into_iter().flatten().flatten() {
        let group = process.stat().ok().and_then(|stat| u32::try_from(stat.pgrp).ok());
        if let Some(tree) = group.and_then(|group| trees.get_mut(&group)) {
            tree.extend(u32::try_from(process.pid));
        }
    }
    for tree in trees.values_mut() {
        for member in tree.clone() {
            proc::add_descendants(member, tree);
        }
    }
    trees
}

/// Bytes that these processes hold; exact where that matters to whoever compares it with `limit`.
pub(super) fn held(pids: &BTreeSet<u32>, limit: u64) -> u64 {
    let read = |pid: &u32| parse_status(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default());
    let quick: Vec<Quick> = pids.iter().map(read).collect();
    let shared = quick.iter().map(|quick| quick.shared).max().unwrap_or(0);
    let sum = shared + quick.iter().map(|quick| quick.own).sum::<u64>();
    if sum <= limit {
        return sum;
    }
    let exact = |pid: &u32| match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => parse_rollup(&text),
        // It has ended since the first look, unless the kernel has no such file.
        Err(_) => (!Path::new(&format!("/proc/{pid}/stat")).exists()).then_some(0),
    };
    let divided: Option<Vec<u64>> = pids.iter().map(exact).collect();
    divided.map_or(sum, |divided| divided.iter().sum())
}

/// What one process has, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Quick {
    /// Its own pages and those that it shares with whom it split off; swapped ones, too.
    own: u64,
    /// Memory that is shared on purpose. What of it is whose is not said, so the largest of these counts.
    shared: u64,
}

/// Reads the text of `/proc/PID/status`. The first line has the process's name, which may be anything, but no line end.
fn parse_status(text: &str) -> Quick {
    let field = |name| field(text, name).unwrap_or(0);
    Quick { own: field("RssAnon:") + field("VmSwap:"), shared: field("RssShmem:") }
}

/// Reads the text of `/proc/PID/smaps_rollup`; `None` if it does not tell pages of files apart, as before Linux 5.
fn parse_rollup(text: &str) -> Option<u64> {
    let pss = field(text, "Pss_Anon:")? + field(text, "Pss_Shmem:")?;
    Some(pss + field(text, "SwapPss:").unwrap_or(0))
}

/// The bytes of a line `NAME   1234 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().skip(1).find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_files_do_not_count_and_a_name_is_no_figure() {
        let status = "Name:\tRssAnon: 9 kB\nVmRSS:\t  5000 kB\nRssAnon:\t   100 kB\nRssFile:\t  4870 kB\n\
                      RssShmem:\t    30 kB\nVmSwap:\t       7 kB\n";
        assert_eq!(parse_status(status), Quick { own: 107 << 10, shared: 30 << 10 });
        assert_eq!(parse_status("Name:\tkworker\nState:\tS\n"), Quick::default());
        let rollup = "55d0-7ffc ---p 00000000 00:00 0 [rollup]\nRss:  5000 kB\nPss:  2000 kB\nPss_Anon:  60 kB\n\
                      Pss_File:  1910 kB\nPss_Shmem:  30 kB\nSwapPss:  4 kB\n";
        assert_eq!(parse_rollup(rollup), Some(94 << 10));
        assert_eq!(parse_rollup("x\nRss: 5 kB\nPss: 5 kB\n"), None);
    }

    #[test]
    fn one_that_is_gone_holds_nothing() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert_eq!(held(&BTreeSet::from([pid]), 0), 0);
    }
}
