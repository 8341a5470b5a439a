//! `job list`, `job status`, `job attempts`.

use std::collections::BTreeSet;

use howdah_json::properties::{self, Unread};
use howdah_json::{Attempt, Attempts, Job, JobFilter, Jobs, Listed, OneJob, Shape, page_from_the_end, span_s};
use howdah_proto::v1::{GetClusterRequest, GetJobResponse, ListJobsRequest};

use crate::args::Format;
use crate::client::{Client, is_final};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{JobListArgs, OneJobArgs};
use crate::job::view::{at_master, card, state_style, table};
use crate::output::Style;
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::predict;
use crate::predict::view::end_sentence;
use crate::units;

/// `howdah job list`
pub(crate) async fn list(context: &Context, args: &JobListArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner();
    let mut jobs: Vec<Job> = answer.jobs.iter().map(Job::from).collect();
    let filter = filter(args);
    jobs.retain(|job| filter.fits(job));
    if let Some(last) = args.last {
        page_from_the_end(&mut jobs, last, args.page.unwrap_or(1));
    }
    match config.output {
        Format::Json => {
            let jobs = jobs.into_iter().map(Listed::from).collect();
            screen.json(&Jobs { jobs }.listing())?;
        }
        Format::Table if jobs.is_empty() => screen.line("no jobs")?,
        Format::Table => {
            let running = jobs.iter().filter(|job| job.finish_ms_epoch.is_none()).count();
            screen.line(table(&jobs, at_master(answer.now_ms_epoch)).render(&screen))?;
            let here = if args.last.is_some() { "on this page" } else { "in all" };
            screen.line(format!("\n{running} not over, {} {here}", units::counted(jobs.len() as u64, "job")))?;
        }
    }
    Ok(Exit::Done)
}

fn filter(args: &JobListArgs) -> JobFilter {
    JobFilter {
        active: args.active,
        states: args.state.iter().map(|state| state.name()).collect(),
        user: args.user.clone(),
        queue: args.queue.clone(),
        name: args.name.clone(),
    }
}

/// `howdah job status`
pub(crate) async fn status(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.brief(&args.job).await?;
    let now_ms = at_master(answer.now_ms_epoch);
    let job = answer.status.as_ref().map(Job::from).ok_or_else(no_status)?;
    let unread = unread(&mut client, &answer).await?;
    let predicted = if is_final(&job.state) { None } else { predict::of_job(&mut client, &job.job).await };
    match config.output {
        Format::Json => {
            let one = OneJob::new(answer, unread, predicted).ok_or_else(no_status)?;
            screen.json(&one.listing())?;
        }
        Format::Table => {
            screen.line(card(&screen, &job, now_ms))?;
            if !unread.is_empty() {
                let names: Vec<String> = unread.iter().map(Unread::to_string).collect();
                let names = one_line(&names.join(", ")).into_owned();
                screen.line(format!("{} {names}", screen.paint(Style::Dim, format!("{:>10}", "unread"))))?;
            }
            if let Some(sentence) = predicted.as_ref().and_then(end_sentence) {
                screen.line(sentence)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn no_status() -> Failure {
    Failure::broke("the master answered without a status")
}

/// Properties that nothing of howdah's reads. A scheduler may name pools by any property.
async fn unread(client: &mut Client, answer: &GetJobResponse) -> Outcome<Vec<Unread>> {
    let (names, idle): (BTreeSet<&String>, _) = (answer.properties.keys().collect(), &answer.idle_properties);
    if properties::unread(names.iter().copied(), idle, None).is_empty() {
        return Ok(Vec::new());
    }
    let cluster = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    Ok(properties::unread(names, idle, properties::pool_property(&cluster.scheduler_params)))
}

/// `howdah job attempts`
pub(crate) async fn attempts(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let job = answer.status.map(|status| status.job).unwrap_or_default();
    match config.output {
        Format::Json => screen.json(&Attempts { job, attempts }.listing())?,
        Format::Table if attempts.is_empty() => screen.line("no attempt has been launched yet")?,
        Format::Table => screen.line(attempt_table(&attempts, at_master(answer.now_ms_epoch)).render(&screen))?,
    }
    Ok(Exit::Done)
}

fn attempt_table(attempts: &[Attempt], now_ms: u64) -> Grid {
    let mut grid = Grid::new(&[
        "attempt",
        "state",
        "worker",
        "phase",
        ">progress",
        "locality",
        ">time",
        ">cpu",
        ">peak memory",
        "cause",
    ])
    .leaving(&["locality", "phase", "cpu", "peak memory", "progress", "worker"])
    .whole("attempt");
    for a in attempts {
        let time = a.assigned_ms_epoch.and_then(|from| span_s(from, a.ended_ms_epoch.unwrap_or(now_ms)));
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
            a.cause.clone().unwrap_or_default(),
        ]);
        if let Some(style) = state_style(&a.state) {
            grid.style(1, style);
        }
    }
    grid
}
