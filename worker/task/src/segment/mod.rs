//! Sorted intermediate data: how one partition's records are stored, checked, found and read back.
//!
//! A *run* is a file of sorted segments, one per partition, one after the other, with an index beside it. A map's
//! final run is `file.out` with `file.out.index`; its segments travel to the reduces exactly as they are stored.
//!
//! ```text
//! segment = "HDS1" codec:u8 !codec:u8 0 0, block*, end
//! block   = stored_len:u32 raw_len:u32 crc:u32 stored bytes            (all integers little-endian)
//! end     = 8:u32 0xffff_ffff:u32 crc:u32 records:u64
//! raw     = whole records: varint key_len, varint value_len, key, value
//! ```
//!
//! The CRC-32 covers both lengths and the stored bytes, so that a block is trusted only after it was checked.
//! Records are in ascending order of (key, value): of the bytes of both, unless the application brings another order of
//! keys. Ordering values too costs a comparison where keys are
//! equal and buys that nothing downstream depends on how the input was split or when what was spilled.
//! A block holds about 64 KiB and at least one record; a reader needs memory for one block.

mod checker;
mod codec;
#[cfg(test)]
mod fuzz;
mod index;
mod reader;
mod writer;

pub(crate) use checker::SegmentChecker;
pub(crate) use codec::Codec;
pub(crate) use index::write_index;
pub use index::{SegmentPlace, find_segment, whole_output};
pub(crate) use reader::SegmentReader;
pub(crate) use writer::{Run, RunWriter};

/// First bytes of a segment.
const MAGIC: [u8; 4] = *b"HDS1";
/// Magic, codec, padding.
const HEADER_BYTES: usize = 8;
/// Two lengths and the checksum.
const BLOCK_HEADER_BYTES: usize = 12;
/// `raw_len` of the end.
const END_MARK: u32 = u32::MAX;
/// Payload of the end.
const END_BYTES: u32 = 8;
/// Raw bytes after which a block is closed.
const BLOCK_BYTES: usize = 64 * 1024;

/// Records in ascending order of (key, value), one at a time.
pub(crate) trait SortedRecords {
    /// Steps to the next record, the first one to begin with; `false` after the last.
    fn advance(&mut self) -> Result<bool, crate::TaskError>;
    /// The current record's key.
    fn key(&self) -> &[u8];
    /// The current record's value.
    fn value(&self) -> &[u8];
    /// Whether the current record belongs to the group of `key`.
    #[inline]
    fn is_of_group(&self, key: &[u8]) -> bool {
        self.key() == key
    }
}

fn segment_header(codec: Codec) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&MAGIC);
    header[4] = codec.to_byte();
    header[5] = !codec.to_byte();
    header
}

/// The codec that a segment's header names, if it is one.
fn codec_of(header: &[u8]) -> Option<Codec> {
    let [m0, m1, m2, m3, codec, check, 0, 0, ..] = *header else { return None };
    if [m0, m1, m2, m3] == MAGIC && check == !codec { Codec::from_byte(codec) } else { None }
}

/// Header of a block as stored.
#[derive(Clone, Copy)]
struct BlockHeader {
    stored_len: u32,
    raw_len: u32,
    crc: u32,
}

impl BlockHeader {
    fn for_payload(raw_len: u32, payload: &[u8]) -> BlockHeader {
        let stored_len = payload.len() as u32;
        let mut header = BlockHeader { stored_len, raw_len, crc: 0 };
        let mut crc = header.start_crc();
        crc.update(payload);
        header.crc = crc.finalize();
        header
    }

    fn start_crc(self) -> crc32fast::Hasher {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.stored_len.to_le_bytes());
        crc.update(&self.raw_len.to_le_bytes());
        crc
    }

    fn to_bytes(self) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.stored_len.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; BLOCK_HEADER_BYTES]) -> BlockHeader {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        BlockHeader { stored_len: word(0), raw_len: word(4), crc: word(8) }
    }

    fn is_end(self) -> bool {
        self.raw_len == END_MARK && self.stored_len == END_BYTES
    }
}

/// Appends a length of at most 2^32 − 1 in seven-bit groups, low ones first.
#[inline]
fn put_varint(to: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Reads [`put_varint`] back; `None` when cut short or too long.
#[inline]
fn take_varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    let mut shift = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
        if shift > 28 {
            return None;
        }
    }
}
