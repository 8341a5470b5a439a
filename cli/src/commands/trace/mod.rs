//! `trace`: one file per subcommand.

mod export;
mod import;
mod info;
mod record;

use crate::args::trace::TraceCommand;
use crate::config::Context;
use crate::failure::Outcome;

/// Runs one of them.
pub(crate) fn run(context: &Context, command: &TraceCommand) -> Outcome {
    match command {
        TraceCommand::Record(args) => record::record(args),
        TraceCommand::Import(args) => import::import(context, args),
        TraceCommand::Export(args) => export::export(args),
        TraceCommand::Info(args) => info::info(context, args),
    }
}
