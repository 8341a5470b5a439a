//! `trace record`: job templates of a recorded run.

use howdah_traces::howdah;

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::trace::args::TraceRecordArgs;
use crate::trace_file::{is_dash, write_out};
use crate::units;

/// `howdah trace record`
pub(crate) fn record(args: &TraceRecordArgs) -> Outcome {
    let trace = howdah_master::trace::record(&args.dir).map_err(|error| {
        Failure::usage(format!("{:#}", anyhow::Error::new(error)))
            .help("--dir is a run, a master's directory, or what `up` or `demo` was given")
    })?;
    write_out(args.out.as_deref(), |out| howdah::write(&trace, out))?;
    if let Some(out) = args.out.as_deref().filter(|out| !is_dash(out)) {
        note(format!("{}: templates of {}", out.display(), units::counted(trace.jobs.len() as u64, "job")));
    }
    Ok(Exit::Done)
}
