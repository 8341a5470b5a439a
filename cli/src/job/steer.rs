//! `job wait`, `job kill`, `job kill-attempt`, `job fail-attempt`, `job set-priority`.

use std::time::Duration;

use howdah_proto::v1::{KillAttemptRequest, KillJobRequest, SetPriorityRequest};
use serde_json::json;

use crate::args::Format;
use crate::client::{Client, succeeded};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{AttemptArgs, JobArgs, PriorityArgs, WaitArgs};
use crate::job::view::{Job, now_ms, table};
use crate::listing::Listing;
use crate::output::Screen;
use crate::output::progress::JobProgress;

/// `howdah job wait`
pub(crate) async fn wait(context: &Context, args: &WaitArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let quiet = config.output == Format::Json;
    let all = wait_for_all(&screen, &mut client, &args.jobs, quiet);
    let jobs = match args.timeout {
        Some(timeout) => tokio::time::timeout(timeout, all).await.map_err(|_| too_late(timeout, &args.jobs))??,
        None => all.await?,
    };
    match config.output {
        Format::Json => screen.json(&Listing::new("jobs", json!({ "jobs": jobs })))?,
        Format::Table => screen.line(table(&jobs, now_ms()).render(&screen))?,
    }
    match jobs.iter().find(|job| job.state != "SUCCEEDED") {
        None => Ok(Exit::Done),
        Some(job) => Err(not_succeeded(&job.job, &job.state, job.why.as_deref())),
    }
}

async fn wait_for_all(screen: &Screen, client: &mut Client, jobs: &[String], quiet: bool) -> Outcome<Vec<Job>> {
    let mut ended = Vec::new();
    for job in jobs {
        let status = client.status(job).await?;
        let mut progress =
            if quiet { JobProgress::Quiet } else { JobProgress::new(screen, &status.name, status.n_reduces > 0) };
        let last = client.watch(&status.job, |status| progress.show(screen, status)).await;
        progress.finish();
        ended.push(Job::from(&last?));
    }
    Ok(ended)
}

fn too_late(timeout: Duration, jobs: &[String]) -> Failure {
    let time = crate::units::seconds(timeout.as_secs_f64());
    Failure::timed_out(format!("not over after {time}: {}", jobs.join(", ")))
        .help("it goes on running; `howdah job status` shows how far it is")
}

/// What a job that failed or was killed ends the command with.
pub(crate) fn not_succeeded(job: &str, state: &str, why: Option<&str>) -> Failure {
    let verb = if state == "KILLED" { "was killed" } else { "failed" };
    let message = match why {
        Some(why) => format!("job {job} {verb}: {why}"),
        None => format!("job {job} {verb}"),
    };
    let failure = Failure::failed(message);
    if state == "KILLED" { failure } else { failure.help(format!("`howdah job why {job}` shows the probable cause")) }
}

/// `howdah job kill`
pub(crate) async fn kill(context: &Context, args: &JobArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let job = client.job_id(&args.job).await?;
    client.rpc.kill_job(KillJobRequest { job: job.clone() }).await?;
    let status = client.watch(&job, |_| Ok(())).await?;
    if succeeded(&status) {
        return Err(Failure::failed(format!("job {job} had already succeeded")));
    }
    screen.line(format!("Killed job {job}"))?;
    Ok(Exit::Done)
}

/// `howdah job kill-attempt` and `howdah job fail-attempt`
pub(crate) async fn kill_attempt(context: &Context, args: &AttemptArgs, fail: bool) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    client.rpc.kill_attempt(KillAttemptRequest { attempt: args.attempt.clone(), fail }).await?;
    let verb = if fail { "Failed" } else { "Killed" };
    screen.line(format!("{verb} attempt {}", args.attempt))?;
    Ok(Exit::Done)
}

/// `howdah job set-priority`
pub(crate) async fn set_priority(context: &Context, args: &PriorityArgs) -> Outcome {
    let config = context.client(&args.cluster, None)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let job = client.job_id(&args.job).await?;
    let priority = args.priority.name().to_owned();
    client.rpc.set_priority(SetPriorityRequest { job: job.clone(), priority }).await?;
    screen.line(format!("job {job} has priority {}", args.priority))?;
    Ok(Exit::Done)
}
