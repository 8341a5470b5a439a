//! A batch of jobs, what is asked of its order, and a plan for it.

use howdah_core::job::profile::Trace;
use howdah_core::models::Ties;
use howdah_core::models::bounds::{Bound, DividedBy};
use howdah_core::replay::ShuffleModel;
use howdah_core::time::Span;

use super::times::Times;

/// Slots of a pool or a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slots {
    /// Map slots.
    pub maps: u16,
    /// Reduce slots.
    pub reduces: u16,
}

/// What is to be small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The time until the last job is over.
    #[default]
    Makespan,
    /// The mean time from the start to a job's end (balanced-pools §6).
    MeanDelay,
}

/// How a pool's slots of both kinds go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// A pool gets the same share of both, as machines would give it.
    #[default]
    Machines,
    /// Each kind is divided by itself.
    Apart,
}

/// Which jobs count as small: what Algorithm 2 sorts by before it splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallBy {
    /// The number of maps, as printed.
    #[default]
    Maps,
    /// The slot time of all tasks.
    Work,
    /// How long the job takes alone: its longest map and its longest reduce, or its stages on the whole cluster.
    Length,
}

/// How Algorithm 1 sorts its list of jobs, of which it takes one after the other to the head or the tail of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// By the shorter stage ascending, as its text and Figure 7 say: Johnson's rule.
    #[default]
    Ascending,
    /// Descending, as its first line prints: not Johnson's rule, for comparison.
    Descending,
}

/// A batch and the cluster for it.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// All are there from the start, whatever their times of submission.
    pub trace: &'a Trace,
    /// The cluster.
    pub slots: Slots,
    /// Estimate of stages, for orders.
    pub bound: Bound,
    /// By what that estimate divides a stage's work.
    pub divided: DividedBy,
    /// What Johnson's rule leaves open.
    pub ties: Ties,
    /// What "Johnson's order" is, in one pool and in several.
    pub list: ListOrder,
    /// What makes a job a small one.
    pub small_by: SmallBy,
    /// What reduces pay, in simulations.
    pub shuffle: ShuffleModel,
    /// Slow start for all jobs; `None` takes the trace's.
    pub slowstart_ppm: Option<u32>,
    /// Threads to simulate on; 0 takes all cores.
    pub threads: usize,
    /// Hears how many splits are done, and of how many.
    pub progress: &'a dyn Fn(usize, usize),
}

impl<'a> Batch<'a> {
    /// With the paper's choices.
    pub fn new(trace: &'a Trace, slots: Slots) -> Batch<'a> {
        Batch {
            trace,
            slots,
            bound: Bound::Average,
            divided: DividedBy::default(),
            ties: Ties::default(),
            list: ListOrder::default(),
            small_by: SmallBy::default(),
            shuffle: ShuffleModel::SimMr,
            slowstart_ppm: None,
            threads: 0,
            progress: &|_, _| {},
        }
    }
}

/// What a batch is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One pool in Johnson's order.
    Johnson,
    /// One pool in the reverse order: the worst under the abstraction.
    ReverseJohnson,
    /// One pool, the shortest job first.
    ShortestFirst,
    /// One pool, the longest job first: Graham's rule (balanced-pools §5, its twelfth reference).
    LongestFirst,
    /// The best of one pool and up to so many.
    BalancedPools {
        /// At least 2.
        most: usize,
        /// How slots go together.
        sizes: Sizes,
        /// What is to be small. In each pool jobs are in Johnson's order; for the mean delay in that or the shortest
        /// first, whichever is better there.
        objective: Objective,
    },
}

impl Method {
    /// Algorithm 2 as printed: two pools of machines, for the makespan.
    pub const BALANCED_POOLS: Method =
        Method::BalancedPools { most: 2, sizes: Sizes::Machines, objective: Objective::Makespan };

    /// As typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Method::Johnson => "johnson",
            Method::ReverseJohnson => "reverse-johnson",
            Method::ShortestFirst => "shortest-first",
            Method::LongestFirst => "longest-first",
            Method::BalancedPools { .. } => "balanced-pools",
        }
    }
}

/// Jobs in order on slots of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its own, fixed.
    pub slots: Slots,
    /// Places in the trace, first job first.
    pub jobs: Vec<usize>,
    /// Simulated.
    pub times: Times,
}

/// Pools that run side by side; together they have the cluster's slots, or fewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// One or more; those with the smaller jobs come first.
    pub pools: Vec<Pool>,
}

impl Plan {
    /// Until the last job of all pools is over.
    pub fn makespan(&self) -> Span {
        self.pools.iter().map(|pool| pool.times.makespan).max().unwrap_or_default()
    }

    /// Mean time from the start to a job's end.
    pub fn mean_delay(&self) -> Span {
        let jobs: usize = self.pools.iter().map(|pool| pool.jobs.len()).sum();
        let sum: u64 = self.pools.iter().map(|pool| pool.times.delays_us).sum();
        Span::from_us(sum.checked_div(jobs as u64).unwrap_or(0))
    }

    /// A pool's name: the batch's own queue when it is the only one.
    pub fn pool_name(&self, pool: usize) -> String {
        if self.pools.len() == 1 { "default".to_owned() } else { format!("pool-{}", pool + 1) }
    }

    /// Pool and place in the trace of every job, in an order in which they can be submitted one after the other: the
    /// pools take turns, so that none waits for its first job.
    pub fn submissions(&self) -> Vec<(usize, usize)> {
        let longest = self.pools.iter().map(|pool| pool.jobs.len()).max().unwrap_or(0);
        let turn = |place: usize| {
            let pools = self.pools.iter().enumerate();
            pools.filter_map(move |(pool, jobs)| Some((pool, *jobs.jobs.get(place)?)))
        };
        (0..longest).flat_map(turn).collect()
    }
}
