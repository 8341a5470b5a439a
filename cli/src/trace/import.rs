//! `trace import`: foreign traces become one of our own.

use std::path::Path;

use howdah_core::job::profile::{Trace, TraceCluster};
use howdah_json::Listing;
use howdah_traces::{ImportNotes, howdah};
use serde_json::json;

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::table::Grid;
use crate::output::{Screen, note};
use crate::trace::args::TraceImportArgs;
use crate::trace::view::Summary;
use crate::trace_file::{import_options, is_dash, name_of, read_topology, read_trace, write_out};
use crate::units;

/// `howdah trace import`
pub(crate) fn import(context: &Context, args: &TraceImportArgs) -> Outcome {
    // Only a form that was asked for: the trace itself goes to standard output otherwise.
    let form = args.format.output;
    // Otherwise the answer tells what was dropped or repaired.
    let decided_here = form.is_none();
    let screen = context.screen(context.client(&ClusterArgs::default(), form)?.color);
    let to_screen = args.out.as_deref().is_none_or(is_dash);
    if to_screen && args.out.is_some() && form.is_some() {
        return Err(Failure::usage("-o - and --output both want standard output").help("leave one of them out"));
    }
    let options = import_options(&args.read.settings)?;
    if args.files.iter().filter(|file| is_dash(file)).count() > 1 {
        return Err(Failure::usage("standard input is given twice: expected each file once"));
    }
    let mut parts = Vec::new();
    let mut all_notes = Vec::new();
    for file in &args.files {
        let (trace, notes) = read_trace(file, args.read.from, &options)?;
        if decided_here {
            tell(file, &notes);
        }
        all_notes.push((file.as_path(), notes));
        parts.push(trace);
    }
    let mut trace = joined(parts);
    if let Some(path) = &args.topology {
        let (workers, notes) = read_topology(path)?;
        if decided_here {
            tell(path, &notes);
        }
        all_notes.push((path.as_path(), notes));
        trace.cluster = Some(TraceCluster { workers, ..trace.cluster.take().unwrap_or_default() });
    }
    if form.is_none() || !to_screen {
        write_out(args.out.as_deref(), |out| howdah::write(&trace, out))?;
    }
    // The figures take memory of their own: only for those who want to see them.
    let summary = || Summary::of(&trace);
    let tasks: u64 = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    let said = format!("{}, {}", units::counted(trace.jobs.len() as u64, "job"), units::counted(tasks, "task"));
    match form {
        Some(Format::Json) => screen.json(&Listing::new("trace-import", body(&summary(), &all_notes)))?,
        Some(Format::Table) => screen.line(table(&screen, &summary(), &all_notes))?,
        None => match args.out.as_deref().filter(|out| !is_dash(out)) {
            Some(out) => note(format!("{}: {said}", out.display())),
            None => note(said),
        },
    }
    Ok(Exit::Done)
}

/// Says what was dropped or repaired while `file` was read.
pub(crate) fn tell(file: &Path, notes: &ImportNotes) {
    for (reason, found) in notes.iter() {
        note(format!("{}: {} × {reason} (first: {})", name_of(file), units::count(found.count), found.first));
    }
}

/// One trace of several: by submission, on a clock that starts with the earliest trace that knows its start.
fn joined(mut parts: Vec<Trace>) -> Trace {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let start = parts.iter().filter_map(|part| part.start_ms_epoch).min();
    let mut whole = Trace { start_ms_epoch: start, ..Trace::default() };
    let sources: Vec<&str> = parts.iter().map(|part| part.source.as_str()).collect();
    whole.source = format!("{} traces: {}", parts.len(), sources.join("; "));
    let clusters: Vec<_> = parts.iter().filter_map(|part| part.cluster.clone()).collect();
    if clusters.windows(2).all(|pair| pair[0] == pair[1]) {
        whole.cluster = clusters.into_iter().next();
    }
    for part in parts {
        let shift = part.start_ms_epoch.unwrap_or(start.unwrap_or(0)).saturating_sub(start.unwrap_or(0));
        whole.jobs.extend(part.jobs.into_iter().map(|mut job| {
            job.submit_ms = job.submit_ms.saturating_add(shift);
            if let Some(measured) = &mut job.measured {
                measured.launch_ms = measured.launch_ms.saturating_add(shift);
                measured.finish_ms = measured.finish_ms.saturating_add(shift);
                if job.n_maps > 0 {
                    measured.maps_done_ms = measured.maps_done_ms.saturating_add(shift);
                }
            }
            job
        }));
    }
    whole.jobs.sort_by_key(|job| job.submit_ms);
    whole
}

fn body(summary: &Summary, notes: &[(&Path, ImportNotes)]) -> serde_json::Value {
    let notes: Vec<_> = notes
        .iter()
        .flat_map(|(file, notes)| notes.iter().map(move |(reason, note)| (file, reason, note)))
        .map(|(file, reason, note)| {
            json!({ "file": file.display().to_string(), "reason": reason, "count": note.count, "first": note.first })
        })
        .collect();
    json!({ "trace": summary, "notes": notes })
}

fn table(screen: &Screen, summary: &Summary, notes: &[(&Path, ImportNotes)]) -> String {
    let mut grid = Grid::new(&["file", ">count", "dropped or repaired", "first"]);
    for (file, notes) in notes {
        for (reason, note) in notes.iter() {
            let file = file.display().to_string();
            grid.row([file, units::count(note.count), reason.to_owned(), note.first.clone()]);
        }
    }
    let clean = notes.iter().all(|(_, notes)| notes.is_empty());
    let notes = if clean { "nothing was dropped or repaired".to_owned() } else { grid.render(screen) };
    format!("{}\n\n{notes}", summary.text(screen))
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::{JobTemplate, Measured};

    use super::*;

    #[test]
    fn joined_traces_share_the_earliest_start() {
        let part = |start, name: &str, submit_ms| Trace {
            start_ms_epoch: start,
            jobs: vec![JobTemplate {
                name: name.to_owned(),
                submit_ms,
                measured: Some(Measured { launch_ms: 1, maps_done_ms: 0, finish_ms: 9 }),
                ..JobTemplate::default()
            }],
            ..Trace::default()
        };
        let whole = joined(vec![part(Some(5_000), "late", 0), part(Some(2_000), "early", 7), part(None, "made up", 3)]);
        assert_eq!(whole.start_ms_epoch, Some(2_000));
        let jobs: Vec<_> = whole.jobs.iter().map(|job| (job.name.as_str(), job.submit_ms)).collect();
        assert_eq!(jobs, [("made up", 3), ("early", 7), ("late", 3_000)]);
        assert_eq!(whole.jobs[2].measured, Some(Measured { launch_ms: 3_001, maps_done_ms: 0, finish_ms: 3_009 }));
    }
}
