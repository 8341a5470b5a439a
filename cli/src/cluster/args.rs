//! Flags of `cluster` and `cluster clean`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::args::{ClusterArgs, FormatArgs};
use crate::units::{parse_bytes, parse_duration};

/// `howdah cluster`
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ClusterCommand {
    #[command(subcommand)]
    pub(crate) command: Option<ClusterAction>,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// Which cluster, and how to print it.
#[derive(Args, Clone, Debug)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What concerns the files of a cluster.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ClusterAction {
    /// Remove what daemons of earlier days left: old runs, logs, work folders
    Clean(CleanArgs),
}

/// `howdah cluster clean`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
DIR is a master's or a worker's directory, or one that has them, as `howdah up` makes it. What can \
go: runs of clusters that --new-cluster has ended; attempts' logs and work folders of workers that \
do not run; logs that were put aside. What never goes: the last run of a master, with which it goes \
on when it starts again, and anything of a worker that runs.

Examples:
  howdah cluster clean /var/lib/howdah --dry-run
  howdah cluster clean /var/lib/howdah --older-than 7d
  howdah cluster clean /var/lib/howdah --older-than 90d --keep-size 20GiB")]
pub(crate) struct CleanArgs {
    /// Directories of daemons, or what has them
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Remove what nobody has written to for so long
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "30d")]
    pub(crate) older_than: Duration,
    /// Of what is younger keep the newest, so much of it
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) keep_size: Option<u64>,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
