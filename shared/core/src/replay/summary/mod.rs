//! What a replay's report comes to: slowdowns, their variability, lateness, use of the slots, waste.
//!
//! Everything here is for people and figures and decides nothing, so floats are fine. A job's slowdown is its
//! completion time, from submission to finish, over its time alone on the same cluster, empty (slowdown paper
//! §III); only jobs that succeeded have one. Sources: slowdown paper eq. 1 and Fig. 12, SimMR §V-A.

mod partitions;
mod sizes;
mod usage;

pub use partitions::{PartitionUsage, UsageByPartition};
pub use sizes::{SizeClass, size};
pub use usage::{QueueUsage, UsageByQueue};

use super::{JobOutcome, ReplayReport};
use crate::job::profile::Trace;
use crate::job::{JobState, PerKind};
use crate::models::moments::{Moments, percentile, sorted};
use crate::time::Span;
use sizes::ratio;

/// The figures of one replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Jobs by how they ended.
    pub jobs: JobCounts,
    /// Slowdown of each job, by its place in [`ReplayReport::jobs`]; `None` for jobs that did not succeed, for
    /// all when the times alone were not given, and for jobs that would take no time alone but took some.
    pub slowdowns: Vec<Option<f64>>,
    /// Their distribution; `None` when there are none.
    pub slowdown: Option<SlowdownSummary>,
    /// Completion times of the jobs that succeeded, in seconds.
    pub completion: Option<CompletionSummary>,
    /// Share of the slots of each kind, maps first, that was busy over the makespan.
    pub utilisation: PerKind<f64>,
    /// Sum over the jobs that are over of how late they were relative to their deadlines (SimMR §V-A).
    pub relative_deadline_exceeded: f64,
    /// Jobs with a deadline.
    pub with_deadline: u64,
    /// Of them, those that are late or ended without success.
    pub deadlines_missed: u64,
    /// Attempts that failed, over all jobs.
    pub failed_attempts: u64,
    /// Attempts that were killed or lost.
    pub killed_attempts: u64,
}

/// How many jobs ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Did what they should.
    pub succeeded: u64,
    /// A task ran out of attempts.
    pub failed: u64,
    /// By request.
    pub killed: u64,
    /// Not over when the replay was: it was stopped, or nothing could move any more.
    pub unfinished: u64,
}

/// The distribution of slowdowns.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowdownSummary {
    /// Jobs that have one.
    pub jobs: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// F⁻¹(50).
    pub median: f64,
    /// F⁻¹(95).
    pub p95: f64,
    /// As asked for, in the order asked.
    pub percentiles: Vec<SlowdownPercentile>,
    /// By size of job, smallest first; empty classes are left out.
    pub by_size: Vec<SizeClass>,
}

/// One percentile of the slowdown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowdownPercentile {
    /// Which, 0 to 100.
    pub q: f64,
    /// F⁻¹(q).
    pub slowdown: f64,
    /// V_F(q), the percentile over the median (slowdown paper eq. 1).
    pub variability: f64,
}

/// The distribution of completion times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompletionSummary {
    /// The arithmetic mean.
    pub mean_s: f64,
    /// The middle.
    pub median_s: f64,
    /// Of 95 in 100 jobs at most.
    pub p95_s: f64,
}

impl SlowdownSummary {
    /// V_F(95), which the paper calls the slowdown variability of the workload.
    pub fn variability(&self) -> f64 {
        ratio(self.p95, self.median)
    }
}

impl Summary {
    /// Sums up a report. `references` are the times alone on the empty cluster, by template; without them there
    /// is no slowdown. `percentiles` are those of the slowdown to tell, each from 0 to 100.
    pub fn new(report: &ReplayReport, trace: &Trace, references: Option<&[Span]>, percentiles: &[f64]) -> Summary {
        let slowdowns: Vec<Option<f64>> = report.jobs.iter().map(|job| slowdown(job, references)).collect();
        // A job that is not over has missed its deadline once it is late; how late it will be nobody knows.
        let missed = |job: &&JobOutcome| {
            let lost = job.state.is_final() && job.state != JobState::Succeeded;
            job.deadline.is_some_and(|deadline| lost || job.completion() > deadline)
        };
        let over = report.jobs.iter().filter(|job| job.state.is_final());
        Summary {
            jobs: JobCounts::of(&report.jobs),
            slowdown: summarise(report, trace, &slowdowns, percentiles),
            slowdowns,
            completion: CompletionSummary::of(&report.jobs),
            utilisation: report.utilisation(),
            relative_deadline_exceeded: over.map(JobOutcome::relative_deadline_exceeded).sum(),
            with_deadline: report.jobs.iter().filter(|job| job.deadline.is_some()).count() as u64,
            deadlines_missed: report.jobs.iter().filter(missed).count() as u64,
            failed_attempts: report.jobs.iter().map(|job| u64::from(job.failed_attempts)).sum(),
            killed_attempts: report.jobs.iter().map(|job| u64::from(job.killed_attempts)).sum(),
        }
    }
}

impl JobCounts {
    fn of(jobs: &[JobOutcome]) -> JobCounts {
        let mut counts = JobCounts::default();
        for job in jobs {
            match job.state {
                JobState::Succeeded => counts.succeeded += 1,
                JobState::Failed => counts.failed += 1,
                JobState::Killed => counts.killed += 1,
                JobState::Prep | JobState::Running | JobState::Committing => counts.unfinished += 1,
            }
        }
        counts
    }
}

impl CompletionSummary {
    fn of(jobs: &[JobOutcome]) -> Option<CompletionSummary> {
        let succeeded = jobs.iter().filter(|job| job.state == JobState::Succeeded);
        let times = sorted(succeeded.map(|job| job.completion().as_secs_f64()));
        Some(CompletionSummary {
            mean_s: Moments::of(&times).mean,
            median_s: percentile(&times, 50.0)?,
            p95_s: percentile(&times, 95.0)?,
        })
    }
}

fn slowdown(job: &JobOutcome, references: Option<&[Span]>) -> Option<f64> {
    let alone = references?.get(job.template as usize)?.as_us();
    if job.state != JobState::Succeeded {
        return None;
    }
    match (job.completion().as_us(), alone) {
        // A job that takes no time anywhere is not slowed down.
        (0, 0) => Some(1.0),
        (_, 0) => None,
        (shared, alone) => Some(shared as f64 / alone as f64),
    }
}

fn summarise(
    report: &ReplayReport,
    trace: &Trace,
    slowdowns: &[Option<f64>],
    percentiles: &[f64],
) -> Option<SlowdownSummary> {
    let sorted = sorted(slowdowns.iter().flatten().copied());
    let median = percentile(&sorted, 50.0)?;
    let at_quantile = |&q: &f64| {
        let slowdown = percentile(&sorted, q)?;
        Some(SlowdownPercentile { q, slowdown, variability: ratio(slowdown, median) })
    };
    Some(SlowdownSummary {
        jobs: sorted.len() as u64,
        mean: Moments::of(&sorted).mean,
        median,
        p95: percentile(&sorted, 95.0)?,
        percentiles: percentiles.iter().filter_map(at_quantile).collect(),
        by_size: sizes::classes(report, trace, slowdowns),
    })
}

#[cfg(test)]
mod tests;
