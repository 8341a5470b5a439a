//! The general collector: records in one buffer, sorted by an index when it is full.
//!
//! A record's bytes go to the end of an arena; the index holds partition, the key's first eight bytes and where the
//! record is. Sorting moves 24 bytes per record and seldom looks at the arena. Memory: arena and index together stay
//! below the limit (`io.sort.mb` × `io.sort.spill.percent`), unless one record alone is larger.

use std::cmp::Ordering;

use super::spill::Spiller;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::merge::CombineStep;
use crate::segment::SortedRecords;

/// Size of the arena when the first record comes.
const FIRST_BYTES: usize = 64 * 1024;

/// Collects, sorts and spills.
pub(crate) struct SortCollector {
    spiller: Spiller,
    arena: Vec<u8>,
    index: Vec<Entry>,
    n_spills: usize,
}

/// A record: key bytes at `offset`, value bytes after them.
#[derive(Clone, Copy)]
struct Entry {
    prefix: u64,
    partition: u32,
    offset: u32,
    key_len: u32,
    value_len: u32,
}

const ENTRY_BYTES: usize = size_of::<Entry>();

impl Entry {
    fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.offset as usize..][..self.key_len as usize]
    }

    fn value<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.offset as usize + self.key_len as usize..][..self.value_len as usize]
    }

    /// The order of partitions and keys. Keys of at most eight bytes are in the index, but for their length.
    #[inline]
    fn order(&self, other: &Entry, arena: &[u8]) -> Ordering {
        let first = (self.partition, self.prefix).cmp(&(other.partition, other.prefix));
        first.then_with(|| {
            if self.key_len.max(other.key_len) <= 8 {
                self.key_len.cmp(&other.key_len)
            } else {
                self.key(arena).cmp(other.key(arena))
            }
        })
    }

    /// The order of partitions, keys and values, of keys that a comparator orders.
    fn custom_order(&self, other: &Entry, arena: &[u8], order: &KeyOrder) -> Ordering {
        let partitions = self.partition.cmp(&other.partition);
        let keys = || order.compare(self.key(arena), other.key(arena));
        partitions.then_with(keys).then_with(|| self.value(arena).cmp(other.value(arena)))
    }
}

/// Sorts the records of each key by value, where they are not in order already: mostly one look at each does, which
/// is cheaper than a look at each for every comparison of the sort by key.
fn order_values(index: &mut [Entry], arena: &[u8]) {
    for group in index.chunk_by_mut(|a, b| a.order(b, arena) == Ordering::Equal) {
        if !group.is_sorted_by(|a, b| a.value(arena) <= b.value(arena)) {
            group.sort_unstable_by(|a, b| a.value(arena).cmp(b.value(arena)));
        }
    }
}

impl SortCollector {
    pub(crate) fn new(spiller: Spiller) -> SortCollector {
        SortCollector { spiller, arena: Vec::new(), index: Vec::new(), n_spills: 0 }
    }

    /// Takes a record.
    #[inline]
    pub(crate) fn collect(&mut self, key: &[u8], value: &[u8]) -> Result<(), TaskError> {
        let bytes = key.len() + value.len();
        if self.arena.len() + bytes + (self.index.len() + 1) * ENTRY_BYTES > self.spiller.limit {
            self.spill_for(bytes)?;
        }
        let partition = self.spiller.partition.of(key)?;
        let offset = self.arena.len();
        if self.arena.capacity() - offset < bytes {
            self.grow(bytes);
        }
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        self.index.push(Entry {
            prefix: self.spiller.order().prefix(key),
            partition,
            offset: offset as u32,
            key_len: key.len() as u32,
            value_len: value.len() as u32,
        });
        let tally = self.spiller.context.tally();
        tally.map_output_records.add(1);
        tally.map_output_bytes.add(bytes as u64);
        Ok(())
    }

    /// Doubles the arena, but not beyond the limit.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        let len = self.arena.len();
        let wanted = (2 * len).clamp(FIRST_BYTES, self.spiller.limit.max(FIRST_BYTES)).max(len + bytes);
        self.arena.reserve_exact(wanted - len);
    }

    /// Makes room for a record of `bytes`.
    #[cold]
    fn spill_for(&mut self, bytes: usize) -> Result<(), TaskError> {
        if bytes > u32::MAX as usize / 4 {
            return Err(TaskError::Rule(format!("a record of {bytes} bytes is too large: 1 GiB is the most")));
        }
        if self.index.is_empty() { Ok(()) } else { self.spill() }
    }

    fn spill(&mut self) -> Result<(), TaskError> {
        let arena = &self.arena;
        let order = self.spiller.order();
        if order.is_of_bytes() {
            self.index.sort_unstable_by(|a, b| a.order(b, arena));
            // Combiners make their own values of what they get, in whatever order.
            if !matches!(self.spiller.combine, CombineStep::Reducer(_)) {
                order_values(&mut self.index, arena);
            }
        } else {
            self.index.sort_unstable_by(|a, b| a.custom_order(b, arena, order));
        }
        let order = order.clone();
        let mut run = self.spiller.begin()?;
        let mut start = 0;
        for partition in 0..self.spiller.partition.n {
            let n = self.index[start..].partition_point(|entry| entry.partition <= partition);
            let mut records = Sorted { arena, entries: &self.index[start..start + n], order: &order, at: None };
            run = self.spiller.combine.write_segment(&mut records, run)?;
            start += n;
        }
        self.spiller.end(run)?;
        self.n_spills += 1;
        self.arena.clear();
        self.index.clear();
        // One huge record must not keep its memory.
        self.arena.shrink_to(self.spiller.limit);
        Ok(())
    }

    /// Writes `file.out`.
    pub(crate) fn finish(mut self) -> Result<(), TaskError> {
        if self.n_spills == 0 || !self.index.is_empty() {
            self.spill()?;
        }
        let SortCollector { spiller, arena, index, .. } = self;
        drop((arena, index));
        spiller.finish()
    }
}

/// Sorted entries of one partition.
struct Sorted<'a> {
    arena: &'a [u8],
    entries: &'a [Entry],
    order: &'a KeyOrder,
    at: Option<usize>,
}

impl SortedRecords for Sorted<'_> {
    #[inline]
    fn advance(&mut self) -> Result<bool, TaskError> {
        let next = self.at.map_or(0, |at| at + 1);
        self.at = Some(next);
        Ok(next < self.entries.len())
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.entries[self.at.unwrap_or(0)].key(self.arena)
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.entries[self.at.unwrap_or(0)].value(self.arena)
    }

    #[inline]
    fn is_of_group(&self, key: &[u8]) -> bool {
        self.order.is_same_group(self.key(), key)
    }
}
