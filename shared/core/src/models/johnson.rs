//! Johnson's rule: the order of two-stage jobs that ends first, when each stage serves one job at a time.
//!
//! A job is the pair of its map and reduce stage. Jobs whose map stage is not the longer one come first, by map
//! stage ascending; the others follow, by reduce stage descending. That is what Algorithm 1 of balanced-pools §3.2
//! builds from both ends, taking jobs in *ascending* order of their shorter stage, as its text and Figure 7 say
//! (`Deviation:` its pseudo-code says descending, which gives another order than Figure 8's; [`printed_order`]). What the
//! rule ties is settled in a stated way: jobs with equal reduce stages, above all those without any, go by map stage
//! descending, so that what runs last is short; then, and among equal map stages of the first part, by their place in
//! the list.

/// A job's two stages, each in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stages {
    /// Map stage.
    pub map_us: u64,
    /// Reduce stage; 0 for jobs without reduces.
    pub reduce_us: u64,
}

/// Where the rule puts a job: smaller goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JohnsonRank {
    /// Whether the reduce stage is the shorter one.
    second_part: bool,
    major: u64,
    minor: u64,
}

/// What goes first of jobs that the rule ties: with equal reduce stages, above all without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The longest map stage.
    #[default]
    LongestFirst,
    /// The shortest map stage.
    ShortestFirst,
    /// What stands first in the list.
    AsListed,
}

impl Stages {
    /// Its place under the rule, with ties settled in another way.
    pub const fn rank_with(self, ties: Ties) -> JohnsonRank {
        let rank = self.rank();
        let minor = match ties {
            Ties::LongestFirst => rank.minor,
            Ties::ShortestFirst if rank.second_part => self.map_us,
            Ties::ShortestFirst | Ties::AsListed => 0,
        };
        JohnsonRank { minor, ..rank }
    }

    /// Its place under the rule.
    pub const fn rank(self) -> JohnsonRank {
        if self.map_us <= self.reduce_us {
            JohnsonRank { second_part: false, major: self.map_us, minor: 0 }
        } else {
            JohnsonRank { second_part: true, major: u64::MAX - self.reduce_us, minor: u64::MAX - self.map_us }
        }
    }
}

impl JohnsonRank {
    /// The place that it has in the reverse order.
    pub const fn reversed(self) -> JohnsonRank {
        JohnsonRank { second_part: !self.second_part, major: u64::MAX - self.major, minor: u64::MAX - self.minor }
    }
}

/// The jobs' indexes in Johnson's order.
pub fn johnson_order(jobs: &[Stages], ties: Ties) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&job| (jobs[job].rank_with(ties), job));
    order
}

/// The jobs' indexes as Algorithm 1's pseudo-code builds them, from a list in *descending* order of the shorter stage:
/// each part of Johnson's order is turned around. Not optimal; only for comparison.
pub fn printed_order(jobs: &[Stages], ties: Ties) -> Vec<usize> {
    let mut order = johnson_order(jobs, ties);
    let first_part = order.partition_point(|&job| jobs[job].map_us <= jobs[job].reduce_us);
    order[..first_part].reverse();
    order[first_part..].reverse();
    order
}

/// When the last reduce stage ends if both stages serve the jobs in this order, one at a time.
pub fn two_stage_makespan(jobs: impl IntoIterator<Item = Stages>) -> u64 {
    let (mut maps_end, mut reduces_end) = (0u64, 0u64);
    for job in jobs {
        maps_end = maps_end.saturating_add(job.map_us);
        reduces_end = reduces_end.max(maps_end).saturating_add(job.reduce_us);
    }
    reduces_end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Random;

    fn jobs(pairs: &[(u64, u64)]) -> Vec<Stages> {
        pairs.iter().map(|&(map_us, reduce_us)| Stages { map_us, reduce_us }).collect()
    }

    fn makespan(jobs: &[Stages], order: &[usize]) -> u64 {
        two_stage_makespan(order.iter().map(|&job| jobs[job]))
    }

    /// balanced-pools Figure 6.
    const FIVE: [(u64, u64); 5] = [(4, 5), (1, 4), (30, 4), (6, 30), (2, 3)];

    // balanced-pools §3.2, Figures 6 to 8.
    #[test]
    fn the_five_jobs_of_the_paper_are_ordered_as_in_its_figure_8() {
        let jobs = jobs(&FIVE);
        let mut order = johnson_order(&jobs, Ties::default());
        assert_eq!(order, [1, 4, 0, 3, 2], "J2, J5, J1, J4, J3");
        assert_eq!(makespan(&jobs, &order), 47);
        order.reverse();
        assert_eq!(makespan(&jobs, &order), 78);
    }

    // balanced-pools §3.2, Algorithm 1, first line: J4 (6, m), J1 (4, m), J3 (4, r), J5 (2, m), J2 (1, m) from both ends.
    #[test]
    fn the_list_in_descending_order_as_printed_gives_another_order_than_figure_8() {
        let jobs = jobs(&FIVE);
        let order = printed_order(&jobs, Ties::default());
        assert_eq!(order, [3, 0, 4, 1, 2], "J4, J1, J5, J2, J3");
        assert_eq!(makespan(&jobs, &order), 52, "47 in Johnson's order");
    }

    // balanced-pools §3.1, Figure 4.
    #[test]
    fn the_two_jobs_of_the_paper_take_24_and_reversed_42() {
        let jobs = jobs(&[(20, 2), (2, 20)]);
        let order = johnson_order(&jobs, Ties::default());
        assert_eq!((order.as_slice(), makespan(&jobs, &order)), ([1, 0].as_slice(), 24));
        assert_eq!(makespan(&jobs, &[0, 1]), 42);
    }

    /// Algorithm 1 as its text says: both ends towards the middle, in ascending order of the shorter stage.
    fn from_both_ends(jobs: &[Stages]) -> Vec<usize> {
        let mut list: Vec<usize> = (0..jobs.len()).collect();
        list.sort_by_key(|&job| jobs[job].map_us.min(jobs[job].reduce_us));
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        for job in list {
            if jobs[job].map_us <= jobs[job].reduce_us { head.push(job) } else { tail.push(job) }
        }
        head.extend(tail.into_iter().rev());
        head
    }

    fn permutations(items: &mut Vec<usize>, from: usize, see: &mut impl FnMut(&[usize])) {
        if from == items.len() {
            return see(items);
        }
        for at in from..items.len() {
            items.swap(from, at);
            permutations(items, from + 1, see);
            items.swap(from, at);
        }
    }

    #[test]
    fn no_order_of_random_jobs_beats_johnsons_and_algorithm_1_is_as_good() {
        let mut random = Random::new(1, 0);
        for _ in 0..200 {
            let n = 1 + random.below(6);
            // Few values, so that ties and jobs without reduces are frequent.
            let jobs: Vec<Stages> =
                (0..n).map(|_| Stages { map_us: random.below(8) as u64, reduce_us: random.below(8) as u64 }).collect();
            let mut best = u64::MAX;
            permutations(&mut (0..n).collect(), 0, &mut |order| best = best.min(makespan(&jobs, order)));
            assert_eq!(makespan(&jobs, &johnson_order(&jobs, Ties::default())), best, "{jobs:?}");
            assert_eq!(makespan(&jobs, &from_both_ends(&jobs)), best, "{jobs:?}");
        }
    }

    #[test]
    fn reversed_ranks_give_the_reverse_order() {
        let jobs = jobs(&FIVE);
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by_key(|&job| jobs[job].rank().reversed());
        assert_eq!(order, [2, 3, 0, 4, 1]);
    }

    #[test]
    fn jobs_without_reduces_go_last_the_longest_first_and_equals_keep_their_places() {
        let jobs = jobs(&[(5, 0), (9, 0), (3, 1), (5, 0), (2, 2), (0, 0)]);
        assert_eq!(johnson_order(&jobs, Ties::default()), [5, 4, 2, 1, 0, 3]);
        assert_eq!(johnson_order(&jobs, Ties::ShortestFirst), [5, 4, 2, 0, 3, 1]);
        assert_eq!(johnson_order(&jobs, Ties::AsListed), [5, 4, 2, 0, 1, 3]);
    }
}
