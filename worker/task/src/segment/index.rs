//! Where in a run each partition's segment is.
//!
//! `"HDX1" partitions:u32`, then for each partition `offset:u64 length:u64 records:u64 crc:u32`, little-endian. Each
//! entry has its own CRC-32 so that a server of segments reads 36 bytes per request and no more.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use crate::api::error::TaskError;

const MAGIC: [u8; 4] = *b"HDX1";
const HEADER_BYTES: usize = 8;
const ENTRY_BYTES: usize = 28;

/// Where one segment is in its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentPlace {
    /// First byte in the run's file.
    pub offset: u64,
    /// Number of bytes, never 0.
    pub length: u64,
    pub records: u64,
}

impl SegmentPlace {
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.length.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.records.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..24]);
        bytes[24..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Option<SegmentPlace> {
        let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).expect("eight bytes");
        let crc = u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]);
        (crc32fast::hash(&bytes[..24]) == crc).then(|| SegmentPlace {
            offset: word(0),
            length: word(8),
            records: word(16),
        })
    }
}

/// Writes the index of a run.
pub(crate) fn write_index(path: &Path, places: &[SegmentPlace]) -> Result<u64, TaskError> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + places.len() * ENTRY_BYTES);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&(places.len() as u32).to_le_bytes());
    for place in places {
        bytes.extend_from_slice(&place.to_bytes());
    }
    let mut file = File::create(path).map_err(TaskError::io("create", path))?;
    file.write_all(&bytes).map_err(TaskError::io("write", path))?;
    Ok(bytes.len() as u64)
}

/// Finds a partition's segment of a map's output from its `file.out.index`. A worker's shuffle server sends those
/// bytes of `file.out` as they are.
///
/// # Errors
/// When the index cannot be read, is damaged, or has no such partition.
pub fn find_segment(index: &Path, partition: u32) -> Result<SegmentPlace, TaskError> {
    // A worker reads it for others, and the map's program may have put a FIFO in its place.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file =
        File::options().read(true).custom_flags(flags.bits()).open(index).map_err(TaskError::io("open", index))?;
    let damaged = |offset: u64, detail: String| TaskError::Damaged {
        what: format!("map output index `{}`", index.display()),
        offset,
        detail,
    };
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0).map_err(TaskError::io("read", index))?;
    if header[..4] != MAGIC {
        return Err(damaged(0, "expected `HDX1`".to_owned()));
    }
    let partitions = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    if partition >= partitions {
        return Err(TaskError::Rule(format!(
            "map output `{}` has {partitions} partitions, asked for number {partition}",
            index.display()
        )));
    }
    let at = (HEADER_BYTES + partition as usize * ENTRY_BYTES) as u64;
    let mut entry = [0; ENTRY_BYTES];
    file.read_exact_at(&mut entry, at).map_err(TaskError::io(format!("read at byte {at}"), index))?;
    SegmentPlace::from_bytes(&entry).ok_or_else(|| damaged(at, "the entry's checksum is wrong".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_by_partition_and_damage_is_noticed() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("file.out.index");
        let places = [
            SegmentPlace { offset: 0, length: 28, records: 0 },
            SegmentPlace { offset: 28, length: 1 << 40, records: 7 },
        ];
        write_index(&path, &places).expect("write");
        assert_eq!(find_segment(&path, 0).expect("found"), places[0]);
        assert_eq!(find_segment(&path, 1).expect("found"), places[1]);
        let error = find_segment(&path, 2).expect_err("no such partition").to_string();
        assert!(error.contains("has 2 partitions, asked for number 2"), "{error}");

        let mut bytes = std::fs::read(&path).expect("read");
        bytes[40] ^= 1;
        std::fs::write(&path, &bytes).expect("write");
        assert!(find_segment(&path, 0).is_ok());
        assert!(matches!(find_segment(&path, 1), Err(TaskError::Damaged { offset: 36, .. })));
    }
}
