//! `trace record`: job templates of a recorded run.

use crate::args::tools::TraceRecordArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;
use crate::output::{Screen, note};
use crate::units;

/// `howdah trace record`
pub(crate) fn record(screen: &Screen, args: &TraceRecordArgs) -> Outcome {
    let trace = howdah_master::trace::record(&args.dir).map_err(|error| {
        Failure::usage(format!("{:#}", anyhow::Error::new(error)))
            .help("--dir is a run, a master's directory, or what `up` or `demo` was given")
    })?;
    let text = serde_json::to_string_pretty(&trace)
        .map_err(|error| Failure::broke(format!("cannot write the trace as JSON: {error}")))?;
    let Some(out) = &args.out else {
        screen.line(text)?;
        return Ok(Exit::Done);
    };
    std::fs::write(out, text + "\n").map_err(|error| cannot("write", out, &error))?;
    note(format!("{}: templates of {}", out.display(), units::counted(trace.jobs.len() as u64, "job")));
    Ok(Exit::Done)
}
