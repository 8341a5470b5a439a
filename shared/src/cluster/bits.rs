//! A set of small numbers as bits, with its size and its smallest member at hand.
//!
//! Pending tasks are bits: a job of 20 million tasks costs 2.5 MB, and the next task to run is one
//! `trailing_zeros` away. **Invariant: `first_word` is the index of the first non-zero word, or the number of
//! words.**

/// A set of numbers below a fixed bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
    len: u32,
    count: u32,
    first_word: u32,
}

impl BitSet {
    /// The empty set of numbers below `len`.
    pub fn empty(len: u32) -> BitSet {
        let words = vec![0; len.div_ceil(64) as usize];
        BitSet { first_word: words.len() as u32, words, len, count: 0 }
    }

    /// All numbers below `len`.
    pub fn full(len: u32) -> BitSet {
        let mut words = vec![u64::MAX; len.div_ceil(64) as usize];
        if let (Some(last), tail @ 1..) = (words.last_mut(), len % 64) {
            *last = (1 << tail) - 1;
        }
        BitSet { words, len, count: len, first_word: 0 }
    }

    /// Numbers in the set.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The bound: every member is smaller.
    pub fn bound(&self) -> u32 {
        self.len
    }

    /// Whether `i` is in the set; false for numbers beyond the bound.
    pub fn contains(&self, i: u32) -> bool {
        self.words.get(i as usize / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    /// The smallest member.
    pub fn first(&self) -> Option<u32> {
        let word = self.words.get(self.first_word as usize)?;
        Some(self.first_word * 64 + word.trailing_zeros())
    }

    /// The smallest member not below `from`.
    pub fn next_from(&self, from: u32) -> Option<u32> {
        let mut index = (from / 64).max(self.first_word) as usize;
        let mut word = *self.words.get(index)?;
        if index == from as usize / 64 {
            word &= u64::MAX << (from % 64);
        }
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        Some(index as u32 * 64 + word.trailing_zeros())
    }

    /// All members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.first();
        std::iter::from_fn(move || {
            let now = next?;
            next = self.next_from(now + 1);
            Some(now)
        })
    }

    /// Puts `i` in; true if it was not there.
    ///
    /// # Panics
    /// When `i` is not below the bound.
    pub fn insert(&mut self, i: u32) -> bool {
        assert!(i < self.len, "{i} is not below {}", self.len);
        let index = i / 64;
        let word = &mut self.words[index as usize];
        let new = *word >> (i % 64) & 1 == 0;
        if new {
            *word |= 1 << (i % 64);
            self.count += 1;
            self.first_word = self.first_word.min(index);
        }
        new
    }

    /// Takes `i` out; true if it was there.
    #[inline(always)]
    pub fn remove(&mut self, i: u32) -> bool {
        let index = i / 64;
        let Some(word) = self.words.get_mut(index as usize) else { return false };
        let there = *word >> (i % 64) & 1 == 1;
        if there {
            *word &= !(1 << (i % 64));
            self.count -= 1;
            if index == self.first_word {
                while self.words.get(self.first_word as usize) == Some(&0) {
                    self.first_word += 1;
                }
            }
        }
        there
    }

    /// Raises the bound to `len`; never lowers it.
    pub fn grow(&mut self, len: u32) {
        if len <= self.len {
            return;
        }
        let was_empty = self.count == 0;
        self.words.resize(len.div_ceil(64) as usize, 0);
        self.len = len;
        if was_empty {
            self.first_word = self.words.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_set_has_every_number_and_nothing_beyond() {
        for len in [0, 1, 63, 64, 65, 200] {
            let set = BitSet::full(len);
            assert_eq!(set.iter().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
            assert_eq!(set.count(), len);
            assert!(!set.contains(len));
        }
    }

    proptest! {
        #[test]
        fn bits_behave_as_an_ordered_set(steps in proptest::collection::vec((any::<bool>(), 0u32..300), 0..400)) {
            let (mut bits, mut set) = (BitSet::empty(300), BTreeSet::new());
            for (add, i) in steps {
                if add {
                    prop_assert_eq!(bits.insert(i), set.insert(i));
                } else {
                    prop_assert_eq!(bits.remove(i), set.remove(&i));
                }
                prop_assert_eq!(bits.count() as usize, set.len());
                prop_assert_eq!(bits.first(), set.first().copied());
                prop_assert_eq!(bits.next_from(i), set.range(i..).next().copied());
            }
            prop_assert!(bits.iter().eq(set.iter().copied()));
        }
    }
}
