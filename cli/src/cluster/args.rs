//! Flags of `cluster`.

use clap::Args;

use crate::args::{ClusterArgs, FormatArgs};

/// `howdah cluster`
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterCommand {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
