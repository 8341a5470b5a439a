//! `job list`, `job status`, `job attempts`.

use howdah_proto::v1::ListJobsRequest;
use serde_json::json;

use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{JobListArgs, OneJobArgs};
use crate::job::attempt::Attempt;
use crate::job::view::{Job, card, now_ms, state_style, table};
use crate::listing::{Listing, counter_map, span_s};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// `howdah job list`
pub(crate) async fn list(context: &Context, args: &JobListArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner();
    let mut jobs: Vec<Job> = answer.jobs.iter().map(Job::from).collect();
    if args.active {
        jobs.retain(|job| job.finish_ms_epoch.is_none());
    }
    if let Some(last) = args.last {
        jobs.drain(..jobs.len().saturating_sub(last));
    }
    match config.output {
        Format::Json => screen.json(&Listing::new("jobs", json!({ "jobs": jobs })))?,
        Format::Table if jobs.is_empty() => screen.line("no jobs")?,
        Format::Table => {
            let running = jobs.iter().filter(|job| job.finish_ms_epoch.is_none()).count();
            screen.line(table(&jobs, now_ms()).render(&screen))?;
            screen.line(format!("\n{running} not over, {} in all", units::counted(jobs.len() as u64, "job")))?;
        }
    }
    Ok(Exit::Done)
}

/// `howdah job status`
pub(crate) async fn status(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let status = answer.status.ok_or_else(|| Failure::broke("the master answered without a status"))?;
    let job = Job::from(&status);
    match config.output {
        Format::Json => {
            #[derive(serde::Serialize)]
            struct Body {
                #[serde(flatten)]
                job: Job,
                counters: crate::listing::CounterMap,
                properties: std::collections::BTreeMap<String, String>,
            }
            let counters = counter_map(answer.counters.as_ref());
            let body = Body { job, counters, properties: answer.properties.into_iter().collect() };
            screen.json(&Listing::new("job-status", body))?;
        }
        Format::Table => screen.line(card(&screen, &job, now_ms()))?,
    }
    Ok(Exit::Done)
}

/// `howdah job attempts`
pub(crate) async fn attempts(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = Screen::new(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let job = answer.status.map(|status| status.job).unwrap_or_default();
    match config.output {
        Format::Json => screen.json(&Listing::new("attempts", json!({ "job": job, "attempts": attempts })))?,
        Format::Table if attempts.is_empty() => screen.line("no attempt has been launched yet")?,
        Format::Table => screen.line(attempt_table(&attempts).render(&screen))?,
    }
    Ok(Exit::Done)
}

fn attempt_table(attempts: &[Attempt]) -> Grid {
    let mut grid =
        Grid::new(&["attempt", "state", "worker", "phase", ">progress", "locality", ">time", ">cpu", ">peak memory"]);
    let now = now_ms();
    for a in attempts {
        let time = a.assigned_ms_epoch.and_then(|from| span_s(from, a.ended_ms_epoch.unwrap_or(now)));
        let name = if a.speculative { format!("{} (speculative)", a.attempt) } else { a.attempt.clone() };
        grid.row([
            name,
            a.state.clone(),
            a.worker.clone(),
            a.phase.clone().unwrap_or_else(|| "-".to_owned()).to_lowercase(),
            units::percent(a.progress),
            a.locality.clone().unwrap_or_else(|| "-".to_owned()),
            time.map_or("-".to_owned(), units::seconds),
            a.cpu_s.map_or("-".to_owned(), units::seconds),
            a.peak_memory_kib.map_or("-".to_owned(), |kib| units::bytes(kib.saturating_mul(1024))),
        ]);
        if let Some(style) = state_style(&a.state) {
            grid.style(1, style);
        }
    }
    grid
}
