//! `worker drain`: no more tasks for workers, or tasks again.

use howdah_proto::v1::{DrainWorkerRequest, ListWorkersRequest};

use super::args::DrainArgs;
use crate::client::Client;
use crate::config::Context;
use crate::failure::{Failure, Outcome, all_reported};
use crate::output::escape::cell;

/// `howdah worker drain`
pub(crate) async fn drain(context: &Context, args: &DrainArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let workers = match args.all {
        true => {
            let answer = client.rpc.list_workers(ListWorkersRequest { all: false }).await?.into_inner();
            answer.workers.into_iter().map(|worker| worker.name).collect()
        }
        false => args.workers.clone(),
    };
    let said = if args.undo { "takes tasks again" } else { "gets no more tasks; what it runs may end" };
    let mut failures = Vec::new();
    for worker in workers {
        match client.rpc.drain_worker(DrainWorkerRequest { worker: worker.clone(), drain: !args.undo }).await {
            Ok(_) => screen.line(format!("{} {said}", cell(&worker)))?,
            Err(status) => failures.push(Failure::from(status)),
        }
    }
    all_reported(failures)
}
