//! Flags of `worker` and its subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{ClusterArgs, FormatArgs, parse_address};
use crate::daemon::LeashArgs;

/// `howdah worker`, and with a subcommand what concerns all workers.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
SIGTERM or one Ctrl-C lets running attempts end, for `drain_grace_ms` at most; once more stops \
at once.

Every setting can also come from [worker] of the configuration file or from a variable: `howdah \
config show --worker`. HOWDAH_LOG=debug says more, HOWDAH_LOG_FORMAT=json says it as JSON.

Examples:
  howdah worker --master 10.0.0.1:9001 --dir /data/worker --map-slots 8 --reduce-slots 4
  howdah worker list
  howdah worker vitals worker-2
  howdah worker drain worker-2")]
pub(crate) struct WorkerArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkerCommand>,
    /// Address of the master, host:port [variable: HOWDAH_MASTER]
    #[arg(long, value_name = "ADDR")]
    pub(crate) master: Option<String>,
    /// Where its shuffle and log server listens, host:port [default: any port, on loopback if the master is there]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub(crate) listen: Option<String>,
    /// Where others reach that server [default: where the master sees the worker come from]
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    pub(crate) advertise: Option<String>,
    /// Run as root although other machines get at it: every job may then do what root may
    #[arg(long)]
    pub(crate) as_root: bool,
    /// Its directory: map output, logs of attempts
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Its name, unique in the cluster and stable over restarts
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Maps it runs at a time
    #[arg(long, value_name = "N")]
    pub(crate) map_slots: Option<u32>,
    /// Reduces it runs at a time
    #[arg(long, value_name = "N")]
    pub(crate) reduce_slots: Option<u32>,
    /// As many maps at a time as it has cores, and half as many reduces
    #[arg(long, conflicts_with_all = ["map_slots", "reduce_slots"])]
    pub(crate) slots_by_cores: bool,
    /// Its rack, a path such as /rack-1
    #[arg(long, value_name = "PATH")]
    pub(crate) rack: Option<String>,
    /// This host as inputs' places name it; no task is speculated on the host where it runs
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Cores that it and its attempts may use together, such as 0.5; 0 for no limit
    #[arg(long, value_name = "CORES")]
    pub(crate) cpu_quota: Option<f64>,
    /// What its load is measured of: auto, host, its own control group (cgroup), or script
    #[arg(long, value_name = "SOURCE")]
    pub(crate) vitals_source: Option<String>,
    #[command(flatten)]
    pub(crate) leash: LeashArgs,
}

/// What concerns all workers.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// List the workers with their slots, load and state
    List(WorkerListArgs),
    /// Show what a worker measures, now and over the last minutes
    Vitals(WorkerVitalsArgs),
    /// Give workers no more tasks; what they run may end
    Drain(DrainArgs),
    /// Take a worker off the blacklist; its failures are forgotten
    Enable(WorkerNameArgs),
    /// Take a worker that is gone off the list; one that is silent is given up at once
    Remove(WorkerNameArgs),
}

/// `howdah worker list`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
With --wide also load averages, rates of disks and network, and what tasks were held up for; each \
worker's history is in `worker vitals`.")]
pub(crate) struct WorkerListArgs {
    /// Also workers that are gone for long
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `howdah worker vitals`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The run queue is the number of tasks that run or wait for a core; the foreign load is what of it is \
not the worker's own attempts. The master keeps at most 60 samples of each worker, five seconds or \
more apart.

Example:
  howdah worker vitals worker-2 --output json")]
pub(crate) struct WorkerVitalsArgs {
    /// Name of the worker
    pub(crate) worker: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `howdah worker drain`
#[derive(Args, Clone, Debug)]
pub(crate) struct DrainArgs {
    /// Names of the workers, or patterns and ranges in quotes: 'lab*', 'lab[1-3]'
    #[arg(value_name = "WORKER", required_unless_present = "all")]
    pub(crate) workers: Vec<String>,
    /// All workers
    #[arg(long, conflicts_with = "workers")]
    pub(crate) all: bool,
    /// Take it back
    #[arg(long)]
    pub(crate) undo: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `howdah worker enable` and `howdah worker remove`
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkerNameArgs {
    /// Name of the worker
    pub(crate) worker: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
