//! `hadoop job` and `mapred job`: the verbs, with Hadoop 3's output lines.
//!
//! A job that nobody knows is `Could not find job job_…` and code 255, as JobClient has it.

use howdah_core::job::Priority;
use howdah_json::counter_map;
use howdah_proto::v1::{
    GetJobResponse, JobStatus, KillAttemptRequest, KillJobRequest, ListJobsRequest, SetPriorityRequest,
};
use tonic::Code;

use super::ended::{Ended, say};
use super::site::Site;
use super::{follow, log4j, names};
use crate::client::{Client, is_final};
use crate::failure::{Failure, Outcome};

const USAGE: &str = "mapred job -list [all] | -status JOB | -counter JOB GROUP NAME | -kill JOB | -set-priority JOB P | \
    -kill-task ATTEMPT | -fail-task ATTEMPT | -list-attempt-ids JOB MAP|REDUCE running|completed | -history JOB";
/// What the JVM ends with when Hadoop returns -1.
const UNKNOWN: u8 = 255;

pub(super) async fn run(mut site: Site, words: &[&str]) -> Ended {
    let generic = super::options::generic(&mut site, words, &[])?.without_files("job")?;
    let words: Vec<&str> = generic.rest.iter().map(String::as_str).collect();
    let mut client = site.connect().await?;
    match words.as_slice() {
        ["-list"] => list(&mut client, |job| !is_final(&job.state)).await,
        ["-list", "all"] => list(&mut client, |_| true).await,
        ["-status", job] => with(&mut client, job, |answer| status(&answer)).await,
        ["-history", job] => with(&mut client, job, |answer| history(&answer)).await,
        ["-counter", job, group, name] => {
            with(&mut client, job, |answer| {
                let counters = counter_map(answer.counters.as_ref());
                let group = counters.iter().find(|(known, _)| known.trim_end() == group.trim_end());
                let value = group.and_then(|(_, counters)| counters.get(*name)).copied().unwrap_or_default();
                say(value.to_string()).map_err(Failure::from)
            })
            .await
        }
        ["-list-attempt-ids", job, kind, state] => {
            let letter = match kind.to_ascii_lowercase().as_str() {
                "map" => "_m_",
                "reduce" => "_r_",
                _ => return Err(wrong(&words)),
            };
            let done = match *state {
                "completed" => true,
                "running" => false,
                _ => return Err(wrong(&words)),
            };
            with(&mut client, job, |answer| {
                let of_kind = answer.attempts.iter().filter(|attempt| attempt.attempt.contains(letter));
                for attempt in of_kind.filter(|attempt| is_final(&attempt.state) == done) {
                    say(&attempt.attempt)?;
                }
                Ok(())
            })
            .await
        }
        ["-kill", job] => {
            let request = KillJobRequest { job: (*job).to_owned() };
            let killed = client.rpc.kill_job(request).await.map(drop);
            answer(killed, job, &format!("Killed job {job}"))
        }
        ["-set-priority", job, priority] => {
            let known = priority.parse::<Priority>();
            known.map_err(|_| Failure::usage(format!("-set-priority {priority}: expected a priority, e.g. HIGH")))?;
            let request = SetPriorityRequest { job: (*job).to_owned(), priority: (*priority).to_owned() };
            let set = client.rpc.set_priority(request).await.map(drop);
            answer(set, job, "Changed job priority.")
        }
        [verb @ ("-kill-task" | "-fail-task"), attempt] => {
            let fail = *verb == "-fail-task";
            let request = KillAttemptRequest { attempt: (*attempt).to_owned(), fail };
            let ended = client.rpc.kill_attempt(request).await.map(drop);
            let how = if fail { "by failing it" } else { "" };
            answer(ended, attempt, format!("Killed task {attempt} {how}").trim_end())
        }
        _ => Err(wrong(&words)),
    }
}

fn wrong(words: &[&str]) -> Failure {
    Failure::usage(format!("job {}: not supported here", words.join(" "))).help(USAGE)
}

/// What was asked of the master was done, or names what it does not know.
fn answer(done: Result<(), tonic::Status>, what: &str, good: &str) -> Ended {
    match done {
        Ok(()) => say(good).map(|()| 0).map_err(Failure::from),
        Err(status) if is_unknown(&status) => not_found(what),
        Err(status) => Err(status.into()),
    }
}

/// Whether the master knows no such job: an id of another cluster is none of its own.
pub(super) fn is_unknown(status: &tonic::Status) -> bool {
    matches!(status.code(), Code::NotFound | Code::InvalidArgument)
}

fn not_found(what: &str) -> Ended {
    log4j::bare(&format!("Could not find job {what}"));
    Ok(UNKNOWN)
}

/// Does something with what is known of a job.
async fn with(client: &mut Client, job: &str, act: impl FnOnce(GetJobResponse) -> Outcome<()>) -> Ended {
    let request = howdah_proto::v1::GetJobRequest { job: job.to_owned(), brief: false };
    match client.rpc.get_job(request).await {
        Ok(answer) => act(answer.into_inner()).map(|()| 0),
        Err(status) if is_unknown(&status) => not_found(job),
        Err(status) => Err(status.into()),
    }
}

/// Jobs that are wanted, a line each.
pub(super) async fn list(client: &mut Client, wanted: impl Fn(&JobStatus) -> bool) -> Ended {
    let jobs = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner().jobs;
    let jobs: Vec<&JobStatus> = jobs.iter().filter(|job| wanted(job)).collect();
    say(format!("Total jobs:{}", jobs.len()))?;
    let row =
        |id: &str, name: &str, state: &str, start: &str, user: &str, queue: &str, priority: &str, rest: [&str; 6]| {
            let [used, reserved, used_mb, reserved_mb, needed_mb, master] = rest;
            format!(
                "{id:>23}\t{name:>20}\t{state:>10}\t{start:>14}\t{user:>12}\t{queue:>12}\t{priority:>10}\t{used:>15}\t\
             {reserved:>15}\t{used_mb:>8}\t{reserved_mb:>8}\t{needed_mb:>10}\t{master:>10}"
            )
        };
    let heads = ["UsedContainers", "RsvdContainers", "UsedMem", "RsvdMem", "NeededMem", "AM info"];
    say(row("JobId", "JobName", "State", "StartTime", "UserName", "Queue", "Priority", heads))?;
    for job in jobs {
        let used = (job.maps_running + job.reduces_running).to_string();
        let start = job.launch_ms_epoch.to_string();
        let name: String = job.name.chars().take(20).collect();
        // Memory is not what slots are counted by.
        let rest = [used.as_str(), "0", "N/A", "N/A", "N/A", ""];
        say(row(&job.job, &name, state(job), &start, &job.user, &job.queue, &job.priority, rest))?;
    }
    Ok(0)
}

/// Hadoop's state of a job: ours but for the one that it has not.
pub(super) fn state(job: &JobStatus) -> &str {
    if job.state == "COMMITTING" { "RUNNING" } else { &job.state }
}

fn status(answer: &GetJobResponse) -> Outcome<()> {
    let Some(job) = &answer.status else { return Err(Failure::broke("the master answered without a status")) };
    say(format!(
        "\nJob: {}\nJob File: \nJob Tracking URL : \nUber job : false\nNumber of maps: {}\nNumber of reduces: {}\n\
         map() completion: {}\nreduce() completion: {}\nJob state: {}\nretired: false\nreason for failure: {}\n{}",
        job.job,
        job.n_maps,
        job.n_reduces,
        share(job.map_progress),
        share(job.reduce_progress),
        state(job),
        job.why,
        follow::counters(answer.counters.as_ref())
    ))?;
    Ok(())
}

/// A share as Java prints a float.
fn share(share: f64) -> String {
    format!("{:?}", share as f32)
}

/// What is known of a job that is over, in the order of HistoryViewer.
fn history(answer: &GetJobResponse) -> Outcome<()> {
    let Some(job) = &answer.status else { return Err(Failure::broke("the master answered without a status")) };
    let time = |ms: u64| {
        let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
        time.to_zoned(jiff::tz::TimeZone::system()).strftime("%-d-%b-%Y %H:%M:%S").to_string()
    };
    say(format!(
        "\nHadoop job: {}\n=====================================\nUser: {}\nJobName: {}\nJobConf: \n\
         Submitted At: {}\nLaunched At: {}\nFinished At: {}\nStatus: {}\n{}\n\nTasks' attempts\n\
         attemptId\tstate\tstartTime\tfinishTime\thost\terror",
        job.job,
        job.user,
        job.name,
        time(job.submit_ms_epoch),
        time(job.launch_ms_epoch),
        time(job.finish_ms_epoch),
        state(job),
        follow::counters(answer.counters.as_ref())
    ))?;
    for attempt in &answer.attempts {
        let (start, end) = (time(attempt.assigned_ms_epoch), time(attempt.ended_ms_epoch));
        let error = names::why(attempt).replace(['\n', '\t'], " ");
        say(format!("{}\t{}\t{start}\t{end}\t{}\t{error}", attempt.attempt, attempt.state, attempt.worker))?;
    }
    Ok(())
}
