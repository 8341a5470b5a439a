//! Random numbers that are the same on every machine and in every version: ChaCha8, seeded in one stated way.
//!
//! Only the cipher's words are used; ranges and shuffles are made here, because a library's may change.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A stream of random numbers.
#[derive(Clone)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// The `stream`-th generator of a seed: the key is the seed's eight bytes, little-endian, then zeros.
    pub(crate) fn new(seed: u64, stream: u64) -> Random {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(stream);
        Random(rng)
    }

    /// Any 32 bits.
    #[inline]
    pub(crate) fn bits32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Any 64 bits.
    #[inline]
    pub(crate) fn bits64(&mut self) -> u64 {
        self.0.next_u64()
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
