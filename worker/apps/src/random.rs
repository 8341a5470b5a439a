//! The project's random numbers, with small ranges made of half a word of the cipher each: generators of input draw
//! millions of them, and what they write must never change.

use howdah_core::models;

/// A stream of random numbers.
#[derive(Clone)]
pub(crate) struct Random(models::Random);

impl Random {
    /// The `stream`-th generator of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Random {
        Random(models::Random::new(seed, stream))
    }

    /// Any 32 bits.
    #[inline]
    pub(crate) fn bits32(&mut self) -> u32 {
        self.0.bits32()
    }

    /// Any 64 bits.
    #[inline]
    pub(crate) fn bits64(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`, which is not 0. Bounds here are small, so the bias of multiplication (below
    /// `bound / 2^32`) is left in.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.bits32()) * u64::from(bound)) >> 32) as u32
    }

    /// Puts the items into random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_are_fixed_and_different() {
        // The keystream of ChaCha8 with a zero key, from its published test vectors.
        assert_eq!(Random::new(0, 0).bits32().to_le_bytes(), [0x3e, 0x00, 0xef, 0x2f]);
        assert_ne!(Random::new(0, 1).bits64(), Random::new(0, 0).bits64());
        assert_ne!(Random::new(1, 0).bits64(), Random::new(0, 0).bits64());
    }

    #[test]
    fn shuffles_keep_every_item_and_bounds_hold() {
        let mut random = Random::new(7, 0);
        let mut items: Vec<u32> = (0..100).collect();
        random.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
