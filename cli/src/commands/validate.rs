//! `validate`: a recorded run decided again, in this process, from its inputs alone.
//!
//! The closed loop (profiles of the run, simulated, compared with measured times) comes with replay mode; its place
//! in the JSON is kept: `makespan`, `mean_error` and `max_error` are null, `jobs` is empty.

use howdah_master::replay::{DecisionReport, Difference, replay_decisions};
use serde_json::json;

use crate::args::tools::ValidateArgs;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, Style};
use crate::units;
use crate::views::Listing;

/// `howdah validate`
pub(crate) fn validate(context: &Context, args: &ValidateArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = Screen::new(config.color);
    let report = replay_decisions(&args.dir).map_err(|error| {
        let chain = format!("{:#}", anyhow::Error::new(error));
        Failure::usage(chain).help("--dir is a run, a master's directory, or what `up` or `demo` was given")
    })?;
    match config.output {
        Format::Json => screen.json(&Listing::new("validate", body(&report)))?,
        Format::Table => screen.line(text(&screen, &report))?,
    }
    if report.compared == report.identical {
        return Ok(Exit::Done);
    }
    let different = units::counted(report.compared - report.identical, "effect");
    Err(Failure::failed(format!("{different} of {} differ", units::count(report.compared))))
}

fn body(report: &DecisionReport) -> serde_json::Value {
    let first = report.first_difference.as_ref().map(|difference| {
        let Difference { batch, time, expected, found } = difference;
        json!({ "batch": batch, "time_us_epoch": time.as_us(), "expected": expected, "found": found })
    });
    json!({
        "run": report.run,
        "decisions": {
            "compared": report.compared,
            "identical": report.identical,
            "batches": report.batches,
            "inputs": report.inputs,
            "launches": report.decisions,
            "first_difference": first,
            "torn": report.torn,
        },
        "makespan": null,
        "jobs": [],
        "mean_error": null,
        "max_error": null,
    })
}

fn text(screen: &Screen, report: &DecisionReport) -> String {
    let all = report.compared == report.identical;
    let mark = if all { screen.paint(Style::Good, "identical") } else { screen.paint(Style::Bad, "different") };
    let mut lines = vec![
        format!("run        {}", report.run.display()),
        format!(
            "inputs     {} in {}",
            units::counted(report.inputs, "input"),
            units::counted(report.batches, "batch").replace("batchs", "batches")
        ),
        format!(
            "decisions  {} compared, {} identical, {} of them launches: {mark}",
            units::counted(report.compared, "effect"),
            units::count(report.identical),
            units::count(report.decisions),
        ),
    ];
    if let Some(Difference { batch, time, expected, found }) = &report.first_difference {
        lines.push(format!("first difference in batch {batch}, at {} us", time.as_us()));
        lines.push(format!("  recorded  {expected}"));
        lines.push(format!("  now       {found}"));
    }
    if report.torn {
        lines.push(
            "the journal breaks off in the middle of a frame, as after a crash; all whole frames were used".to_owned(),
        );
    }
    lines.push(screen.paint(Style::Dim, "simulated against measured times: comes with replay mode"));
    lines.join("\n")
}
