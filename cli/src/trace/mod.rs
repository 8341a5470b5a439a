//! `trace`: one file per subcommand.

pub(crate) mod args;
mod compare;
mod database;
mod db;
mod export;
mod fit;
mod fold;
mod generate;
mod import;
mod info;
pub(crate) mod model_args;
mod read_args;
mod record;
mod sample;
mod scale;
pub(crate) mod view;

use crate::config::Context;
use crate::failure::Outcome;
use crate::trace::args::TraceCommand;

pub(crate) fn run(context: &Context, command: &TraceCommand) -> Outcome {
    match command {
        TraceCommand::Record(args) => record::record(args),
        TraceCommand::Import(args) => import::import(context, args),
        TraceCommand::Export(args) => export::export(args),
        TraceCommand::Add(args) => database::add(args),
        TraceCommand::List(args) => database::list(context, args),
        TraceCommand::Query(args) => database::query(context, args),
        TraceCommand::Get(args) => database::get(args),
        TraceCommand::Remove(args) => database::remove(args),
        TraceCommand::Info(args) => info::info(context, args),
        TraceCommand::Generate(args) => generate::generate(context, args),
        TraceCommand::Fit(args) => fit::fit(context, args),
        TraceCommand::Compare(args) => compare::compare(context, args),
        TraceCommand::Scale(args) => scale::scale(args),
        TraceCommand::Fold(args) => fold::fold(context, args),
    }
}
