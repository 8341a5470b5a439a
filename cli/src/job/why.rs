//! `job why` and `job explain`: what went wrong, and what it waits for.

use std::collections::BTreeMap;

use howdah_core::tracker::EndCause;
use howdah_json::{Attempt, Job, Listing};
use howdah_proto::convert::cause_text;
use howdah_proto::v1::GetJobRequest;
use serde_json::json;

use crate::args::Format;
use crate::client::Client;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::OneJobArgs;
use crate::output::{Screen, Style};
use crate::units;

/// Attempts shown in full; the rest is counted.
const SHOWN: usize = 5;

/// `howdah job why`
pub(crate) async fn why(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let answer = client.job(&args.job).await?;
    let status = answer.status.ok_or_else(|| Failure::broke("the master answered without a status"))?;
    let job = Job::from(&status);
    let attempts: Vec<Attempt> = answer.attempts.iter().map(Attempt::from).collect();
    let out_of_reach = out_of_reach(&attempts);
    let failed: Vec<Attempt> = attempts.iter().filter(|a| a.state == "FAILED").cloned().collect();
    if config.output == Format::Json {
        let maps: BTreeMap<&str, u32> = out_of_reach.iter().map(|(worker, lost)| (*worker, lost.maps)).collect();
        let whys = out_of_reach.iter().filter_map(|(worker, lost)| Some((*worker, lost.why?)));
        let whys: BTreeMap<&str, &str> = whys.collect();
        let body = json!({ "job": job.job, "state": job.state, "why": job.why, "failed_attempts": failed,
            "out_of_reach": maps, "out_of_reach_why": whys });
        screen.json(&Listing::new("why", body))?;
        return Ok(Exit::Done);
    }
    screen.line(verdict(&job, failed.len()))?;
    for (worker, lost) in &out_of_reach {
        screen.line(lost.told(worker))?;
    }
    // The last failures are those that failed the job.
    for attempt in failed.iter().rev().take(SHOWN) {
        screen.line(format!("\n{}", story(&screen, attempt)))?;
    }
    if failed.len() > SHOWN {
        let rest = units::counted((failed.len() - SHOWN) as u64, "more failed attempt");
        screen.line(format!("\n{rest}: `howdah job logs {} --failed` has all of them", job.job))?;
    }
    Ok(Exit::Done)
}

/// Map output of one worker that others could not fetch.
#[derive(Debug, Default, PartialEq, Eq)]
struct OutOfReach<'a> {
    maps: u32,
    /// Who tried, and the error; `None` where the master did not know, as after its restart.
    why: Option<&'a str>,
}

impl OutOfReach<'_> {
    fn told(&self, worker: &str) -> String {
        let maps = units::counted(u64::from(self.maps), "map");
        let why = self.why.unwrap_or("nobody could fetch it from there");
        format!("the output of {maps} on {worker} was made again elsewhere: {why}")
    }
}

/// By worker. An attempt that was killed while it ran says how it ended, not why.
fn out_of_reach(attempts: &[Attempt]) -> BTreeMap<&str, OutOfReach<'_>> {
    let causes = [EndCause::Unreachable, EndCause::TooManyFetchFailures].map(cause_text);
    let is_of_fetches = |attempt: &&Attempt| attempt.cause.as_deref().is_some_and(|cause| causes.contains(&cause));
    let mut workers = BTreeMap::<&str, OutOfReach<'_>>::new();
    for attempt in attempts.iter().filter(is_of_fetches) {
        let lost = workers.entry(&attempt.worker).or_default();
        lost.maps += 1;
        let said = attempt.diagnostics.as_deref().filter(|_| attempt.signal.is_none());
        // The last word is the one that made the worker unreachable.
        lost.why = said.or(lost.why);
    }
    workers
}

fn verdict(job: &Job, failed: usize) -> String {
    let attempts = units::counted(failed as u64, "failed attempt");
    match (job.state.as_str(), &job.why) {
        ("FAILED", Some(why)) => format!("job {} failed: {why}", job.job),
        ("FAILED", None) => format!("job {} failed", job.job),
        ("KILLED", Some(why)) => format!("job {} was killed: {why}", job.job),
        ("KILLED", None) => format!("job {} was killed by request", job.job),
        ("SUCCEEDED", _) if failed == 0 => format!("job {} succeeded without a failed attempt", job.job),
        ("SUCCEEDED", _) => format!("job {} succeeded in spite of {attempts}", job.job),
        (state, _) => format!("job {} is {state}, with {attempts} so far", job.job),
    }
}

fn story(screen: &Screen, a: &Attempt) -> String {
    let mut lines = vec![format!("{} on {}", screen.paint(Style::Bold, &a.attempt), a.worker)];
    let ended = match (a.exit_code, a.signal) {
        (_, Some(signal)) => Some(format!("ended by signal {signal}{}", signal_name(signal))),
        (Some(code), None) if code != 0 => Some(format!("exit code {code}")),
        _ => None,
    };
    if let Some(ended) = ended {
        lines.push(format!("  {ended}"));
    }
    if let Some(cause) = a.cause.as_ref().filter(|cause| Some(*cause) != a.diagnostics.as_ref()) {
        lines.push(format!("  {cause}"));
    }
    for line in a.diagnostics.iter().flat_map(|text| text.lines()) {
        lines.push(format!("  {}", screen.paint(Style::Bad, line)));
    }
    if let Some(tail) = &a.stderr_tail {
        lines.push(format!("  {}", screen.paint(Style::Dim, "last lines of stderr:")));
        lines.extend(tail.lines().map(|line| format!("    {line}")));
    }
    lines.push(format!("  {}", screen.paint(Style::Dim, format!("howdah job logs {}", a.attempt))));
    lines.join("\n")
}

fn signal_name(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number).map_or_else(|_| String::new(), |signal| format!(" ({signal})"))
}

/// `howdah job explain`
pub(crate) async fn explain(context: &Context, args: &OneJobArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let job = client.job_id(&args.job).await?;
    let text = client.rpc.explain(GetJobRequest { job: job.clone(), brief: false }).await?.into_inner().text;
    match config.output {
        Format::Json => screen.json(&Listing::new("explain", json!({ "job": job, "text": text })))?,
        Format::Table => screen.line(text)?,
    }
    Ok(Exit::Done)
}
