//! Reading splits: files of this machine, of an HDFS or of a bucket, plain or compressed, as lines or fixed-length records.

mod file;
mod fixed;
#[cfg(test)]
mod fuzz;
mod lines;
mod source;

pub(crate) use fixed::FixedRecords;
pub(crate) use lines::LineRecords;
pub(crate) use source::Source;

use crate::api::error::TaskError;

/// A record in the reader's buffer.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// Its first byte in the (uncompressed) file.
    pub(crate) offset: u64,
    pub(crate) value: &'a [u8],
    /// Bytes it takes in the input, its line end included.
    pub(crate) consumed: u64,
}

/// The records of one split.
pub(crate) trait Records {
    /// The next record; `None` after the last.
    fn next_record(&mut self) -> Result<Option<Record<'_>>, TaskError>;
    /// File bytes read so far (compressed ones of compressed files).
    fn bytes_read(&self) -> u64;
    /// How much of the split was read, 0 to 1.
    fn progress(&self) -> f64;
}
