//! Sorting the general collector's index by the bytes of its keys, eight at a time.
//!
//! A comparison that looks at two records in the arena waits for memory twice, and a sort makes many of them for each
//! record. Here entries are sorted by eight bytes that they carry with them; those that agree in all eight get the next
//! eight of their keys, in one pass that waits for no record before it asks for the next, and are sorted again among
//! themselves. Few records, and what still agrees after [`LEVELS`] times, are compared as they are.

use std::cmp::Ordering;

use super::entry::Entry;
use crate::api::key_order::leading;

/// Bytes of a key that an entry carries.
const STEP: usize = 8;
/// How often entries are given further bytes: keys that agree for longer are few, or the same.
const LEVELS: usize = 8;
/// So many records are compared where they are: they fit a cache.
const FEW: usize = 8;

/// Sorts by partition and key, and the records of each key by value if `values` says so.
/// Entries come with the first bytes of their keys.
pub(super) fn sort_by_bytes(entries: &mut [Entry], arena: &[u8], values: bool) {
    entries.sort_unstable_by_key(|entry| (entry.partition, entry.prefix));
    for group in entries.chunk_by_mut(|a, b| (a.partition, a.prefix) == (b.partition, b.prefix)) {
        sort_agreeing(group, arena, 1, values);
    }
}

/// Sorts records of one partition whose keys agree in their first `level` steps, zeros after the end of a key included.
fn sort_agreeing(group: &mut [Entry], arena: &[u8], level: usize, values: bool) {
    if group.len() <= 1 {
        return;
    }
    let agreed = level * STEP;
    if group.len() <= FEW || level > LEVELS {
        group.sort_unstable_by(|a, b| compare_from(a, b, arena, agreed));
        if values {
            sort_values(group, arena);
        }
        return;
    }
    if group.windows(2).all(|pair| compare_from(&pair[0], &pair[1], arena, agreed) == Ordering::Equal) {
        if values {
            sort_each_value(group, arena);
        }
        return;
    }
    for entry in group.iter_mut() {
        entry.prefix = entry.key(arena).get(agreed..).map_or(0, leading);
    }
    // A key that has ended stands before those that go on: what they agree in is all of it.
    let rank = |entry: &Entry| ((entry.key_len as usize).min(agreed + 1), entry.prefix);
    group.sort_unstable_by_key(rank);
    for same in group.chunk_by_mut(|a, b| rank(a) == rank(b)) {
        sort_agreeing(same, arena, level + 1, values);
    }
}

/// The order of two keys that agree in their first bytes; looks at the arena only if both go on.
#[inline]
fn compare_from(a: &Entry, b: &Entry, arena: &[u8], agreed: usize) -> Ordering {
    if a.key_len.min(b.key_len) as usize <= agreed {
        a.key_len.cmp(&b.key_len)
    } else {
        a.key(arena)[agreed..].cmp(&b.key(arena)[agreed..])
    }
}

/// Sorts the records of each key by value; those of one key stand beside each other.
fn sort_values(group: &mut [Entry], arena: &[u8]) {
    for same in group.chunk_by_mut(|a, b| a.key(arena) == b.key(arena)) {
        sort_each_value(same, arena);
    }
}

/// Sorts records of one key by value, where they are not in order already: mostly one look at each does, which is
/// cheaper than a look at each for every comparison of the sort by key.
fn sort_each_value(same: &mut [Entry], arena: &[u8]) {
    if !same.is_sorted_by(|a, b| a.value(arena) <= b.value(arena)) {
        same.sort_unstable_by(|a, b| a.value(arena).cmp(b.value(arena)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sorts records of partition 0 and gives them back.
    fn sorted(records: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut arena = Vec::new();
        let mut entries = Vec::new();
        for (key, value) in records {
            entries.push(Entry {
                prefix: leading(key),
                partition: 0,
                offset: arena.len() as u32,
                key_len: key.len() as u32,
                value_len: value.len() as u32,
            });
            arena.extend_from_slice(key);
            arena.extend_from_slice(value);
        }
        sort_by_bytes(&mut entries, &arena, true);
        entries.iter().map(|entry| (entry.key(&arena).to_vec(), entry.value(&arena).to_vec())).collect()
    }

    #[test]
    fn keys_that_agree_beyond_all_levels_are_in_order() {
        let long = |end: &str| format!("{}{end}", "x".repeat(STEP * (LEVELS + 3))).into_bytes();
        let mut records: Vec<_> = (0..100).map(|i| (long(&format!("{}", i * 37 % 100)), vec![])).collect();
        records.push((long(""), vec![]));
        let found = sorted(&records);
        records.sort();
        assert_eq!(found, records);
    }

    #[test]
    fn a_key_stands_before_those_that_go_on_with_zeros() {
        let mut records: Vec<_> = (0..60).rev().map(|n| (vec![0_u8; n], vec![n as u8])).collect();
        let found = sorted(&records);
        records.sort();
        assert_eq!(found, records);
    }

    proptest! {
        #[test]
        fn every_record_is_where_a_plain_sort_has_it(
            mut records in prop::collection::vec(
                (
                    prop::collection::vec(prop_oneof![Just(0_u8), Just(b'a'), Just(0xff_u8)], 0..40),
                    prop::collection::vec(0_u8..3, 0..3),
                ),
                0..200,
            ),
            shared in prop::collection::vec(Just(b'k'), 0..100),
        ) {
            for (key, _) in &mut records {
                key.splice(0..0, shared.iter().copied());
            }
            let found = sorted(&records);
            records.sort();
            prop_assert_eq!(found, records);
        }
    }
}
