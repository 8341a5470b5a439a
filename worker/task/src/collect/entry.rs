//! One record in the general collector's index: where its bytes lie, and enough of its key to sort it by.

use std::cmp::Ordering;

use crate::api::key_order::KeyOrder;

/// A record: key bytes at `offset`, value bytes after them.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Eight bytes of the key, as [`KeyOrder::prefix`] makes a number of them: the first ones until entries are sorted,
    /// later ones while they are.
    pub(super) prefix: u64,
    pub(super) partition: u32,
    pub(super) offset: u32,
    pub(super) key_len: u32,
    pub(super) value_len: u32,
}

impl Entry {
    pub(super) fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.offset as usize..][..self.key_len as usize]
    }

    pub(super) fn value<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.offset as usize + self.key_len as usize..][..self.value_len as usize]
    }

    /// The order of partitions, keys and values, of keys that a comparator orders.
    pub(super) fn custom_order(&self, other: &Entry, arena: &[u8], order: &KeyOrder) -> Ordering {
        let partitions = self.partition.cmp(&other.partition);
        let keys = || order.compare(self.key(arena), other.key(arena));
        partitions.then_with(keys).then_with(|| self.value(arena).cmp(other.value(arena)))
    }
}
