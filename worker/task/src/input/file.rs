//! An input file: opened, positioned, decompressed by its suffix.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::source::Source;
use crate::api::error::TaskError;

/// Buffer of compressed bytes.
const COMPRESSED_BYTES: usize = 128 * 1024;

/// A stream of uncompressed bytes and where they come from.
pub(crate) struct InputFile {
    stream: Box<dyn Read>,
    path: PathBuf,
    read: Rc<Cell<u64>>,
    compressed_length: Option<u64>,
}

/// Counts what is read from the file itself.
struct Counted {
    file: Box<dyn Read>,
    read: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read(to)?;
        self.read.set(self.read.get() + n as u64);
        Ok(n)
    }
}

impl InputFile {
    /// Opens a file at an offset, which must be 0 for compressed ones. Streams of several members (gzip), streams
    /// (bzip2) or frames (zstd) are read to the end of the last. `part` is where the split begins and ends.
    pub(crate) fn open(source: &Source, offset: u64, part: (u64, u64)) -> Result<InputFile, TaskError> {
        let path = Path::new(&source.path);
        let suffix = path.extension().and_then(|s| s.to_str()).unwrap_or_default();
        let compressed = matches!(suffix, "gz" | "bz2" | "zst");
        if compressed && offset > 0 {
            return Err(TaskError::Rule(format!(
                "`{}` is compressed: expected one split from byte 0, got one from {offset}",
                path.display()
            )));
        }
        let read = Rc::new(Cell::new(0));
        let (file, length) = stream(source, offset, if compressed { (0, u64::MAX) } else { part })?;
        let counted = Counted { file, read: read.clone() };
        let buffered = |counted| BufReader::with_capacity(COMPRESSED_BYTES, counted);
        let stream: Box<dyn Read> = match suffix {
            "gz" => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(counted))),
            "bz2" => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(counted))),
            "zst" => Box::new(
                zstd::stream::read::Decoder::with_buffer(buffered(counted))
                    .map_err(TaskError::io("start to decompress", path))?,
            ),
            _ => Box::new(counted),
        };
        Ok(InputFile { stream, path: path.to_owned(), read, compressed_length: compressed.then_some(length) })
    }

    /// Reads some bytes; 0 at the end. `at` is for the error.
    pub(crate) fn read(&mut self, to: &mut [u8], at: u64) -> Result<usize, TaskError> {
        loop {
            match self.stream.read(to) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                done => return done.map_err(TaskError::io(format!("read at byte {at}"), &self.path)),
            }
        }
    }

    /// Bytes read from the file itself.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.get()
    }

    /// How much of a compressed file was read, 0 to 1; `None` for plain files.
    pub(crate) fn compressed_progress(&self) -> Option<f64> {
        self.compressed_length.map(|length| self.read.get() as f64 / length.max(1) as f64)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The file's bytes from an offset on, and its length.
fn stream(source: &Source, offset: u64, part: (u64, u64)) -> Result<(Box<dyn Read>, u64), TaskError> {
    if let Some(remote) = &source.remote {
        return Ok((remote.read(offset, part), remote.length));
    }
    let path = Path::new(&source.path);
    let missing = |source| TaskError::Missing { what: format!("open `{}`", path.display()), source };
    let mut file = File::open(path).map_err(missing)?;
    let length = file.metadata().map_err(TaskError::io("examine", path))?.len();
    if offset > 0 {
        file.seek(SeekFrom::Start(offset)).map_err(TaskError::io("seek in", path))?;
    }
    Ok((Box::new(file), length))
}
