//! Jobs that arrive over time, submitted as users do: a `howdah submit` process each.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::cluster::Cluster;
use super::program::{checked, described};
use crate::framework::Progress;

/// Between two looks at what runs.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// One `howdah submit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// Of the job, unique in the workload; applications that are chains of jobs give it to all of them.
    pub(crate) name: String,
    /// Application, its arguments and flags.
    pub(crate) words: Vec<String>,
    /// From the workload's start.
    pub(crate) at: Duration,
}

/// Submits everything in time and waits for all jobs to succeed.
///
/// # Errors
/// When a job is refused or does not succeed, a daemon ends, or `bound` is over.
pub(crate) fn drive(
    cluster: &mut Cluster,
    submissions: &[Submission],
    bound: Duration,
    progress: &dyn Progress,
    label: &str,
) -> Result<()> {
    let began = Instant::now();
    let mut waiting = submissions.iter().peekable();
    let mut under_way: Vec<(String, Leashed)> = Vec::new();
    let mut jobs: Vec<String> = Vec::new();
    while waiting.peek().is_some() || !under_way.is_empty() {
        while let Some(next) = waiting.next_if(|next| next.at <= began.elapsed()) {
            under_way.push(submit(cluster, next)?);
        }
        let mut still = Vec::new();
        for (said, mut child) in under_way {
            if child.is_running()? {
                still.push((said, child));
            } else {
                jobs.extend(accepted(&said, child)?);
            }
        }
        under_way = still;
        tick(progress, label, submissions.len(), jobs.len(), began);
        within(began, bound, label)?;
        cluster.check_alive()?;
        let next = waiting.peek().map_or(LOOK, |next| next.at.saturating_sub(began.elapsed()));
        std::thread::sleep(next.min(LOOK));
    }
    wait_for(cluster, &jobs, began, bound, progress, label)
}

fn submit(cluster: &Cluster, submission: &Submission) -> Result<(String, Leashed)> {
    let mut command = cluster.program().command();
    command.args(["submit", "--master", cluster.address(), "--name", &submission.name, "--output", "json"]);
    command.args(&submission.words).stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = described(&command);
    let child = Leashed::start(&mut command, &said)?;
    Ok((said, child))
}

fn accepted(said: &str, child: Leashed) -> Result<Vec<String>> {
    let answer: Value = serde_json::from_str(&child.answer(said)?).with_context(|| format!("read {said}"))?;
    let jobs = answer["jobs"].as_array().map_or(&[][..], |jobs| jobs);
    Ok(jobs.iter().filter_map(|job| job.as_str().map(str::to_owned)).collect())
}

fn wait_for(
    cluster: &mut Cluster,
    jobs: &[String],
    began: Instant,
    bound: Duration,
    progress: &dyn Progress,
    label: &str,
) -> Result<()> {
    let mut command = cluster.program().command();
    command.args(["job", "wait", "--output", "json", "--master", cluster.address()]).args(jobs);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = described(&command);
    let mut child = Leashed::start(&mut command, &said)?;
    while child.is_running()? {
        tick(progress, label, jobs.len(), jobs.len(), began);
        within(began, bound, label)?;
        cluster.check_alive()?;
        std::thread::sleep(LOOK);
    }
    child.answer(&said).map(drop)
}

/// A process that is killed when we give up on it.
pub(super) struct Leashed(Option<Child>);

impl Leashed {
    pub(super) fn start(command: &mut Command, said: &str) -> Result<Leashed> {
        Ok(Leashed(Some(command.spawn().with_context(|| format!("start {said}"))?)))
    }

    /// Waits for its end; what it printed, unless it failed.
    pub(super) fn answer(mut self, said: &str) -> Result<String> {
        let child = self.0.take().context("look at a client that was waited for")?;
        checked(said, &child.wait_with_output().with_context(|| format!("wait for {said}"))?)
    }

    pub(super) fn is_running(&mut self) -> Result<bool> {
        Ok(self.0.is_some() && self.ended()?.is_none())
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.0.as_mut().map_or(Ok(None), |child| child.try_wait().context("look at a process"))
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // Gone in between is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn tick(progress: &dyn Progress, label: &str, all: usize, submitted: usize, began: Instant) {
    progress.tick(&format!("{label}: {} s, {submitted} of {all} jobs submitted", began.elapsed().as_secs()));
}

pub(super) fn within(began: Instant, bound: Duration, label: &str) -> Result<()> {
    if began.elapsed() > bound {
        bail!("{label}: not over after {} s", bound.as_secs());
    }
    Ok(())
}
