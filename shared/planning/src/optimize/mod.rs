//! The best order of a batch of jobs, and the best pools for it (balanced-pools §3, §6).
//!
//! Two orders and two ways to know what they come to: *Min* and *Max* are Johnson's order and its reverse under the
//! two-stage abstraction, *MinSim* and *MaxSim* the same orders simulated, *BalancedPools* the best partition of jobs
//! and slots that Algorithm 2 finds. The result is a [`Plan`]: pools with fixed slots, each with its jobs in order.
//! **Invariant: equal jobs and choices give equal plans, whatever the number of threads.**

mod arrivals;
mod batch;
mod bench;
mod floor;
mod many;
mod pools;
mod search;
mod stages;
#[cfg(test)]
mod tests;
mod times;

pub use self::batch::{Batch, ListOrder, Method, Objective, Plan, Pool, Sizes, Slots, SmallBy};
pub use arrivals::{Replanned, replan};
pub use bench::Times;
pub use floor::floor;
pub use howdah_core::models::Ties;
pub use howdah_core::models::bounds::{Bound, DividedBy};

use howdah_core::job::profile::Trace;
use howdah_core::replay::ReplayError;
use howdah_core::time::Span;

use bench::Bench;

/// Makespans under the abstraction: Johnson's order and its reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theory {
    pub min: Span,
    pub max: Span,
}

/// *Min* and *Max* (balanced-pools §4.2).
pub fn theory(batch: &Batch<'_>) -> Theory {
    let bench = Bench::new(batch);
    let mut order = bench.order(&all(batch.trace), batch.slots, Objective::Makespan);
    let min = bench.two_stage(&order, batch.slots);
    order.reverse();
    Theory { min, max: bench.two_stage(&order, batch.slots) }
}

/// The plan of a method, simulated.
///
/// # Errors
/// When the cluster lacks slots that a job needs, or a job's template is inconsistent.
pub fn plan(batch: &Batch<'_>, method: Method) -> Result<Plan, ReplayError> {
    let mut bench = Bench::new(batch);
    match method {
        Method::Johnson => one_pool(&mut bench, batch, Objective::Makespan, false),
        Method::ReverseJohnson => one_pool(&mut bench, batch, Objective::Makespan, true),
        Method::ShortestFirst => one_pool(&mut bench, batch, Objective::MeanDelay, false),
        Method::LongestFirst => one_pool(&mut bench, batch, Objective::MeanDelay, true),
        Method::BalancedPools { most, sizes, objective } => {
            let one = start(&mut bench, batch, objective)?;
            let two = pools::balance(&bench, batch, one, sizes, objective)?;
            many::divide(&mut bench, batch, two, most, sizes, objective)
        }
    }
}

fn all(trace: &Trace) -> Vec<usize> {
    (0..trace.jobs.len()).collect()
}

/// The one pool that pools have to be better than: Johnson's order for the makespan (balanced-pools §4.2).
///
/// `Deviation:` for the mean delay, of which §6 only has the name, the best of all orders that [`Method`] names. The
/// shortest job first is best on a single server; here it can lose to Johnson's order, which lets one job map while
/// another reduces.
fn start(bench: &mut Bench, batch: &Batch<'_>, objective: Objective) -> Result<Plan, ReplayError> {
    let mut best = one_pool(bench, batch, objective, false)?;
    if objective == Objective::MeanDelay {
        for (order, reversed) in [(Objective::Makespan, false), (Objective::Makespan, true), (objective, true)] {
            let other = one_pool(bench, batch, order, reversed)?;
            pools::better(&mut best, other.pools, objective);
        }
    }
    Ok(best)
}

fn one_pool(bench: &mut Bench, batch: &Batch<'_>, objective: Objective, reversed: bool) -> Result<Plan, ReplayError> {
    let mut jobs = bench.order(&all(batch.trace), batch.slots, objective);
    if reversed {
        jobs.reverse();
    }
    let times = bench.simulate(&jobs, batch.slots, Span::MAX)?.unwrap_or_default();
    Ok(Plan { pools: vec![Pool { slots: batch.slots, jobs, times }] })
}
