//! `job list`, `job status`, `job attempts`.

use std::collections::{BTreeSet, HashMap};

use howdah_proto::v1::{GetClusterRequest, ListJobsRequest};
use serde_json::json;

use crate::args::Format;
use crate::client::{Client, is_final};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::{JobListArgs, OneJobArgs};
use crate::job::attempt::Attempt;
use crate::job::view::{Job, Predicted, card, now_ms, state_style, table};
use crate::listing::{Listing, counter_map, span_s};
use crate::output::Style;
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::predict;
use crate::submit::properties::{self, Unread};
use crate::units;

/// `howdah job list`
pub(crate) async fn list(context: &Context, args: &JobListArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner();
    let mut jobs: Vec<Job> = answer.jobs.iter().map(Job::from).collect();
    jobs.retain(|job| fits(args, job));
    if let Some(last) = args.last {
        page(&mut jobs, last, args.page.unwrap_or(1));
    }
    match config.output {
        Format::Json => {
            let jobs: Vec<Listed> = jobs.into_iter().map(Listed::from).collect();
            screen.json(&Listing::new("jobs", json!({ "jobs": jobs })))?;
        }
        Format::Table if jobs.is_empty() => screen.line("no jobs")?,
        Format::Table => {
            let running = jobs.iter().filter(|job| job.finish_ms_epoch.is_none()).count();
            screen.line(table(&jobs, now_ms()).render(&screen))?;
            screen.line(format!("\n{running} not over, {} in all", units::counted(jobs.len() as u64, "job")))?;
        }
    }
    Ok(Exit::Done)
}

/// A job with its predicted end.
#[derive(serde::Serialize)]
struct Listed {
    #[serde(flatten)]
    job: Job,
    predicted: Option<Predicted>,
}

impl From<Job> for Listed {
    fn from(job: Job) -> Listed {
        let predicted = job.predicted;
        Listed { job, predicted }
    }
}

fn fits(args: &JobListArgs, job: &Job) -> bool {
    let holds = |wanted: &Option<String>, value: &String| wanted.as_ref().is_none_or(|wanted| wanted == value);
    let in_name = |part: &String| job.name.to_lowercase().contains(&part.to_lowercase());
    (!args.active || job.finish_ms_epoch.is_none())
        && (args.state.is_empty() || args.state.iter().any(|state| state.name() == job.state))
        && holds(&args.user, &job.user)
        && holds(&args.queue, &job.queue)
        && args.name.as_ref().is_none_or(in_name)
}

/// Keeps the `page`-th `size` jobs, counted from the end.
fn page<T>(jobs: &mut Vec<T>, size: usize, page: usize) {
    let end = jobs.len().saturating_sub(size.saturating_mul(page.saturating_sub(1)));
    jobs.truncate(end);
    jobs.drain(..end.saturating_sub(size));
}

/// `howdah job status`
pub(crate) async fn status(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let status = answer.status.ok_or_else(|| Failure::broke("the master answered without a status"))?;
    let job = Job::from(&status);
    let unread = unread(&mut client, &answer.properties).await?;
    let predicted = if is_final(&job.state) { None } else { predict::of_job(&mut client, &job.job).await };
    match config.output {
        Format::Json => {
            #[derive(serde::Serialize)]
            struct Body {
                #[serde(flatten)]
                job: Job,
                counters: crate::listing::CounterMap,
                properties: std::collections::BTreeMap<String, String>,
                /// Of these, those that howdah does not read; the job's own commands may.
                unread_properties: Vec<Unread>,
                /// Of one that is not over: when it will be.
                predicted: Option<predict::view::JobView>,
            }
            let counters = counter_map(answer.counters.as_ref());
            let properties = answer.properties.into_iter().collect();
            let body = Body { job, counters, properties, unread_properties: unread, predicted };
            screen.json(&Listing::new("job-status", body))?;
        }
        Format::Table => {
            screen.line(card(&screen, &job, now_ms()))?;
            if !unread.is_empty() {
                let names: Vec<String> = unread.iter().map(Unread::to_string).collect();
                let names = one_line(&names.join(", ")).into_owned();
                screen.line(format!("{} {names}", screen.paint(Style::Dim, format!("{:>10}", "unread"))))?;
            }
            if let Some(sentence) = predicted.and_then(|predicted| predicted.sentence()) {
                screen.line(sentence)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Properties that nothing of howdah's reads. A scheduler may name pools by any property.
async fn unread(client: &mut Client, properties: &HashMap<String, String>) -> Outcome<Vec<Unread>> {
    let names: BTreeSet<&String> = properties.keys().collect();
    if properties::unread(names.iter().copied(), None).is_empty() {
        return Ok(Vec::new());
    }
    let cluster = client.rpc.get_cluster(GetClusterRequest {}).await?.into_inner();
    let keys = ["poolnameproperty", "mapred.fairscheduler.poolnameproperty"];
    let pool_property = keys.iter().find_map(|key| cluster.scheduler_params.get(*key));
    Ok(properties::unread(names.iter().copied(), pool_property.map(String::as_str)))
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
        Format::Json => screen.json(&Listing::new("attempts", json!({ "job": job, "attempts": attempts })))?,
        Format::Table if attempts.is_empty() => screen.line("no attempt has been launched yet")?,
        Format::Table => screen.line(attempt_table(&attempts).render(&screen))?,
    }
    Ok(Exit::Done)
}

fn attempt_table(attempts: &[Attempt]) -> Grid {
    let mut grid =
        Grid::new(&["attempt", "state", "worker", "phase", ">progress", "locality", ">time", ">cpu", ">peak memory"])
            .leaving(&["locality", "phase", "cpu", "peak memory", "worker"]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_from_the_newest_job() {
        let paged = |size, number| {
            let mut jobs = vec![1, 2, 3, 4, 5];
            page(&mut jobs, size, number);
            jobs
        };
        assert_eq!((paged(2, 1), paged(2, 2), paged(2, 3)), (vec![4, 5], vec![2, 3], vec![1]));
        assert_eq!((paged(2, 4), paged(9, 1), paged(usize::MAX, usize::MAX)), (vec![], vec![1, 2, 3, 4, 5], vec![]));
    }
}
