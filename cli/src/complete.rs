//! Names that a shell offers when a job's or a worker's is to be typed.
//!
//! The scripts of `howdah completions` call `howdah complete`, hidden from people. Whoever presses a key waits for the
//! answer: it comes within two seconds or not at all, and trouble is no answer rather than a message in the middle of a
//! line.

use std::time::Duration;

use clap::{Args, ValueEnum};
use howdah_proto::v1::{ListJobsRequest, ListWorkersRequest};

use crate::args::ClusterArgs;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::escape::one_line;

/// Who types waits this long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Newest jobs that are offered.
const JOBS: usize = 200;

/// Whose names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    /// Jobs, the newest first
    Jobs,
    /// Workers
    Workers,
}

/// `howdah complete`
#[derive(Args, Clone, Debug)]
pub(crate) struct CompleteArgs {
    /// Whose names
    names: Names,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Writes the names, one a line.
pub(crate) async fn complete(context: &Context, args: &CompleteArgs) -> Outcome {
    let found = tokio::time::timeout(PATIENCE, names(context, args)).await;
    if let Ok(Ok(names)) = found {
        let screen = context.screen(context.colour()?);
        for name in names {
            screen.line(one_line(&name))?;
        }
    }
    Ok(Exit::Done)
}

async fn names(context: &Context, args: &CompleteArgs) -> Outcome<Vec<String>> {
    let config = context.client(&args.cluster, None)?;
    let mut client = Client::connect(&config).await?;
    Ok(match args.names {
        Names::Jobs => {
            let jobs = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner().jobs;
            jobs.into_iter().rev().map(|job| job.job).take(JOBS).collect()
        }
        Names::Workers => {
            let workers = client.rpc.list_workers(ListWorkersRequest { all: false }).await?.into_inner().workers;
            workers.into_iter().map(|worker| worker.name).collect()
        }
    })
}
