//! The Yahoo! M45 workload of balanced-pools §4.1, after the published analysis of that cluster's jobs.
//!
//! Maps N(154, 558) and reduces N(19, 145) per job; durations N(50, 200) and N(100, 300). Unimodal: a factor from
//! [1, 10] per job. Bimodal: 80 % of the jobs [1, 2], 20 % [8, 10]. What is open is in `batches`.

use howdah_core::job::profile::Trace;

use super::Choices;
use super::batches::{Batch, normal};

pub(super) const UNIMODAL: &[(f64, f64, f64)] = &[(1.0, 1.0, 10.0)];
pub(super) const BIMODAL: &[(f64, f64, f64)] = &[(0.8, 1.0, 2.0), (0.2, 8.0, 10.0)];

pub(super) fn unimodal(choices: &Choices, jobs: usize) -> Trace {
    generate(choices, jobs, UNIMODAL)
}

pub(super) fn bimodal(choices: &Choices, jobs: usize) -> Trace {
    generate(choices, jobs, BIMODAL)
}

fn generate(choices: &Choices, jobs: usize, factors: &'static [(f64, f64, f64)]) -> Trace {
    let normal = |mean, sd| normal(mean, sd, choices.negative);
    let batch = Batch {
        name: "m45",
        maps: normal(154.0, 558.0),
        reduces: normal(19.0, 145.0),
        map_s: normal(50.0, 200.0),
        reduce_s: normal(100.0, 300.0),
        factors,
    };
    batch.generate(choices, jobs)
}
