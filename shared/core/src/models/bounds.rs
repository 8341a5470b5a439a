//! Bounds on a job's completion time from its profile, and the fewest slots that meet a deadline.
//!
//! A greedy assignment of n tasks to k slots takes at least n·avg/k and at most (n−1)·avg/k + max; a job is its map
//! stage and then its reduce stage (balanced-pools §2.2, ARIA; SimMR §V-A, eq. 1). On (S_M, S_R) slots this is
//! A/S_M + B/S_R + C, a hyperbola for a given deadline, on which Lagrange's multipliers find the point with the
//! smallest sum: S_M = (A + √(AB)) / (D − C), S_R = (B + √(AB)) / (D − C). Slots are whole, so that the whole
//! points around it are looked at, until none further out can be better.
//!
//! Slots beyond a job's tasks do nothing: each kind counts as no more than there are tasks, and the typical shuffle,
//! which only later waves pay, is left out of every bound when all reduces are in the first one (§2.2's terms as
//! printed would go below zero there, or charge a wave that does not exist).
//! **All arithmetic is on integers, so that every machine decides alike.**

use crate::job::JobProfile;
use crate::time::Span;

/// Durations beyond this (36 years) count as this, so that no product below overflows.
const LONGEST_US: u64 = 1 << 50;

/// Which estimate of a completion time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// No assignment is faster on average tasks.
    Low,
    /// The mean of the other two, "a good approximation of the job completion time" (SimMR §V-A).
    #[default]
    Average,
    /// No greedy assignment is slower.
    Upper,
}

/// By how many slots a stage's work is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DividedBy {
    /// By those that its tasks can fill.
    ///
    /// `Deviation:` balanced-pools §2.2 divides by all, which makes jobs of few tasks look shorter than any task of theirs.
    #[default]
    Usable,
    /// By all that there are, as printed.
    All,
}

/// Map and reduce slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Map slots.
    pub maps: u32,
    /// Reduce slots.
    pub reduces: u32,
}

impl Slots {
    /// Both together.
    pub fn sum(self) -> u64 {
        u64::from(self.maps) + u64::from(self.reduces)
    }
}

/// How many slots meet a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The fewest in sum; of equal sums the one that is done first, then the one with fewer map slots.
    Fewest(Slots),
    /// Not even all that it could use.
    Infeasible {
        /// The estimate with all of them.
        at_best: Span,
    },
}

/// A job's size and profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobModel {
    /// Map tasks.
    pub n_maps: u32,
    /// Reduce tasks.
    pub n_reduces: u32,
    /// How long they take.
    pub profile: JobProfile,
}

/// Twice a stage's time on s slots: `per_slot / s + fixed`, in microseconds. Twice, so that averages stay whole.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    per_slot: i128,
    fixed: i128,
}

impl Stage {
    fn of(low: Stage, up: Stage, bound: Bound) -> Stage {
        match bound {
            Bound::Low => Stage { per_slot: 2 * low.per_slot, fixed: 2 * low.fixed },
            Bound::Average => Stage { per_slot: low.per_slot + up.per_slot, fixed: low.fixed + up.fixed },
            Bound::Upper => Stage { per_slot: 2 * up.per_slot, fixed: 2 * up.fixed },
        }
    }

    fn on(self, slots: u32) -> i128 {
        ceil(self.per_slot, i128::from(slots.max(1))) + self.fixed
    }
}

impl DividedBy {
    fn slots(self, slots: u32, tasks: u32) -> u32 {
        match self {
            DividedBy::Usable => slots.max(1).min(tasks),
            DividedBy::All => slots.max(1),
        }
    }
}

impl JobModel {
    /// The map stage's time on so many map slots, rounded up; a job without maps takes none.
    pub fn map_stage(&self, slots: u32, bound: Bound, divided: DividedBy) -> Span {
        halved(self.maps(bound).on(divided.slots(slots, self.n_maps)))
    }

    /// The reduce stage's time on so many reduce slots, the part of its shuffle that overlaps no map included,
    /// rounded up; a job without reduces takes none.
    pub fn reduce_stage(&self, slots: u32, bound: Bound, divided: DividedBy) -> Span {
        let one_wave = slots.max(1) >= self.n_reduces;
        halved(self.reduces(bound, one_wave).on(divided.slots(slots, self.n_reduces)))
    }

    /// The job's time on these slots, rounded up. No slots of a kind that it needs count as one.
    pub fn completion(&self, slots: Slots, bound: Bound) -> Span {
        halved(self.twice(self.usable(slots), bound))
    }

    /// The slots of each kind that the job can use at once when there are `most`; none of a kind that it needs
    /// count as one.
    pub fn usable(&self, most: Slots) -> Slots {
        Slots { maps: most.maps.max(1).min(self.n_maps), reduces: most.reduces.max(1).min(self.n_reduces) }
    }

    /// The fewest slots, up to `most` of each kind, with which the estimate is at most `within`.
    pub fn demand(&self, within: Span, most: Slots, bound: Bound) -> Demand {
        let most = self.usable(most);
        let within = 2 * i128::from(within.as_us().min(LONGEST_US << 10));
        let at_best = self.twice(most, bound);
        if at_best > within {
            return Demand::Infeasible { at_best: halved(at_best) };
        }
        let maps = self.maps(bound);
        let line = |one_wave: bool| {
            let reduces = self.reduces(bound, one_wave);
            Line { a: maps.per_slot, b: reduces.per_slot, left: within - maps.fixed - reduces.fixed, most }
        };
        // All reduces in one wave have a fixed part of their own and leave only the maps to choose.
        let one_wave = (most.reduces == self.n_reduces).then(|| line(true).at(self.n_reduces, self.n_maps)).flatten();
        let later = most.reduces.min(self.n_reduces.saturating_sub(1));
        let several = self.fewest(&line(false), later, bound);
        let best = [one_wave, several].into_iter().flatten().min_by_key(|&slots| self.rank(slots, bound));
        Demand::Fewest(best.unwrap_or(most))
    }

    /// The best point of a line with 1 to `most_reduces` reduce slots.
    fn fewest(&self, line: &Line, most_reduces: u32, bound: Bound) -> Option<Slots> {
        let (from, to) = (line.fewest_reduces(self.n_maps)?, most_reduces);
        if from > to {
            return None;
        }
        let start = line.lagrange().clamp(i128::from(from), i128::from(to)) as u32;
        let mut best: Option<((u64, Span, u32), Slots)> = None;
        // The sum is convex along the line: once it is above the best on the way out, it stays so.
        let mut look = |reduces: u32| {
            if best.is_some_and(|((sum, ..), _)| line.least_sum(reduces) > i128::from(sum)) {
                return false;
            }
            if let Some(slots) = line.at(reduces, self.n_maps)
                && best.is_none_or(|((sum, ..), _)| slots.sum() <= sum)
            {
                let rank = self.rank(slots, bound);
                if best.is_none_or(|(known, _)| rank < known) {
                    best = Some((rank, slots));
                }
            }
            true
        };
        let _ = (from..=start).rev().all(&mut look);
        let _ = (start + 1..=to).all(&mut look);
        best.map(|(_, slots)| slots)
    }

    /// Fewest slots, then the earliest end, then the fewest map slots.
    fn rank(&self, slots: Slots, bound: Bound) -> (u64, Span, u32) {
        (slots.sum(), self.completion(slots, bound), slots.maps)
    }

    /// Twice the job's time on slots that it can use, in microseconds, rounded up as a whole, not stage by stage.
    fn twice(&self, slots: Slots, bound: Bound) -> i128 {
        let (maps, reduces) = (self.maps(bound), self.reduces(bound, slots.reduces == self.n_reduces));
        let (m, r) = (i128::from(slots.maps.max(1)), i128::from(slots.reduces.max(1)));
        ceil(maps.per_slot * r + reduces.per_slot * m, m * r) + maps.fixed + reduces.fixed
    }

    fn maps(&self, bound: Bound) -> Stage {
        if self.n_maps == 0 {
            return Stage::default();
        }
        let n = i128::from(self.n_maps);
        let (avg, max) = (us(self.profile.map.avg), us(self.profile.map.max));
        Stage::of(Stage { per_slot: n * avg, fixed: 0 }, Stage { per_slot: (n - 1) * avg, fixed: max }, bound)
    }

    fn reduces(&self, bound: Bound, one_wave: bool) -> Stage {
        if self.n_reduces == 0 {
            return Stage::default();
        }
        let n = i128::from(self.n_reduces);
        let JobProfile { first_shuffle: first, typical_shuffle: typical, reduce, .. } = self.profile;
        let (wave, longest) = if one_wave { (0, 0) } else { (us(typical.avg), us(typical.max)) };
        let avg = us(reduce.avg) + wave;
        Stage::of(
            Stage { per_slot: n * avg, fixed: us(first.avg) - wave },
            Stage { per_slot: (n - 1) * avg, fixed: us(first.max) - wave + longest + us(reduce.max) },
            bound,
        )
    }
}

/// The slots that are enough: `a / maps + b / reduces <= left`.
struct Line {
    a: i128,
    b: i128,
    left: i128,
    most: Slots,
}

impl Line {
    /// The fewest map slots beside so many reduce slots, if there are enough.
    fn at(&self, reduces: u32, n_maps: u32) -> Option<Slots> {
        // With r reduce slots, maps may take (left·r − b) / r.
        let r = i128::from(reduces.max(1));
        let spare = self.left * r - self.b;
        if spare < 0 || (spare == 0 && self.a > 0) {
            return None;
        }
        let maps = if self.a == 0 { 1 } else { ceil(self.a * r, spare).max(1) };
        let maps = if n_maps == 0 { 0 } else { maps };
        (maps <= i128::from(self.most.maps)).then_some(Slots { maps: maps as u32, reduces })
    }

    /// The fewest reduce slots beside all map slots.
    fn fewest_reduces(&self, n_maps: u32) -> Option<u32> {
        let m = if n_maps == 0 { 1 } else { i128::from(self.most.maps) };
        let spare = self.left * m - self.a;
        if spare < 0 || (spare == 0 && self.b > 0) {
            return None;
        }
        let reduces = if self.b == 0 { 1 } else { ceil(self.b * m, spare).max(1) };
        u32::try_from(reduces).ok()
    }

    /// Lagrange's point on the line, rounded down: the reduce slots of the smallest sum.
    fn lagrange(&self) -> i128 {
        (self.b + self.a.isqrt() * self.b.isqrt()) / self.left.max(1)
    }

    /// No point with so many reduce slots has a smaller sum.
    fn least_sum(&self, reduces: u32) -> i128 {
        let r = i128::from(reduces);
        let spare = self.left * r - self.b;
        r + if spare > 0 { self.a * r / spare } else { 0 }
    }
}

fn us(span: Span) -> i128 {
    i128::from(span.as_us().min(LONGEST_US))
}

fn ceil(number: i128, by: i128) -> i128 {
    number.div_euclid(by) + i128::from(number.rem_euclid(by) > 0)
}

fn halved(twice_us: i128) -> Span {
    Span::from_us(u64::try_from(ceil(twice_us, 2).max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "bounds/tests.rs"]
mod tests;
