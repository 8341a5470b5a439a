//! What can be typed after `wait`.

use std::time::Duration;

use clap::Args;

use crate::args::{ClusterArgs, FormatArgs};
use crate::units::parse_duration;

/// `howdah wait`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A master that does not listen yet is waited for, too.

Example:
  howdah wait --master lab0 --workers 4 --timeout 2m && howdah submit …")]
pub(crate) struct WaitArgs {
    /// Until so many workers are LIVE
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) workers: usize,
    /// Give up after this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
