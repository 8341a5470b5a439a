//! `trace fold`: a shorter trace of equal character.

use howdah_json::Listing;
use howdah_planning::reshape::fold::{Character, Keep, character, fold as folded};
use howdah_traces::howdah;
use serde_json::{Value, json};

use super::import::tell;
use super::sample::check_tasks;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::table::Grid;
use crate::output::{Screen, note};
use crate::trace::model_args::TraceFoldArgs;
use crate::trace_file::{import_options, is_dash, name_of, read_trace, write_out};
use crate::units;

/// Times of tasks whose distance is larger get a word of why.
const FAR: f64 = 0.1;

/// `howdah trace fold`
pub(crate) fn fold(context: &Context, args: &TraceFoldArgs) -> Outcome {
    // Only a form that was asked for: the trace itself goes to standard output otherwise.
    let form = args.format.output;
    let screen = context.screen(context.client(&ClusterArgs::default(), form)?.color);
    let to_screen = args.out.as_deref().is_none_or(is_dash);
    if to_screen && args.out.is_some() && form.is_some() {
        return Err(Failure::usage("-o - and --output both want standard output").help("leave one of them out"));
    }
    let (long, notes) = read_trace(&args.trace, args.read.from, &import_options(&args.read.settings)?)?;
    tell(&args.trace, &notes);
    check_tasks(&long, &args.trace)?;
    let keep = match (args.jobs, args.span, args.factor) {
        (_, Some(span), _) => Keep::Span(units::millis(span)),
        (_, _, Some(factor)) => Keep::Factor(factor),
        (jobs, None, None) => Keep::Jobs(jobs.unwrap_or(0)),
    };
    let short = folded(&long, keep, args.seed)
        .map_err(|error| Failure::usage(format!("trace {}: {error}", name_of(&args.trace))))?;
    if form.is_none() || !to_screen {
        write_out(args.out.as_deref(), |out| howdah::write(&short, out))?;
    }
    let compared = character(&long, &short);
    match form {
        Some(Format::Json) => {
            let counts = json!({ "before": long.jobs.len(), "after": short.jobs.len() });
            let body = json!({ "jobs": counts, "character": compared.iter().map(body).collect::<Vec<Value>>() });
            screen.json(&Listing::new("trace-fold", body))?;
        }
        _ => {
            let jobs = units::counted(long.jobs.len() as u64, "job");
            let after = units::count(short.jobs.len() as u64);
            let remark = remark(&compared).map_or_else(String::new, |remark| format!("\n{remark}"));
            let said = format!("{jobs} became {after}\n{}{remark}", table(&screen, &compared));
            // Beside the trace, not into it.
            if to_screen && form.is_none() { note(said) } else { screen.line(said)? }
        }
    }
    Ok(Exit::Done)
}

fn table(screen: &Screen, compared: &[Character]) -> String {
    let mut grid = Grid::new(&["property", ">mean before", ">mean after", ">KS distance"]);
    for it in compared {
        let mean = |value: f64| if value < 100.0 { format!("{value:.2}") } else { units::count(value.round() as u64) };
        grid.row([it.property.to_owned(), mean(it.before), mean(it.after), format!("{:.4}", it.distance)]);
    }
    grid.render(screen)
}

/// Why times of tasks are apart, of the phase that is farthest.
fn remark(compared: &[Character]) -> Option<String> {
    let times = compared.iter().filter_map(|it| Some((it, it.half_in?))).filter(|(it, _)| it.distance > FAR);
    let (it, [before, after]) = times.max_by(|(a, _), (b, _)| a.distance.total_cmp(&b.distance))?;
    let (before, after) = (units::count(before as u64), units::counted(after as u64, "job"));
    let tasks = it.property.trim_end_matches(", ms");
    Some(format!(
        "half of all {tasks}s are of {after} ({before} before folding): the distance shows which large jobs were kept"
    ))
}

fn body(it: &Character) -> Value {
    let mut body = json!({ "property": it.property, "mean_before": it.before, "mean_after": it.after, "ks_distance": it.distance });
    if let Some([before, after]) = it.half_in {
        body["jobs_with_half"] = json!({ "before": before, "after": after });
    }
    body
}
