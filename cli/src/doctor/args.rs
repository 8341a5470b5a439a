//! What can be typed after `doctor`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ClusterArgs, FormatArgs};

/// `howdah doctor`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Checks this machine, the master and each worker: names, ports, versions, states, clocks, disks, memory, users and limits, and which \
of the other workers each one gets to. With --share it tries whether the shared folder can be written here, whether its \
file system does what howdah expects, and whether every worker sees and can write it. Exit code 1 when a check fails.

Example:
  howdah doctor --master lab0 --share /share")]
pub(crate) struct DoctorArgs {
    /// A folder that all machines are to share
    #[arg(long, value_name = "DIR")]
    pub(crate) share: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
