//! Tasks with much more input, or much less, than any that finished.
//!
//! What finished tells of the sizes among it, and of those a little further out. Beyond, a task may take what those at the edge
//! took, as if size made no difference, or as many times that as its input is larger, or anything between: that is its interval.
//! Where all that finished had about the same size, a line through it is one through its scatter: what is larger takes the time of
//! those at the edge and the fallback's for each MiB more, and no more than in proportion to its input; it is told no closer than
//! what was never seen, and no wider.

use super::fallback::{Fallback, UNSEEN};
use super::history::Sample;
use super::models::Estimate;

/// Sizes so many times larger or smaller than any that was seen are beyond it.
const FURTHER: u64 = 4;
/// The largest size is to be so many times the smallest, for a line to say how time follows from size far out.
const TELLING: u64 = 2;

/// The sizes of the tasks that finished, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    least: u64,
    most: u64,
    /// For each MiB more, where they do not tell, in microseconds.
    per_mib: f64,
}

impl Reach {
    /// `None` if no size is known.
    pub(super) fn of(samples: &[&Sample], fallback: &Fallback) -> Option<Reach> {
        let sizes = || samples.iter().filter_map(|sample| sample.bytes);
        let (least, most) = (sizes().min()?, sizes().max()?);
        (most > 0).then_some(Reach { least, most, per_mib: fallback.per_mib.as_us() as f64 })
    }

    /// Whether there is much more input than any that was seen.
    pub(super) fn is_exceeded(&self, bytes: u64) -> bool {
        bytes > self.most.saturating_mul(FURTHER)
    }

    /// Whether what was seen tells of such a size.
    pub(super) fn covers(&self, bytes: u64) -> bool {
        !self.is_exceeded(bytes) && bytes.saturating_mul(FURTHER) >= self.least
    }

    /// The estimate for a size that is not covered, by a model's for any.
    pub(super) fn beyond(&self, bytes: u64, model: impl Fn(u64) -> Estimate) -> Estimate {
        // Never 0: it is the largest size, or the smallest where that is more than `bytes`.
        let edge = bytes.clamp(self.least, self.most);
        let (there, by) = (model(edge), bytes as f64 / edge as f64);
        let [low, high] = [there.low * by.min(1.0), there.high * by.max(1.0)];
        if self.least.saturating_mul(TELLING) > self.most {
            let more = self.per_mib * (bytes as f64 - edge as f64).max(0.0) / f64::from(1 << 20);
            let expected = there.expected + more.min(there.expected * (by - 1.0).max(0.0));
            return Estimate { expected, low, high: high.min(expected * UNSEEN).max(there.high) };
        }
        let told = model(bytes);
        Estimate { expected: told.expected, low: low.min(told.low), high: high.max(told.high) }
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn reach(sizes: &[Option<u64>]) -> Option<Reach> {
        let sample = |&bytes| Sample { bytes, time: Span::ZERO, worker: "w".to_owned(), place: None };
        let samples: Vec<Sample> = sizes.iter().map(sample).collect();
        Reach::of(&samples.iter().collect::<Vec<_>>(), &Fallback::default())
    }

    /// A second and `per_mib` milliseconds, a tenth of it either way, in microseconds.
    fn line(per_mib: f64) -> impl Fn(u64) -> Estimate {
        move |bytes| {
            let expected = 1e6 + 1e3 * per_mib * bytes as f64 / MIB as f64;
            Estimate { expected, low: 0.9 * expected, high: 1.1 * expected }
        }
    }

    #[test]
    fn sizes_a_little_further_out_than_those_seen_are_covered() {
        assert!(reach(&[]).is_none() && reach(&[None, Some(0)]).is_none(), "nothing tells of sizes");
        let reach = reach(&[Some(8 * MIB), None, Some(2 * MIB)]).unwrap();
        let asked = [0, MIB / 2 - 1, MIB / 2, 32 * MIB, 32 * MIB + 1, u64::MAX];
        assert_eq!(asked.map(|bytes| reach.covers(bytes)), [false, false, true, true, false, false]);
        assert_eq!(asked.map(|bytes| reach.is_exceeded(bytes)), [false, false, false, false, true, true]);
    }

    #[test]
    fn what_is_larger_may_take_as_if_size_made_no_difference_or_in_proportion() {
        let reach = reach(&[Some(2 * MIB), Some(10 * MIB)]).unwrap();
        let Estimate { expected, low, high } = reach.beyond(100 * MIB, line(50.0));
        assert_eq!(expected, 6e6, "the line goes on");
        assert_eq!((low.round(), high.round()), (1_350_000.0, 16_500_000.0));
        let Estimate { expected, low, high } = reach.beyond(0, line(50.0));
        assert_eq!((expected, low, high.round()), (1e6, 0.0, 1_210_000.0), "an empty file may take nothing");
    }

    // One word count over a few lines says little of one over gigabytes.
    #[test]
    fn where_sizes_were_alike_what_is_larger_takes_the_fallbacks_time_for_each_mib_more() {
        let reach = reach(&[Some(MIB), Some(MIB + 100)]).unwrap();
        // A line through scatter: four minutes more for each MiB.
        let told = reach.beyond(65 * MIB, line(240_000.0));
        let edge = line(240_000.0)(MIB + 100).expected;
        assert!((told.expected - edge - 6.4e6).abs() < 1e3, "{told:?}");
        assert_eq!((told.low, told.high), (0.9 * edge, 10.0 * told.expected));
    }

    // A second for a MiB: ten MiB take no more than ten seconds, whatever unseen tasks are taken to.
    #[test]
    fn it_takes_no_more_than_in_proportion_to_its_input() {
        let quick = reach(&[Some(1_000 * MIB)]).unwrap();
        let told = quick.beyond(10_000 * MIB, line(0.0));
        assert_eq!((told.expected, told.high.round()), (10e6, 11e6));
    }
}
