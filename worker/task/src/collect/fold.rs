//! The folding collector: a hash table from keys to longs, so that a record costs one probe and no memory of its own.
//!
//! A slot is half a cache line and holds everything a probe needs: keys of up to 15 bytes lie in it as a 128-bit
//! number, left-aligned and big-endian, with their length in the low byte; comparing two such numbers compares the
//! keys as bytes, for equality while folding and for order when spilling. Longer keys have their first 15 bytes in the
//! slot and all of them in an arena.
//!
//! Memory: slots and arena stay below the limit (`io.sort.mb`), the old slots counted while the table grows. When it
//! cannot grow it spills and starts again empty. Sorting happens within the slots.

use std::cmp::Ordering;

use super::spill::Spiller;
use crate::api::choices::Fold;
use crate::api::error::TaskError;
use crate::api::text::{Decimal, parse_long};

/// Keys of this length fit a slot.
const INLINE: usize = 15;
/// The low byte of a longer key's number; above all short keys', so that a key follows its prefixes.
const LONG: u128 = 0xff;
/// Slots of a new table.
const FIRST_SLOTS: usize = 1024;

/// Folds and spills.
pub(crate) struct FoldCollector {
    fold: Fold,
    slots: Vec<Slot>,
    used: usize,
    /// `used` at which the table must grow.
    full: usize,
    arena: Vec<u8>,
    /// Not yet in the tally, as this is the innermost loop.
    records: u64,
    bytes: u64,
    n_spills: usize,
    spiller: Spiller,
}

#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    /// 0 when free: the low byte of a key is its length plus 1.
    key: u128,
    value: i64,
    /// Where the arena holds a long key: four bytes of length, then the key.
    place: u32,
    /// Set when spilling.
    partition: u32,
}

const SLOT_BYTES: usize = size_of::<Slot>();

#[inline(always)]
fn number(key: &[u8]) -> u128 {
    let n = key.len();
    if n >= 8 {
        let Some((first, last)) = key.first_chunk::<8>().zip(key.last_chunk::<8>()) else { return 0 };
        let high = u64::from_be_bytes(*first);
        if n > INLINE {
            let first = key.first_chunk::<16>().map_or(0, |bytes| u128::from_be_bytes(*bytes));
            return first | LONG;
        }
        // The last eight bytes overlap the first; their tail moves to the top.
        let low = (u64::from_be_bytes(*last) << (8 * (15 - n))) << 8;
        (u128::from(high) << 64) | u128::from(low | (n as u64 + 1))
    } else if n >= 4 {
        let Some((first, last)) = key.first_chunk::<4>().zip(key.last_chunk::<4>()) else { return 0 };
        let tail = (u64::from(u32::from_be_bytes(*last)) << (8 * (8 - n))) & 0xffff_ffff;
        let high = (u64::from(u32::from_be_bytes(*first)) << 32) | tail;
        (u128::from(high) << 64) | (n as u128 + 1)
    } else if n > 0 {
        // First, middle and last byte, which may be the same one.
        let at = |i: usize| u64::from(key[i]) << (56 - 8 * i);
        (u128::from(at(0) | at(n / 2) | at(n - 1)) << 64) | (n as u128 + 1)
    } else {
        1
    }
}

/// Multiplies the halves, each with some bits of pi mixed in, and folds the product.
#[inline(always)]
fn mix(number: u128) -> u64 {
    let high = (number >> 64) as u64 ^ 0x243f_6a88_85a3_08d3;
    let low = number as u64 ^ 0x1319_8a2e_0370_7344;
    let product = u128::from(high) * u128::from(low);
    (product >> 64) as u64 ^ product as u64
}

#[inline(always)]
fn hash(number: u128, key: &[u8]) -> u64 {
    if number & LONG != LONG { mix(number) } else { hash_long(number, key) }
}

#[inline(never)]
fn hash_long(number: u128, key: &[u8]) -> u64 {
    let (chunks, rest) = key.as_chunks::<16>();
    let mut state = mix(number) ^ key.len() as u64;
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    for chunk in chunks.iter().chain(std::iter::once(&last)) {
        state = mix(u128::from_le_bytes(*chunk) ^ u128::from(state));
    }
    state
}

fn long_key(arena: &[u8], place: u32) -> &[u8] {
    let place = place as usize;
    let length = arena[place..].first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    &arena[place + 4..][..length as usize]
}

impl Slot {
    /// Calls `f` with the key's bytes.
    fn with_key<T>(&self, arena: &[u8], f: impl FnOnce(&[u8]) -> T) -> T {
        if self.key & LONG == LONG {
            return f(long_key(arena, self.place));
        }
        let bytes = self.key.to_be_bytes();
        f(&bytes[..usize::from(bytes[INLINE]) - 1])
    }

    fn order(&self, other: &Slot, arena: &[u8]) -> Ordering {
        let first = (self.partition, self.key).cmp(&(other.partition, other.key));
        if first == Ordering::Equal && self.key & LONG == LONG {
            return long_key(arena, self.place).cmp(long_key(arena, other.place));
        }
        first
    }
}

impl FoldCollector {
    pub(crate) fn new(fold: Fold, spiller: Spiller) -> FoldCollector {
        FoldCollector {
            fold,
            slots: vec![Slot::default(); FIRST_SLOTS],
            used: 0,
            full: FIRST_SLOTS / 16 * 13,
            arena: Vec::new(),
            records: 0,
            bytes: 0,
            n_spills: 0,
            spiller,
        }
    }

    /// Takes a record whose value is decimal text.
    pub(crate) fn collect(&mut self, key: &[u8], value: &[u8]) -> Result<(), TaskError> {
        self.collect_long(key, parse_long(value)?)
    }

    /// Takes a record.
    #[inline(always)]
    pub(crate) fn collect_long(&mut self, key: &[u8], value: i64) -> Result<(), TaskError> {
        self.records += 1;
        self.bytes += key.len() as u64 + decimal_length(value);
        let number = number(key);
        let mask = self.slots.len() - 1;
        let mut at = hash(number, key) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.key == number && (number & LONG != LONG || long_key(&self.arena, slot.place) == key) {
                slot.value = self.fold.join(slot.value, value);
                return Ok(());
            }
            if slot.key == 0 {
                return self.insert(at, number, key, value);
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts a new key into the free slot `at`, and makes room for the next one.
    #[inline(never)]
    fn insert(&mut self, at: usize, number: u128, key: &[u8], value: i64) -> Result<(), TaskError> {
        let mut place = 0;
        if number & LONG == LONG {
            place = self.arena.len() as u32;
            self.arena.extend_from_slice(&(key.len() as u32).to_le_bytes());
            self.arena.extend_from_slice(key);
        }
        self.slots[at] = Slot { key: number, value, place, partition: 0 };
        self.used += 1;
        if self.arena.len() + self.slots.len() * SLOT_BYTES > self.spiller.limit {
            return self.spill();
        }
        if self.used < self.full {
            return Ok(());
        }
        if 3 * self.slots.len() * SLOT_BYTES + self.arena.len() > self.spiller.limit {
            return self.spill();
        }
        self.grow();
        Ok(())
    }

    fn grow(&mut self) {
        let n = 2 * self.slots.len();
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); n]);
        self.full = n / 16 * 13;
        let arena = &self.arena;
        for slot in old.iter().filter(|slot| slot.key != 0) {
            let hash =
                if slot.key & LONG == LONG { hash_long(slot.key, long_key(arena, slot.place)) } else { mix(slot.key) };
            let mut at = hash as usize & (n - 1);
            while self.slots[at].key != 0 {
                at = (at + 1) & (n - 1);
            }
            self.slots[at] = *slot;
        }
    }

    fn spill(&mut self) -> Result<(), TaskError> {
        let mut run = self.spiller.begin()?;
        let mut n = 0;
        for at in 0..self.slots.len() {
            if self.slots[at].key != 0 {
                self.slots.swap(n, at);
                n += 1;
            }
        }
        let (slots, arena) = (&mut self.slots[..n], &self.arena);
        for slot in slots.iter_mut() {
            slot.partition = slot.with_key(arena, |key| self.spiller.partition.of(key))?;
        }
        slots.sort_unstable_by(|a, b| a.order(b, arena));
        let mut rest = slots.iter().peekable();
        for partition in 0..self.spiller.partition.n {
            run.begin();
            while let Some(slot) = rest.next_if(|slot| slot.partition == partition) {
                let value = Decimal::new(slot.value);
                slot.with_key(arena, |key| run.append(key, value.as_bytes()))?;
            }
            run.end()?;
        }
        self.spiller.end(run)?;
        self.n_spills += 1;
        self.flush_tally();
        self.spiller.context.tally().combine_output_records.add(n as u64);
        self.slots.fill(Slot::default());
        self.arena.clear();
        self.used = 0;
        Ok(())
    }

    /// Passes batched counts on.
    pub(crate) fn flush_tally(&mut self) {
        let tally = self.spiller.context.tally();
        let records = std::mem::take(&mut self.records);
        tally.map_output_records.add(records);
        tally.combine_input_records.add(records);
        tally.map_output_bytes.add(std::mem::take(&mut self.bytes));
    }

    /// Writes `file.out`.
    pub(crate) fn finish(mut self) -> Result<(), TaskError> {
        if self.n_spills == 0 || self.used > 0 {
            self.spill()?;
        }
        self.flush_tally();
        let FoldCollector { spiller, slots, arena, .. } = self;
        drop((slots, arena));
        spiller.finish()
    }
}

/// Length of a long in decimal text.
#[inline(always)]
fn decimal_length(value: i64) -> u64 {
    if (0..10).contains(&value) { 1 } else { Decimal::new(value).as_bytes().len() as u64 }
}
