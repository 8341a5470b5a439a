//! `trace export`: a trace in another system's format.

use std::path::Path;

use howdah_traces::{ImportNotes, csv, howdah, jhist, rumen, swim};

use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::note;
use crate::trace::args::{ExportFormat, TraceExportArgs};
use crate::trace_file::{import_options, is_dash, read_trace, write_out};
use crate::units;

use super::import::tell;

/// `howdah trace export`
pub(crate) fn export(args: &TraceExportArgs) -> Outcome {
    let (trace, notes) = read_trace(&args.trace, None, &import_options(&args.settings)?)?;
    tell(&args.trace, &notes);
    let mut notes = ImportNotes::default();
    write_out(args.out.as_deref(), |out| match args.format {
        ExportFormat::Rumen => rumen::write(&trace, out),
        ExportFormat::Jhist => jhist::write(&trace, out),
        ExportFormat::Swim => swim::write(&trace, out, &mut notes),
        ExportFormat::Csv => csv::write(&trace, &workload(&args.trace), out),
        ExportFormat::Howdah => howdah::write(&trace, out),
    })?;
    tell(args.out.as_deref().unwrap_or(Path::new("-")), &notes);
    if let Some(out) = args.out.as_deref().filter(|out| !is_dash(out)) {
        note(format!("{}: {}", out.display(), units::counted(trace.jobs.len() as u64, "job")));
    }
    Ok(Exit::Done)
}

/// What the jobs belong to: the file's name up to its first dot.
fn workload(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').next().filter(|name| !name.is_empty() && *name != "-").unwrap_or("trace").to_owned()
}
