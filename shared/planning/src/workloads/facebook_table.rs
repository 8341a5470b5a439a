//! The Facebook workload of balanced-pools Table 1: 100 jobs of ten types in exact numbers.
//!
//! The text states job types, task counts and numbers of jobs; input is 64 MiB a map. Durations were measured on
//! the authors' testbed and are in no table. Deviation: they are drawn from the lognormals that SimMR §V-C fitted to
//! Facebook's task durations, which come from the same source as the job sizes (Zaharia et al., October 2009).

use howdah_core::job::profile::Trace;

use super::Choices;
use super::build::{assign, durations, job, of_job, of_set};
use super::facebook_durations::{MAP_MS, REDUCE_MS};

/// Job type, maps, reduces and number of jobs in a hundred, in the table's order. "NA" reduces are 0.
pub(super) const BINS: [(&str, u32, u32, f64); 10] = [
    ("select", 1, 0, 38.0),
    ("text-search", 2, 0, 16.0),
    ("aggregation", 10, 3, 14.0),
    ("select", 50, 0, 8.0),
    ("text-search", 100, 0, 6.0),
    ("aggregation", 200, 50, 6.0),
    ("select", 400, 0, 4.0),
    ("aggregation", 800, 180, 4.0),
    ("join", 2400, 360, 2.0),
    ("text-search", 4800, 0, 2.0),
];

/// Input of a map: the block size that the text states.
pub(super) const BLOCK: u64 = 64 << 20;

/// The jobs in random order, all submitted at 0.
pub(super) fn generate(choices: &Choices, jobs: usize) -> Trace {
    let bins = assign(jobs, &BINS.map(|bin| bin.3), &mut of_set(choices.seed));
    let jobs = bins.iter().enumerate().map(|(index, bin)| {
        let (name, n_maps, n_reduces, _) = BINS[*bin];
        let mut random = of_job(choices.seed, index);
        let mut template = job(name, n_maps, n_reduces);
        template.map_ms = durations(&MAP_MS, 1.0, n_maps, &mut random);
        template.reduce_ms = durations(&REDUCE_MS, 1.0, n_reduces, &mut random);
        template.input_bytes = Some(u64::from(n_maps) * BLOCK);
        template
    });
    Trace { jobs: jobs.collect(), ..Trace::default() }
}
