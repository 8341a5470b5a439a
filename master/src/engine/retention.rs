//! Lets go of what is kept of jobs that are over: the oldest first, by number, age and size.
//!
//! A job's history, its history in Hadoop's form and the file that it was submitted as go together; the file goes last, so
//! that a job without one is known to have been let go, and a removal that a crash cut short is done again. When a job
//! ended is its history's time of modification, so that nothing has to be read to find the oldest. The journal keeps all
//! that decisions depend on. **Invariant: a job that is not over has no history, so nothing of it ever goes.**

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use howdah_core::job::{ClusterId, JobId};
use howdah_guards::clock;

use crate::config::KeepJobs;
use crate::history::{JobHistory, NoAttempts, job_file_path};
use crate::{hadoop_history, history};

/// Between two looks at least: one lists all histories.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// And at most, as jobs grow old by themselves.
const LOOK_AGAIN: Duration = Duration::from_secs(600);

/// What is kept of one job that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    ended: SystemTime,
    job: JobId,
    bytes: u64,
}

/// Looks after a run's histories.
pub(super) struct Retention {
    keep: KeepJobs,
    run_dir: PathBuf,
    cluster: ClusterId,
    looked: Option<Instant>,
    /// Whether something came since.
    changed: bool,
}

impl Retention {
    pub(super) fn new(keep: KeepJobs, run_dir: &Path, cluster: ClusterId) -> Retention {
        Retention { keep, run_dir: run_dir.to_owned(), cluster, looked: None, changed: true }
    }

    /// A history was written.
    pub(super) fn written(&mut self) {
        self.changed = true;
    }

    /// How long until the next look; `None` when everything is kept.
    pub(super) fn wait(&self) -> Option<Duration> {
        let pause = if self.changed { LOOK_EVERY } else { LOOK_AGAIN };
        let since = self.looked.map_or(pause, |looked| looked.elapsed());
        (!self.keep.keeps_all()).then(|| pause.saturating_sub(since))
    }

    /// Removes what is too much, if it is time to look. What cannot be removed is tried again with the next look.
    pub(super) fn look(&mut self) {
        if self.wait().is_none_or(|wait| !wait.is_zero()) {
            return;
        }
        (self.looked, self.changed) = (Some(Instant::now()), false);
        let gone = too_much(self.list(), &self.keep, clock::now());
        for job in &gone {
            if let Err(error) = self.remove(*job) {
                tracing::warn!(job = self.cluster.job(*job), %error, "cannot remove what is kept of a job");
            }
        }
        if !gone.is_empty() {
            tracing::info!(jobs = gone.len(), "let go of jobs that are over, by `keep_jobs`");
        }
    }

    fn list(&self) -> Vec<Kept> {
        let Ok(entries) = fs::read_dir(self.run_dir.join(history::DIRECTORY)) else { return Vec::new() };
        let kept = |entry: fs::DirEntry| {
            let path = entry.path();
            let job = self.cluster.parse_job(history::job_of(path.file_name()?.to_str()?)?).ok()?;
            let file = entry.metadata().ok()?;
            let submitted = fs::metadata(job_file_path(&self.run_dir, self.cluster, job));
            let bytes = file.len() + submitted.map_or(0, |file| file.len());
            Some(Kept { ended: file.modified().ok()?, job, bytes })
        };
        entries.filter_map(|entry| kept(entry.ok()?)).collect()
    }

    fn remove(&self, job: JobId) -> std::io::Result<()> {
        let Some(path) = history::find_history(&self.run_dir, self.cluster, job) else { return Ok(()) };
        match JobHistory::<NoAttempts>::read_as(&path) {
            Ok(history) => hadoop_history::remove(&history, &self.run_dir)?,
            Err(error) => tracing::warn!(%error, "a history that goes does not read; Hadoop's form of it stays"),
        }
        fs::remove_file(&path)?;
        match fs::remove_file(job_file_path(&self.run_dir, self.cluster, job)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The jobs that are too many, too old or too large together, counted from the one that ended last.
fn too_much(mut all: Vec<Kept>, keep: &KeepJobs, now: SystemTime) -> Vec<JobId> {
    all.sort_by_key(|kept| std::cmp::Reverse((kept.ended, kept.job)));
    let (mut number, mut bytes) = (0_u32, 0_u64);
    let mut gone = Vec::new();
    for Kept { ended, job, bytes: own } in all {
        // What ended in the future is young.
        let age = now.duration_since(ended).unwrap_or_default();
        if keep.is_exceeded_by(number + 1, age, bytes.saturating_add(own)) {
            gone.push(job);
        } else {
            number += 1;
            bytes += own;
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// Ten jobs of 100 bytes; the first ended ten hours ago, the last one an hour ago.
    fn ten(now: SystemTime) -> Vec<Kept> {
        let kept = |n: u32| Kept { ended: now - HOUR * (11 - n), job: JobId(n), bytes: 100 };
        (1..=10).map(kept).collect()
    }

    #[test]
    fn the_oldest_go_by_number_age_and_size_and_nothing_goes_unasked() {
        let now = SystemTime::UNIX_EPOCH + HOUR * 1_000;
        let gone = |keep: KeepJobs| {
            let mut gone: Vec<u32> = too_much(ten(now), &keep, now).into_iter().map(|job| job.0).collect();
            gone.sort_unstable();
            gone
        };
        let all = KeepJobs::default();
        assert!(all.keeps_all() && gone(all).is_empty());
        assert_eq!(gone(KeepJobs { number: 8, ..all }), [1, 2]);
        assert_eq!(gone(KeepJobs { hours: 7, ..all }), [1, 2, 3]);
        assert_eq!(gone(KeepJobs { bytes: 650, ..all }), [1, 2, 3, 4]);
        assert_eq!(gone(KeepJobs { number: 5, hours: 9, bytes: 1_000 }), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_job_that_is_too_large_alone_goes_and_smaller_ones_before_it_stay() {
        let now = SystemTime::UNIX_EPOCH + HOUR * 1_000;
        let mut jobs = ten(now);
        jobs[9].bytes = 10_000;
        assert_eq!(too_much(jobs, &KeepJobs { bytes: 1_000, ..KeepJobs::default() }, now), [JobId(10)]);
    }
}
