//! Sizes of two pools for given jobs: the search of Algorithm 2, and those that it leaves open.
//!
//! `Deviation:` the printed binary search never ends: `SizeMid` of two neighbours is the lower one, to which
//! `SizeBegin` is set again and again, and `SizeEnd` begins at `M`, where the second pool has nothing. Here each end
//! moves past the middle, both pools have something, and the best size that was *seen* counts, not the last one.
//! Hopeless sizes are left out: a pool whose work does not fit into the best time known so far is not simulated, and
//! a simulation that passes that time is given up, which tells as much as its end: this pool needs more.

use howdah_core::replay::ReplayError;
use howdah_core::time::Span;

use super::batch::{Objective, Pool, Sizes, Slots};
use super::bench::Bench;
use super::stages;
use super::stages::tasks;
use super::times::Times;

/// Two groups of jobs for two pools of a cluster.
pub(super) struct Split<'a> {
    pub(super) cluster: Slots,
    /// The small ones, ascending.
    pub(super) small: &'a [usize],
    /// The others.
    pub(super) big: &'a [usize],
}

/// What is known of a pair of pools: its cost, less than which the next must be.
struct Best {
    cost: u64,
    pools: Option<[Pool; 2]>,
}

/// What an objective makes of pools' times, in microseconds; adding up delays or taking the last end.
pub(super) fn cost<'a>(objective: Objective, times: impl Iterator<Item = &'a Times>) -> u64 {
    match objective {
        Objective::Makespan => times.map(|times| times.makespan.as_us()).max().unwrap_or(0),
        Objective::MeanDelay => times.map(|times| times.delays_us).sum(),
    }
}

impl Split<'_> {
    /// The best pools that cost less than `below`, if any were seen.
    ///
    /// # Errors
    /// When a template is inconsistent.
    pub(super) fn best(
        &self,
        bench: &mut Bench,
        below: u64,
        sizes: Sizes,
        objective: Objective,
    ) -> Result<Option<[Pool; 2]>, ReplayError> {
        let mut best = Best { cost: below, pools: None };
        let machines = self.cluster.maps.max(self.cluster.reduces);
        let line =
            |size: u16| self.pair(part(self.cluster.maps, size, machines), part(self.cluster.reduces, size, machines));
        self.along(bench, &mut best, objective, machines, &line)?;
        if sizes == Sizes::Apart {
            self.apart(bench, &mut best, objective)?;
        }
        Ok(best.pools)
    }

    /// One kind of slots after the other, the other kind as it is, while that helps.
    fn apart(&self, bench: &mut Bench, best: &mut Best, objective: Objective) -> Result<(), ReplayError> {
        let mut at = best.pools.as_ref().map_or_else(|| self.by_work(bench), |pools| pools[0].slots);
        for _ in 0..4 {
            let before = best.cost;
            let maps = |size: u16| self.pair(size, at.reduces);
            self.along(bench, best, objective, self.cluster.maps, &maps)?;
            at = best.pools.as_ref().map_or(at, |pools| pools[0].slots);
            let reduces = |size: u16| self.pair(at.maps, size);
            self.along(bench, best, objective, self.cluster.reduces, &reduces)?;
            at = best.pools.as_ref().map_or(at, |pools| pools[0].slots);
            if best.cost == before {
                break;
            }
        }
        Ok(())
    }

    /// Each kind in proportion to the work.
    fn by_work(&self, bench: &Bench) -> Slots {
        let (small, big) = (work_ms(bench, self.small), work_ms(bench, self.big));
        let share = |kind: usize, slots: u16| {
            let whole = small[kind] + big[kind];
            let share = if whole > 0.0 { f64::from(slots) * small[kind] / whole } else { f64::from(slots) / 2.0 };
            (share.round() as u16).clamp(slots.min(1), slots.saturating_sub(1).max(1))
        };
        Slots { maps: share(0, self.cluster.maps), reduces: share(1, self.cluster.reduces) }
    }

    fn pair(&self, maps: u16, reduces: u16) -> [Slots; 2] {
        let Slots { maps: all_maps, reduces: all_reduces } = self.cluster;
        let small = Slots { maps: maps.min(all_maps), reduces: reduces.min(all_reduces) };
        [small, Slots { maps: all_maps - small.maps, reduces: all_reduces - small.reduces }]
    }

    /// Searches sizes from 1 to one less than `most` along a line of pairs.
    fn along(
        &self,
        bench: &mut Bench,
        best: &mut Best,
        objective: Objective,
        most: u16,
        pair: &dyn Fn(u16) -> [Slots; 2],
    ) -> Result<(), ReplayError> {
        if most < 2 {
            return Ok(());
        }
        match objective {
            Objective::Makespan => self.balance(bench, best, most, pair),
            Objective::MeanDelay => self.descend(bench, best, most, pair),
        }
    }

    /// Algorithm 2's search: the pool that ends last gets more.
    fn balance(
        &self,
        bench: &mut Bench,
        best: &mut Best,
        most: u16,
        pair: &dyn Fn(u16) -> [Slots; 2],
    ) -> Result<(), ReplayError> {
        let (small_work, big_work) = (work_ms(bench, self.small), work_ms(bench, self.big));
        let mut from = 1 + below(1, most, |size| !could_end(small_work, pair(size)[0], best.cost));
        let mut to = below(1, most, |size| could_end(big_work, pair(size)[1], best.cost));
        while from <= to {
            let middle = from + (to - from) / 2;
            let slots = pair(middle);
            let Some(small) = pool(bench, self.small, slots[0], best.cost)? else {
                from = middle + 1;
                continue;
            };
            let Some(big) = pool(bench, self.big, slots[1], best.cost)? else {
                to = middle - 1;
                continue;
            };
            // Of equal times neither pool is the one to help, but a later size may serve the other kind better.
            if small.times.makespan < big.times.makespan {
                to = middle - 1;
            } else {
                from = middle + 1;
            }
            best.take([small, big], Objective::Makespan);
        }
        Ok(())
    }

    /// Downhill in halving steps: a sum of delays balances nothing, but has few valleys.
    fn descend(
        &self,
        bench: &mut Bench,
        best: &mut Best,
        most: u16,
        pair: &dyn Fn(u16) -> [Slots; 2],
    ) -> Result<(), ReplayError> {
        let mut look = |size: u16, best: &mut Best| -> Result<u64, ReplayError> {
            let slots = pair(size);
            let both = [(self.small, slots[0]), (self.big, slots[1])];
            if both.iter().any(|(jobs, slots)| !has_slots(bench, jobs, *slots)) {
                return Ok(u64::MAX);
            }
            let mut pool = |(jobs, slots): (&[usize], Slots)| bench.pool(jobs, slots, Objective::MeanDelay);
            let pools = [pool(both[0])?, pool(both[1])?];
            let found = cost(Objective::MeanDelay, pools.iter().map(|pool| &pool.times));
            best.take(pools, Objective::MeanDelay);
            Ok(found)
        };
        let mut at = most / 2;
        let mut here = look(at, best)?;
        let mut step = (most / 4).max(1);
        loop {
            let mut moved = false;
            for next in [at.saturating_sub(step).max(1), (at + step).min(most - 1)] {
                let there = if next == at { u64::MAX } else { look(next, best)? };
                if there < here {
                    (at, here, moved) = (next, there, true);
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
}

impl Best {
    fn take(&mut self, pools: [Pool; 2], objective: Objective) {
        let found = cost(objective, pools.iter().map(|pool| &pool.times));
        if found < self.cost {
            *self = Best { cost: found, pools: Some(pools) };
        }
    }
}

/// Jobs in Johnson's order on a pool; `None` when the pool cannot end them in less than `below`.
pub(super) fn pool(bench: &mut Bench, jobs: &[usize], slots: Slots, below: u64) -> Result<Option<Pool>, ReplayError> {
    if !has_slots(bench, jobs, slots) {
        return Ok(None);
    }
    let jobs = bench.order(jobs, slots, Objective::Makespan);
    let times = bench.simulate(&jobs, slots, Span::from_us(below.saturating_sub(1)))?;
    Ok(times.map(|times| Pool { slots, jobs, times }))
}

/// Whether each kind of task finds a slot.
pub(super) fn has_slots(bench: &Bench, jobs: &[usize], slots: Slots) -> bool {
    let needed = |kind: usize| jobs.iter().any(|&job| tasks(&bench.models()[job])[kind] > 0);
    (slots.maps > 0 || !needed(0)) && (slots.reduces > 0 || !needed(1))
}

/// Slot time of both kinds.
pub(super) fn work_ms(bench: &Bench, jobs: &[usize]) -> [f64; 2] {
    jobs.iter()
        .map(|&job| stages::work_ms(&bench.models()[job]))
        .fold([0.0; 2], |sum, work| [sum[0] + work[0], sum[1] + work[1]])
}

/// Whether the work alone leaves a chance to be over in less than `below`; a thousandth is left for rounding.
fn could_end(work_ms: [f64; 2], slots: Slots, below: u64) -> bool {
    let fits = |work: f64, slots: u16| work * 0.999 <= f64::from(slots) * below as f64 / 1e3;
    fits(work_ms[0], slots.maps) && fits(work_ms[1], slots.reduces)
}

/// A share of slots that leaves each side at least one where there are two.
fn part(slots: u16, size: u16, of: u16) -> u16 {
    let exact = (u32::from(slots) * u32::from(size) * 2 + u32::from(of)) / (2 * u32::from(of));
    (exact as u16).clamp(slots.min(1), slots.saturating_sub(1).max(1)).min(slots)
}

/// The last of `from..most` up to which `holds` is true without a break, or `from - 1`; it must hold for a beginning.
fn below(from: u16, most: u16, holds: impl Fn(u16) -> bool) -> u16 {
    let (mut yes, mut no) = (from - 1, most);
    while yes + 1 < no {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_leave_something_for_both_sides() {
        assert_eq!([1, 5, 9].map(|size| part(10, size, 10)), [1, 5, 9]);
        assert_eq!([1, 50, 99].map(|size| part(4, size, 100)), [1, 2, 3]);
        assert_eq!([part(1, 1, 2), part(0, 1, 2)], [1, 0]);
    }

    #[test]
    fn the_last_that_holds_is_found_at_both_ends_too() {
        assert_eq!(below(1, 10, |size| size < 4), 3);
        assert_eq!(below(1, 10, |_| true), 9);
        assert_eq!(below(1, 10, |_| false), 0);
    }
}
