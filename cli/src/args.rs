//! The flags that many commands share.
//!
//! Those of one command are in its own folder, the tree of commands in `commands`. What a flag means together with the
//! configuration is decided in `config`.

use std::path::PathBuf;

use clap::Args;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GlobalArgs {
    /// Read settings from this TOML file [variable: HOWDAH_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) config: Option<PathBuf>,
    /// Colours: always, never, or on terminals only [default: auto; NO_COLOR turns them off]
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Everywhere", hide_possible_values = true)]
    pub(crate) color: Option<Colour>,
    /// Whole tables, however narrow the terminal is; piped tables always are
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) wide: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colour {
    /// On terminals, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// For people
    #[default]
    Table,
    /// For programs: one object with a `schema`
    Json,
}

/// `--output` of listings.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArgs {
    /// table for people, json for programs [variable: HOWDAH_OUTPUT]
    #[arg(long, value_name = "FORM")]
    pub(crate) output: Option<Format>,
}

/// `host:port`, the port may be left out.
pub(crate) fn parse_address(text: &str) -> Result<String, String> {
    let parsed: Result<howdah_proto::names::HostPort, _> = text.parse();
    parsed.map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Which cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    /// Address of the master, host:port [variable: HOWDAH_MASTER]
    #[arg(long, value_name = "ADDR")]
    pub(crate) master: Option<String>,
    /// Directory given to `howdah up`: the master's address is read from its access.json [variable: HOWDAH_DIR]
    #[arg(long, value_name = "DIR", conflicts_with = "master")]
    pub(crate) dir: Option<PathBuf>,
}
