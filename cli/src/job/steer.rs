//! `job wait`, `job kill`, `job kill-attempt`, `job fail-attempt`, `job set-priority`, `job move`.

use std::future::Future;
use std::time::Duration;

use howdah_core::job::Priority;
use howdah_json::{Job, Listing};
use howdah_proto::v1::{KillAttemptRequest, KillJobRequest, MoveJobRequest, SetPriorityRequest};
use serde_json::json;
use tonic::Status;

use super::select::select;
use crate::args::Format;
use crate::client::{Client, is_final, unless_interrupted};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{AttemptArgs, KillArgs, MoveArgs, PriorityArgs, WaitArgs};
use crate::job::view::table;
use crate::job_end::{follow_to_end, not_succeeded};
use crate::output::progress::JobProgress;
use crate::output::{Screen, Steering, note};
use crate::side_by_side::side_by_side;

/// After `--timeout`, to find out which jobs it came too early for.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// `howdah job wait`
pub(crate) async fn wait(context: &Context, args: &WaitArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let ids = select(&mut client, &args.jobs, &args.filter).await?;
    if ids.is_empty() && config.output == Format::Table {
        note("no job to wait for: none that is not over fits");
        return Ok(Exit::Done);
    }
    let quiet = config.output == Format::Json;
    let all = unless_interrupted(wait_for_all(&screen, &mut client, &ids, quiet), &ids);
    let jobs = match args.timeout {
        None => all.await?,
        Some(timeout) => match tokio::time::timeout(timeout, all).await {
            Ok(jobs) => jobs?,
            Err(_) => {
                let left = not_over(&mut client, &ids).await;
                if !left.is_empty() {
                    return Err(too_late(timeout, &left));
                }
                // The last of them ended in this moment.
                wait_for_all(&screen, &mut client, &ids, true).await?
            }
        },
    };
    match config.output {
        Format::Json => screen.json(&Listing::new("jobs", json!({ "jobs": jobs })))?,
        // All of them are over: nothing is dated.
        Format::Table => screen.line(table(&jobs, 0).render(&screen))?,
    }
    match jobs.iter().find(|job| job.state != "SUCCEEDED") {
        None => Ok(Exit::Done),
        Some(job) => Err(not_succeeded(job)),
    }
}

async fn wait_for_all(screen: &Screen, client: &mut Client, jobs: &[String], quiet: bool) -> Outcome<Vec<Job>> {
    let mut ended = Vec::new();
    for job in jobs {
        let status = client.status(job).await?;
        let progress = if quiet {
            JobProgress::Quiet
        } else if jobs.len() > 1 {
            JobProgress::of_several(screen, &status.job, &status.name, status.n_reduces > 0)
        } else {
            JobProgress::new(screen, &status.name, status.n_reduces > 0)
        };
        ended.push(Job::from(&follow_to_end(screen, client, &status.job, progress).await?));
    }
    Ok(ended)
}

/// Of these jobs those that are not over, as far as the master says in time.
async fn not_over(client: &mut Client, jobs: &[String]) -> Vec<String> {
    let mut left = Vec::new();
    let end = tokio::time::Instant::now() + LAST_LOOK;
    for job in jobs {
        let is_over = matches!(
            tokio::time::timeout_at(end, client.status(job)).await,
            Ok(Ok(status)) if is_final(&status.state)
        );
        if !is_over {
            left.push(job.clone());
        }
    }
    left
}

fn too_late(timeout: Duration, jobs: &[String]) -> Failure {
    let time = crate::units::seconds(timeout.as_secs_f64());
    Failure::timed_out(format!("not over after {time}: {}", jobs.join(", ")))
        .help("what is not over goes on running; `howdah job status` shows how far it is")
}

/// `howdah job kill`
pub(crate) async fn kill(context: &Context, args: &KillArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let ids = select(&mut client, &args.jobs, &args.filter).await?;
    let mut steering = Steering::new(&screen, config.output, "kill");
    let rpc = client.rpc.clone();
    // All are asked before the end of any is waited for.
    let asked = side_by_side(ids.clone(), |job| {
        let mut rpc = rpc.clone();
        async move { rpc.kill_job(KillJobRequest { job }).await }
    });
    for (job, answer) in ids.iter().zip(asked.await) {
        let mut state = match answer {
            Ok(answer) => answer.into_inner().state,
            Err(status) => {
                steering.failed(status);
                continue;
            }
        };
        if !is_final(&state) {
            state = client.watch(job, |_| Ok(())).await?.state;
        }
        if state == "SUCCEEDED" {
            steering.failed(Failure::failed(format!("job {job} had already succeeded")));
        } else {
            steering.done(job, format!("Killed job {job}"))?;
        }
    }
    steering.end("no job to kill: none that is not over fits")
}

/// `howdah job kill-attempt` and `howdah job fail-attempt`
pub(crate) async fn kill_attempt(context: &Context, args: &AttemptArgs, fail: bool) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    client.rpc.kill_attempt(KillAttemptRequest { attempt: args.attempt.clone(), fail }).await?;
    let (action, verb) = if fail { ("fail-attempt", "Failed") } else { ("kill-attempt", "Killed") };
    let mut steering = Steering::new(&screen, config.output, action);
    steering.done(&args.attempt, format!("{verb} attempt {}", args.attempt))?;
    steering.end("")
}

/// `howdah job set-priority`
pub(crate) async fn set_priority(context: &Context, args: &PriorityArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let (priority, named) = args.words.split_last().ok_or_else(|| Failure::usage("no priority was named"))?;
    let priority: Priority = priority.parse().map_err(|problem| {
        Failure::usage(format!("priority `{priority}`: {problem}")).help("it comes last, after the jobs")
    })?;
    let mut client = Client::connect(&config).await?;
    let ids = select(&mut client, named, &args.filter).await?;
    let steering = Steering::new(&screen, config.output, "set-priority");
    let set = |job| {
        let mut rpc = client.rpc.clone();
        async move { rpc.set_priority(SetPriorityRequest { job, priority: priority.name().to_owned() }).await }
    };
    change_each(steering, &ids, set, &format!("has priority {priority}")).await
}

/// `howdah job move`
pub(crate) async fn move_jobs(context: &Context, args: &MoveArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let (queue, named) = args.words.split_last().ok_or_else(|| Failure::usage("no queue was named"))?;
    let mut client = Client::connect(&config).await?;
    let ids = select(&mut client, named, &args.filter).await?;
    let steering = Steering::new(&screen, config.output, "move");
    let put = |job| {
        let (mut rpc, queue) = (client.rpc.clone(), queue.clone());
        async move { rpc.move_job(MoveJobRequest { job, queue }).await }
    };
    change_each(steering, &ids, put, &format!("is in queue {queue}")).await
}

/// Changes each of these jobs by a call, and reports those that are now as `said`.
async fn change_each<F, A>(
    mut steering: Steering<'_>,
    ids: &[String],
    call: impl Fn(String) -> F,
    said: &str,
) -> Outcome
where
    F: Future<Output = Result<A, Status>> + Send + 'static,
    A: Send + 'static,
{
    for (job, answer) in ids.iter().zip(side_by_side(ids.to_vec(), call).await) {
        match answer {
            Ok(_) => steering.done(job, format!("job {job} {said}"))?,
            Err(status) => steering.failed(status),
        }
    }
    steering.end("no job that is not over fits")
}
