//! Reading outputs line by line, and what can be wrong with them.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::paths;

/// An output that is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A file or directory that cannot be read.
    #[error("{action} `{path}`")]
    Io {
        /// A verb.
        action: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The job did not end well.
    #[error("`{path}` has no `_SUCCESS`: the job that writes it has not succeeded")]
    NotFinished {
        /// The output directory.
        path: PathBuf,
    },
    /// A line that breaks the rule.
    #[error("`{path}` line {line}: {what}")]
    Line {
        /// The part file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A word whose count is wrong or missing.
    #[error("the word `{word}`: the output says {found}, the input has it {expected} times")]
    Count {
        /// Escaped for print.
        word: String,
        /// From the input.
        expected: u64,
        /// From the output, 0 when missing.
        found: u64,
    },
}

pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CheckError {
    let path = path.to_owned();
    move |source| CheckError::Io { action, path, source }
}

/// A file's bytes, decompressed as its suffix says.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, CheckError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    Ok(match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("bz2") => Box::new(bzip2::read::MultiBzDecoder::new(file)),
        Some("zst") => Box::new(zstd::stream::read::Decoder::new(file).map_err(io_error("open", path))?),
        _ => Box::new(file),
    })
}

/// The part files of a finished job, in order.
pub(super) fn parts(output: &Path) -> Result<Vec<PathBuf>, CheckError> {
    let parts = paths::visible(output).map_err(io_error("list", output))?;
    if !output.join("_SUCCESS").exists() {
        return Err(CheckError::NotFinished { path: output.to_owned() });
    }
    Ok(parts)
}

/// Calls `check` with every line of a file, without its end, and its number from 1.
pub(super) fn lines(path: &Path, mut check: impl FnMut(&[u8]) -> Result<(), String>) -> Result<u64, CheckError> {
    let mut reader = BufReader::with_capacity(1 << 18, open(path)?);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(io_error("read", path))? == 0 {
            return Ok(number);
        }
        number += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        check(text).map_err(|what| CheckError::Line { path: path.to_owned(), line: number, what })?;
    }
}
