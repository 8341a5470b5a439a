//! The common shape of the makespan paper's drawn workloads: counts and durations per task from a distribution
//! each, and a factor per job that makes jobs differ (balanced-pools §4.1).
//!
//! The text leaves open, and these recipes fill the same way:
//!
//! - the unit of durations: seconds;
//! - negative draws, frequent where the deviation exceeds the mean (39 % of N(154, 558)): drawn again, or as asked
//!   for ([`Negative`]);
//! - whether maps and reduces of a job share their factor: they do, "the scale factor for each job is drawn";
//! - what a factor multiplies: durations, or as asked for ([`Scale`]);
//! - fewer than one task: a job has at least one map and one reduce;
//! - shuffles: reduce durations include them (the paper's footnote 6), so that templates have none;
//! - arrivals: all jobs at once, as a batch.

use howdah_core::job::profile::Trace;
use howdah_core::models::{Distribution, Negative};

use super::build::{assign, count, durations, job, of_job, of_set};
use super::{Choices, Scale};

/// Milliseconds in the papers' seconds.
const MS: f64 = 1000.0;

/// One drawn batch.
pub(super) struct Batch {
    /// Of every job.
    pub(super) name: &'static str,
    /// Maps per job.
    pub(super) maps: Distribution,
    /// Reduces per job.
    pub(super) reduces: Distribution,
    /// Seconds per map before the factor.
    pub(super) map_s: Distribution,
    /// Seconds per reduce before the factor.
    pub(super) reduce_s: Distribution,
    /// Factors of durations: the share of the jobs and the range, uniform. Shares are exact.
    pub(super) factors: &'static [(f64, f64, f64)],
}

/// N(mean, sd) with the chosen treatment of negative draws.
pub(super) fn normal(mean: f64, sd: f64, negative: Negative) -> Distribution {
    Distribution::Normal { mean, sd, negative }
}

impl Batch {
    /// The jobs, all submitted at 0.
    pub(super) fn generate(&self, choices: &Choices, jobs: usize) -> Trace {
        let shares: Vec<f64> = self.factors.iter().map(|(share, _, _)| *share).collect();
        let modes = assign(jobs, &shares, &mut of_set(choices.seed));
        let jobs = modes.iter().enumerate().map(|(index, mode)| {
            let mut random = of_job(choices.seed, index);
            let (_, low, high) = self.factors[*mode];
            let factor = Distribution::Uniform { low, high }.sample(&mut random);
            let (of_tasks, of_times) = match choices.scale {
                Scale::Durations => (1.0, factor),
                Scale::Tasks => (factor, 1.0),
                Scale::Both => (factor, factor),
            };
            let scaled = |n: u32| (f64::from(n) * of_tasks).round() as u32;
            let n_maps = scaled(count(&self.maps, 1, &mut random));
            let n_reduces = scaled(count(&self.reduces, 1, &mut random));
            let factor = of_times * MS;
            let mut template = job(self.name, n_maps, n_reduces);
            template.map_ms = durations(&self.map_s, factor, n_maps, &mut random);
            template.reduce_ms = durations(&self.reduce_s, factor, n_reduces, &mut random);
            template
        });
        Trace { jobs: jobs.collect(), ..Trace::default() }
    }
}
