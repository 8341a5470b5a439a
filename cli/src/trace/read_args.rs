//! How a trace is read: part of every command that takes one.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use howdah_traces::Format;

use crate::flag_values::parse_pair;

/// How a trace is read. Part of every command that takes one.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReadArgs {
    /// Format of the trace [default: recognised by its first bytes]
    #[arg(long = "format", value_name = "NAME", value_parser = formats(), hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// A setting of the import, such as swim.split=64MiB; repeatable
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) settings: Vec<(String, String)>,
}

pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::named(&name).expect("only names of formats pass"))
}
