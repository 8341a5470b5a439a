//! A heap of numbers, the least at the top, whose top may be open.
//!
//! Four children to a parent, kept as whole families: beyond the last number stand [`NEVER`]s. So a number can sink to
//! the bottom without the questions which child is the least and whether it is there being branches: no processor
//! foresees the answers, and a wrong guess costs more than a level.

/// The number that is never in the heap, after all others.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(super) struct OpenHeap {
    /// Entry 0. No child is before its parent.
    first: u64,
    /// The children of entry `i`, which are entries `4i + 1` to `4i + 4`; no family is without an entry.
    families: Vec<[u64; 4]>,
    /// Entries that are not [`NEVER`], the one that was taken included.
    n: usize,
    /// Whether the first entry was taken already.
    open: bool,
}

impl Default for OpenHeap {
    fn default() -> OpenHeap {
        OpenHeap { first: NEVER, families: Vec::new(), n: 0, open: false }
    }
}

impl OpenHeap {
    /// The least, of a heap that is not open; [`NEVER`] if it is empty.
    #[inline(always)]
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The least but one, which is the least of an open heap.
    #[inline(always)]
    pub(super) fn second(&self) -> u64 {
        self.families.first().map_or(NEVER, |&[a, b, c, d]| a.min(b).min(c.min(d)))
    }

    /// Fills the place of an entry that was taken.
    #[inline(always)]
    pub(super) fn close(&mut self) {
        if self.open {
            self.fill_with_last();
        }
    }

    /// Takes the least of a heap that is not open. Its place stays open, and its value there.
    #[inline(always)]
    pub(super) fn open(&mut self) -> u64 {
        self.open = true;
        self.first
    }

    /// Puts a number in.
    #[inline(always)]
    pub(super) fn put(&mut self, key: u64) {
        if std::mem::take(&mut self.open) {
            self.sink(key);
        } else {
            self.push(key);
        }
    }

    /// All numbers, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let all = std::iter::once(&self.first).chain(self.families.iter().flatten());
        all.take(self.n).skip(usize::from(self.open)).copied()
    }

    /// Makes all numbers of a heap that is not open smaller by so much.
    pub(super) fn lower(&mut self, by: u64) {
        let all = std::iter::once(&mut self.first).chain(self.families.iter_mut().flatten());
        all.take(self.n).for_each(|key| *key -= by);
    }

    /// Puts a number in the place of the first one.
    #[inline(never)]
    fn sink(&mut self, key: u64) {
        let Some(children) = self.families.first() else {
            self.first = key;
            return;
        };
        let (child, mut of) = least(children);
        self.first = key.min(child);
        let (mut key, mut family) = (key.max(child), 0);
        // If it is the number that stays, the other one sinks to where it was.
        while let Some(children) = self.families.get(4 * family + of + 1) {
            let (child, of_child) = least(children);
            self.families[family][of] = key.min(child);
            (key, family, of) = (key.max(child), 4 * family + of + 1, of_child);
        }
        self.families[family][of] = key;
    }

    /// Entry `at`.
    fn entry(&mut self, at: usize) -> &mut u64 {
        match at.checked_sub(1) {
            Some(below) => &mut self.families[below / 4][below % 4],
            None => &mut self.first,
        }
    }

    /// Adds a number at the end and lets it rise.
    #[inline(never)]
    fn push(&mut self, key: u64) {
        let mut at = self.n;
        self.n += 1;
        if at % 4 == 1 {
            self.families.push([NEVER; 4]);
        }
        while at > 0 {
            let parent = *self.entry((at - 1) / 4);
            if key >= parent {
                break;
            }
            *self.entry(at) = parent;
            at = (at - 1) / 4;
        }
        *self.entry(at) = key;
    }

    /// Puts the last number in the open place.
    #[inline(never)]
    fn fill_with_last(&mut self) {
        self.open = false;
        self.n -= 1;
        let at = self.n;
        let last = std::mem::replace(self.entry(at), NEVER);
        if at % 4 == 1 {
            self.families.pop();
        }
        if at > 0 {
            self.sink(last);
        }
    }
}

/// The least of a family, and which it is.
#[inline(always)]
fn least(&[a, b, c, d]: &[u64; 4]) -> (u64, usize) {
    let (left, of_left) = if b < a { (b, 1) } else { (a, 0) };
    let (right, of_right) = if d < c { (d, 3) } else { (c, 2) };
    if right < left { (right, of_right) } else { (left, of_left) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Numbers come and go in any order; some take the place of the one that went before.
        #[test]
        fn the_least_goes_first(steps in proptest::collection::vec(proptest::option::of(0_u64..1_000), 0..400)) {
            let (mut heap, mut list) = (OpenHeap::default(), Vec::new());
            for step in steps {
                match step {
                    Some(key) => {
                        heap.put(key);
                        list.push(key);
                    }
                    None => {
                        heap.close();
                        prop_assert_eq!(heap.first(), list.iter().copied().min().unwrap_or(NEVER));
                        if !list.is_empty() {
                            let least = heap.open();
                            let place = list.iter().position(|&key| key == least);
                            list.swap_remove(place.expect("it was put in"));
                            prop_assert_eq!(heap.second(), list.iter().copied().min().unwrap_or(NEVER));
                        }
                    }
                }
                let mut all: Vec<u64> = heap.iter().collect();
                all.sort_unstable();
                list.sort_unstable();
                prop_assert_eq!(&all, &list);
            }
            heap.close();
            let least = heap.first();
            if least < NEVER {
                heap.lower(least);
                prop_assert_eq!(heap.iter().min(), Some(0));
            }
        }
    }
}
