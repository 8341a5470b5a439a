//! SimMR's synthetic Facebook trace (§V-C): task durations from two lognormals fitted to a published plot.
//!
//! Maps LN(9.9511, 1.6764), reduces LN(12.375, 1.6262); σ is the deviation of the logarithm, as in the paper's
//! density, though its sentence says variance. The text leaves open:
//!
//! - the unit: milliseconds, which makes the median map 21 s and the median reduce 237 s;
//! - the sizes of jobs. It says that Table 3 of Zaharia et al. was used; balanced-pools Table 1 repeats that table,
//!   and each job here is of one of its ten sizes, drawn with the table's shares;
//! - the number of jobs: 100, as there;
//! - shuffles: the plot is of whole reduces, so that templates have none;
//! - interarrival times: figure only; all at once unless chosen (`--arrivals`, or at replay).
//!
//! The variant of 1,148 jobs takes the number of jobs of SimMR §IV-E, whose own trace is not public. Deviation: its
//! counts are scaled to 200,000 tasks in all, the size on which this project measures speed.

pub(super) use super::facebook_durations::{MAP_MS, REDUCE_MS};

use howdah_core::job::profile::Trace;

use super::Choices;
use super::build::{apportion, durations, job, of_job};
use super::facebook_table::{BINS, BLOCK};

/// Tasks of the large variant.
const ALL_TASKS: usize = 200_000;

/// Jobs of drawn sizes.
pub(super) fn generate(choices: &Choices, jobs: usize) -> Trace {
    let sizes: Vec<(u32, u32)> = (0..jobs).map(|index| size(choices.seed, index)).collect();
    build(choices, &sizes)
}

/// The same with counts scaled so that all tasks together are 200,000.
pub(super) fn generate_200k(choices: &Choices, jobs: usize) -> Trace {
    let drawn: Vec<(u32, u32)> = (0..jobs).map(|index| size(choices.seed, index)).collect();
    // Each job keeps one map and, if it had reduces, one reduce; the rest is shared out in proportion.
    let kept: usize = drawn.iter().map(|(_, reduces)| 1 + usize::from(*reduces > 0)).sum();
    let weights: Vec<f64> = drawn
        .iter()
        .flat_map(|(maps, reduces)| [f64::from(*maps) - 1.0, f64::from(reduces.saturating_sub(1))])
        .collect();
    let more = apportion(ALL_TASKS.saturating_sub(kept), &weights);
    let sizes: Vec<(u32, u32)> = drawn
        .iter()
        .zip(more.chunks_exact(2))
        .map(|((_, reduces), more)| (1 + more[0] as u32, u32::from(*reduces > 0) + more[1] as u32))
        .collect();
    build(choices, &sizes)
}

/// Maps and reduces of one job.
fn size(seed: u64, index: usize) -> (u32, u32) {
    // Shares are percent, so a number below 100 picks the bin.
    let mut left = of_job(seed, index).below(100) as f64;
    for (_, maps, reduces, share) in BINS {
        left -= share;
        if left < 0.0 {
            return (maps, reduces);
        }
    }
    unreachable!("the table's numbers of jobs add up to 100");
}

fn build(choices: &Choices, sizes: &[(u32, u32)]) -> Trace {
    let jobs = sizes.iter().enumerate().map(|(index, (n_maps, n_reduces))| {
        let mut random = of_job(choices.seed, index);
        // The first word of the stream has picked the size.
        random.bits();
        let mut template = job("facebook", *n_maps, *n_reduces);
        template.map_ms = durations(&MAP_MS, 1.0, *n_maps, &mut random);
        template.reduce_ms = durations(&REDUCE_MS, 1.0, *n_reduces, &mut random);
        template.input_bytes = Some(u64::from(*n_maps) * BLOCK);
        template
    });
    Trace { jobs: jobs.collect(), ..Trace::default() }
}
