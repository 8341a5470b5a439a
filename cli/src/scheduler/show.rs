//! `scheduler show`: the policy in charge, what people should know of it, and the switches that forecasts justified, with
//! what came of them.
//!
//! A setting that makes no difference, an allocation file that cannot be read, slots that are promised and not there: all
//! of it is in the master's log, where those who set it do not look.

use howdah_json::{Note, Scheduler, Shape, Switch};
use howdah_master::policies::about;
use howdah_proto::v1::GetClusterRequest;

use crate::args::Format;
use crate::client::Client;
use crate::cluster::policy_line;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::job::view::clock;
use crate::output::Style;
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::scheduler::args::ShowArgs;

/// `howdah scheduler show`
pub(super) async fn show(context: &Context, args: &ShowArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let shown = Scheduler::new(about(&answer.scheduler), &answer);
    match config.output {
        Format::Json => screen.json(&shown.listing())?,
        Format::Table => {
            let params: Vec<String> = shown.params.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            screen.line(format!("{} decides{}", shown.scheduler, params.concat()))?;
            if let Some((what, source)) = shown.what.zip(shown.source) {
                screen.line(format!("{what}; from {source}"))?;
            }
            screen.line(format!("speculation: {}", policy_line(&shown.second_attempts)))?;
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
