//! `scheduler show`: the policy in charge, what people should know of it, and the switches that forecasts justified, with
//! what came of them.
//!
//! A setting that makes no difference, an allocation file that cannot be read, slots that are promised and not there: all
//! of it is in the master's log, where those who set it do not look.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetClusterRequest, SchedulerSwitch};
use serde::Serialize;

use super::about::about;
use crate::args::Format;
use crate::client::Client;
use crate::cluster::view::{Cluster, Note, SpeculationPolicy};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::clock;
use crate::listing::Listing;
use crate::output::Style;
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::scheduler::args::ShowArgs;

/// As programs see it.
#[derive(Debug, Serialize)]
struct Shown {
    scheduler: String,
    what: Option<&'static str>,
    source: Option<&'static str>,
    params: BTreeMap<String, String>,
    second_attempts: SpeculationPolicy,
    /// What it noted last, oldest first.
    notes: Vec<Note>,
    /// What it promises and the cluster as it is has not, and settings that make no difference.
    warnings: Vec<String>,
    /// Among which it is chosen by forecast.
    candidates: Vec<String>,
    switches: Vec<Switch>,
}

#[derive(Debug, Serialize)]
struct Switch {
    at_ms_epoch: u64,
    from: String,
    to: String,
    /// By what; less is better.
    measure: String,
    /// As forecast: without it, and with it.
    staying: f64,
    switching: f64,
    /// What the jobs had in the end; null until all are over.
    came: Option<f64>,
}

impl From<SchedulerSwitch> for Switch {
    fn from(switch: SchedulerSwitch) -> Switch {
        let SchedulerSwitch { at_ms_epoch, from, to, measure, staying, switching, came } = switch;
        Switch { at_ms_epoch, from, to, measure, staying, switching, came }
    }
}

/// `howdah scheduler show`
pub(super) async fn show(context: &Context, args: &ShowArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let Cluster { scheduler, scheduler_params, second_attempts, notes, warnings, .. } =
        Cluster::new(client.address(), &answer);
    let (what, source) = about(&scheduler).unzip();
    let shown = Shown {
        scheduler,
        what,
        source,
        params: scheduler_params,
        second_attempts,
        notes,
        warnings,
        candidates: answer.candidates,
        switches: answer.switches.into_iter().map(Switch::from).collect(),
    };
    match config.output {
        Format::Json => screen.json(&Listing::new("scheduler", shown))?,
        Format::Table => {
            let params: Vec<String> = shown.params.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            screen.line(format!("{} decides{}", shown.scheduler, params.concat()))?;
            if let Some((what, source)) = shown.what.zip(shown.source) {
                screen.line(format!("{what}; from {source}"))?;
            }
            screen.line(format!("speculation: {}", shown.second_attempts.line()))?;
            for Note { at_ms_epoch, text } in &shown.notes {
                screen.line(format!("noted {}: {}", clock(*at_ms_epoch), one_line(text)))?;
            }
            for warning in &shown.warnings {
                screen.line(screen.paint(Style::Warn, format!("warning: {}", one_line(warning))))?;
            }
            if !shown.candidates.is_empty() {
                screen.line(format!("chosen by forecast among {}", shown.candidates.join(", ")))?;
            }
            if !shown.switches.is_empty() {
                screen.line(format!("\n{}", table(&shown.switches).render(&screen)))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn table(switches: &[Switch]) -> Grid {
    let mut grid = Grid::new(&["at", "from", "to", "by", ">staying", ">switching", ">came"]).leaving(&["by", "at"]);
    for switch in switches {
        let figure = |figure: f64| format!("{figure:.1}");
        grid.row([
            clock(switch.at_ms_epoch),
            switch.from.clone(),
            switch.to.clone(),
            switch.measure.clone(),
            figure(switch.staying),
            figure(switch.switching),
            switch.came.map_or_else(|| "not yet".to_owned(), figure),
        ]);
    }
    grid
}
