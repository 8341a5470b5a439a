//! Reads segments, from memory or from a run.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;
use std::sync::Arc;

use super::{BLOCK_HEADER_BYTES, BlockHeader, Codec, HEADER_BYTES, SegmentPlace, SortedRecords, codec_of, take_varint};
use crate::api::error::TaskError;

/// Buffer of a file's reader; blocks that do not fit it are read past it.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads one segment. Memory: one block, twice when compressed, and the file's buffer.
pub(crate) struct SegmentReader {
    source: Source,
    what: String,
    codec: Codec,
    raw: Vec<u8>,
    stored: Vec<u8>,
    /// Where in `raw` the next record starts.
    next: usize,
    key: (usize, usize),
    value_end: usize,
    /// Stored bytes consumed so far.
    consumed: u64,
    length: u64,
    records: u64,
    ended: bool,
}

enum Source {
    File(Take<BufReader<File>>),
    Memory(Arc<Vec<u8>>, usize),
}

impl SegmentReader {
    /// A segment of a run.
    pub(crate) fn open(path: &Path, place: SegmentPlace) -> Result<SegmentReader, TaskError> {
        let mut file = File::open(path).map_err(TaskError::io("open", path))?;
        file.seek(SeekFrom::Start(place.offset)).map_err(TaskError::io("seek in", path))?;
        let capacity = usize::try_from(place.length).unwrap_or(usize::MAX).clamp(64, BUFFER_BYTES);
        let reader = BufReader::with_capacity(capacity, file).take(place.length);
        SegmentReader::start(
            Source::File(reader),
            format!("segment at {} of `{}`", place.offset, path.display()),
            place.length,
        )
    }

    /// A segment in memory; `what` names it in errors.
    pub(crate) fn memory(bytes: Arc<Vec<u8>>, what: String) -> Result<SegmentReader, TaskError> {
        let length = bytes.len() as u64;
        SegmentReader::start(Source::Memory(bytes, 0), what, length)
    }

    fn start(source: Source, what: String, length: u64) -> Result<SegmentReader, TaskError> {
        let mut reader = SegmentReader {
            source,
            what,
            codec: Codec::Plain,
            raw: Vec::new(),
            stored: Vec::new(),
            next: 0,
            key: (0, 0),
            value_end: 0,
            consumed: 0,
            length,
            records: 0,
            ended: false,
        };
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header)?;
        let Some(codec) = codec_of(&header) else {
            return Err(reader.damaged("expected the header of a segment".to_owned()));
        };
        reader.codec = codec;
        Ok(reader)
    }

    /// Stored bytes consumed so far and in all, for progress.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.consumed, self.length)
    }

    fn read_exact(&mut self, to: &mut [u8]) -> Result<(), TaskError> {
        let done = match &mut self.source {
            Source::File(file) => file.read_exact(to).map_err(|e| e.to_string()),
            Source::Memory(bytes, at) => match bytes.get(*at..*at + to.len()) {
                Some(from) => {
                    to.copy_from_slice(from);
                    *at += to.len();
                    Ok(())
                }
                None => Err("it ends too early".to_owned()),
            },
        };
        done.map_err(|detail| self.damaged(detail))?;
        self.consumed += to.len() as u64;
        Ok(())
    }

    /// Loads and checks the next block; `false` at the end.
    fn load_block(&mut self) -> Result<bool, TaskError> {
        let mut header = [0; BLOCK_HEADER_BYTES];
        self.read_exact(&mut header)?;
        let header = BlockHeader::from_bytes(header);
        if u64::from(header.stored_len) > self.length - self.consumed {
            return Err(self.damaged(format!("a block of {} bytes does not fit in it", header.stored_len)));
        }
        let mut stored = std::mem::take(&mut self.stored);
        stored.resize(header.stored_len as usize, 0);
        let read = self.read_exact(&mut stored);
        self.stored = stored;
        read?;
        let mut crc = header.start_crc();
        crc.update(&self.stored);
        let found = crc.finalize();
        if found != header.crc {
            return Err(self.damaged(format!("block checksum {found:08x}, expected {:08x}", header.crc)));
        }
        if header.is_end() {
            let expected = self.stored[..].try_into().map(u64::from_le_bytes).unwrap_or(0);
            if expected != self.records {
                return Err(self.damaged(format!("expected {expected} records, found {}", self.records)));
            }
            return Ok(false);
        }
        self.next = 0;
        if self.codec == Codec::Plain {
            std::mem::swap(&mut self.raw, &mut self.stored);
            return Ok(true);
        }
        let unpacked = self.codec.decompress(&self.stored, header.raw_len as usize, &mut self.raw);
        unpacked.map_err(|detail| self.damaged(detail)).map(|()| true)
    }

    fn damaged(&self, detail: String) -> TaskError {
        TaskError::Damaged { what: self.what.clone(), offset: self.consumed, detail }
    }

    /// Parses the record at `self.next`.
    #[inline]
    fn parse(&mut self) -> Option<()> {
        let mut at = self.next;
        let key_len = take_varint(&self.raw, &mut at)?;
        let value_len = take_varint(&self.raw, &mut at)?;
        let value_start = at.checked_add(key_len)?;
        let end = value_start.checked_add(value_len)?;
        if end > self.raw.len() {
            return None;
        }
        self.key = (at, value_start);
        self.value_end = end;
        self.next = end;
        Some(())
    }
}

impl SortedRecords for SegmentReader {
    #[inline]
    fn advance(&mut self) -> Result<bool, TaskError> {
        while self.next == self.raw.len() {
            if self.ended || !self.load_block()? {
                self.ended = true;
                return Ok(false);
            }
        }
        match self.parse() {
            Some(()) => {
                self.records += 1;
                Ok(true)
            }
            None => Err(self.damaged("a record does not fit in its block".to_owned())),
        }
    }

    #[inline]
    fn key(&self) -> &[u8] {
        &self.raw[self.key.0..self.key.1]
    }

    #[inline]
    fn value(&self) -> &[u8] {
        &self.raw[self.key.1..self.value_end]
    }
}
