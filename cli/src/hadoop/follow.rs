//! Submits a job, and tells its life in Hadoop's client's words until it is over.

use std::collections::BTreeSet;

use howdah_apps::JobPlan;
use howdah_proto::v1::{Counters, JobStatus};

use super::ended::Ended;
use super::names::{application, why};
use super::options::property;
use super::site::Site;
use super::{log4j, task_logs};
use crate::client::{Client, succeeded};
use crate::failure::{Failure, Outcome};
use crate::submit::{SubmitAs, submit_plan};

const JOB: &str = "mapreduce.Job";

/// Submits a job and says its id.
pub(super) async fn submit(site: &Site, plan: &JobPlan) -> Outcome<(Client, String)> {
    // For what it says of a name that is old; the master reads it.
    let _ = property(&plan.properties, ["mapreduce.job.priority", "mapred.job.priority"]);
    let mut client = site.connect().await?;
    let job = submit_plan(&mut client, &site.without_keys(plan.clone()), &SubmitAs::default()).await?;
    log4j::info("impl.YarnClientImpl", format!("Submitted application {}", application(&job)));
    log4j::info(JOB, format!("Running job: {job}"));
    Ok((client, job))
}

/// Runs a job to its end; the code is 1 when it did not succeed.
pub(super) async fn run(site: &Site, plan: &JobPlan) -> Ended {
    let (mut client, job) = submit(site, plan).await?;
    let status = watch(site, &mut client, &job).await?;
    if succeeded(&status) {
        log4j::info(JOB, format!("Job {job} completed successfully"));
    } else {
        let why = if status.why.is_empty() { String::new() } else { format!(" due to: {}", status.why) };
        log4j::info(JOB, format!("Job {job} failed with state {}{why}", status.state));
    }
    let answer = client.brief(&job).await?;
    log4j::info(JOB, counters(answer.counters.as_ref()));
    Ok(u8::from(!succeeded(&status)))
}

async fn watch(site: &Site, client: &mut Client, job: &str) -> Outcome<JobStatus> {
    let mut other = client.clone();
    let (send, mut changes) = tokio::sync::mpsc::unbounded_channel();
    let following = client.watch(job, move |status| {
        // Without a listener nobody is interested any more.
        let _ = send.send(status.clone());
        Ok(())
    });
    let telling = async {
        let mut printed = Printed::default();
        while let Some(status) = changes.recv().await {
            printed.status(&status);
            if status.failed_attempts as usize > printed.failed.len() {
                printed.failures(site, &mut other, job).await?;
            }
        }
        Ok::<(), Failure>(())
    };
    let (status, printed) = tokio::join!(following, telling);
    printed?;
    status
}

/// What was said already.
#[derive(Default)]
struct Printed {
    percent: Option<(u32, u32)>,
    failed: BTreeSet<String>,
}

impl Printed {
    fn status(&mut self, status: &JobStatus) {
        let percent = |share: f64| (share.clamp(0.0, 1.0) * 100.0) as u32;
        let now = (percent(status.map_progress), percent(status.reduce_progress));
        if self.percent != Some(now) {
            log4j::info(JOB, format!(" map {}% reduce {}%", now.0, now.1));
            self.percent = Some(now);
        }
    }

    /// Names the attempts that failed since, and keeps their logs where clients look.
    async fn failures(&mut self, site: &Site, client: &mut Client, job: &str) -> Outcome<()> {
        let answer = client.job(job).await?;
        for (index, attempt) in answer.attempts.iter().enumerate().filter(|(_, attempt)| attempt.state == "FAILED") {
            if !self.failed.insert(attempt.attempt.clone()) {
                continue;
            }
            log4j::info(JOB, format!("Task Id : {}, Status : FAILED\nError: {}", attempt.attempt, why(attempt)));
            if let Some(directory) = site.log_dir() {
                task_logs::keep(client, &directory, job, index, attempt).await;
            }
        }
        Ok(())
    }
}

/// The block of counters, in one record.
pub(super) fn counters(counters: Option<&Counters>) -> String {
    let groups = counters.map_or(&[][..], |counters| &counters.groups);
    let n: usize = groups.iter().map(|group| group.counters.len()).sum();
    let mut text = format!("Counters: {n}");
    for group in groups {
        text.push_str(&format!("\n\t{}", group.name.trim_end()));
        for counter in &group.counters {
            text.push_str(&format!("\n\t\t{}={}", counter.name, counter.value));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use howdah_proto::v1::{Counter, CounterGroup};

    use super::super::names::job_of;
    use super::*;

    #[test]
    fn counters_stand_in_one_block_by_group() {
        let group = |name: &str, counters: &[(&str, i64)]| CounterGroup {
            name: name.to_owned(),
            counters: counters.iter().map(|&(name, value)| Counter { name: name.to_owned(), value }).collect(),
        };
        let all = Counters {
            groups: vec![group("Job Counters ", &[("a", 1), ("b", -2)]), group("G", &[("c", 3)])],
            ..Counters::default()
        };
        assert_eq!(counters(Some(&all)), "Counters: 3\n\tJob Counters\n\t\ta=1\n\t\tb=-2\n\tG\n\t\tc=3");
        assert_eq!(counters(None), "Counters: 0");
    }

    #[test]
    fn a_job_and_its_application_have_the_same_numbers() {
        assert_eq!(application("job_202611241200_0007"), "application_202611241200_0007");
        assert_eq!(job_of("application_202611241200_0007"), "job_202611241200_0007");
    }
}
