//! One attempt's record in a container: a header of 16 bytes, 16 more for each file that is not empty, then their bytes.
//!
//! ```text
//! crc of the rest of the header u32 | mark u8 | kind u8 | number u16 | index u32 | files that follow, as bits u8 | 0 0 0
//! for each of these: its length u64 | how much of it follows u64
//! ```
//!
//! Numbers are little-endian. Where less of a file follows than it had, that is its first half and its last. The checksum
//! covers the header alone: a record is whole when all of its bytes are there, as they are written in order.

use howdah_core::job::{AttemptId, JobId, TaskKind};

/// An attempt's logs, in the order in which they follow.
pub(crate) const FILES: [&str; 3] = ["stdout", "stderr", "syslog"];

/// Names an attempt within its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn of(attempt: AttemptId) -> Key {
        let kind = u64::from(attempt.kind == TaskKind::Reduce);
        Key(kind << 48 | u64::from(attempt.number) << 32 | u64::from(attempt.index))
    }
}

/// How much there was of a file, and how much of that was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) length: u64,
    pub(super) kept: u64,
}

impl Kept {
    /// As much of a file as fits.
    pub(super) fn within(length: u64, most: u64) -> Kept {
        Kept { length, kept: length.min(most) }
    }

    pub(super) fn is_cut(self) -> bool {
        self.kept < self.length
    }

    /// How much of its beginning was kept; the rest is its end.
    pub(super) fn head(self) -> u64 {
        if self.is_cut() { self.kept / 2 } else { self.kept }
    }
}

/// A record without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key: Key,
    /// Of standard output, standard error and `syslog`.
    pub(super) files: [Kept; 3],
}

const MARK: u8 = b'A';
const FIXED: usize = 16;
const PER_FILE: usize = 16;
/// A header is never longer.
pub(super) const MAX_HEADER: usize = FIXED + 3 * PER_FILE;

impl Record {
    pub(super) fn new(attempt: AttemptId, files: [Kept; 3]) -> Record {
        Record { key: Key::of(attempt), files }
    }

    pub(super) fn header(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        let Key(key) = self.key;
        bytes.extend([MARK, (key >> 48) as u8]);
        bytes.extend(((key >> 32) as u16).to_le_bytes());
        bytes.extend((key as u32).to_le_bytes());
        let follows = |i: usize| u8::from(self.files[i].length > 0) << i;
        bytes.extend([follows(0) | follows(1) | follows(2), 0, 0, 0]);
        for Kept { length, kept } in self.files.into_iter().filter(|file| file.length > 0) {
            bytes.extend(length.to_le_bytes());
            bytes.extend(kept.to_le_bytes());
        }
        let crc = crc32fast::hash(&bytes[4..]).to_le_bytes();
        bytes[..4].copy_from_slice(&crc);
        bytes
    }

    /// The record that begins here and the length of its header; `None` when there is none, or only a part of it.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Record, u64)> {
        let fixed = bytes.get(..FIXED)?;
        let (kind, bits) = (fixed[5], fixed[12]);
        if fixed[4] != MARK || kind > 1 || bits > 7 {
            return None;
        }
        let header = bytes.get(..FIXED + PER_FILE * bits.count_ones() as usize)?;
        if crc32fast::hash(&header[4..]).to_le_bytes() != header[..4] {
            return None;
        }
        let number = u16::from_le_bytes([fixed[6], fixed[7]]);
        let index = u32::from_le_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]);
        let mut lengths = header[FIXED..].as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut files = [Kept::default(); 3];
        for (_, file) in files.iter_mut().enumerate().filter(|(i, _)| bits >> i & 1 == 1) {
            let (length, kept) = (lengths.next()?, lengths.next()?);
            *file = Kept { length, kept: Some(kept).filter(|&kept| kept <= length)? };
        }
        let kind = if kind == 0 { TaskKind::Map } else { TaskKind::Reduce };
        // Which job it is the container's name says.
        let key = Key::of(AttemptId { job: JobId(0), index, number, kind });
        Some((Record { key, files }, header.len() as u64))
    }

    /// How many bytes follow the header; `None` for more than there can be.
    pub(super) fn body(&self) -> Option<u64> {
        self.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.kept))
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::TaskId;

    use super::*;

    fn attempt(kind: TaskKind, index: u32) -> AttemptId {
        TaskId { job: JobId(7), kind, index }.attempt(2_003)
    }

    #[test]
    fn a_header_is_read_back_and_costs_16_bytes_for_empty_logs() {
        let empty = Record::new(attempt(TaskKind::Reduce, u32::MAX), [Kept::default(); 3]);
        assert_eq!(empty.header().len(), 16);
        assert_eq!(Record::parse(&empty.header()), Some((empty, 16)));
        let files = [Kept { length: 9, kept: 9 }, Kept::default(), Kept { length: 1 << 40, kept: 12 }];
        let some = Record::new(attempt(TaskKind::Map, 3), files);
        assert_eq!(Record::parse(&some.header()), Some((some.clone(), 48)));
        assert_eq!(some.body(), Some(21));
    }

    #[test]
    fn a_header_that_was_torn_or_changed_at_any_byte_is_none() {
        let files = [Kept { length: 9, kept: 9 }; 3];
        let whole = Record::new(attempt(TaskKind::Map, 3), files).header();
        for at in 0..whole.len() {
            assert_eq!(Record::parse(&whole[..at]), None, "{at}");
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert_eq!(Record::parse(&changed), None, "{at}");
        }
    }

    #[test]
    fn attempts_of_one_job_have_keys_of_their_own() {
        let all = [attempt(TaskKind::Map, 1), attempt(TaskKind::Reduce, 1), attempt(TaskKind::Map, 2)];
        let again = AttemptId { number: 1, ..all[0] };
        let keys: std::collections::HashSet<_> = all.into_iter().chain([again]).map(Key::of).collect();
        assert_eq!(keys.len(), 4);
    }
}
