//! A set of small numbers, with its size and its smallest member at hand.
//!
//! Pending tasks are such a set. Mostly they are taken in order, so that what is left is all numbers from one on; such a
//! set is that number and has no table. Any other has a bit for each number: a job of 20 million tasks costs 2.5 MB, and
//! the next task to run is one `trailing_zeros` away.
//!
//! **Invariants: `first` is the smallest member, or the bound; without words the members are all numbers from there up to
//! the bound; `count` is how many there are.**

/// A set of numbers below a fixed bound.
#[derive(Clone, Debug, Default)]
pub struct BitSet {
    /// None, or a bit for each number below the bound.
    words: Vec<u64>,
    len: u32,
    count: u32,
    first: u32,
}

impl BitSet {
    /// The empty set of numbers below `len`.
    pub fn empty(len: u32) -> BitSet {
        BitSet { words: Vec::new(), len, count: 0, first: len }
    }

    /// All numbers below `len`.
    pub fn full(len: u32) -> BitSet {
        BitSet { words: Vec::new(), len, count: len, first: 0 }
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
        match self.words.get(i as usize / 64) {
            Some(word) => word >> (i % 64) & 1 == 1,
            None => self.words.is_empty() && (self.first..self.len).contains(&i),
        }
    }

    /// The smallest member.
    #[inline(always)]
    pub fn first(&self) -> Option<u32> {
        (self.first < self.len).then_some(self.first)
    }

    /// The smallest member not below `from`.
    pub fn next_from(&self, from: u32) -> Option<u32> {
        let from = from.max(self.first);
        if self.words.is_empty() {
            return (from < self.len).then_some(from);
        }
        let mut index = from as usize / 64;
        let mut word = self.words.get(index)? & u64::MAX << (from % 64);
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
        if self.contains(i) {
            return false;
        }
        if !self.words.is_empty() || i + 1 != self.first {
            *self.word(i) |= 1 << (i % 64);
        }
        self.count += 1;
        self.first = self.first.min(i);
        true
    }

    /// Takes `i` out; true if it was there.
    #[inline(always)]
    pub fn remove(&mut self, i: u32) -> bool {
        if i == self.first && i < self.len && self.words.is_empty() {
            self.first += 1;
            self.count -= 1;
            return true;
        }
        self.remove_bit(i)
    }

    #[inline(never)]
    fn remove_bit(&mut self, i: u32) -> bool {
        if !self.contains(i) {
            return false;
        }
        *self.word(i) &= !(1 << (i % 64));
        self.count -= 1;
        if i == self.first {
            self.first = self.next_from(i).unwrap_or(self.len);
        }
        true
    }

    /// Raises the bound to `len`; never lowers it.
    pub fn grow(&mut self, len: u32) {
        if len <= self.len {
            return;
        }
        if self.count == 0 {
            *self = BitSet::empty(len);
            return;
        }
        self.spell_out();
        self.words.resize(len.div_ceil(64) as usize, 0);
        self.len = len;
    }

    /// The word with the bit of `i`.
    fn word(&mut self, i: u32) -> &mut u64 {
        self.spell_out();
        &mut self.words[i as usize / 64]
    }

    /// Makes the table.
    fn spell_out(&mut self) {
        if !self.words.is_empty() {
            return;
        }
        self.words = vec![0; self.len.div_ceil(64) as usize];
        for (index, word) in (0..).zip(&mut self.words) {
            let numbers = index * 64..(index * 64 + 64).min(self.len);
            let members = self.first.max(numbers.start)..numbers.end;
            if !members.is_empty() {
                *word = u64::MAX >> (64 - members.len()) << (members.start % 64);
            }
        }
    }
}

/// Whether they have the same bound and members, with a table or without.
impl PartialEq for BitSet {
    fn eq(&self, other: &BitSet) -> bool {
        (self.len, self.count) == (other.len, other.count) && self.iter().eq(other.iter())
    }
}

impl Eq for BitSet {}

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

    #[test]
    fn what_is_taken_and_given_back_in_order_needs_no_table() {
        let mut set = BitSet::full(200);
        assert!((0..150).all(|i| set.remove(i)) && !set.remove(0) && !set.remove(200));
        assert!((100..150).rev().all(|i| set.insert(i)));
        assert_eq!((set.count(), set.first(), set.words.len()), (100, Some(100), 0));
        let mut same = BitSet::empty(200);
        assert!((100..200).all(|i| same.insert(i)));
        assert_eq!((set == same, same.words.len()), (true, 4));
        assert!(set.remove(130) && set != same);
        assert_eq!((set.first(), set.next_from(130), set.words.len()), (Some(100), Some(131), 4));
        let mut workers = BitSet::default();
        workers.grow(1);
        assert!(workers.insert(0) && workers.words.is_empty());
        workers.grow(70);
        assert!(workers.insert(69) && workers.iter().eq([0, 69]));
    }

    proptest! {
        #[test]
        fn bits_behave_as_an_ordered_set(
            full in any::<bool>(),
            steps in proptest::collection::vec((any::<bool>(), 0u32..300), 0..400),
        ) {
            let (mut bits, mut set) = if full {
                (BitSet::full(300), (0..300).collect())
            } else {
                (BitSet::empty(300), BTreeSet::new())
            };
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
