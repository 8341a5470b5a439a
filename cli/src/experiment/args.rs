//! Flags of `experiment`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::FormatArgs;

/// The papers' tables and figures.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ExperimentCommand {
    /// List the experiments: what each shows, what it needs, how long it takes
    List(ExperimentListArgs),
    /// Run one, and write CSV, SVG and a Markdown page beside the paper's own numbers
    Run(ExperimentRunArgs),
}

/// `experiment list`
#[derive(Args, Clone, Debug)]
pub(crate) struct ExperimentListArgs {
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `experiment run`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Experiments that need live runs start real clusters on this machine, one after the other, and stop \
each; their figures mean something only while the machine does nothing else. The recorded runs stay \
in DIR/runs, for `howdah validate`.

Exit code 0 if all bars that the project set itself hold, 1 if one does not; quick runs are only \
judged by what does not depend on their size.

Examples:
  howdah experiment run simmr-accuracy -o results
  howdah experiment run simmr-accuracy --quick
  howdah experiment run simmr-accuracy --scheduler fifo --scheduler fair")]
pub(crate) struct ExperimentRunArgs {
    /// Which one, as `howdah experiment list` names it
    pub(crate) name: String,
    /// Smaller and fewer runs: minutes become seconds, figures become rough
    #[arg(long)]
    pub(crate) quick: bool,
    /// Directory for the results, made if missing [default: experiment-NAME]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Repeats of each live run [default: the experiment's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) repeats: Option<u32>,
    /// Scheduler of live runs, where the experiment leaves that open; may be repeated, and the first gives the profiles
    /// [default: fifo]
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Vec<String>,
}
