//! Writes runs: segments one after the other into one file.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{BLOCK_BYTES, BlockHeader, Codec, END_MARK, SegmentPlace, put_varint, segment_header};
use crate::api::context::Context;
use crate::api::error::TaskError;
use crate::api::key_order::KeyOrder;

/// Stored bytes that are written to the file at once.
const FLUSH_BYTES: usize = 256 * 1024;

/// Writes one run. Memory: one block, twice when compressed, and [`FLUSH_BYTES`].
pub(crate) struct RunWriter {
    file: File,
    path: PathBuf,
    codec: Codec,
    context: Context,
    block: Vec<u8>,
    packed: Vec<u8>,
    pending: Vec<u8>,
    /// Bytes of the file, pending ones included.
    offset: u64,
    segment_start: u64,
    segment_records: u64,
    places: Vec<SegmentPlace>,
    last_key: Vec<u8>,
}

impl RunWriter {
    pub(crate) fn create(path: PathBuf, codec: Codec, context: &Context) -> Result<RunWriter, TaskError> {
        let file = File::create(&path).map_err(TaskError::io("create", &path))?;
        Ok(RunWriter {
            file,
            path,
            codec,
            context: context.clone(),
            block: Vec::new(),
            packed: Vec::new(),
            pending: Vec::new(),
            offset: 0,
            segment_start: 0,
            segment_records: 0,
            places: Vec::new(),
            last_key: Vec::new(),
        })
    }

    /// Starts the next partition's segment.
    pub(crate) fn begin(&mut self) {
        self.segment_start = self.offset;
        self.segment_records = 0;
        self.last_key.clear();
        self.store(&segment_header(self.codec));
    }

    /// Adds a record, which must not sort before the one added last.
    #[inline]
    pub(crate) fn append(&mut self, key: &[u8], value: &[u8]) -> Result<(), TaskError> {
        if key.len() > u32::MAX as usize / 4 || value.len() > u32::MAX as usize / 4 {
            return Err(TaskError::Rule(format!(
                "a record of {} + {} bytes is too large: keys and values may have 1 GiB at most",
                key.len(),
                value.len()
            )));
        }
        put_varint(&mut self.block, key.len());
        put_varint(&mut self.block, value.len());
        self.block.extend_from_slice(key);
        self.block.extend_from_slice(value);
        self.segment_records += 1;
        if self.block.len() >= BLOCK_BYTES { self.close_block() } else { Ok(()) }
    }

    /// Like [`RunWriter::append`], for records that a program made: refuses keys out of order.
    pub(crate) fn append_checked(&mut self, key: &[u8], value: &[u8], order: &KeyOrder) -> Result<(), TaskError> {
        if self.segment_records > 0 && order.compare(key, &self.last_key).is_lt() {
            return Err(TaskError::Rule(format!(
                "a combiner emitted key `{}` after `{}`: it may only emit the key that it was given",
                crate::text::printable(key),
                crate::text::printable(&self.last_key)
            )));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.append(key, value)
    }

    /// Ends the segment.
    pub(crate) fn end(&mut self) -> Result<(), TaskError> {
        self.close_block()?;
        let payload = self.segment_records.to_le_bytes();
        let header = BlockHeader::for_payload(END_MARK, &payload);
        self.store(&header.to_bytes());
        self.store(&payload);
        let length = self.offset - self.segment_start;
        self.places.push(SegmentPlace { offset: self.segment_start, length, records: self.segment_records });
        self.flush_if(FLUSH_BYTES)
    }

    /// Finishes the file.
    pub(crate) fn finish(mut self) -> Result<Run, TaskError> {
        self.flush_if(1)?;
        Ok(Run { path: self.path, places: self.places, bytes: self.offset })
    }

    /// Records added to the current or last segment.
    pub(crate) fn segment_records(&self) -> u64 {
        self.segment_records
    }

    fn close_block(&mut self) -> Result<(), TaskError> {
        if self.block.is_empty() {
            return Ok(());
        }
        let raw_len = u32::try_from(self.block.len())
            .ok()
            .filter(|&n| n != END_MARK)
            .ok_or_else(|| TaskError::Rule(format!("a block of {} bytes does not fit a segment", self.block.len())))?;
        if self.codec == Codec::Plain {
            let header = BlockHeader::for_payload(raw_len, &self.block);
            self.offset += (header.to_bytes().len() + self.block.len()) as u64;
            self.pending.extend_from_slice(&header.to_bytes());
            self.pending.extend_from_slice(&self.block);
        } else {
            self.codec.compress(&self.block, &mut self.packed).map_err(TaskError::Rule)?;
            let header = BlockHeader::for_payload(raw_len, &self.packed);
            self.offset += (header.to_bytes().len() + self.packed.len()) as u64;
            self.pending.extend_from_slice(&header.to_bytes());
            self.pending.extend_from_slice(&self.packed);
        }
        self.block.clear();
        self.flush_if(FLUSH_BYTES)
    }

    fn store(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        self.pending.extend_from_slice(bytes);
    }

    fn flush_if(&mut self, at_least: usize) -> Result<(), TaskError> {
        if self.pending.len() < at_least {
            return Ok(());
        }
        self.file.write_all(&self.pending).map_err(TaskError::io("write", &self.path))?;
        self.context.tally().file_bytes_written.add(self.pending.len() as u64);
        self.pending.clear();
        self.context.beat()
    }
}

/// A finished run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    /// One per partition.
    pub(crate) places: Vec<SegmentPlace>,
    pub(crate) bytes: u64,
}

impl Run {
    /// Removes the file; that it cannot be removed is no reason to fail, the worker clears the directory.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
