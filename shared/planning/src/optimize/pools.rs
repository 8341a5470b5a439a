//! BalancedPools, Algorithm 2 of balanced-pools §3.3: small jobs and big jobs, each on slots of their own.
//!
//! Jobs are sorted by their number of maps, or by what else makes a job a small one; every place between two of them is
//! a split, and for each the sizes are searched. Splits are independent, so that all cores take part. What a chunk of
//! splits may count as best is settled before the chunk begins, not while it runs: otherwise threads in another order
//! would prune others.

use howdah_core::replay::ReplayError;

use super::batch::{Batch, Objective, Plan, Pool, Sizes};
use super::bench::Bench;
use super::search::{Split, cost};
use crate::crew::Crew;

/// Splits between two looks at what is best.
const CHUNK: usize = 16;

/// The best two pools, or the plan that is there already if none is better.
///
/// # Errors
/// When a template is inconsistent.
pub(super) fn balance(
    bench: &Bench,
    batch: &Batch<'_>,
    plan: Plan,
    sizes: Sizes,
    objective: Objective,
) -> Result<Plan, ReplayError> {
    let jobs = by_size(bench);
    let splits = spread(jobs.len());
    let (cluster, mut crew) = (batch.slots, Crew::new(batch.threads, || bench.copy()));
    let mut best = plan;
    for (chunks, chunk) in splits.chunks(CHUNK).enumerate() {
        let below = cost(objective, best.pools.iter().map(|pool| &pool.times));
        let work = |bench: &mut Bench, &split: &usize| {
            let (small, big) = jobs.split_at(split);
            Split { cluster, small, big }.best(bench, below, sizes, objective)
        };
        let found = crew.each(chunk, work, |done| {
            (batch.progress)(chunks * CHUNK + done, splits.len());
            true
        })?;
        for pools in found.into_iter().flatten().flatten() {
            better(&mut best, pools.to_vec(), objective);
        }
    }
    Ok(best)
}

/// Takes pools that cost less.
pub(super) fn better(best: &mut Plan, pools: Vec<Pool>, objective: Objective) {
    let of = |pools: &[Pool]| cost(objective, pools.iter().map(|pool| &pool.times));
    if of(&pools) < of(&best.pools) {
        best.pools = pools;
    }
}

/// All jobs, small ones first; equals keep their places.
fn by_size(bench: &Bench) -> Vec<usize> {
    let mut jobs: Vec<usize> = (0..bench.models().len()).collect();
    jobs.sort_by_key(|&job| (bench.size(job), job));
    jobs
}

/// The splits of so many jobs, far apart first: a good one found early makes all others cheap.
fn spread(jobs: usize) -> Vec<usize> {
    let mut stride = jobs.next_power_of_two();
    let mut splits = Vec::with_capacity(jobs);
    while stride > 0 {
        splits.extend((stride..jobs).step_by(2 * stride));
        stride /= 2;
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_is_visited_once() {
        for jobs in [0, 1, 2, 3, 8, 100, 129] {
            let mut splits = spread(jobs);
            splits.sort_unstable();
            assert_eq!(splits, (1..jobs).collect::<Vec<_>>(), "{jobs} jobs");
        }
        assert_eq!(spread(8)[..3], [4, 2, 6]);
    }
}
