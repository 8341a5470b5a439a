//! `validate`: a recorded run replayed from its inputs alone, and simulated from its own profile.
//!
//! The first must be identical, or the command fails. The second is a measurement: how far simulated completion
//! times are from real ones, beside how far real repeats are from each other. A run without a job that succeeded
//! has nothing to simulate; that is said, and is no failure.

pub(crate) mod args;
mod json;
mod lost;
mod runs;
mod text;

use std::path::Path;

use howdah_json::Listing;
use howdah_master::replay::{DecisionReport, ReplayError};
use serde::Serialize;

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::output::progress::spinner;
use crate::trace_file;
use crate::units;
use crate::validate::args::ValidateArgs;
use runs::{Repeats, Run};

/// What to do about differences to a recording of another build.
const OTHER_BUILD: &str = "another build recorded the run, and a rule may have changed since: validate with that build";

/// `howdah validate`
pub(crate) fn validate(context: &Context, args: &ValidateArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let shown = spinner(&screen, "deciding and simulating the run again");
    let read = read(args);
    shown.finish_and_clear();
    let (run, repeats) = read?;
    if let Some(path) = &args.decisions {
        let mut decisions = Vec::new();
        let read = howdah_master::decisions::read(&args.dir, |decision| decisions.push(decision));
        write_lines(read, &decisions, path, "decision")?;
    }
    if let Some(path) = &args.estimates {
        let mut estimates = Vec::new();
        let read = howdah_master::estimates::read(&args.dir, |estimate| estimates.push(estimate));
        write_lines(read, &estimates, path, "line")?;
    }
    match config.output {
        Format::Json => screen.json(&Listing::new("validate", json::body(&run, repeats.as_ref())))?,
        Format::Table => screen.line(text::text(&screen, &run, repeats.as_ref()))?,
    }
    let others = repeats.iter().flat_map(|repeats| &repeats.others);
    for run in std::iter::once(&run).chain(others) {
        let report = &run.decisions;
        if report.compared != report.identical {
            let different = units::counted(report.compared - report.identical, "effect");
            let of = units::count(report.compared);
            let failure = Failure::failed(format!("run `{}`: {different} of {of} differ", report.run.display()));
            // Not a fault, perhaps: the same build tells.
            let is_ours = report.recorded_by.has_our_rules();
            return Err(if is_ours { failure } else { failure.help(OTHER_BUILD) });
        }
    }
    Ok(Exit::Done)
}

fn read(args: &ValidateArgs) -> Outcome<(Run, Option<Repeats>)> {
    let run = Run::read(&args.dir)?;
    let repeats = if args.repeat.is_empty() { None } else { Some(Repeats::read(&run, &args.repeat)?) };
    Ok((run, repeats))
}

/// What was read of the run, one JSON object a line.
fn write_lines<T: Serialize>(
    read: Result<DecisionReport, ReplayError>,
    lines: &[T],
    path: &Path,
    thing: &str,
) -> Outcome<()> {
    read.map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::new(error))))?;
    trace_file::write_file(path, |out| {
        for line in lines {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    note(format!("{}: {}", path.display(), units::counted(lines.len() as u64, thing)));
    Ok(())
}
