//! `trace compare`: how far apart the durations of two traces are, phase by phase.

use std::path::Path;

use howdah_core::job::profile::Trace;
use howdah_core::models::divergence::{Bins, Divergence, EmptyBins};
use howdah_core::models::ks;
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
use crate::trace::model_args::TraceCompareArgs;
use crate::trace_file::{import_options, read_trace};
use crate::units;

/// One phase of both traces.
struct Compared {
    phase: Phase,
    a: Moments,
    b: Moments,
    /// Absent where one side has no durations.
    kl: Option<f64>,
    ks: Option<f64>,
}

/// `howdah trace compare`
pub(crate) fn compare(context: &Context, args: &TraceCompareArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let options = import_options(&args.read.settings)?;
    let read = |path: &Path| -> Outcome<Trace> {
        let (trace, notes) = read_trace(path, args.read.from, &options)?;
        tell(path, &notes);
        check_tasks(&trace, path)?;
        Ok(trace)
    };
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let divergence = Divergence { bins: args.bins, empty: args.empty };
    let compared = Phase::ALL.map(|phase| {
        let (mut a, mut b) = (phase.of_trace(&a), phase.of_trace(&b));
        let kl = divergence.symmetric(&a, &b);
        let ks = kl.map(|_| ks::between(&mut a, &mut b));
        Compared { phase, a: Moments::of(&a), b: Moments::of(&b), kl, ks }
    });
    if compared.iter().all(|phase| phase.kl.is_none()) {
        return Err(Failure::usage("expected durations of a same phase in both traces, found none"));
    }
    match config.output {
        Format::Json => {
            let phases: Vec<Value> = compared.iter().map(body).collect();
            let divergence = json!({ "bins": bins_text(args.bins), "empty_bins": empty_text(args.empty) });
            let body = json!({ "divergence": divergence, "phases": phases });
            screen.json(&Listing::new("trace-compare", body))?;
        }
        Format::Table => {
            let mut grid =
                Grid::new(&["phase", ">KL divergence", ">KS distance", ">tasks A", ">tasks B", ">mean A", ">mean B"]);
            for phase in &compared {
                let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
                let mean = |of: &Moments| {
                    if of.count == 0 { "-".to_owned() } else { units::seconds(of.mean / 1000.0) }
                };
                grid.row([
                    phase.phase.name().to_owned(),
                    share(phase.kl),
                    share(phase.ks),
                    units::count(phase.a.count as u64),
                    units::count(phase.b.count as u64),
                    mean(&phase.a),
                    mean(&phase.b),
                ]);
            }
            screen.line(grid.render(&screen))?;
        }
    }
    Ok(Exit::Done)
}

fn body(phase: &Compared) -> Value {
    let side = |of: &Moments| json!({ "tasks": of.count, "mean_ms": (of.count > 0).then_some(of.mean) });
    json!({
        "phase": phase.phase.name(),
        "kl_divergence": phase.kl,
        "ks_distance": phase.ks,
        "a": side(&phase.a),
        "b": side(&phase.b),
    })
}

/// As one types it.
fn bins_text(bins: Bins) -> String {
    match bins {
        Bins::Width(ms) => format!("width:{ms}ms"),
        Bins::PerDecade(n) => format!("decade:{n}"),
        Bins::Count(n) => format!("count:{n}"),
    }
}

fn empty_text(empty: EmptyBins) -> String {
    match empty {
        EmptyBins::Floor(probability) => format!("floor:{probability}"),
        EmptyBins::Add(count) => format!("add:{count}"),
        EmptyBins::Skip => "skip".to_owned(),
    }
}
