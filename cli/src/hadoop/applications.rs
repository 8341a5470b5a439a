//! `yarn application`: every job is an application of the same numbers, as under YARN.

use howdah_proto::v1::{GetJobRequest, JobStatus, KillJobRequest, ListJobsRequest, MoveJobRequest};
use tonic::Code;

use super::ended::{Ended, say};
use super::jobs::is_unknown;
use super::log4j;
use super::names::{application, job_of};
use super::site::Site;
use crate::client::is_final;
use crate::failure::Failure;

const USAGE: &str = "yarn application -list [-appStates STATE,…] [-appTypes MAPREDUCE] | -status APP | -kill APP | \
    -movetoqueue APP -queue QUEUE | -appId APP -changeQueue QUEUE";
/// States of an application, in YARN's order.
const STATES: [&str; 9] =
    ["ALL", "NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"];
/// What the JVM ends with when Hadoop returns -1.
const UNKNOWN: u8 = 255;

/// Runs one of its verbs.
pub(super) async fn run(mut site: Site, words: &[&str]) -> Ended {
    let generic = super::options::generic(&mut site, words, &[])?.without_files("application")?;
    let words: Vec<&str> = generic.rest.iter().map(String::as_str).collect();
    let wrong = || Failure::usage(format!("application {}: not supported here", words.join(" "))).help(USAGE);
    let mut client = site.connect().await?;
    match words.as_slice() {
        ["-list", options @ ..] => {
            let (mut states, mut types) =
                (vec!["SUBMITTED".to_owned(), "ACCEPTED".to_owned(), "RUNNING".to_owned()], Vec::new());
            for pair in options.chunks(2) {
                match pair {
                    ["-appStates", list] => states = list.split(',').map(str::to_ascii_uppercase).collect(),
                    ["-appTypes", list] => types = list.split(',').map(str::to_ascii_uppercase).collect(),
                    _ => return Err(wrong()),
                }
            }
            if let Some(unknown) = states.iter().find(|state| !STATES.contains(&state.as_str())) {
                return Err(Failure::usage(format!("The application state {unknown} is invalid.")));
            }
            let jobs = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner().jobs;
            list(&jobs, &states, &types)
        }
        ["-status", id] => match client.rpc.get_job(GetJobRequest { job: job_of(id), brief: true }).await {
            Ok(answer) => match answer.into_inner().status {
                Some(job) => report(&job),
                None => Err(Failure::broke("the master answered without a status")),
            },
            Err(status) if is_unknown(&status) => unknown(id),
            Err(status) => Err(status.into()),
        },
        ["-kill", ids @ ..] if !ids.is_empty() => {
            for id in ids {
                match client.rpc.kill_job(KillJobRequest { job: job_of(id) }).await {
                    Ok(_) => say(format!("Killing application {id}"))?,
                    Err(status) if is_unknown(&status) => return unknown(id),
                    Err(status) if status.code() == Code::FailedPrecondition => {
                        say(format!("Application {id} has already finished "))?;
                    }
                    Err(status) => return Err(status.into()),
                }
            }
            Ok(0)
        }
        ["-movetoqueue", id, "-queue", queue]
        | ["-appId", id, "-changeQueue", queue]
        | ["-changeQueue", queue, "-appId", id] => {
            say(format!("Moving application {id} to queue {queue}"))?;
            let request = MoveJobRequest { job: job_of(id), queue: (*queue).to_owned() };
            match client.rpc.move_job(request).await {
                Ok(_) => {
                    say("Successfully completed move.")?;
                    Ok(0)
                }
                Err(status) if is_unknown(&status) => unknown(id),
                Err(status) => Err(status.into()),
            }
        }
        _ => Err(wrong()),
    }
}

fn unknown(id: &str) -> Ended {
    log4j::bare(&format!("Application with id '{id}' doesn't exist in RM or Timeline Server."));
    Ok(UNKNOWN)
}

/// An application's state and final state.
fn states(job: &JobStatus) -> [&str; 2] {
    match job.state.as_str() {
        "SUCCEEDED" => ["FINISHED", "SUCCEEDED"],
        "FAILED" => ["FINISHED", "FAILED"],
        "KILLED" => ["KILLED", "KILLED"],
        "PREP" => ["ACCEPTED", "UNDEFINED"],
        _ => ["RUNNING", "UNDEFINED"],
    }
}

fn percent(job: &JobStatus) -> f64 {
    if is_final(&job.state) {
        return 100.0;
    }
    if job.n_reduces == 0 { job.map_progress * 100.0 } else { (job.map_progress + job.reduce_progress) * 50.0 }
}

fn list(jobs: &[JobStatus], wanted: &[String], types: &[String]) -> Ended {
    let all = wanted.iter().any(|state| state == "ALL");
    let known = types.is_empty() || types.iter().any(|name| name == "MAPREDUCE");
    let jobs = jobs.iter().filter(|job| known && (all || wanted.iter().any(|state| state == states(job)[0])));
    let jobs: Vec<&JobStatus> = jobs.collect();
    let (types, wanted) = (types.join(", "), wanted.join(", "));
    say(format!(
        "Total number of applications (application-types: [{types}], states: [{wanted}] and tags: []):{}",
        jobs.len()
    ))?;
    let row = |cells: [&str; 9]| {
        let [id, name, kind, user, queue, state, end, progress, url] = cells;
        format!(
            "{id:>30}\t{name:>20}\t{kind:>20}\t{user:>10}\t{queue:>10}\t{state:>18}\t{end:>18}\t{progress:>15}\t{url:>35}"
        )
    };
    say(row([
        "Application-Id",
        "Application-Name",
        "Application-Type",
        "User",
        "Queue",
        "State",
        "Final-State",
        "Progress",
        "Tracking-URL",
    ]))?;
    for job in jobs {
        let [state, end] = states(job);
        let (id, progress) = (application(&job.job), format!("{}%", percent(job).floor()));
        say(row([&id, &job.name, "MAPREDUCE", &job.user, &job.queue, state, end, &progress, "N/A"]))?;
    }
    Ok(0)
}

fn report(job: &JobStatus) -> Ended {
    let [state, end] = states(job);
    say(format!(
        "Application Report : \n\tApplication-Id : {}\n\tApplication-Name : {}\n\tApplication-Type : MAPREDUCE\n\
         \tUser : {}\n\tQueue : {}\n\tStart-Time : {}\n\tFinish-Time : {}\n\tProgress : {}%\n\tState : {state}\n\
         \tFinal-State : {end}\n\tTracking-URL : N/A\n\tDiagnostics : {}",
        application(&job.job),
        job.name,
        job.user,
        job.queue,
        job.submit_ms_epoch,
        job.finish_ms_epoch,
        percent(job).floor(),
        job.why
    ))?;
    Ok(0)
}
