//! A job as its two stages on so many slots: the abstraction under which Johnson's rule is optimal.
//!
//! Source: balanced-pools §2.2. A stage of `n` tasks on `k` slots takes at least `n·avg/k` and at most
//! `(n-1)·avg/k + max`; shuffles add the first wave's own and a typical one for each later wave. The paper takes the
//! mean of both bounds. `Deviation:` no stage counts more slots than it has tasks, and no shuffle of later waves is
//! negative: the printed terms would have a job of one task on a hundred slots end in a hundredth of its task.

use howdah_shared::job::profile::JobTemplate;
use howdah_shared::models::Stages;

/// Which estimate of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The least that it can take.
    Low,
    /// The mean of both bounds, as the paper takes it.
    #[default]
    Average,
    /// The most that a greedy assignment takes.
    Up,
}

/// Mean and largest duration in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Phase {
    mean: f64,
    max: f64,
}

/// What the bounds need of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    n_maps: u32,
    n_reduces: u32,
    map: Phase,
    first_shuffle: Phase,
    typical_shuffle: Phase,
    reduce: Phase,
}

impl Phase {
    /// Over `n` tasks, which take the entries in turn.
    fn of(list: &[u64], n: u32) -> Phase {
        let n = n as usize;
        if list.is_empty() || n == 0 {
            return Phase::default();
        }
        let used = &list[..list.len().min(n)];
        let (rounds, rest) = (n / list.len(), n % list.len());
        let sum = |part: &[u64]| part.iter().map(|&ms| u128::from(ms)).sum::<u128>();
        let total = sum(list) * rounds as u128 + sum(&list[..rest]);
        Phase { mean: total as f64 / n as f64, max: used.iter().copied().max().unwrap_or(0) as f64 }
    }
}

impl Profile {
    /// A template's. Where one kind of shuffle is unknown, the other stands in, as in a replay.
    pub fn of(job: &JobTemplate) -> Profile {
        let all = |list: &[u64]| Phase::of(list, u32::try_from(list.len()).unwrap_or(u32::MAX));
        let (first, typical) = (&job.first_shuffle_ms, &job.typical_shuffle_ms);
        Profile {
            n_maps: job.n_maps,
            n_reduces: job.n_reduces,
            map: Phase::of(&job.map_ms, job.n_maps),
            first_shuffle: all(if first.is_empty() { typical } else { first }),
            typical_shuffle: all(if typical.is_empty() { first } else { typical }),
            reduce: Phase::of(&job.reduce_ms, job.n_reduces),
        }
    }

    /// Its stages on so many map and reduce slots.
    pub fn stages(&self, maps: u16, reduces: u16, bound: Bound) -> Stages {
        let pick = |[low, up]: [f64; 2]| match bound {
            Bound::Low => low,
            Bound::Average => (low + up) / 2.0,
            Bound::Up => up,
        };
        let us = |ms: f64| (ms * 1e3).round() as u64;
        Stages { map_us: us(pick(stage(self.n_maps, maps, self.map))), reduce_us: us(pick(self.reduce_stage(reduces))) }
    }

    fn reduce_stage(&self, slots: u16) -> [f64; 2] {
        if self.n_reduces == 0 {
            return [0.0; 2];
        }
        let slots = usable(self.n_reduces, slots);
        let (n, k) = (f64::from(self.n_reduces), f64::from(slots));
        let later_waves = [n / k - 1.0, ((n - 1.0) / k - 1.0).max(0.0)];
        let typical = self.typical_shuffle;
        // Only a stage with a later wave can meet the longest of its shuffles.
        let longest = if self.n_reduces > slots { typical.max } else { 0.0 };
        let [low, up] = stage(self.n_reduces, slots as u16, self.reduce);
        [
            self.first_shuffle.mean + later_waves[0] * typical.mean + low,
            self.first_shuffle.max + later_waves[1] * typical.mean + longest + up,
        ]
    }

    /// Slot time of its maps and of its reduces in milliseconds, without what overlaps.
    pub(super) fn work_ms(&self) -> [f64; 2] {
        [f64::from(self.n_maps) * self.map.mean, f64::from(self.n_reduces) * self.reduce.mean]
    }

    /// Maps and reduces.
    pub(super) fn tasks(&self) -> [u32; 2] {
        [self.n_maps, self.n_reduces]
    }
}

fn usable(n: u32, slots: u16) -> u32 {
    n.min(u32::from(slots)).max(1)
}

/// Lower and upper bound of `n` tasks on so many slots.
fn stage(n: u32, slots: u16, tasks: Phase) -> [f64; 2] {
    if n == 0 {
        return [0.0; 2];
    }
    let (count, k) = (f64::from(n), f64::from(usable(n, slots)));
    [count * tasks.mean / k, (count - 1.0) * tasks.mean / k + tasks.max]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(n_maps: u32, map_ms: &[u64], n_reduces: u32, reduce_ms: &[u64]) -> JobTemplate {
        let (map_ms, reduce_ms) = (map_ms.to_vec(), reduce_ms.to_vec());
        JobTemplate { n_maps, map_ms, n_reduces, reduce_ms, ..JobTemplate::default() }
    }

    fn stages(job: &JobTemplate, slots: u16, bound: Bound) -> (u64, u64) {
        let found = Profile::of(job).stages(slots, slots, bound);
        (found.map_us, found.reduce_us)
    }

    // balanced-pools §2.2: n·avg/k and (n-1)·avg/k + max.
    #[test]
    fn a_stage_lies_between_both_bounds_and_is_taken_in_their_middle() {
        let job = job(10, &[100, 300], 0, &[]);
        assert_eq!(stages(&job, 4, Bound::Low), (500_000, 0));
        assert_eq!(stages(&job, 4, Bound::Up), (450_000 + 300_000, 0));
        assert_eq!(stages(&job, 4, Bound::Average), (625_000, 0));
    }

    #[test]
    fn slots_beyond_the_tasks_change_nothing() {
        let job = job(2, &[100], 3, &[50]);
        assert_eq!(stages(&job, 100, Bound::Low), (100_000, 50_000));
        assert_eq!(stages(&job, 3, Bound::Average).1, stages(&job, 200, Bound::Average).1);
    }

    // balanced-pools §2.2: T_R = first shuffle + typical shuffles of later waves + reduce phase.
    #[test]
    fn shuffles_count_once_for_the_first_wave_and_once_more_for_each_later_one() {
        let job =
            JobTemplate { first_shuffle_ms: vec![10, 20], typical_shuffle_ms: vec![40], ..job(0, &[], 6, &[100]) };
        assert_eq!(stages(&job, 2, Bound::Low).1, (15 + 2 * 40 + 300) * 1_000);
        assert_eq!(stages(&job, 2, Bound::Up).1, (20 + 60 + 40 + 250 + 100) * 1_000);
        assert_eq!(stages(&job, 6, Bound::Low).1, (15 + 100) * 1_000);
    }

    #[test]
    fn a_short_list_stands_for_all_tasks_by_turns() {
        assert_eq!(Phase::of(&[1, 2, 6], 5), Phase { mean: 12.0 / 5.0, max: 6.0 });
        assert_eq!(Phase::of(&[1, 9], 1), Phase { mean: 1.0, max: 1.0 });
    }
}
