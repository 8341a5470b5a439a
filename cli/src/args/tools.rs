//! `validate`, `config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FormatArgs;

/// `validate`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A fresh core in this process gets the recorded inputs, batch by batch, and nothing else; what it \
decides is compared with what the live master decided, effect by effect, along the recorded \
chain of digests. Exit code 0 only if all effects are identical.

Example:
  howdah validate --dir cluster")]
pub(crate) struct ValidateArgs {
    /// Directory of the run: the master's own, or the one given to `up` or `demo`
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Settings.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every effective setting and where it comes from
    Show(ConfigShowArgs),
}

/// `config show`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A flag beats a variable, a variable beats the file, the file beats the default. The file has three sections:

  [master]
  listen = \"0.0.0.0:9001\"
  [worker]
  map_slots = 8
  [client]
  master = \"10.0.0.1:9001\"

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
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
