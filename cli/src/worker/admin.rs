//! `worker enable`, `worker remove`: a worker is taken back, or off the list.

use howdah_proto::v1::{EnableWorkerRequest, RemoveWorkerRequest};

use super::args::WorkerNameArgs;
use crate::client::Client;
use crate::config::Context;
use crate::failure::Outcome;
use crate::output::Steering;

/// `howdah worker enable`
pub(crate) async fn enable(context: &Context, args: &WorkerNameArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    client.rpc.enable_worker(EnableWorkerRequest { worker: args.worker.clone() }).await?;
    let mut steering = Steering::new(&screen, config.output, "enable");
    steering.done(&args.worker, format!("{} is off the blacklist; its failures are forgotten", args.worker))?;
    steering.end("")
}

/// `howdah worker remove`
pub(crate) async fn remove(context: &Context, args: &WorkerNameArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    client.rpc.remove_worker(RemoveWorkerRequest { worker: args.worker.clone() }).await?;
    let mut steering = Steering::new(&screen, config.output, "remove");
    steering.done(&args.worker, format!("{} is off the list", args.worker))?;
    steering.end("")
}
