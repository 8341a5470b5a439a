//! `trace info`: what is in a trace.

use howdah_json::Listing;

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::trace::args::TraceInfoArgs;
use crate::trace::view::Summary;
use crate::trace_file::{import_options, read_trace};

use super::import::tell;

/// `howdah trace info`
pub(crate) fn info(context: &Context, args: &TraceInfoArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let (trace, notes) = read_trace(&args.trace, args.read.from, &import_options(&args.read.settings)?)?;
    tell(&args.trace, &notes);
    let summary = Summary::of(&trace);
    match config.output {
        Format::Json => screen.json(&Listing::new("trace-info", &summary))?,
        Format::Table => screen.line(summary.text(&screen))?,
    }
    Ok(Exit::Done)
}
