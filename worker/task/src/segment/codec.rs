//! Compression of intermediate data, block by block.

use std::io::Read;

use crate::api::error::TaskError;
use crate::api::properties::Properties;

/// Level of zstd: intermediate data is read once.
const ZSTD_LEVEL: i32 = 1;
/// No byte of an LZ4 block stands for more bytes than this (a match's length grows by 255 a byte).
const LZ4_RATIO: usize = 255;
/// Blocks grow to the largest record. What a block says of its size is believed up to this many bytes; more of it is held as it
/// comes.
const BELIEVED_BYTES: usize = 1 << 20;

/// How the blocks of a segment are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Not at all.
    #[default]
    Plain,
    /// LZ4 blocks.
    Lz4,
    /// Zstandard frames.
    Zstd,
}

impl Codec {
    /// What `mapred.compress.map.output` and its codec ask for. Hadoop's class names are accepted; codecs that we do
    /// not have for intermediate data (Snappy, LZO, gzip) become LZ4, as only speed is at stake.
    pub(crate) fn of_map_output(properties: &Properties) -> Result<Codec, TaskError> {
        let on = properties.parse_or(
            &["mapred.compress.map.output", "mapreduce.map.output.compress"],
            false,
            "true or false",
        )?;
        if !on {
            return Ok(Codec::Plain);
        }
        let named = properties.first(&["mapred.map.output.compression.codec", "mapreduce.map.output.compress.codec"]);
        let name = named.map(|(_, value)| value.to_ascii_lowercase()).unwrap_or_default();
        let zstd = name.contains("zstd") || name.contains("zstandard");
        Ok(if zstd { Codec::Zstd } else { Codec::Lz4 })
    }

    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Codec::Plain => 0,
            Codec::Lz4 => 1,
            Codec::Zstd => 2,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Codec> {
        match byte {
            0 => Some(Codec::Plain),
            1 => Some(Codec::Lz4),
            2 => Some(Codec::Zstd),
            _ => None,
        }
    }

    /// Compresses `raw` into `stored`, which is cleared first. Not called for `Plain`.
    pub(crate) fn compress(self, raw: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        stored.clear();
        match self {
            Codec::Plain => stored.extend_from_slice(raw),
            Codec::Lz4 => {
                stored.resize(lz4_flex::block::get_maximum_output_size(raw.len()), 0);
                let n = lz4_flex::block::compress_into(raw, stored).map_err(|e| e.to_string())?;
                stored.truncate(n);
            }
            Codec::Zstd => *stored = zstd::bulk::compress(raw, ZSTD_LEVEL).map_err(|e| e.to_string())?,
        }
        Ok(())
    }

    /// Decompresses a checked block of `raw_len` bytes into `raw`, which is cleared first.
    pub(crate) fn decompress(self, stored: &[u8], raw_len: usize, raw: &mut Vec<u8>) -> Result<(), String> {
        raw.clear();
        match self {
            Codec::Plain => raw.extend_from_slice(stored),
            Codec::Lz4 => {
                if raw_len > stored.len().saturating_mul(LZ4_RATIO) {
                    return Err(format!("expected {raw_len} bytes, which {} of LZ4 cannot hold", stored.len()));
                }
                raw.resize(raw_len, 0);
                let n = lz4_flex::block::decompress_into(stored, raw).map_err(|e| e.to_string())?;
                raw.truncate(n);
            }
            Codec::Zstd if raw_len <= BELIEVED_BYTES => {
                *raw = zstd::bulk::decompress(stored, raw_len).map_err(|e| e.to_string())?;
            }
            Codec::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(stored).map_err(|e| e.to_string())?;
                decoder.take(raw_len as u64 + 1).read_to_end(raw).map_err(|e| e.to_string())?;
            }
        }
        if raw.len() == raw_len { Ok(()) } else { Err(format!("expected {raw_len} bytes, found {}", raw.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_size_come_back_and_none_is_believed_beyond_its_bytes() {
        for codec in [Codec::Lz4, Codec::Zstd] {
            for n in [0, 1, 1_000, BELIEVED_BYTES, BELIEVED_BYTES + 1, 3 * BELIEVED_BYTES] {
                let raw: Vec<u8> = (0..n).map(|i| (i / 100) as u8).collect();
                let (mut stored, mut again) = (Vec::new(), vec![9; 9]);
                codec.compress(&raw, &mut stored).expect("it can be compressed");
                codec.decompress(&stored, n, &mut again).expect("it comes back");
                assert!(again == raw, "{codec:?}, {n} bytes");
                for wrong in [n + 1, 2 * BELIEVED_BYTES + 7, u32::MAX as usize] {
                    codec.decompress(&stored, wrong, &mut again).expect_err("it has another size");
                    assert!(again.capacity() <= 8 * BELIEVED_BYTES.max(n), "{codec:?}: {} held", again.capacity());
                }
            }
        }
    }
}
