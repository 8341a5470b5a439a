//! `scheduler`: which policies there are, and which one decides.

use clap::{Args, Subcommand};

use crate::args::{ClusterArgs, FormatArgs};
use crate::flag_values::parse_pair;

/// `howdah scheduler …`
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SchedulerCommand {
    /// List the schedulers by name
    List(FormatArgs),
    /// Show which scheduler decides, what is doubtful of it, and every time when one took over as its forecast was better
    Show(ShowArgs),
    /// Put a scheduler in charge of a running cluster, or give the present one other parameters
    Set(SetArgs),
}

/// `howdah scheduler show`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
With `[master.prediction.switch] candidates` the master forecasts each of them in every round, and the best one takes \
over. `staying` is the figure that was forecast without the switch, `switching` the one with it, and `came` what the \
jobs that were there had in the end.

Example:
  howdah scheduler show --dir cluster")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `howdah scheduler set`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
What runs goes on; what waits is handed out by the new rules from the next heartbeat on. Parameters that are left \
out have their defaults. The switch is part of the recording, so that a replay follows it. `external` is for a master's \
start only: the program's state could not be asked again at the same place of a recording.

Examples:
  howdah scheduler set fair --dir cluster -D allocation.file=pools.xml
  howdah scheduler set fifo --dir cluster")]
pub(crate) struct SetArgs {
    /// Name of the scheduler
    pub(crate) name: String,
    /// Set a parameter of the scheduler; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) define: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
