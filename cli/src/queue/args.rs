//! Subcommands of `queue`.

use clap::Subcommand;

use crate::cluster::args::LookArgs;

/// `howdah queue …`
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// List the queues and how many jobs wait and run in each
    List(LookArgs),
}
