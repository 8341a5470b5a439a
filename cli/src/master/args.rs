//! Flags of `master`.

use std::path::PathBuf;

use clap::Args;

use crate::args::parse_address;
use crate::daemon::LeashArgs;
use crate::flag_values::parse_pair;

/// `howdah master`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
SIGTERM or one Ctrl-C lets running jobs end, for `drain_grace_ms` at most; once more stops at once.

Every setting can also come from [master] of the configuration file or from a variable: `howdah \
config show --master`. HOWDAH_LOG=debug says more, HOWDAH_LOG_FORMAT=json says it as JSON.

Examples:
  howdah master --dir /data/howdah --listen 0.0.0.0:9001
  howdah master --scheduler fair -D allocation.file=pools.xml")]
pub(crate) struct MasterArgs {
    /// Its directory: journal, job files, history, access.json
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Begin another cluster in the directory instead of going on with the one that is there
    #[arg(long)]
    pub(crate) new_cluster: bool,
    /// Address to listen on, host:port; without a port it is 9001; port 0 takes any free one, the same after a restart
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub(crate) listen: Option<String>,
    /// Run as root although other machines get at it: every job may then do what root may
    #[arg(long)]
    pub(crate) as_root: bool,
    /// Scheduler that hands out tasks
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,
    /// Set a parameter of the scheduler; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) define: Vec<(String, String)>,
    /// Hadoop's own configuration, from which the scheduler and its parameters come; what is set here overrides it
    #[arg(long, value_name = "FILE")]
    pub(crate) mapred_site: Option<PathBuf>,
    /// Keep so many jobs that are over: history, counters, what they were submitted as
    #[arg(long, value_name = "N")]
    pub(crate) keep_jobs: Option<u32>,
    /// Seed of the run's random streams
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Keep nothing, and begin a cluster that no start goes on with: `bench journal` measures what the journal costs
    #[arg(long, hide = true)]
    pub(crate) without_journal: bool,
    #[command(flatten)]
    pub(crate) leash: LeashArgs,
}
