//! More than two pools: the best plan is cut once more, wherever that helps, and slots move between all pools.
//!
//! The paper leaves it at two "at a cost of a significantly higher complexity" (§3.3). Trying all cuts of all pools at
//! once would multiply that cost; cutting greedily adds to it. Each round cuts one pool's jobs in two, by size, gives
//! both parts slots by their work, and then moves slots, in halving steps, from the pool that ends first to the one
//! that ends last (for the mean delay: from any pool to any other), while that helps.

use howdah_core::replay::ReplayError;

use super::batch::{Batch, Objective, Plan, Pool, Sizes, Slots};
use super::bench::Bench;
use super::pools::better;
use super::search::{cost, has_slots, work_ms};
use crate::crew::Crew;

/// Cuts `plan` further, up to `most` pools, while that makes it better.
///
/// # Errors
/// When a template is inconsistent.
pub(super) fn divide(
    bench: &mut Bench,
    batch: &Batch<'_>,
    mut plan: Plan,
    most: usize,
    sizes: Sizes,
    objective: Objective,
) -> Result<Plan, ReplayError> {
    if most <= 2 {
        return Ok(plan);
    }
    let mut crew = Crew::new(batch.threads, || bench.copy());
    while plan.pools.len() < most {
        let cuts = cuts(bench, &plan);
        let work = |bench: &mut Bench, &(pool, at): &(usize, usize)| {
            let Some(mut pools) = cut(bench, &plan.pools, pool, at, objective)? else { return Ok(None) };
            level(bench, &mut pools, sizes, objective)?;
            Ok::<_, ReplayError>(Some(pools))
        };
        let found = crew.each(&cuts, work, |_| true)?;
        let mut best = plan.clone();
        for pools in found.into_iter().flatten().flatten() {
            better(&mut best, pools, objective);
        }
        if best == plan {
            break;
        }
        plan = best;
    }
    Ok(plan)
}

/// Pool and number of its smaller jobs for every cut.
fn cuts(bench: &Bench, plan: &Plan) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    for (index, pool) in plan.pools.iter().enumerate() {
        let mut jobs: Vec<u64> = pool.jobs.iter().map(|&job| bench.size(job)).collect();
        jobs.sort_unstable();
        // Only between jobs that differ: equal ones are as well apart at one place as at another.
        cuts.extend((1..jobs.len()).filter(|&at| jobs[at - 1] < jobs[at]).map(|at| (index, at)));
    }
    cuts
}

fn cut(
    bench: &mut Bench,
    pools: &[Pool],
    index: usize,
    at: usize,
    objective: Objective,
) -> Result<Option<Vec<Pool>>, ReplayError> {
    let old = &pools[index];
    let mut jobs = old.jobs.clone();
    jobs.sort_by_key(|&job| (bench.size(job), job));
    let (small, big) = jobs.split_at(at);
    let (small_work, big_work) = (work_ms(bench, small), work_ms(bench, big));
    let share = |kind: usize, slots: u16| {
        let whole = (small_work[kind] + big_work[kind]).max(f64::MIN_POSITIVE);
        let part = (f64::from(slots) * small_work[kind] / whole).round() as u16;
        part.clamp(slots.min(1), slots.saturating_sub(1).max(1)).min(slots)
    };
    let first = Slots { maps: share(0, old.slots.maps), reduces: share(1, old.slots.reduces) };
    let second = Slots { maps: old.slots.maps - first.maps, reduces: old.slots.reduces - first.reduces };
    let (Some(first), Some(second)) = (fill(bench, small, first, objective)?, fill(bench, big, second, objective)?)
    else {
        return Ok(None);
    };
    let mut cut = pools.to_vec();
    cut.splice(index..=index, [first, second]);
    Ok(Some(cut))
}

/// The jobs on a pool, ordered and simulated; `None` when it lacks slots of a kind.
fn fill(bench: &mut Bench, jobs: &[usize], slots: Slots, objective: Objective) -> Result<Option<Pool>, ReplayError> {
    if !has_slots(bench, jobs, slots) {
        return Ok(None);
    }
    bench.pool(jobs, slots, objective).map(Some)
}

/// Moves slots while that helps.
fn level(bench: &mut Bench, pools: &mut [Pool], sizes: Sizes, objective: Objective) -> Result<(), ReplayError> {
    let kinds: &[(bool, bool)] = match sizes {
        Sizes::Machines => &[(true, true)],
        Sizes::Apart => &[(true, true), (true, false), (false, true)],
    };
    let widest = pools.iter().map(|pool| pool.slots.maps.max(pool.slots.reduces)).max().unwrap_or(0);
    let mut step = (widest / 4).max(1);
    loop {
        let mut moved = false;
        for (from, to) in moves(pools, objective) {
            for &(maps, reduces) in kinds {
                moved = moved
                    || shift(
                        bench,
                        pools,
                        [from, to],
                        [maps, reduces].map(|kind| if kind { step } else { 0 }),
                        objective,
                    )?;
            }
            if moved {
                break;
            }
        }
        if !moved && step == 1 {
            return Ok(());
        }
        if !moved {
            step /= 2;
        }
    }
}

/// From whom to whom.
fn moves(pools: &[Pool], objective: Objective) -> Vec<(usize, usize)> {
    let mut by_end: Vec<usize> = (0..pools.len()).collect();
    by_end.sort_by_key(|&pool| pools[pool].times.makespan);
    let Some((&last, others)) = by_end.split_last() else { return Vec::new() };
    match objective {
        Objective::Makespan => others.iter().map(|&pool| (pool, last)).collect(),
        Objective::MeanDelay => {
            let pairs = (0..pools.len()).flat_map(|from| (0..pools.len()).map(move |to| (from, to)));
            pairs.filter(|(from, to)| from != to).collect()
        }
    }
}

/// Moves slots of both kinds if that makes the whole better; true if so.
fn shift(
    bench: &mut Bench,
    pools: &mut [Pool],
    [from, to]: [usize; 2],
    [maps, reduces]: [u16; 2],
    objective: Objective,
) -> Result<bool, ReplayError> {
    let (giver, taker) = (pools[from].slots, pools[to].slots);
    if giver.maps < maps || giver.reduces < reduces {
        return Ok(false);
    }
    let less = Slots { maps: giver.maps - maps, reduces: giver.reduces - reduces };
    let more = Slots { maps: taker.maps + maps, reduces: taker.reduces + reduces };
    let before = cost(objective, pools.iter().map(|pool| &pool.times));
    let (old_from, old_to) = (pools[from].clone(), pools[to].clone());
    let (Some(new_from), Some(new_to)) =
        (fill(bench, &old_from.jobs, less, objective)?, fill(bench, &old_to.jobs, more, objective)?)
    else {
        return Ok(false);
    };
    (pools[from], pools[to]) = (new_from, new_to);
    if cost(objective, pools.iter().map(|pool| &pool.times)) < before {
        return Ok(true);
    }
    (pools[from], pools[to]) = (old_from, old_to);
    Ok(false)
}
