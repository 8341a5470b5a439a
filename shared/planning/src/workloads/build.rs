//! What all recipes are made of: streams, templates, durations, exact shares.
//!
//! Streams of a seed: 0 for choices about the whole set, `1 + i` for job `i`, the last one for gaps. A job's draws
//! so do not depend on the jobs before it: the first ten jobs of a hundred are those of ten, where a recipe decides
//! nothing about the whole set.

use howdah_core::job::profile::JobTemplate;
use howdah_core::models::{Distribution, Random};

/// The stream of gaps between submissions.
pub(super) const GAPS: u64 = u64::MAX;

/// The stream of choices about the whole set.
pub(super) fn of_set(seed: u64) -> Random {
    Random::new(seed, 0)
}

/// The stream of one job.
pub(super) fn of_job(seed: u64, index: usize) -> Random {
    Random::new(seed, 1 + index as u64)
}

/// A job with its counts and no durations yet, submitted at 0.
pub(super) fn job(name: &str, n_maps: u32, n_reduces: u32) -> JobTemplate {
    JobTemplate { name: name.to_owned(), n_maps, n_reduces, ..JobTemplate::default() }
}

/// `count` durations in milliseconds: draws of `distribution` times `factor`.
pub(super) fn durations(distribution: &Distribution, factor: f64, count: u32, random: &mut Random) -> Vec<u64> {
    // Exactly as large as needed: a trace of twenty million tasks is mostly these.
    let mut values = Vec::with_capacity(count as usize);
    values.extend((0..count).map(|_| (distribution.sample(random) * factor).round() as u64));
    values
}

/// A number of tasks: a draw rounded, at least `least`.
pub(super) fn count(distribution: &Distribution, least: u32, random: &mut Random) -> u32 {
    (distribution.sample_whole(random).min(u64::from(u32::MAX)) as u32).max(least)
}

/// Splits `total` in proportion to `weights` into whole parts that add up to it exactly: each gets its share
/// rounded down, the largest remainders one more (the earlier of equal ones first).
pub(super) fn apportion(total: usize, weights: &[f64]) -> Vec<usize> {
    let whole: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| total as f64 * weight / whole).collect();
    let mut parts: Vec<usize> = shares.iter().map(|share| share.floor() as usize).collect();
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    by_remainder.sort_by(|a, b| {
        let remainder = |index: usize| shares[index] - shares[index].floor();
        remainder(*b).total_cmp(&remainder(*a)).then(a.cmp(b))
    });
    let given: usize = parts.iter().sum();
    for index in by_remainder.into_iter().cycle().take(total.saturating_sub(given)) {
        parts[index] += 1;
    }
    parts
}

/// One entry per job, saying which part it belongs to: exact shares of `jobs`, in random order.
pub(super) fn assign(jobs: usize, weights: &[f64], random: &mut Random) -> Vec<usize> {
    let mut parts: Vec<usize> = apportion(jobs, weights)
        .into_iter()
        .enumerate()
        .flat_map(|(part, count)| std::iter::repeat_n(part, count))
        .collect();
    random.shuffle(&mut parts);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_and_remainders_go_to_the_largest() {
        assert_eq!(apportion(100, &[0.8, 0.2]), [80, 20]);
        assert_eq!(apportion(10, &[0.9, 0.1]), [9, 1]);
        assert_eq!(apportion(3, &[1.0, 1.0]), [2, 1]);
        assert_eq!(apportion(7, &[38.0, 16.0, 14.0, 2.0]), [4, 2, 1, 0]);
        assert_eq!(apportion(0, &[1.0]), [0]);
    }

    #[test]
    fn assignments_keep_the_shares_whatever_the_order() {
        let parts = assign(50, &[0.8, 0.2], &mut of_set(4));
        assert_eq!(parts.iter().filter(|part| **part == 0).count(), 40);
        assert_ne!(parts, assign(50, &[0.8, 0.2], &mut of_set(5)));
    }
}
