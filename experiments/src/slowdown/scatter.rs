//! Figures 10 to 13: all policies with their best parameters, and more than two queues.

use anyhow::Result;
use howdah_core::models::moments::{percentile, sorted};
use howdah_core::time::Span;
use howdah_planning::tune::{Figures, Played};

use super::bench::Bench;
use super::policy::Policy;
use super::runs::{LOADS, check, mean, play_each};
use super::sweep::{Sweeps, two_queues};
use crate::framework::{Check, Lab};

/// One policy at one load.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) policy: Policy,
    pub(super) load_milli: u32,
    pub(super) repeats: Vec<Played>,
    pub(super) figures: Figures,
}

pub(super) struct Main {
    /// FIFO, FBQ, TAGS, SITA and COMP with the best parameters found here, at both loads (Fig. 10 to 12).
    pub(super) best: Vec<Shown>,
    /// FBQ, TAGS and SITA with the paper's parameters.
    pub(super) papers: Vec<Shown>,
    /// FBQ and COMP with four queues at a load of 0.9 (Fig. 13).
    pub(super) four: Vec<Shown>,
}

/// Jobs of about one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SizeRange {
    /// Half decades from 10 s: from 10 to 10·√10 is 0.
    pub(super) number: i32,
    pub(super) jobs: usize,
    pub(super) mean: f64,
}

impl SizeRange {
    /// Where it begins, in seconds.
    pub(super) fn begin_s(&self) -> f64 {
        libm::pow(10.0, 1.0 + f64::from(self.number) / 2.0)
    }
}

impl Shown {
    /// F⁻¹(q), as the mean over the repeats.
    pub(super) fn at(&self, q: f64) -> f64 {
        let of = |played: &Played| percentile(&sorted(played.jobs.iter().map(|job| job.1)), q).unwrap_or(0.0);
        self.repeats.iter().map(of).sum::<f64>() / self.repeats.len().max(1) as f64
    }

    /// V_F(q), as the mean over the repeats.
    pub(super) fn variability_at(&self, q: f64) -> f64 {
        let of = |played: &Played| {
            let slowdowns = sorted(played.jobs.iter().map(|job| job.1));
            let at = |q| percentile(&slowdowns, q).unwrap_or(0.0);
            if at(50.0) > 0.0 { at(q) / at(50.0) } else { 0.0 }
        };
        self.repeats.iter().map(of).sum::<f64>() / self.repeats.len().max(1) as f64
    }

    /// Mean slowdown by half decade of size (Fig. 12), over the jobs of all repeats.
    pub(super) fn by_size(&self) -> Vec<SizeRange> {
        let number = |size: f64| libm::floor(2.0 * (libm::log10(size.max(1e-3)) - 1.0)) as i32;
        let mut ranges: std::collections::BTreeMap<i32, (usize, f64)> = Default::default();
        for &(size, slowdown) in self.repeats.iter().flat_map(|played| &played.jobs) {
            let range = ranges.entry(number(size)).or_default();
            *range = (range.0 + 1, range.1 + slowdown);
        }
        ranges.into_iter().map(|(number, (jobs, sum))| SizeRange { number, jobs, mean: sum / jobs as f64 }).collect()
    }

    /// The largest mean of a size range over the smallest; ranges of fewer jobs than one in two hundred are left out.
    pub(super) fn unevenness(&self) -> f64 {
        let ranges = self.by_size();
        let all: usize = ranges.iter().map(|range| range.jobs).sum();
        let means = || ranges.iter().filter(|range| range.jobs * 200 >= all).map(|range| range.mean);
        means().fold(0.0, f64::max) / means().fold(f64::INFINITY, f64::min)
    }
}

pub(super) fn run(lab: &Lab<'_>, bench: &Bench, sweeps: &Sweeps) -> Result<Main> {
    let best = |scheduler| {
        sweeps
            .optimum(scheduler)
            .map(|point| two_queues(scheduler, point.share, point.limit).named(&scheduler.to_uppercase()))
    };
    let comp = || Policy::new("comp", &[]).with("fit", "history");
    let mut policies = vec![Policy::new("fifo", &[])];
    policies.extend(["fbq", "tags", "sita"].into_iter().filter_map(best));
    policies.push(comp());
    let papers: Vec<Policy> = [("fbq", 0, 12_000), ("tags", 50, 14_000), ("sita", 30, 18_000)]
        .map(|(scheduler, share, limit)| two_queues(scheduler, share, Span::from_secs(limit)))
        .into_iter()
        .collect();
    // §VI-E's limits are sizes of jobs, which the second reading counts against.
    let fbq_four = |service: &str| {
        let params = [("queues", "4".to_owned()), ("limits", "4000s,10000s,36000s".to_owned())];
        Policy::new("fbq", &params).with("service", service).named(&format!("FBQ, service of the {service}"))
    };
    let four = vec![fbq_four("total"), fbq_four("queue"), comp().with("queues", "4").named("COMP")];
    let at = |policies: &[Policy], load| policies.iter().map(|policy| (policy.clone(), load)).collect::<Vec<_>>();
    let (n_best, n_papers) = (2 * policies.len(), 2 * papers.len());
    let mut runs = Vec::new();
    for policies in [&policies, &papers] {
        runs.extend(LOADS.iter().flat_map(|&load| at(policies, load)));
    }
    runs.extend(at(&four, LOADS[1]));
    let played = play_each(lab, bench, "Figures 10 to 13: all policies", &runs)?;
    let mut shown: Vec<Shown> = runs
        .into_iter()
        .zip(played)
        .map(|((policy, load_milli), repeats)| Shown { policy, load_milli, figures: mean(&repeats), repeats })
        .collect();
    let four = shown.split_off(n_best + n_papers);
    let papers = shown.split_off(n_best);
    Ok(Main { best: shown, papers, four })
}

impl Main {
    /// A policy with its best parameters at a load.
    pub(super) fn of(&self, scheduler: &str, load_milli: u32) -> Option<&Shown> {
        self.best.iter().find(|shown| shown.policy.scheduler == scheduler && shown.load_milli == load_milli)
    }

    /// The published effects.
    pub(super) fn checks(&self, judged: bool) -> Vec<Check> {
        let mut checks = Vec::new();
        for load in LOADS {
            let (Some(fifo), Some(fbq)) = (self.of("fifo", load), self.of("fbq", load)) else { continue };
            let at = f64::from(load) / 1000.0;
            let what = format!("load {at}: FBQ's slowdown variability over FIFO's");
            // §VII: "by a factor of 2 under system loads between 0.7 and 0.9".
            checks.push(check(what, fbq.figures.variability / fifo.figures.variability, 0.5, judged));
            let what = format!("load {at}: FBQ's 95th percentile of the slowdown over FIFO's");
            checks.push(check(what, fbq.figures.p95 / fifo.figures.p95, 0.5, judged));
            let what = format!("load {at}: FBQ's unevenness over sizes over FIFO's");
            checks.push(check(what, fbq.unevenness() / fifo.unevenness(), 1.0, judged));
        }
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(jobs: Vec<(f64, f64)>) -> Shown {
        let repeats = vec![Played { jobs, ..Played::default() }];
        Shown { policy: Policy::new("fifo", &[]), load_milli: 700, figures: mean(&repeats), repeats }
    }

    #[test]
    fn sizes_are_ranged_by_half_decades() {
        let one = shown(vec![(10.0, 2.0), (31.0, 4.0), (32.0, 5.0), (1e5, 7.0)]);
        let ranges = one.by_size();
        assert_eq!(
            ranges.iter().map(|range| (range.number, range.jobs, range.mean)).collect::<Vec<_>>(),
            [(0, 2, 3.0), (1, 1, 5.0), (8, 1, 7.0)]
        );
        assert_eq!(ranges[2].begin_s(), 1e5);
        assert!((one.unevenness() - 7.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn variability_is_a_percentile_over_the_median() {
        let one = shown((1..=101).map(|n| (10.0, f64::from(n))).collect());
        assert_eq!((one.at(50.0), one.at(95.0)), (51.0, 96.0));
        assert!((one.variability_at(95.0) - 96.0 / 51.0).abs() < 1e-9);
        assert_eq!(one.variability_at(95.0), one.figures.variability);
    }
}
