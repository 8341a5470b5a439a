//! Flags of `bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::FormatArgs;

/// `howdah bench`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Each benchmark measures howdah and its baseline in turn, several times, and prints medians and their ratio.

Examples:
  howdah bench list
  howdah bench noop --quick
  howdah bench memory --tasks 1000000 --repeats 1
  howdah bench wordcount --write docs/performance.md")]
pub(crate) struct BenchArgs {
    /// Which one; `list` says what each measures, `all` runs them in turn
    #[arg(value_name = "NAME")]
    pub(crate) name: BenchName,
    /// Smaller inputs and fewer repeats: minutes become seconds, figures become rough
    #[arg(long)]
    pub(crate) quick: bool,
    /// Repeats of each measurement
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) repeats: Option<u32>,
    /// Maps of the job that `memory` runs, instead of 20,000: a million shows what the master holds then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub(crate) tasks: Option<u32>,
    /// Put the table into this Markdown file, replacing the one of the same name there
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Where to make inputs and clusters [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Arguments of the parts that run as processes of their own
    #[arg(hide = true, value_name = "PART")]
    pub(crate) rest: Vec<String>,
}

/// All benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchName {
    /// Say what each measures
    List,
    /// All of them
    All,
    /// Word count over 1 GiB against a hand-written hash-map program
    Wordcount,
    /// `cat` as mapper and reducer over 1 GiB against `cat | sort`
    Streaming,
    /// Attempts that do nothing against a bare loop of /bin/true
    Noop,
    /// What the journal costs submissions and attempts
    Journal,
    /// From submission to the first attempt on an idle cluster
    Idle,
    /// Heartbeats of 1,000 workers against a bare tonic echo server
    Heartbeat,
    /// A batch of short jobs under each heartbeat interval rule
    Intervals,
    /// Simulated events against a hand-written loop
    Replay,
    /// A decision of each scheduler, with 10 and with 10,000 jobs that wait
    Schedulers,
    /// One forecast of a large cluster
    Predict,
    /// What jobs take of the master's memory, and leave on disks
    Memory,
    /// A job of a million tasks, and a thousand jobs of a thousand, in the master's memory; not part of `all`
    Million,
    /// What a worker spends on measuring its machine
    Vitals,
    /// The hand-written word count, as its own process
    #[value(hide = true)]
    BaselineWordcount,
    /// The bare loop, as its own process
    #[value(hide = true)]
    BaselineSpawn,
    /// The echo server, as its own process
    #[value(hide = true)]
    BaselineEcho,
    /// A replay whose memory is measured, as its own process
    #[value(hide = true)]
    ReplayMemory,
    /// The simulated workers, as their own process
    #[value(hide = true)]
    SimulatedWorkers,
    /// A worker without slots that times its heartbeats, as its own process
    #[value(hide = true)]
    HeartbeatTimes,
}
