//! Slowdown by size of job.
//!
//! A job's size is the one that loads are made of (`arrivals`): what its tasks hold slots for on work of their own.
//! Waiting for maps is no work, and neither are attempts that did not win. Classes are half decades of seconds, as in
//! Fig. 12 of the slowdown paper: from 10 to 10·√10, from there to 100, and so on; everything below a second is one class.

use crate::job::profile::{JobTemplate, Trace};
use crate::models::moments::{Moments, percentile, sorted};
use crate::replay::ReplayReport;
use crate::replay::arrivals::size_ms;
use crate::time::Span;

/// √10 s in microseconds, rounded: the border in the middle of a decade, so that no float chooses the class.
const ROOT_OF_TEN_US: u128 = 3_162_278;

/// Jobs of about one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeClass {
    /// Smallest size in the class; zero for the first.
    pub from: Span,
    /// First size above it.
    pub below: Span,
    /// Jobs with a slowdown.
    pub jobs: u64,
    /// Their mean slowdown.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Their 95th percentile; of few jobs it lies between the largest two.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

/// A job's size: the sum of its tasks' times, reduces with their typical shuffle.
pub fn size(job: &JobTemplate) -> Span {
    let us = size_ms(job).saturating_mul(1_000);
    Span::from_us(u64::try_from(us).unwrap_or(u64::MAX))
}

/// The classes that have jobs, smallest first.
pub(super) fn classes(report: &ReplayReport, trace: &Trace, slowdowns: &[Option<f64>]) -> Vec<SizeClass> {
    let mut by_class: Vec<Vec<f64>> = Vec::new();
    for (job, slowdown) in report.jobs.iter().zip(slowdowns) {
        let (Some(slowdown), Some(template)) = (slowdown, trace.jobs.get(job.template as usize)) else { continue };
        let class = class_of(size(template));
        if by_class.len() <= class {
            by_class.resize(class + 1, Vec::new());
        }
        by_class[class].push(*slowdown);
    }
    let full = by_class.into_iter().enumerate().filter(|(_, slowdowns)| !slowdowns.is_empty());
    full.map(|(class, slowdowns)| {
        let ascending = sorted(slowdowns);
        let at = |percent| percentile(&ascending, percent).unwrap_or(0.0);
        SizeClass {
            from: border(class),
            below: border(class + 1),
            jobs: ascending.len() as u64,
            mean: Moments::of(&ascending).mean,
            median: at(50.0),
            p95: at(95.0),
            max: at(100.0),
        }
    })
    .collect()
}

impl SizeClass {
    /// Eq. 1 of the slowdown paper within the class: its 95th percentile over its median.
    pub fn variability(&self) -> f64 {
        ratio(self.p95, self.median)
    }
}

/// Class 0 is below a second; each further one is half a decade.
fn class_of(size: Span) -> usize {
    let mut class = 0;
    while border(class + 1) <= size && border(class + 1) < Span::MAX {
        class += 1;
    }
    class
}

/// Where a class begins.
fn border(class: usize) -> Span {
    let Some(step) = class.checked_sub(1) else { return Span::ZERO };
    let start = if step % 2 == 0 { 1_000_000 } else { ROOT_OF_TEN_US };
    let us = u32::try_from(step / 2).ok().and_then(|decades| 10u128.checked_pow(decades)).map(|ten| ten * start);
    Span::from_us(us.and_then(|us| u64::try_from(us).ok()).unwrap_or(u64::MAX))
}

pub(super) fn ratio(value: f64, median: f64) -> f64 {
    if median > 0.0 { value / median } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_half_decades_of_seconds() {
        let classes = [0, 999, 1_000, 3_162, 3_163, 9_999, 10_000, 31_622, 31_623, 100_000];
        let found: Vec<usize> = classes.iter().map(|&ms| class_of(Span::from_ms(ms))).collect();
        assert_eq!(found, [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
        assert_eq!(border(5), Span::from_secs(100));
        assert!(class_of(Span::MAX) < 64);
    }
}
