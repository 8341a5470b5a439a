//! Subcommands of `config`, and their flags.

use clap::{Args, Subcommand};

use crate::args::FormatArgs;

/// Settings.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every effective setting and where it comes from
    Show(ConfigShowArgs),
}

/// `config show`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A flag beats a variable, a variable beats the file, the file beats the default. The file has four sections:

  [master]
  listen = \"0.0.0.0:9001\"
  [worker]
  map_slots = 8
  [client]
  master = \"10.0.0.1:9001\"
  [log]
  file = \"daemon.log\"

The variable of a setting is its section and name in capitals, HOWDAH_WORKER_MAP_SLOTS; those of \
[client] leave the section out: HOWDAH_MASTER, HOWDAH_OUTPUT.")]
pub(crate) struct ConfigShowArgs {
    /// Only the master's
    #[arg(long)]
    pub(crate) master: bool,
    /// Only the worker's
    #[arg(long)]
    pub(crate) worker: bool,
    /// Only the client's
    #[arg(long)]
    pub(crate) client: bool,
    /// Only that of the daemons' logs
    #[arg(long)]
    pub(crate) log: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
