//! `scheduler show`: the policy in charge, and the switches that forecasts justified, with what came of them.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetClusterRequest, SchedulerSwitch};
use serde::Serialize;

use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::clock;
use crate::listing::Listing;
use crate::output::table::Grid;
use crate::scheduler::args::ShowArgs;

/// As programs see it.
#[derive(Debug, Serialize)]
struct Shown {
    scheduler: String,
    params: BTreeMap<String, String>,
    /// Among which it is chosen by forecast.
    candidates: Vec<String>,
    switches: Vec<Switch>,
}

/// One switch.
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
    let shown = Shown {
        scheduler: answer.scheduler,
        params: answer.scheduler_params.into_iter().collect(),
        candidates: answer.candidates,
        switches: answer.switches.into_iter().map(Switch::from).collect(),
    };
    match config.output {
        Format::Json => screen.json(&Listing::new("scheduler", shown))?,
        Format::Table => {
            let params: Vec<String> = shown.params.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            screen.line(format!("{} decides{}", shown.scheduler, params.concat()))?;
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
