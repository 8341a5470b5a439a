//! `scheduler list`, `scheduler set`.

pub(crate) mod args;

use howdah_master::policies;
use howdah_proto::v1::SetSchedulerRequest;
use serde_json::json;

use crate::args::{Format, FormatArgs};
use crate::client::Client;
use crate::config::Context;
use crate::define::params;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::listing::Listing;
use crate::output::Screen;
use crate::scheduler::args::{SchedulerCommand, SetArgs};

/// `howdah scheduler …`
pub(crate) async fn run(context: &Context, command: &SchedulerCommand) -> Outcome {
    match command {
        SchedulerCommand::List(format) => list(context, format),
        SchedulerCommand::Set(args) => set(context, args).await,
    }
}

fn list(context: &Context, format: &FormatArgs) -> Outcome {
    let screen = Screen::new(context.colour()?);
    let names: Vec<&str> = policies::names().collect();
    match format.output.unwrap_or(Format::Table) {
        Format::Json => screen.json(&Listing::new("schedulers", json!({ "schedulers": names })))?,
        Format::Table => screen.line(names.join("\n"))?,
    }
    Ok(Exit::Done)
}

async fn set(context: &Context, args: &SetArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let given = params(&args.define)?;
    // Files are read here, where their names mean something.
    let params = policies::with_files(&args.name, &given);
    let params = params.map_err(|error| Failure::usage(error.to_string()))?;
    let mut client = Client::connect(&config).await?;
    let request = SetSchedulerRequest { name: args.name.clone(), params: params.into_iter().collect() };
    client.rpc.set_scheduler(request).await?;
    Screen::new(config.color).line(format!("{} decides from now on", args.name))?;
    Ok(Exit::Done)
}
