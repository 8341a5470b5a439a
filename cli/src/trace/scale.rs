//! `trace scale`: a trace for a larger input.

use howdah_planning::reshape::scale::{Reduces, scale as scaled};
use howdah_traces::howdah;

use super::import::tell;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::trace::model_args::{ReducesChoice, TraceScaleArgs};
use crate::trace_file::{import_options, name_of, read_trace, write_out};
use crate::units;

/// `howdah trace scale`
pub(crate) fn scale(args: &TraceScaleArgs) -> Outcome {
    let (trace, notes) = read_trace(&args.trace, args.read.from, &import_options(&args.read.settings)?)?;
    tell(&args.trace, &notes);
    let reduces = match args.reduces {
        ReducesChoice::Keep => Reduces::Keep,
        ReducesChoice::Grow => Reduces::Grow,
    };
    let large = scaled(&trace, args.factor, reduces, args.seed)
        .map_err(|error| Failure::usage(format!("trace {}: {error}", name_of(&args.trace))))?;
    write_out(args.out.as_deref(), |out| howdah::write(&large, out))?;
    let tasks = |trace: &howdah_core::job::profile::Trace| -> u64 {
        trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum()
    };
    note(format!("{} became {}", units::counted(tasks(&trace), "task"), units::count(tasks(&large))));
    Ok(Exit::Done)
}
