//! Random streams: one for each part of a replay that draws, so that a part that draws more or less than before
//! does not change what the others draw.
//!
//! A stream's key is made from the replay's seed and the part's name. The generator is ChaCha with eight rounds,
//! the same on every machine, and numbers are made from its bits here, so that no library's next version changes
//! them.

use crate::models::Random;
use crate::time::Span;

/// The random numbers of one part of a replay.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Random);

impl Stream {
    /// The stream of `part` under `seed`.
    pub(crate) fn new(seed: u64, part: &str) -> Stream {
        let key = blake3::Hasher::new()
            .update(b"howdah replay stream\0")
            .update(part.as_bytes())
            .update(&[0])
            .update(&seed.to_le_bytes())
            .finalize();
        Stream(Random::keyed(*key.as_bytes()))
    }

    /// Uniform from 0 to `most`, both included.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        // The high half of the product: the bias is below one part in 2^64 / most.
        ((u128::from(self.0.bits()) * (u128::from(most) + 1)) >> 64) as u64
    }

    /// Exponential with this mean, to the microsecond.
    pub(crate) fn exponential(&mut self, mean: Span) -> Span {
        // In (0, 1], 53 bits of it, so that the logarithm is finite.
        let share = ((self.0.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        Span::from_us(libm::round(-libm::log(share) * mean.as_us() as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_parts_have_streams_of_their_own() {
        let first = |seed, part| Stream::new(seed, part).up_to(u64::MAX);
        assert_eq!(first(1, "arrivals"), first(1, "arrivals"));
        assert_ne!(first(1, "arrivals"), first(2, "arrivals"));
        assert_ne!(first(1, "arrivals"), first(1, "deadlines"));
    }

    #[test]
    fn numbers_stay_the_same_in_every_version() {
        let mut stream = Stream::new(7, "arrivals");
        assert_eq!(stream.up_to(999_999), 756_957);
        assert_eq!(stream.exponential(Span::from_secs(1)).as_us(), 303_050);
    }

    #[test]
    fn uniform_numbers_reach_both_ends_and_no_further() {
        let mut stream = Stream::new(1, "test");
        let mut seen = [0; 4];
        (0..4_000).for_each(|_| seen[stream.up_to(3) as usize] += 1);
        assert!(seen.iter().all(|&n| (850..1_150).contains(&n)), "{seen:?}");
        assert_eq!(stream.up_to(0), 0);
    }

    #[test]
    fn exponential_spans_have_their_mean_and_spread() {
        let mut stream = Stream::new(1, "test");
        let spans: Vec<f64> = (0..40_000).map(|_| stream.exponential(Span::from_secs(10)).as_secs_f64()).collect();
        let mean = spans.iter().sum::<f64>() / spans.len() as f64;
        let variance = spans.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / spans.len() as f64;
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        assert!((libm::sqrt(variance) / mean - 1.0).abs() < 0.03, "{variance}");
    }
}
