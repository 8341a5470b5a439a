//! Flags of `what-if`.

use clap::Args;

use crate::flag_values::parse_pair;
use crate::predict::args::LookArgs;
use crate::units::parse_bytes;

/// `howdah what-if`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Nothing is done: a fork of the master's state is changed and simulated beside the present course.

Examples:
  howdah what-if --dir cluster --scheduler fair
  howdah what-if --dir cluster --workers +4
  howdah what-if --dir cluster --submit wordcount --maps 40 --split-size 64MiB --reduces 2
  howdah what-if --dir cluster --kill 17
  howdah what-if --dir run1 --at 90s --workers -1")]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Another scheduler in charge from now on
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,
    /// With --scheduler: set a parameter of it; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair, requires = "scheduler")]
    pub(crate) define: Vec<(String, String)>,
    /// Workers more (+2), or fewer (-1)
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value_t = 0)]
    pub(crate) workers: i32,
    /// A job of this application, submitted now
    #[arg(long, value_name = "APP", requires = "maps")]
    pub(crate) submit: Option<String>,
    /// With --submit: its maps
    #[arg(long, value_name = "N", requires = "submit")]
    pub(crate) maps: Option<u32>,
    /// With --submit: its reduces
    #[arg(long, value_name = "N", requires = "submit", default_value_t = 0)]
    pub(crate) reduces: u32,
    /// With --submit: input of each map [default: of unknown size]
    #[arg(long, value_name = "SIZE", requires = "submit", value_parser = parse_bytes)]
    pub(crate) split_size: Option<u64>,
    /// With --submit: its name, from whose family task times are predicted [default: the application's]
    #[arg(long, value_name = "NAME", requires = "submit")]
    pub(crate) name: Option<String>,
    /// With --submit: its queue or pool
    #[arg(long, value_name = "NAME", requires = "submit")]
    pub(crate) queue: Option<String>,
    /// A job that is killed now, by id or number; may be repeated
    #[arg(long, value_name = "JOB")]
    pub(crate) kill: Vec<String>,
}
