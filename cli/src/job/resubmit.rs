//! `job resubmit`: the same job again, all of it or the maps that failed.
//!
//! `--only failed` is for jobs without reduces that succeeded although some maps failed (`mapred.max.map.failures.percent`):
//! there the other maps' output is kept. A failed job's output was cleared away, and a reduce needs all maps, so such jobs
//! run again as a whole.

use std::collections::BTreeSet;

use howdah_core::job::{ClusterId, TaskKind};
use howdah_json::{Job, Listing};
use howdah_proto::v1::{GetJobResponse, ResubmitJobRequest};
use serde_json::json;

use crate::args::Format;
use crate::caller::{absolute_output, user};
use crate::client::{Client, unless_interrupted};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::job::args::ResubmitArgs;
use crate::job_end::{follow_to_end, not_succeeded};
use crate::output::progress::JobProgress;
use crate::submit::shown;
use crate::units;

/// `howdah job resubmit`
pub(crate) async fn resubmit(context: &Context, args: &ResubmitArgs) -> Outcome {
    let config = context.client(&args.cluster, args.format.output)?;
    let screen = context.screen(config.color);
    let mut client = Client::connect(&config).await?;
    let before = client.job_id(&args.job).await?;
    let maps = match args.only {
        Some(_) => failed_maps(&client.job(&before).await?, &before)?,
        None => Vec::new(),
    };
    let output = match &args.to {
        Some(path) => absolute_output("--to", &path.display().to_string(), args.remote_paths)?,
        None => String::new(),
    };
    let request = ResubmitJobRequest { job: before.clone(), user: user(), output, maps: maps.clone() };
    let job = shown::submit_again(&mut client, request, args.remote_paths).await?;
    let table = config.output == Format::Table;
    if table {
        let part = if maps.is_empty() {
            String::new()
        } else {
            format!(", {} of it", units::counted(maps.len() as u64, "map"))
        };
        screen.line(format!("Submitted job: {job}, which is {before} again{part}"))?;
    }
    let mut ended = None;
    if args.wait {
        let name = client.status(&job).await?;
        let progress =
            if table { JobProgress::new(&screen, &name.name, name.n_reduces > 0) } else { JobProgress::Quiet };
        let following = follow_to_end(&screen, &mut client, &job, progress);
        ended = Some(Job::from(&unless_interrupted(following, std::slice::from_ref(&job)).await?));
    }
    if !table {
        let body = json!({ "job": job, "again": before, "maps": maps, "ended": ended });
        screen.json(&Listing::new("resubmit", body))?;
    }
    match ended {
        Some(job) if job.state != "SUCCEEDED" => Err(not_succeeded(&job)),
        _ => Ok(Exit::Done),
    }
}

/// The maps of a job that has its output and lacks theirs.
fn failed_maps(answer: &GetJobResponse, job: &str) -> Outcome<Vec<u32>> {
    let status = answer.status.as_ref().ok_or_else(|| Failure::broke("the master answered without a status"))?;
    let all = "leave --only away: all of it runs again";
    if status.n_reduces > 0 {
        return Err(Failure::usage(format!("{job} has reduces, and each of them needs all of its maps")).help(all));
    }
    if status.state != "SUCCEEDED" {
        let state = &status.state;
        return Err(Failure::usage(format!("{job} is {state}: the output of its other maps is not kept")).help(all));
    }
    let maps = without_success(answer)?;
    if maps.is_empty() {
        return Err(Failure::usage(format!("all maps of {job} have succeeded")));
    }
    Ok(maps)
}

/// Maps of which attempts are known, and none that ended well.
fn without_success(answer: &GetJobResponse) -> Outcome<Vec<u32>> {
    let [mut tried, mut good] = [BTreeSet::new(), BTreeSet::new()];
    for attempt in &answer.attempts {
        let id = ClusterId::of_attempt(&attempt.attempt).map(|(_, id)| id);
        let id = id.ok_or_else(|| Failure::broke(format!("the master names an attempt `{}`", attempt.attempt)))?;
        if id.kind == TaskKind::Map {
            tried.insert(id.index);
            if attempt.state == "SUCCEEDED" {
                good.insert(id.index);
            }
        }
    }
    Ok(tried.difference(&good).copied().collect())
}

#[cfg(test)]
mod tests {
    use howdah_proto::v1::{AttemptInfo, JobStatus};

    use super::*;

    fn answer(state: &str, n_reduces: u32, attempts: &[(&str, &str)]) -> GetJobResponse {
        let attempt = |(id, state): &(&str, &str)| AttemptInfo {
            attempt: format!("attempt_202611201200_0001_{id}"),
            state: (*state).to_owned(),
            ..AttemptInfo::default()
        };
        GetJobResponse {
            status: Some(JobStatus { state: state.to_owned(), n_reduces, ..JobStatus::default() }),
            attempts: attempts.iter().map(attempt).collect(),
            ..GetJobResponse::default()
        }
    }

    #[test]
    fn a_map_that_succeeded_at_its_second_try_has_not_failed() {
        let attempts = [
            ("m_000000_0", "FAILED"),
            ("m_000000_1", "SUCCEEDED"),
            ("m_000001_0", "FAILED"),
            ("m_000001_1", "FAILED"),
            ("m_000002_0", "SUCCEEDED"),
        ];
        assert_eq!(failed_maps(&answer("SUCCEEDED", 0, &attempts), "it").expect("there is one"), [1]);
    }

    #[test]
    fn where_the_rest_is_not_kept_a_part_is_not_run_again() {
        let why = |answer: GetJobResponse| failed_maps(&answer, "it").expect_err("refused").to_string();
        assert!(why(answer("SUCCEEDED", 2, &[])).starts_with("error: it has reduces"));
        assert!(
            why(answer("FAILED", 0, &[])).starts_with("error: it is FAILED: the output of its other maps is not kept")
        );
        assert_eq!(why(answer("SUCCEEDED", 0, &[("m_000000_0", "SUCCEEDED")])), "error: all maps of it have succeeded");
    }
}
