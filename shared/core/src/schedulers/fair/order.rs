//! The order of pools, and of the jobs of a pool, as numbers that compare.
//!
//! Below the minimum share first, by how far below; the others by running tasks per weight; ties by the time of
//! submission and the name. A ratio is a double of zero or more, whose bits order as the numbers do, so that the ranks
//! can stand in ordered sets. Source: `docs/hadoop.md#fair`.

use super::allocations::PoolMode;
use super::pools::{JobRank, Pool, PoolRank};
use super::settings::{Dialect, Settings};
use crate::cluster::Job;
use crate::job::{Priority, TaskKind};

/// A pool's rank for one kind of task.
pub(super) fn pool_rank(pool: &Pool, kind: TaskKind) -> PoolRank {
    let running = pool.kinds[kind].running;
    let min = pool.conf.min[kind].min(pool.demand(kind));
    let (met, ratio) = if running < min {
        (false, f64::from(running) / f64::from(min))
    } else {
        (true, f64::from(running) / pool.conf.weight)
    };
    (met, ratio.to_bits(), pool.key)
}

/// A job's rank in its pool for one kind of task, of which so many run.
pub(super) fn job_rank(mode: PoolMode, job: &Job, running: u32, weight: f64) -> JobRank {
    let first = match mode {
        PoolMode::Fifo => u64::from(job.priority() as u8),
        PoolMode::Fair if running == 0 => 0,
        PoolMode::Fair => (f64::from(running) / weight).to_bits(),
    };
    (first, job.submitted())
}

/// A job's weight: its priority, its size if that counts, and the boost while it is new.
pub(super) fn job_weight(settings: &Settings, job: &Job, demand: u32, boosted: bool) -> f64 {
    if settings.dialect == Dialect::Naive {
        return 1.0;
    }
    let mut weight = priority_factor(job.priority());
    if settings.size_based_weight {
        weight *= size_factor(demand);
    }
    match settings.boost {
        Some((factor, _)) if boosted => weight * factor,
        _ => weight,
    }
}

/// `log2(1 + demand)`.
pub(super) fn size_factor(demand: u32) -> f64 {
    libm::log1p(f64::from(demand)) / std::f64::consts::LN_2
}

/// Each step of priority doubles a job's weight.
pub(super) fn priority_factor(priority: Priority) -> f64 {
    match priority {
        Priority::VeryHigh => 4.0,
        Priority::High => 2.0,
        Priority::Normal => 1.0,
        Priority::Low => 0.5,
        Priority::VeryLow => 0.25,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers::fair::allocations::Allocations;
    use crate::schedulers::fair::pools::Pools;
    use crate::time::Time;

    fn pool(name: &str, conf: &str, running: u32, wanted: u32) -> Pool {
        let text = format!("[pool.{name}]\n{conf}");
        let mut pools = Pools::default();
        let allocations = Allocations::parse(&text, "test", false).expect("it reads");
        let (id, _) = pools.named(name, &allocations, Time::ZERO);
        pools.place(id);
        let mut pool = pools.get(id).clone();
        pool.kinds[0].running = running;
        pool.kinds[0].wanted = wanted;
        pool
    }

    // docs/hadoop.md#fair: below the minimum share first; 50 of 100 is further below than 8 of 10.
    #[test]
    fn pools_below_their_minimum_share_go_first_by_how_far() {
        let ranks = [
            pool("far", "minMaps = 100", 50, 500),
            pool("near", "minMaps = 10", 8, 500),
            pool("heavy", "weight = 4.0", 2, 500),
            pool("met", "minMaps = 1", 1, 500),
        ]
        .map(|pool| pool_rank(&pool, TaskKind::Map));
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
    }

    #[test]
    fn a_minimum_share_that_is_not_wanted_does_not_count() {
        assert!(!pool_rank(&pool("a", "minMaps = 10", 3, 4), TaskKind::Map).0);
        assert!(pool_rank(&pool("a", "minMaps = 10", 3, 3), TaskKind::Map).0, "it has all that it wants");
        assert!(pool_rank(&pool("a", "minMaps = 10\nmaxMaps = 3", 3, 20), TaskKind::Map).0, "or all that it may have");
    }

    #[test]
    fn weights_follow_priority_size_and_age() {
        assert_eq!(Priority::ALL.map(priority_factor), [4.0, 2.0, 1.0, 0.5, 0.25]);
        assert_eq!([0, 1, 3, 1023].map(|demand| libm::round(size_factor(demand) * 1e9) / 1e9), [0.0, 1.0, 2.0, 10.0]);
    }
}
