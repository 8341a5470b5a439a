//! The general collector: records in one buffer, sorted by an index when it is full.
//!
//! A record's bytes go to the end of an arena; the index holds partition, the key's first eight bytes and where the
//! record is. Sorting moves 24 bytes per record and seldom looks at the arena (see [`super::order`]). Memory: arena and
//! index together stay below the limit (`io.sort.mb` × `io.sort.spill.percent`), unless one record alone is larger.

use super::entry::Entry;
use super::order::sort_by_bytes;
use super::spill::Spiller;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;
use crate::merge::CombineStep;
use crate::segment::SortedRecords;

/// Size of the arena when the first record comes.
const FIRST_BYTES: usize = 64 * 1024;
/// Records that are looked at together before they are written.
const AHEAD: usize = 32;

/// Collects, sorts and spills.
pub(crate) struct SortCollector {
    spiller: Spiller,
    arena: Vec<u8>,
    index: Vec<Entry>,
    n_spills: usize,
}

const ENTRY_BYTES: usize = size_of::<Entry>();

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
            // Combiners make their own values of what they get, in whatever order.
            let values = !matches!(self.spiller.combine, CombineStep::Reducer(_));
            sort_by_bytes(&mut self.index, arena, values);
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

impl Sorted<'_> {
    /// Looks at the next records, so that the arena's memory is asked for all of them at once. In sorted order each
    /// lies somewhere else, and to copy one after the other waits for each.
    fn look_ahead(&self, next: usize) {
        let coming = self.entries.get(next..).unwrap_or_default().iter().take(AHEAD);
        let seen = coming.fold(0_u8, |seen, entry| seen ^ self.arena.get(entry.offset as usize).copied().unwrap_or(0));
        std::hint::black_box(seen);
    }
}

impl SortedRecords for Sorted<'_> {
    #[inline]
    fn advance(&mut self) -> Result<bool, TaskError> {
        let next = self.at.map_or(0, |at| at + 1);
        self.at = Some(next);
        if next.is_multiple_of(AHEAD) {
            self.look_ahead(next);
        }
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
