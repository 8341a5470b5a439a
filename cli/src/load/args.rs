//! Flags of `load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::FormatArgs;
use crate::units::parse_duration;

/// `howdah load`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A load of 3 is three tasks that always run or wait for a core; 0.5 is one task that does so half of \
the time, in short turns. The tasks are threads of this process and compute all the time. They end \
with it: after --for, at the schedule's end, or with Ctrl-C; what was held by then is printed.

A schedule is a list of `TIME:LOAD`, by commas or one a line in a file; `#` starts a comment. Each load \
holds from its time until the next one's. A schedule whose last load is 0 ends there.

With --cgroup-of the load is one worker's own: its vitals show it as foreign load if they are measured \
of its control group, and it gets its part of that worker's quota. The worker must have a control \
group: --cpu-quota, or --vitals-source cgroup.

Examples:
  howdah load --load 3 --for 5m
  howdah load --load 1.5 --for 60s --cgroup-of cluster/worker-2
  howdah load --schedule 0s:4,180s:8,10m:0 --cgroup-of cluster/worker-1 --output json")]
pub(crate) struct LoadArgs {
    /// Tasks that run or wait, on average
    #[arg(long, value_name = "TASKS", required_unless_present = "schedule", conflicts_with = "schedule")]
    pub(crate) load: Option<f64>,
    /// How long to hold it; needed unless the schedule ends
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Loads over time, or a file with them
    #[arg(long, value_name = "TIME:LOAD,…|FILE")]
    pub(crate) schedule: Option<String>,
    /// Directory of a worker: the load joins its control group
    #[arg(long, value_name = "WORKER_DIR", conflicts_with = "group")]
    pub(crate) cgroup_of: Option<PathBuf>,
    /// Directory of a control group to join; may be repeated, or have several lines as a worker's file `cgroup` has: version
    /// 1 has a group in each hierarchy
    #[arg(long, value_name = "PATH", value_parser = parse_groups)]
    pub(crate) group: Vec<Groups>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Stop when standard input ends: whoever holds its other end is gone
    #[arg(long, hide = true)]
    pub(crate) stop_with_stdin: bool,
}

/// Directories of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups(pub(crate) Vec<PathBuf>);

fn parse_groups(text: &str) -> Result<Groups, String> {
    let dirs: Vec<PathBuf> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(PathBuf::from).collect();
    if dirs.is_empty() { Err("expected the directory of a control group".to_owned()) } else { Ok(Groups(dirs)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_workers_file_is_a_group_to_join() {
        let dirs = ["/sys/fs/cgroup/cpu/w", "/sys/fs/cgroup/cpuacct/w"];
        assert_eq!(parse_groups(&dirs.join("\n")), Ok(Groups(dirs.map(PathBuf::from).to_vec())));
        assert_eq!(parse_groups(" \n"), Err("expected the directory of a control group".to_owned()));
    }
}
