//! Flags of `demo`.

use std::path::PathBuf;

use clap::Args;

/// `howdah demo`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Starts one master and N workers as processes on this machine, counts the words of a real text \
and solves generated sudokus on them, checks every count and every solution, stops them, and \
decides the recorded run again in a fresh process that sees the inputs alone, and simulates it \
from its own profile. Exit code 0 only if everything held.

The text is the sources and documents of the crates that building howdah downloaded, or \
--input, or generated text where there are neither.

Example:
  howdah demo --workers 4 --input ~/mail")]
pub(crate) struct DemoArgs {
    /// Number of workers
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) workers: u32,
    /// Scheduler that hands out tasks
    #[arg(long, value_name = "NAME", default_value = "fifo")]
    pub(crate) scheduler: String,
    /// File or directory of text to count instead
    #[arg(long, value_name = "PATH")]
    pub(crate) input: Option<PathBuf>,
    /// Work in this directory and keep it; it must be empty or missing
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Keep the temporary directory
    #[arg(long)]
    pub(crate) keep: bool,
    /// Number of sudokus
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) puzzles: u32,
}
