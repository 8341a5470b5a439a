//! `trace add · list · query · get · remove`: the trace database.

use std::path::{Path, PathBuf};

use howdah_json::Listing;
use serde_json::{Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::view::{clock, now_ms};
use crate::output::note;
use crate::output::table::Grid;
use crate::trace::args::{TraceAddArgs, TraceDbArgs, TraceGetArgs, TraceListArgs, TraceQueryArgs, TraceRemoveArgs};
use crate::trace::db::{Answer, TraceDb};
use crate::trace_file::{import_options, is_dash, read_trace, write_out};
use crate::units;

use super::import::tell;

/// Where the database is when nobody says.
const DEFAULT: &str = "traces.db";

fn path(args: &TraceDbArgs) -> PathBuf {
    args.db.clone().unwrap_or_else(|| PathBuf::from(DEFAULT))
}

/// `howdah trace add`
pub(crate) fn add(args: &TraceAddArgs) -> Outcome {
    if args.name.is_some() && args.traces.len() > 1 {
        return Err(Failure::usage("--name: found several traces, expected one"));
    }
    let options = import_options(&args.read.settings)?;
    // Nothing is written before everything is read.
    let mut read = Vec::new();
    for file in &args.traces {
        let (trace, notes) = read_trace(file, args.read.from, &options)?;
        tell(file, &notes);
        read.push((args.name.clone().map_or_else(|| name_from(file), Ok)?, trace));
    }
    let path = path(&args.db);
    let mut db = TraceDb::open(&path)?;
    for (name, trace) in read {
        db.add(&name, &trace, now_ms(), args.replace)?;
        note(format!("{}: {name}, {}", path.display(), units::counted(trace.jobs.len() as u64, "job")));
    }
    Ok(Exit::Done)
}

/// A file's name up to its first dot.
fn name_from(file: &Path) -> Outcome<String> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name.split('.').next().filter(|name| !name.is_empty() && !is_dash(file)) {
        Some(name) => Ok(name.to_owned()),
        None => Err(Failure::usage(format!("trace `{}` gives no name", file.display())).help("`--name NAME` names it")),
    }
}

/// `howdah trace list`
pub(crate) fn list(context: &Context, args: &TraceListArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let entries = TraceDb::open_to_read(&path(&args.db))?.list()?;
    match config.output {
        Format::Json => screen.json(&Listing::new("traces", json!({ "traces": entries })))?,
        Format::Table => {
            let mut grid =
                Grid::new(&["trace", ">jobs", ">maps", ">reduces", "added", "source"]).leaving(&["source", "added"]);
            for entry in entries {
                let counts = [entry.jobs, entry.maps, entry.reduces].map(units::count);
                let [jobs, maps, reduces] = counts;
                grid.row([entry.name, jobs, maps, reduces, clock(entry.added_ms_epoch), entry.source]);
            }
            screen.line(grid.render(&screen))?;
        }
    }
    Ok(Exit::Done)
}

/// `howdah trace query`
pub(crate) fn query(context: &Context, args: &TraceQueryArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let answer = TraceDb::open_to_read(&path(&args.db))?.ask(&args.sql)?;
    match config.output {
        Format::Json => screen.json(&Listing::new("trace-query", answer))?,
        Format::Table => screen.line(grid(&answer).render(&screen))?,
    }
    Ok(Exit::Done)
}

fn grid(answer: &Answer) -> Grid {
    let number = |index: usize| answer.rows.iter().all(|row| row[index].is_number() || row[index].is_null());
    let names: Vec<String> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(index, name)| if number(index) { format!(">{name}") } else { name.clone() })
        .collect();
    let mut grid = Grid::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &answer.rows {
        grid.row(row.iter().map(|cell| match cell {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }));
    }
    grid
}

/// `howdah trace get`
pub(crate) fn get(args: &TraceGetArgs) -> Outcome {
    let trace = TraceDb::open_to_read(&path(&args.db))?.get(&args.name)?;
    write_out(args.out.as_deref(), |out| howdah_traces::howdah::write(&trace, out))?;
    if let Some(out) = args.out.as_deref().filter(|out| !is_dash(out)) {
        note(format!("{}: {}", out.display(), units::counted(trace.jobs.len() as u64, "job")));
    }
    Ok(Exit::Done)
}

/// `howdah trace remove`
pub(crate) fn remove(args: &TraceRemoveArgs) -> Outcome {
    let path = path(&args.db);
    if !path.exists() {
        return Err(Failure::usage(format!("trace database `{}` does not exist", path.display())));
    }
    TraceDb::open(&path)?.remove(&args.name)?;
    note(format!("{}: {} removed", path.display(), args.name));
    Ok(Exit::Done)
}
