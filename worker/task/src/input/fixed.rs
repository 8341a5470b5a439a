//! Records of a fixed number of bytes. A record belongs to the split in which its first byte lies.

use super::file::InputFile;
use super::source::Source;
use super::{Record, Records};
use crate::api::error::TaskError;

/// Bytes read at once, rounded down to whole records (at least one).
const BUFFER_BYTES: usize = 256 * 1024;

/// Reads the records of a split.
pub(crate) struct FixedRecords {
    file: InputFile,
    record: usize,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
    split_start: u64,
    split_end: u64,
}

impl FixedRecords {
    /// Opens `length` bytes at `offset` of a file of records of `record_bytes`.
    pub(crate) fn open(
        source: &Source,
        offset: u64,
        length: u64,
        record_bytes: u32,
    ) -> Result<FixedRecords, TaskError> {
        if record_bytes == 0 {
            return Err(TaskError::Rule("fixed-length records of 0 bytes: expected at least 1".to_owned()));
        }
        let record = record_bytes as usize;
        let first = offset.next_multiple_of(u64::from(record_bytes));
        let file = InputFile::open(source, first, (first, offset.saturating_add(length)))?;
        let split_end = if file.compressed_progress().is_some() { u64::MAX } else { offset.saturating_add(length) };
        let buffer = vec![0; (BUFFER_BYTES / record).max(1) * record];
        Ok(FixedRecords { file, record, buffer, start: 0, end: 0, position: first, split_start: offset, split_end })
    }

    /// Fills the buffer with whole records; what is left of the file decides how many.
    fn fill(&mut self) -> Result<(), TaskError> {
        (self.start, self.end) = (0, 0);
        while self.end < self.buffer.len() {
            let n = self.file.read(&mut self.buffer[self.end..], self.position + self.end as u64)?;
            if n == 0 {
                break;
            }
            self.end += n;
            // Whole records of the split are enough; there may be no need to read further.
            let in_split = self.position + self.end as u64 >= self.split_end;
            if in_split && self.end.is_multiple_of(self.record) {
                break;
            }
        }
        if !self.end.is_multiple_of(self.record) {
            return Err(TaskError::Damaged {
                what: format!("input `{}`", self.file.path().display()),
                offset: self.position + self.end as u64,
                detail: format!("the last record has {} bytes, expected {}", self.end % self.record, self.record),
            });
        }
        Ok(())
    }
}

impl Records for FixedRecords {
    fn next_record(&mut self) -> Result<Option<Record<'_>>, TaskError> {
        if self.position >= self.split_end {
            return Ok(None);
        }
        if self.start == self.end {
            self.fill()?;
            if self.end == 0 {
                return Ok(None);
            }
        }
        let (offset, from) = (self.position, self.start);
        self.start += self.record;
        self.position += self.record as u64;
        Ok(Some(Record { offset, value: &self.buffer[from..from + self.record], consumed: self.record as u64 }))
    }

    fn bytes_read(&self) -> u64 {
        self.file.bytes_read()
    }

    fn progress(&self) -> f64 {
        self.file.compressed_progress().unwrap_or_else(|| {
            let length = (self.split_end - self.split_start).max(1);
            self.position.saturating_sub(self.split_start) as f64 / length as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::splits::stretches;

    use super::*;

    #[test]
    fn every_record_comes_once_whatever_the_split_size() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("records");
        let content: Vec<u8> = (0..70_u8).collect();
        std::fs::write(&path, &content).expect("write");
        let path = path.to_str().expect("path");
        for split_size in 1..80 {
            let mut found = Vec::new();
            for (offset, length) in stretches(70, split_size, true) {
                let mut records = FixedRecords::open(&path.into(), offset, length, 7).expect("open");
                while let Some(record) = records.next_record().expect("read") {
                    found.extend_from_slice(record.value);
                }
            }
            assert_eq!(found, content, "split size {split_size}");
        }
    }

    #[test]
    fn a_record_that_is_cut_short_is_an_error() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("records");
        std::fs::write(&path, [0; 71]).expect("write");
        let mut records = FixedRecords::open(&path.to_str().expect("path").into(), 0, 71, 7).expect("open");
        let error = records.next_record().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("the last record has 1 bytes, expected 7"), "{error}");
    }
}
