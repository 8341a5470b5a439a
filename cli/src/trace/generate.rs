//! `trace generate`: the papers' workloads by name, and workloads of one's own.

use std::path::Path;

use howdah_core::job::profile::Trace;
use howdah_core::models::Negative;
use howdah_json::Listing;
use howdah_planning::workloads::custom::Description;
use howdah_planning::workloads::properties::{self, Property};
use howdah_planning::workloads::{self, Choices, Scale, Workload, WorkloadError};
use howdah_traces::howdah;
use serde_json::{Map, Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};
use crate::trace::model_args::{NegativeChoice, ScaleChoice, TraceGenerateArgs};
use crate::trace_file::{is_dash, write_out};
use crate::units;

/// Slots for the reference run times of workloads of one's own: SimMR's testbed.
const OWN_SLOTS: (u16, u16) = (64, 64);

/// `howdah trace generate`
pub(crate) fn generate(context: &Context, args: &TraceGenerateArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let Some(name) = &args.workload else { return list(&screen, config.output) };
    let choices = Choices {
        jobs: args.jobs,
        seed: args.seed,
        negative: match args.negative {
            NegativeChoice::Redraw => Negative::Redraw,
            NegativeChoice::Clamp => Negative::Clamp,
            NegativeChoice::Absolute => Negative::Absolute,
        },
        scale: match args.scale {
            ScaleChoice::Durations => Scale::Durations,
            ScaleChoice::Tasks => Scale::Tasks,
            ScaleChoice::Both => Scale::Both,
        },
        gaps: args.arrivals.as_ref().map(|arrivals| arrivals.gaps()),
    };
    let (trace, workload) = make(name, &choices)?;
    // The properties take the trace's place on standard output; a file gets the trace all the same.
    if !args.properties || args.out.as_deref().is_some_and(|out| !is_dash(out)) {
        write_out(args.out.as_deref(), |out| howdah::write(&trace, out))?;
    }
    if let Some(out) = args.out.as_deref().filter(|out| !is_dash(out)) {
        let tasks = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
        let jobs = units::counted(trace.jobs.len() as u64, "job");
        note(format!("{}: {jobs}, {}", out.display(), units::counted(tasks, "task")));
    }
    if args.properties {
        show(&screen, config.output, name, &trace, workload)?;
    }
    Ok(Exit::Done)
}

/// The trace, and the workload if it is one of the registry.
fn make(name: &str, choices: &Choices) -> Outcome<(Trace, Option<&'static Workload>)> {
    let wrong = |error: WorkloadError| Failure::usage(error.to_string());
    if let Some(workload) = workloads::find(name) {
        return Ok((workload.generate(choices).map_err(wrong)?, Some(workload)));
    }
    let path = Path::new(name);
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) {
        let failure = wrong(WorkloadError::Unknown { name: name.to_owned() });
        return Err(failure.help("a description of a workload is a file that ends in .toml"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
    let described = Description::parse(&text).and_then(|description| description.generate(choices));
    let trace = described.map_err(|error| Failure::usage(format!("workload `{}`: {error}", path.display())))?;
    Ok((trace, None))
}

fn list(screen: &Screen, form: Format) -> Outcome {
    match form {
        Format::Json => {
            let workloads: Vec<Value> = workloads::all().iter().map(described).collect();
            screen.json(&Listing::new("workloads", json!({ "workloads": workloads })))?;
        }
        Format::Table => {
            let mut grid = Grid::new(&["workload", ">jobs", "what", "source"]).leaving(&["source"]);
            for workload in workloads::all() {
                grid.row([
                    workload.name.to_owned(),
                    units::count(workload.jobs as u64),
                    workload.about.to_owned(),
                    workload.source.to_owned(),
                ]);
            }
            screen.line(grid.render(screen))?;
        }
    }
    Ok(Exit::Done)
}

fn described(workload: &Workload) -> Value {
    json!({
        "name": workload.name,
        "jobs": workload.jobs,
        "about": workload.about,
        "source": workload.source,
        "map_slots": workload.slots.0,
        "reduce_slots": workload.slots.1,
        "left_open_by_the_source": workload.open,
    })
}

fn show(screen: &Screen, form: Format, name: &str, trace: &Trace, workload: Option<&Workload>) -> Outcome<()> {
    let slots = workload.map_or(OWN_SLOTS, |workload| workload.slots);
    let found =
        properties::of(trace, slots).map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::new(error))))?;
    let stated = |property: Property| {
        let stated = workload.map_or(&[][..], |workload| workload.stated);
        stated.iter().find(|(other, _)| *other == property).map(|(_, value)| *value)
    };
    match form {
        Format::Json => {
            let values: Map<String, Value> =
                found.iter().map(|(property, value)| (property.name().to_owned(), json!(value))).collect();
            let stated: Map<String, Value> = found
                .iter()
                .filter_map(|(property, _)| Some((property.name().to_owned(), json!(stated(*property)?))))
                .collect();
            let body = json!({
                "workload": name,
                "map_slots": slots.0,
                "reduce_slots": slots.1,
                "properties": values,
                "stated_by_the_source": stated,
            });
            screen.json(&Listing::new("workload-properties", body))?;
        }
        Format::Table => {
            let mut grid = Grid::new(&["property", ">here", ">stated"]);
            for (property, value) in &found {
                let stated = stated(*property).map_or_else(|| "-".to_owned(), number);
                grid.row([property.title().to_owned(), number(*value), stated]);
            }
            screen.line(grid.render(screen))?;
            let alone = format!("Reference run times: alone on {} map and {} reduce slots.", slots.0, slots.1);
            screen.line(format!("\n{alone}"))?;
            if let Some(workload) = workload {
                screen.line(format!("Source: {}. What it leaves open, and how it is filled here:", workload.source))?;
                for sentence in workload.open {
                    screen.line(screen.paint(Style::Dim, format!("  {sentence}")))?;
                }
            }
        }
    }
    Ok(())
}

/// Whole numbers whole, others with as many digits as help.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value >= 0.0 {
        units::count(value as u64)
    } else if value.abs() < 1.0 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}
