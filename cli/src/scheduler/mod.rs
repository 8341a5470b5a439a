//! `scheduler list`, `scheduler show`, `scheduler set`.

pub(crate) mod args;
mod show;

use howdah_json::Listing;
use howdah_master::policies::{self, about};
use howdah_proto::v1::SetSchedulerRequest;
use serde_json::json;

use crate::args::{ClusterArgs, Format, FormatArgs};
use crate::client::Client;
use crate::config::Context;
use crate::define::params;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Steering;
use crate::output::table::Grid;
use crate::scheduler::args::{SchedulerCommand, SetArgs};

/// From so many columns on the table of policies has room for all of it.
const WHOLE_SOURCES: usize = 105;

/// `howdah scheduler …`
pub(crate) async fn run(context: &Context, command: &SchedulerCommand) -> Outcome {
    match command {
        SchedulerCommand::List(format) => list(context, format),
        SchedulerCommand::Show(args) => show::show(context, args).await,
        SchedulerCommand::Set(args) => set(context, args).await,
    }
}

fn list(context: &Context, format: &FormatArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), format.output)?;
    let screen = context.screen(config.color);
    let names: Vec<&str> = policies::names().collect();
    match config.output {
        Format::Json => {
            let described: Vec<_> = names
                .iter()
                .map(|name| {
                    let (what, source) = about(name).unzip();
                    json!({ "name": name, "what": what, "source": source })
                })
                .collect();
            screen.json(&Listing::new("schedulers", json!({ "schedulers": names, "described": described })))?;
        }
        Format::Table => {
            let mut grid = Grid::new(&["scheduler", "what it does", "from"]);
            for name in names {
                let (what, source) = about(name).unwrap_or_default();
                // Where there is no room, without what stands in brackets.
                let is_narrow = screen.width().is_some_and(|width| width < WHOLE_SOURCES);
                grid.row([name, what, if is_narrow { source.split(" (").next().unwrap_or(source) } else { source }]);
            }
            screen.line(grid.render(&screen))?;
        }
    }
    Ok(Exit::Done)
}

async fn set(context: &Context, args: &SetArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let given = params(&args.define)?;
    // Files are read here, where their names mean something.
    let params = policies::with_files(&args.name, &given);
    let params = params.map_err(|error| Failure::usage(error.to_string()))?;
    let mut client = Client::connect(&config).await?;
    let request = SetSchedulerRequest { name: args.name.clone(), params: params.into_iter().collect() };
    client.rpc.set_scheduler(request).await?;
    let mut steering = Steering::new(&screen, config.output, "set");
    steering.done(&args.name, format!("{} decides from now on", args.name))?;
    steering.end("")
}
