//! Synthetic1 and Synthetic2 of balanced-pools §4.1, made for its sensitivity analysis.
//!
//! Both: maps uniform in [1, 100], reduces in [1, 50]. Synthetic1: durations N(100, 1000) and N(200, 2000), unimodal
//! or bimodal as Yahoo! M45. Synthetic2: N(20, 100) and N(50, 200), 90 % of the jobs with a factor from [1, 3] and
//! 10 % from [8, 10]. Sizes 10, 20 and 100. What is open is in `batches`.

use howdah_core::job::profile::Trace;
use howdah_core::models::Distribution;

use super::Choices;
use super::batches::{Batch, normal};
use super::yahoo_m45::{BIMODAL, UNIMODAL};

const MOSTLY_SHORT: &[(f64, f64, f64)] = &[(0.9, 1.0, 3.0), (0.1, 8.0, 10.0)];

pub(super) fn one_unimodal(choices: &Choices, jobs: usize) -> Trace {
    generate(choices, jobs, "synthetic1", [(100.0, 1000.0), (200.0, 2000.0)], UNIMODAL)
}

pub(super) fn one_bimodal(choices: &Choices, jobs: usize) -> Trace {
    generate(choices, jobs, "synthetic1", [(100.0, 1000.0), (200.0, 2000.0)], BIMODAL)
}

pub(super) fn two_bimodal(choices: &Choices, jobs: usize) -> Trace {
    generate(choices, jobs, "synthetic2", [(20.0, 100.0), (50.0, 200.0)], MOSTLY_SHORT)
}

fn generate(
    choices: &Choices,
    jobs: usize,
    name: &'static str,
    [map, reduce]: [(f64, f64); 2],
    factors: &'static [(f64, f64, f64)],
) -> Trace {
    // Whole numbers from 1 to the last, each as likely: a draw from half below to half above, rounded.
    let up_to = |last: f64| Distribution::Uniform { low: 0.5, high: last + 0.5 };
    let batch = Batch {
        name,
        maps: up_to(100.0),
        reduces: up_to(50.0),
        map_s: normal(map.0, map.1, choices.negative),
        reduce_s: normal(reduce.0, reduce.1, choices.negative),
        factors,
    };
    batch.generate(choices, jobs)
}
