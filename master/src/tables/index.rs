//! Where to find each ended attempt of one job: by kind, task and number.
//!
//! Nearly every task has one attempt, so those with number 0 lie in blocks by task, and only others in a map. A map of all
//! would take twice the room. Blocks are shared with snapshots, which so cost nothing by attempt; one that is written to is
//! copied then.

use std::collections::BTreeMap;
use std::sync::Arc;

use howdah_core::job::TaskKind;

/// Kind, index, number: the order in which attempts are shown.
pub(super) type Key = (TaskKind, u32, u16);

/// Entries of a block.
const BLOCK: usize = 128;

type Block<T> = [Option<T>; BLOCK];

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Index<T> {
    /// Of attempts with number 0, by kind and a `BLOCK`th of the task.
    firsts: [Vec<Option<Arc<Block<T>>>>; 2],
    others: Arc<BTreeMap<Key, T>>,
    len: usize,
}

impl<T> Default for Index<T> {
    fn default() -> Index<T> {
        Index { firsts: [Vec::new(), Vec::new()], others: Arc::default(), len: 0 }
    }
}

impl<T: Copy> Index<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &Key) -> Option<&T> {
        let (kind, index, number) = *key;
        if number > 0 {
            return self.others.get(key);
        }
        let block = self.firsts[kind].get(index as usize / BLOCK)?.as_ref()?;
        block[index as usize % BLOCK].as_ref()
    }

    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut T> {
        let (kind, index, number) = *key;
        if number > 0 {
            // Looked up first: what is not there is no reason to copy the map.
            self.others.get(key)?;
            return Arc::make_mut(&mut self.others).get_mut(key);
        }
        let block = self.firsts[kind].get_mut(index as usize / BLOCK)?.as_mut()?;
        block[index as usize % BLOCK].as_ref()?;
        Arc::make_mut(block)[index as usize % BLOCK].as_mut()
    }

    pub(super) fn insert(&mut self, key: Key, value: T) {
        let (kind, index, number) = key;
        let before = if number > 0 {
            Arc::make_mut(&mut self.others).insert(key, value)
        } else {
            let (blocks, place) = (&mut self.firsts[kind], index as usize / BLOCK);
            if blocks.len() <= place {
                blocks.resize(place + 1, None);
            }
            let block = blocks[place].get_or_insert_with(|| Arc::new([None; BLOCK]));
            Arc::make_mut(block)[index as usize % BLOCK].replace(value)
        };
        self.len += usize::from(before.is_none());
    }

    /// In the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        TaskKind::ALL.into_iter().flat_map(|kind| {
            let mut firsts = self.firsts(kind).peekable();
            let mut others = self.others.range((kind, 0, 0)..=(kind, u32::MAX, u16::MAX)).peekable();
            std::iter::from_fn(move || {
                let other_is_next = match (firsts.peek(), others.peek()) {
                    (Some((first, _)), Some((other, _))) => *other < first,
                    (first, _) => first.is_none(),
                };
                if other_is_next { others.next().map(|(key, value)| (*key, value)) } else { firsts.next() }
            })
        })
    }

    fn firsts(&self, kind: TaskKind) -> impl Iterator<Item = (Key, &T)> {
        let blocks = self.firsts[kind].iter().enumerate();
        blocks.filter_map(|(place, block)| Some((place, block.as_ref()?))).flat_map(move |(place, block)| {
            let entries = block.iter().enumerate();
            entries.filter_map(move |(at, entry)| Some(((kind, (place * BLOCK + at) as u32, 0), entry.as_ref()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> impl Strategy<Value = Key> {
        let kind = prop_oneof![Just(TaskKind::Map), Just(TaskKind::Reduce)];
        (kind, 0..400_u32, prop_oneof![4 => Just(0_u16), 1 => 1..4_u16])
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_would_in_the_same_order_and_copies_stay_as_they_were(
            keys in proptest::collection::vec((key(), 0..1_000_u32), 0..300),
            changed in proptest::collection::vec(key(), 0..50),
        ) {
            let (mut index, mut map) = (Index::default(), BTreeMap::new());
            for (key, value) in keys {
                index.insert(key, value);
                map.insert(key, value);
            }
            let (copy, before) = (index.clone(), map.clone());
            for key in changed {
                prop_assert_eq!(index.get(&key), map.get(&key));
                match (index.get_mut(&key), map.get_mut(&key)) {
                    (Some(found), Some(known)) => (*found, *known) = (*found + 1_000, *known + 1_000),
                    (None, None) => {
                        index.insert(key, 7);
                        map.insert(key, 7);
                    }
                    _ => prop_assert!(false, "{key:?}"),
                }
            }
            let all = |index: &Index<u32>| index.iter().map(|(key, value)| (key, *value)).collect::<Vec<_>>();
            prop_assert_eq!(all(&index), map.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>());
            prop_assert_eq!(all(&copy), before.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>());
            prop_assert_eq!((index.len(), copy.len()), (map.len(), before.len()));
        }
    }
}
