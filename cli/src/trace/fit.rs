//! `trace fit`: which common distribution is closest to a trace's durations.

use howdah_core::models::fit::{Fit, fit as fits_of};
use howdah_core::models::moments::Moments;
use howdah_json::Listing;
use howdah_planning::phase::Phase;
use serde_json::{Value, json};

use super::import::tell;
use super::sample::check_tasks;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::table::Grid;
use crate::trace::model_args::{PhaseChoice, TraceFitArgs};
use crate::trace_file::{import_options, name_of, read_trace};
use crate::units;

/// Durations of one phase and what fits them.
struct Fitted {
    phase: Phase,
    moments: Moments,
    fits: Vec<Fit>,
}

/// `howdah trace fit`
pub(crate) fn fit(context: &Context, args: &TraceFitArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let (mut trace, notes) = read_trace(&args.trace, args.read.from, &import_options(&args.read.settings)?)?;
    tell(&args.trace, &notes);
    if let Some(name) = &args.job {
        trace.jobs.retain(|job| job.name == *name);
        if trace.jobs.is_empty() {
            return Err(Failure::usage(format!(
                "trace {}: expected jobs named `{name}`, found none",
                name_of(&args.trace)
            )));
        }
    }
    check_tasks(&trace, &args.trace)?;
    let wanted = |phase: &Phase| match args.phase {
        None => true,
        Some(PhaseChoice::Map) => *phase == Phase::Map,
        Some(PhaseChoice::Shuffle) => *phase == Phase::Shuffle,
        Some(PhaseChoice::Reduce) => *phase == Phase::Reduce,
    };
    let fitted: Vec<Fitted> = Phase::ALL
        .into_iter()
        .filter(wanted)
        .map(|phase| {
            let durations = phase.of_trace(&trace);
            Fitted { phase, moments: Moments::of(&durations), fits: fits_of(&durations) }
        })
        .collect();
    if fitted.iter().all(|phase| phase.fits.is_empty()) {
        return Err(Failure::usage(format!("trace {}: expected durations to fit, found none", name_of(&args.trace))));
    }
    match config.output {
        Format::Json => {
            let phases: Vec<Value> = fitted.iter().map(body).collect();
            screen.json(&Listing::new("trace-fit", json!({ "phases": phases })))?;
        }
        Format::Table => {
            let mut grid = Grid::new(&["phase", ">tasks", ">mean", "distribution, ms", ">KS distance"]);
            for phase in &fitted {
                for (rank, fit) in phase.fits.iter().enumerate() {
                    let first = |text: String| if rank == 0 { text } else { String::new() };
                    grid.row([
                        first(phase.phase.name().to_owned()),
                        first(units::count(phase.moments.count as u64)),
                        first(units::seconds(phase.moments.mean / 1000.0)),
                        rounded(&fit.distribution.to_string()),
                        format!("{:.4}", fit.distance),
                    ]);
                }
            }
            screen.line(grid.render(&screen))?;
        }
    }
    Ok(Exit::Done)
}

fn body(phase: &Fitted) -> Value {
    let fits: Vec<Value> = phase
        .fits
        .iter()
        .map(|fit| json!({ "distribution": fit.distribution.to_string(), "ks_distance": fit.distance }))
        .collect();
    json!({
        "phase": phase.phase.name(),
        "tasks": phase.moments.count,
        "mean_ms": (phase.moments.count > 0).then_some(phase.moments.mean),
        "squared_coefficient_of_variation": (phase.moments.count > 0).then_some(phase.moments.scv()),
        "fits": fits,
    })
}

/// A distribution's text with its numbers cut to five significant digits, for people.
fn rounded(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || c == '-') {
        let (before, from) = rest.split_at(start);
        let length = from.find([',', ')']).unwrap_or(from.len());
        let (digits, after) = from.split_at(length);
        result += before;
        result += &digits.parse::<f64>().map_or_else(|_| digits.to_owned(), significant);
        rest = after;
    }
    result + rest
}

fn significant(value: f64) -> String {
    let whole_digits = if value.abs() < 1.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let text = format!("{value:.*}", (5 - whole_digits).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_cut_for_people() {
        assert_eq!(rounded("lognormal(9.951123456,1.676412345)"), "lognormal(9.9511,1.6764)");
        assert_eq!(rounded("gamma(0.51234567,123456.789)"), "gamma(0.5123,123457)");
        assert_eq!(rounded("normal(-5,2.50000)"), "normal(-5,2.5)");
    }
}
