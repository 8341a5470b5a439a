//! Flags of `up` and `down`, and of the command that both run on other machines.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::flag_values::parse_pair;
use crate::units::parse_duration;

/// `howdah up`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Everything lives in DIR: DIR/master, DIR/worker-1, …, their logs, and DIR/access.json with the \
address and the processes. Started twice, the command says that the cluster is up and changes \
nothing.

With --hosts, DIR is on each machine of the file and gets the executable (DIR/bin) where it is not \
there or is of another build; ssh must let you in without a question.

Examples:
  howdah up --workers 4 --dir cluster
  howdah submit wordcount --dir cluster --input notes --output counts --wait
  howdah down --dir cluster
  howdah up --hosts lab.txt --dir /var/lib/howdah
  howdah down --hosts lab.txt --dir /var/lib/howdah")]
pub(crate) struct UpArgs {
    /// Directory of the cluster; made if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) machines: MachinesArgs,
    /// With --hosts: run as root although other machines get at it
    #[arg(long, requires = "hosts")]
    pub(crate) as_root: bool,
    /// Number of workers
    #[arg(long, value_name = "N", conflicts_with = "hosts", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) workers: u32,
    /// Maps that each worker runs at a time
    #[arg(long, value_name = "N")]
    pub(crate) map_slots: Option<u32>,
    /// Reduces that each worker runs at a time
    #[arg(long, value_name = "N")]
    pub(crate) reduce_slots: Option<u32>,
    /// Cores that each worker and its attempts may use together, by commas, such as 1,1,0.5; 0 for no limit. The
    /// last one holds for all further workers
    #[arg(long, value_name = "CORES,…", value_delimiter = ',', conflicts_with = "hosts")]
    pub(crate) cpu_quota: Vec<f64>,
    /// What the workers' load is measured of: auto, host, a control group for each (cgroup), or script
    #[arg(long, value_name = "SOURCE")]
    pub(crate) vitals_source: Option<String>,
    /// Scheduler that hands out tasks
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,
    /// Set a parameter of the scheduler; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) define: Vec<(String, String)>,
    /// Hadoop's own configuration, from which the scheduler and its parameters come; what is set here overrides it
    #[arg(long, value_name = "FILE", conflicts_with = "hosts")]
    pub(crate) mapred_site: Option<PathBuf>,
    /// Address for the master [default: any free port on 127.0.0.1; with --hosts its machine's name and port 9001]
    #[arg(long, value_name = "ADDR", value_parser = crate::args::parse_address)]
    pub(crate) listen: Option<String>,
}

/// `howdah down`
#[derive(Args, Clone, Debug)]
pub(crate) struct DownArgs {
    /// Directory given to `up`
    #[arg(long, value_name = "DIR", env = "HOWDAH_DIR", hide_env = true)]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) machines: MachinesArgs,
    /// How long processes may take to end by themselves before they are killed
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = parse_duration)]
    pub(crate) grace: Duration,
}

/// Machines instead of this one.
#[derive(Args, Clone, Debug)]
pub(crate) struct MachinesArgs {
    /// Machines as ssh knows them, one a line: the master's first, then one for each worker. The master's may come
    /// again, for a worker beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
    /// Program that runs a command on a machine, with its own arguments
    #[arg(long, value_name = "PROGRAM", default_value = "ssh -o BatchMode=yes -o ConnectTimeout=10")]
    pub(crate) ssh: String,
}

/// `howdah daemon`: what `up --hosts` and `down --hosts` run on each machine.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Start a daemon that stays, and wait until it is of use
    Start {
        /// master or worker
        #[arg(value_parser = ["master", "worker"])]
        role: String,
        /// Its directory
        #[arg(long)]
        dir: PathBuf,
        /// The worker's name and its master's address: wait until it is LIVE there
        #[arg(long, num_args = 2, value_names = ["NAME", "ADDR"])]
        until_live: Vec<String>,
        /// More arguments for the daemon
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Stop what was started in a directory
    Stop {
        /// Its directory
        #[arg(long)]
        dir: PathBuf,
        /// How long it may take to end by itself before it is killed
        #[arg(long, value_parser = parse_duration)]
        grace: Duration,
    },
}
