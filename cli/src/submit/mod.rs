//! `submit`: from an application's name to accepted jobs, one after the other when they form a chain.

mod admit;
pub(crate) mod args;
mod batch;
pub(crate) mod batch_file;
mod plan;
mod profile_file;
mod replan;
pub(crate) mod shown;

pub(crate) use plan::{SubmitAs, submit_plan};

use howdah_apps::JobPlan;
use howdah_core::job::JobProfile;
use howdah_json::{Job, Listing, counter_map};
use howdah_proto::v1::JobStatus;
use serde_json::json;

use crate::args::Format;
use crate::client::{Client, succeeded, unless_interrupted};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::view::speculation_line;
use crate::job_end::{follow_to_end, not_succeeded};
use crate::output::progress::JobProgress;
use crate::output::{Screen, Style, note};
use crate::submit::admit::Admitted;
use crate::submit::args::{Admit, SubmitArgs};
use crate::submit::profile_file::Profiles;
use crate::units;
use plan::{plans, request, tell_doubts};

/// `howdah submit`
pub(crate) async fn submit(context: &Context, args: &SubmitArgs) -> Outcome {
    if let Some(path) = &args.batch {
        return batch::submit(context, args, path).await;
    }
    args.check_plan().map_err(Failure::usage)?;
    let (output, format) = args.outputs().map_err(Failure::usage)?;
    let config = context.client(&args.cluster, format)?;
    let screen = context.screen(config.color);
    let plans = plans(args, output.as_deref())?;
    howdah_json::properties::doubts(&args.define).iter().for_each(note);
    args.app.as_deref().and_then(plan::doubt_of_script).iter().for_each(note);
    let mut client = Client::connect(&config).await?;
    let quiet = config.output == Format::Json;
    let how = SubmitAs {
        queue: args.queue.clone(),
        priority: args.priority,
        deadline: args.deadline,
        requires: args.requires.clone(),
        profile: None,
        follows: None,
        remote_paths: args.remote_paths,
    };
    let profiles = args.profile.as_deref().map(Profiles::read).transpose()?;
    if plans.len() > 1 && profiles.as_ref().is_some_and(Profiles::names_a_job) {
        let app = args.app.as_deref().unwrap_or_default();
        let message = format!("--profile names one job, but `{app}` is a chain of {} jobs", plans.len());
        return Err(Failure::usage(message).help("leave out :JOB and each takes the profile of its own name"));
    }
    // All of them before the first job is submitted.
    let profile_of = |plan: &JobPlan| profiles.as_ref().map(|known| known.of(&plan.name)).transpose();
    let known = plans.iter().map(profile_of).collect::<Outcome<Vec<Option<JobProfile>>>>()?;
    let mut jobs = Vec::new();
    let mut ended = Vec::new();
    let mut admitted = Vec::new();
    let last = plans.len().saturating_sub(1);
    for (index, plan) in plans.iter().enumerate() {
        let how = SubmitAs { profile: known[index], follows: jobs.last().cloned(), ..how.clone() };
        let request = request(plan, &how)?;
        let admission = match args.admit {
            Admit::Off => None,
            rule => Some(admit::ask(&mut client, &request, rule).await?),
        };
        if let Some(admission) = &admission
            && !quiet
        {
            admission.lines().into_iter().try_for_each(|line| screen.line(line))?;
        }
        let job = shown::submit(&mut client, request, how.remote_paths).await?;
        admitted.extend(admission);
        jobs.push(job.clone());
        if !quiet {
            screen.line(format!("Submitted job: {job}"))?;
        }
        if index == 0 {
            tell_doubts(&mut client).await?;
        }
        if !args.wait && index == last {
            break;
        }
        if !args.wait && index == 0 {
            note(format!(
                "the {} jobs of `{}` run one after the other; this waits for all but the last",
                plans.len(),
                args.app.as_deref().unwrap_or_default()
            ));
        }
        let left = plans.len() - index - 1;
        let following = follow(&screen, &mut client, &job, plan, quiet);
        let status = unless_interrupted(following, std::slice::from_ref(&job)).await.map_err(|failure| match left {
            0 => failure,
            _ => failure.help(format!("of `{}`, {} not submitted", plan.name, still(left))),
        })?;
        let end = Job::from(&status);
        let failure = (!succeeded(&status)).then(|| not_succeeded(&end));
        ended.push(end);
        if let Some(failure) = failure {
            report(&screen, &config.output, &jobs, &ended, &admitted)?;
            return Err(failure);
        }
        clear(&plan.removes);
        if !quiet {
            finish(&screen, &mut client, &job, ended.last()).await?;
        }
    }
    report(&screen, &config.output, &jobs, &ended, &admitted)?;
    Ok(Exit::Done)
}

fn still(left: usize) -> String {
    format!("{} of the chain {}", units::counted(left as u64, "job"), if left == 1 { "is" } else { "are" })
}

fn report(screen: &Screen, format: &Format, jobs: &[String], ended: &[Job], admitted: &[Admitted]) -> Outcome<()> {
    if *format == Format::Json {
        let job = jobs.last();
        let body = json!({ "job": job, "jobs": jobs, "ended": ended, "admitted": admitted });
        screen.json(&Listing::new("submit", body))?;
    }
    Ok(())
}

async fn follow(screen: &Screen, client: &mut Client, job: &str, plan: &JobPlan, quiet: bool) -> Outcome<JobStatus> {
    let progress = if quiet { JobProgress::Quiet } else { JobProgress::new(screen, &plan.name, plan.n_reduces > 0) };
    follow_to_end(screen, client, job, progress).await
}

/// Results of earlier jobs of a chain that nobody needs any more.
fn clear(directories: &[String]) {
    for directory in directories {
        if directory.contains("://") {
            note(format!("`{directory}` is of no more use: `hdfs dfs -rm -r` removes it"));
            continue;
        }
        if let Err(error) = std::fs::remove_dir_all(directory)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            note(format!("warning: cannot remove `{directory}`: {error}"));
        }
    }
}

async fn finish(screen: &Screen, client: &mut Client, job: &str, status: Option<&Job>) -> Outcome<()> {
    let took = status.and_then(|status| status.completion_s).map(units::seconds);
    let took = took.map_or_else(String::new, |took| format!(", took {took}"));
    screen.line(format!("{}: {job}{took}", screen.paint(Style::Good, "Job complete")))?;
    let answer = client.brief(job).await?;
    let counters = counter_map(answer.counters.as_ref());
    screen.line(crate::job::counter_lines(&counters))?;
    if let Some(line) = crate::job::games_line(&counters) {
        screen.line(line)?;
    }
    if let Some(line) = status.and_then(|status| speculation_line(&status.speculation)) {
        screen.line(format!("Speculative attempts: {line}"))?;
    }
    Ok(())
}
