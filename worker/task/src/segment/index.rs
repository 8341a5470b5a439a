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

/// An index of this size has more partitions than any job has reduces.
const MOST_INDEX_BYTES: u64 = 64 << 20;

/// How many partitions a map's output has, if it is whole: an index without damage whose segments are all of the file. What the
/// segments hold is not read; who fetches them finds by their checksums what a disk made of them.
///
/// # Errors
/// When one of the two cannot be read, the index is damaged, or the file is shorter or longer than it says.
pub fn whole_output(index: &Path, output: &Path) -> Result<u32, TaskError> {
    let open = |path: &Path| {
        // The map's program may have put anything in their place.
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let file =
            File::options().read(true).custom_flags(flags.bits()).open(path).map_err(TaskError::io("open", path))?;
        let meta = file.metadata().map_err(TaskError::io("look at", path))?;
        Ok::<_, TaskError>((file, if meta.is_file() { meta.len() } else { 0 }))
    };
    let damaged = |offset: u64, detail: &str| TaskError::Damaged {
        what: format!("map output index `{}`", index.display()),
        offset,
        detail: detail.to_owned(),
    };
    let (file, index_bytes) = open(index)?;
    let (_, output_bytes) = open(output)?;
    if index_bytes < HEADER_BYTES as u64 || index_bytes > MOST_INDEX_BYTES {
        return Err(damaged(0, "it has no size of an index"));
    }
    let mut bytes = vec![0; index_bytes as usize];
    file.read_exact_at(&mut bytes, 0).map_err(TaskError::io("read", index))?;
    let (header, entries) = bytes.split_at(HEADER_BYTES);
    let partitions = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    if header[..4] != MAGIC || entries.len() as u64 != u64::from(partitions) * ENTRY_BYTES as u64 {
        return Err(damaged(0, "its head is not that of an index of this size"));
    }
    let mut end = 0u64;
    for (number, entry) in entries.chunks_exact(ENTRY_BYTES).enumerate() {
        let at = (HEADER_BYTES + number * ENTRY_BYTES) as u64;
        let place = entry.try_into().ok().and_then(SegmentPlace::from_bytes);
        let place = place.ok_or_else(|| damaged(at, "the entry's checksum is wrong"))?;
        let follows = place.offset == end && place.length > 0;
        end =
            end.checked_add(place.length).filter(|_| follows).ok_or_else(|| damaged(at, "the segment has no place"))?;
    }
    if end != output_bytes {
        return Err(damaged(0, &format!("its segments have {end} bytes, `{}` has {output_bytes}", output.display())));
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_whole_when_its_index_names_all_of_it() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let (index, output) = (dir.path().join("file.out.index"), dir.path().join("file.out"));
        let places =
            [SegmentPlace { offset: 0, length: 28, records: 0 }, SegmentPlace { offset: 28, length: 100, records: 7 }];
        write_index(&index, &places).expect("write");
        assert!(whole_output(&index, &output).is_err(), "there is none");
        std::fs::write(&output, vec![0; 128]).expect("write");
        assert_eq!(whole_output(&index, &output).expect("it is whole"), 2);
        for bytes in [0, 127, 129] {
            std::fs::write(&output, vec![0; bytes]).expect("write");
            assert!(whole_output(&index, &output).is_err(), "{bytes} bytes");
        }
        std::fs::write(&output, vec![0; 128]).expect("write");
        let whole = std::fs::read(&index).expect("read");
        for cut in 0..whole.len() {
            std::fs::write(&index, &whole[..cut]).expect("write");
            assert!(whole_output(&index, &output).is_err(), "cut at byte {cut}");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&index, &bytes).expect("write");
            assert!(whole_output(&index, &output).is_err(), "changed at byte {at}");
        }
        std::fs::write(&index, &whole).expect("write");
        std::fs::remove_file(&output).expect("remove");
        std::os::unix::fs::symlink("/etc/hostname", &output).expect("link");
        assert!(whole_output(&index, &output).is_err(), "a link is no output");
    }

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
