//! `wait`: until a cluster has so many live workers, for scripts that start machines and then submit.

pub(crate) mod args;

use std::time::{Duration, Instant};

use howdah_json::Listing;
use howdah_proto::v1::{ListWorkersRequest, WorkerInfo};
use serde_json::json;

use self::args::WaitArgs;
use crate::args::Format;
use crate::client::Client;
use crate::config::{ClientConfig, Context};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::units;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// `howdah wait`
pub(crate) async fn wait(context: &Context, args: &WaitArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let until = Instant::now() + args.timeout;
    loop {
        let found = look(&config).await;
        if let Err(failure) = &found
            && failure.exit() == Exit::Usage
        {
            return found.map(|_| Exit::Done);
        }
        if let Ok(workers) = &found {
            let live = n_live(workers);
            if live >= args.workers {
                match config.output {
                    Format::Json => screen.json(&Listing::new("wait", json!({ "live": live })))?,
                    Format::Table => screen.line(format!("{} live", units::counted(live as u64, "worker")))?,
                }
                return Ok(Exit::Done);
            }
        }
        if Instant::now() >= until {
            return Err(gave_up(found, args));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn look(config: &ClientConfig) -> Outcome<Vec<WorkerInfo>> {
    let mut client = Client::connect(config).await?;
    Ok(client.rpc.list_workers(ListWorkersRequest { all: false }).await?.into_inner().workers)
}

fn n_live(workers: &[WorkerInfo]) -> usize {
    workers.iter().filter(|worker| worker.state == "LIVE").count()
}

fn gave_up(found: Outcome<Vec<WorkerInfo>>, args: &WaitArgs) -> Failure {
    let seconds = args.timeout.as_secs();
    match found {
        Err(failure) => {
            let said = failure.to_string();
            let cause = said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Failure::timed_out(format!("no answer for {seconds} s: {cause}"))
        }
        Ok(workers) => {
            let (live, wanted) = (n_live(&workers), args.workers);
            let others = workers.iter().filter(|worker| worker.state != "LIVE");
            let others: Vec<String> = others.map(|worker| format!("{} is {}", worker.name, worker.state)).collect();
            let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
            Failure::timed_out(format!("{live} of {wanted} workers are live after {seconds} s{others}"))
                .help("`howdah worker list` shows what is known, the log of a worker says why it is not there")
        }
    }
}
