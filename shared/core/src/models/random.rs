//! Random numbers that are the same on every machine and in every version: ChaCha8, seeded in one stated way.
//!
//! Only the cipher's words are used; everything made of them is made here or in `distribution`, with `libm`, because
//! a library's way of making a float or a shuffle may change. A seed has many streams, one for each thing that
//! draws, so that one thing's draws do not move another's.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The `stream`-th generator of a seed: the key is the seed's eight bytes, little-endian, then zeros.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut random = Random::keyed(key);
        random.0.set_stream(stream);
        random
    }

    /// The generator of a whole key.
    pub fn keyed(key: [u8; 32]) -> Random {
        Random(ChaCha8Rng::from_seed(key))
    }

    /// Any 32 bits.
    #[inline]
    pub fn bits32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Any 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in the open interval (0, 1): the middle of one of 2^52 equal parts, so that its logarithm exists.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number below `bound`. The bias of multiplication, below `bound / 2^64`, is left in.
    ///
    /// # Panics
    /// If `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number is below 0");
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A standard normal draw (Box and Muller's method; its second number is thrown away, so that a draw always
    /// takes two words of the stream).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Puts the items into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_stream_is_that_of_the_published_cipher() {
        // ChaCha8, zero key, zero nonce: the first words of the published test vector.
        assert_eq!(Random::new(0, 0).bits().to_le_bytes()[..4], [0x3e, 0x00, 0xef, 0x2f]);
        assert_ne!(Random::new(0, 1).bits(), Random::new(0, 0).bits());
        assert_ne!(Random::new(1, 0).bits(), Random::new(0, 0).bits());
    }

    #[test]
    fn units_are_inside_the_open_interval_and_even() {
        let mut random = Random::new(1, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| random.unit()).collect();
        assert!(draws.iter().all(|u| *u > 0.0 && *u < 1.0));
        let low = draws.iter().filter(|u| **u < 0.25).count();
        assert!((24_500..25_500).contains(&low), "{low}");
    }

    #[test]
    fn shuffles_keep_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(7, 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
