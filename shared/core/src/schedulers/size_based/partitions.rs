//! Slots shared out to queues in whole numbers, by kind.
//!
//! A partition is a number of map and of reduce slots, wherever they are, not a set of workers: the paper partitions
//! "processors or slots" and no rule of it depends on which. A share of 30 % of 10 workers of 6 + 2 slots is 18 + 6.
//! **Invariants: the sizes of a kind add up to its slots, and where a kind has a slot for every queue, each queue has
//! one.** `Deviation:` a kind with fewer slots than queues is not partitioned at all, or jobs of some queue could
//! never end.

use crate::job::{PerKind, TaskKind};

/// A millionth.
pub(super) const WHOLE_PPM: u32 = 1_000_000;

/// Sizes by queue and kind, and what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partitions {
    shares_ppm: Vec<u32>,
    /// `None` while the kind has too few slots to be partitioned.
    size: PerKind<Option<Vec<u32>>>,
    running: Vec<PerKind<u32>>,
}

impl Partitions {
    /// Shares in millionths, one per queue, that add up to 1,000,000.
    pub(super) fn new(shares_ppm: Vec<u32>) -> Partitions {
        let running = vec![[0; 2]; shares_ppm.len()];
        Partitions { shares_ppm, size: [None, None], running }
    }

    /// The cluster has so many slots now. What runs goes on, even beyond a partition's new size.
    pub(super) fn resize(&mut self, slots: PerKind<u32>) {
        self.size = slots.map(|slots| whole_slots(&self.shares_ppm, slots));
    }

    /// Slots of a queue's partition.
    pub(super) fn size(&self, queue: usize, kind: TaskKind) -> u32 {
        self.size[kind].as_ref().map_or(u32::MAX, |sizes| sizes[queue])
    }

    /// Attempts that run in it.
    pub(super) fn running(&self, queue: usize, kind: TaskKind) -> u32 {
        self.running[queue][kind]
    }

    pub(super) fn has_room(&self, queue: usize, kind: TaskKind) -> bool {
        self.running[queue][kind] < self.size(queue, kind)
    }

    pub(super) fn starts(&mut self, queue: usize, kind: TaskKind) {
        self.running[queue][kind] += 1;
    }

    pub(super) fn ends(&mut self, queue: usize, kind: TaskKind) {
        self.running[queue][kind] -= 1;
    }

    /// Nothing runs.
    pub(super) fn clear(&mut self) {
        self.running.fill([0; 2]);
    }
}

/// Each share's slots: rounded down but at least one, the rest by largest remainder, lower queues first; what the
/// ones too many take comes from the largest. Shares are in millionths and add up to 1,000,000. `None` when there are fewer slots than shares.
pub fn whole_slots(shares_ppm: &[u32], slots: u32) -> Option<Vec<u32>> {
    if (slots as usize) < shares_ppm.len() {
        return None;
    }
    let exact = |share: u32| u64::from(share) * u64::from(slots);
    let whole = u64::from(WHOLE_PPM);
    let mut sizes: Vec<u32> = shares_ppm.iter().map(|&share| ((exact(share) / whole) as u32).max(1)).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|&queue| std::cmp::Reverse(exact(shares_ppm[queue]) % whole));
    let mut sum: u32 = sizes.iter().sum();
    for &queue in by_remainder.iter().cycle().take(2 * sizes.len()) {
        if sum < slots && exact(shares_ppm[queue]) / whole >= 1 {
            sizes[queue] += 1;
            sum += 1;
        }
    }
    while sum != slots {
        let largest = (0..sizes.len()).max_by_key(|&queue| (sizes[queue], std::cmp::Reverse(queue)))?;
        if sum > slots {
            sizes[largest] -= 1;
            sum -= 1;
        } else {
            sizes[largest] += 1;
            sum += 1;
        }
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(percent: &[u32], slots: u32) -> Option<Vec<u32>> {
        whole_slots(&percent.iter().map(|share| share * 10_000).collect::<Vec<_>>(), slots)
    }

    // slowdown-variability §V-B and §V-A: 10 and 100 nodes of 6 + 2 slots, partition 1 of 30 %.
    #[test]
    fn the_papers_partitions_are_whole() {
        assert_eq!(sizes(&[30, 70], 60), Some(vec![18, 42]));
        assert_eq!(sizes(&[30, 70], 20), Some(vec![6, 14]));
        assert_eq!(sizes(&[30, 70], 600), Some(vec![180, 420]));
        assert_eq!(sizes(&[30, 70], 200), Some(vec![60, 140]));
    }

    #[test]
    fn shares_that_are_not_whole_are_rounded_and_nobody_gets_nothing() {
        assert_eq!(sizes(&[30, 70], 4), Some(vec![1, 3]));
        assert_eq!(sizes(&[35, 65], 10), Some(vec![4, 6]), "equal remainders: the lower queue");
        assert_eq!(sizes(&[1, 99], 10), Some(vec![1, 9]));
        assert_eq!(sizes(&[1, 1, 98], 3), Some(vec![1, 1, 1]));
        assert_eq!(sizes(&[30, 70], 1), None);
    }

    proptest! {
        #[test]
        fn sizes_add_up_and_are_close_to_their_shares(
            weights in prop::collection::vec(1..100u32, 1..6), slots in 0..2_000u32,
        ) {
            let sum: u32 = weights.iter().sum();
            let mut shares: Vec<u32> = weights.iter().map(|w| w * (WHOLE_PPM / sum)).collect();
            *shares.last_mut().expect("one") += WHOLE_PPM - shares.iter().sum::<u32>();
            let sizes = whole_slots(&shares, slots);
            prop_assert_eq!(sizes.is_none(), (slots as usize) < shares.len());
            if let Some(sizes) = sizes {
                prop_assert_eq!(sizes.iter().sum::<u32>(), slots);
                prop_assert!(sizes.iter().all(|&size| size >= 1));
                for (size, share) in sizes.iter().zip(&shares) {
                    let exact = f64::from(*share) * f64::from(slots) / 1e6;
                    prop_assert!((f64::from(*size) - exact).abs() < shares.len() as f64, "{} for {}", size, exact);
                }
            }
        }
    }
}
