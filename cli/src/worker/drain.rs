//! `worker drain`: no more tasks for a worker, or tasks again.

use howdah_proto::v1::DrainWorkerRequest;

use super::args::DrainArgs;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::Screen;

/// `howdah worker drain`
pub(crate) async fn drain(context: &Context, args: &DrainArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let request = DrainWorkerRequest { worker: args.worker.clone(), drain: !args.undo };
    client.rpc.drain_worker(request).await?;
    let said = if args.undo { "takes tasks again" } else { "gets no more tasks; what it runs may end" };
    screen.line(format!("{} {said}", args.worker))?;
    Ok(Exit::Done)
}
