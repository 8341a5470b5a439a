//! A job's container: the logs of its attempts on this worker that are over, one record after the other.
//!
//! A record is whole or not there. A write that failed is taken back; what a killed worker left half written is cut off
//! when the next one adds to the file. The file lies where tasks can write, so it is opened without following links, and
//! what does not begin as a container is left alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use howdah_core::job::AttemptId;
use nix::fcntl::OFlag;

use super::record::{Kept, MAX_HEADER, Record};

/// What a container begins with.
const MAGIC: &[u8; 8] = b"howdahL1";
/// Copied in pieces of this size. What is not longer is written in one piece with its header.
const PIECE: usize = 64 << 10;
/// One file has at most this part of the room that is left to its container.
const SHARE: u64 = 8;

/// The part of a file that is an attempt's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) file: &'a File,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl<'a> Source<'a> {
    /// What follows the first bytes; all of a file that has become shorter.
    pub(super) fn after(file: &'a File, begin: u64) -> Option<Source<'a>> {
        let end = file.metadata().ok()?.len();
        Some(Source { file, begin: if begin <= end { begin } else { 0 }, end })
    }
}

/// A container that is added to.
#[derive(Debug)]
pub(super) struct Container {
    file: File,
    /// Where the last whole record ends.
    end: u64,
    buffer: Vec<u8>,
}

impl Container {
    /// Opens a job's container, or makes it, and cuts off what is not whole.
    pub(super) fn open(path: &Path) -> io::Result<Container> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(flags.bits());
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => options.create_new(true).open(path)?,
            opened => opened?,
        };
        let meta = file.metadata()?;
        if !meta.is_file() || meta.nlink() != 1 {
            return Err(io::Error::other("it is not a plain file of its own"));
        }
        if meta.len() < MAGIC.len() as u64 {
            file.set_len(0)?;
            file.write_all_at(MAGIC, 0)?;
        }
        let mut scan = Scan::start(&file)?;
        let length = meta.len();
        while scan.next(&file, length)?.is_some() {}
        file.set_len(scan.at)?;
        Ok(Container { file, end: scan.at, buffer: Vec::new() })
    }

    /// Whether the file is still there: somebody may have deleted it, or a page of it.
    pub(super) fn is_intact(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| meta.nlink() > 0 && meta.len() == self.end)
    }

    /// Adds an attempt's logs, and as much of each as the bound leaves room for.
    pub(super) fn append(&mut self, attempt: AttemptId, logs: [Option<Source<'_>>; 3], bound: u64) -> io::Result<()> {
        let most = bound.saturating_sub(self.end) / SHARE;
        let mut files = [Kept::default(); 3];
        for (kept, log) in files.iter_mut().zip(logs) {
            if let Some(log) = log {
                *kept = Kept::within(log.end - log.begin, most);
            }
        }
        let record = Record::new(attempt, files);
        self.buffer.clear();
        self.buffer.extend(record.header());
        let written = self.write(&record, logs);
        match written {
            Ok(end) => self.end = end,
            // A reader takes what is not whole for nothing.
            Err(_) => self.file.set_len(self.end)?,
        }
        self.buffer.shrink_to(PIECE + MAX_HEADER);
        written.map(|_| ())
    }

    /// Writes the header that waits, and what follows it; returns where it ends.
    fn write(&mut self, record: &Record, logs: [Option<Source<'_>>; 3]) -> io::Result<u64> {
        let mut end = self.end;
        for (kept, log) in record.files.into_iter().zip(logs) {
            let Some(log) = log else { continue };
            let tail = kept.kept - kept.head();
            for (mut from, mut left) in [(log.begin, kept.head()), (log.end - tail, tail)] {
                while left > 0 {
                    let piece = left.min(PIECE as u64);
                    let begin = self.buffer.len();
                    self.buffer.resize(begin + piece as usize, 0);
                    log.file.read_exact_at(&mut self.buffer[begin..], from)?;
                    (from, left) = (from + piece, left - piece);
                    if self.buffer.len() >= PIECE {
                        end = self.flush(end)?;
                    }
                }
            }
        }
        self.flush(end)
    }

    fn flush(&mut self, at: u64) -> io::Result<u64> {
        self.file.write_all_at(&self.buffer, at)?;
        let end = at + self.buffer.len() as u64;
        self.buffer.clear();
        Ok(end)
    }
}

/// Goes from record to record, by their headers alone.
#[derive(Debug)]
pub(super) struct Scan {
    /// Where the next record begins.
    pub(super) at: u64,
}

impl Scan {
    pub(super) fn start(file: &File) -> io::Result<Scan> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0)?;
        match &magic == MAGIC {
            true => Ok(Scan { at: MAGIC.len() as u64 }),
            false => Err(io::Error::other("it does not begin as a container of logs")),
        }
    }

    /// The next record of a file of this length and where its bytes begin; `None` where no whole one follows.
    pub(super) fn next(&mut self, file: &File, length: u64) -> io::Result<Option<(Record, u64)>> {
        let mut bytes = [0; MAX_HEADER];
        let there = length.saturating_sub(self.at).min(MAX_HEADER as u64) as usize;
        match file.read_exact_at(&mut bytes[..there], self.at) {
            // It was cut meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let Some((record, header)) = Record::parse(&bytes[..there]) else { return Ok(None) };
        let begin = self.at + header;
        let Some(end) = record.body().and_then(|body| begin.checked_add(body)).filter(|&end| end <= length) else {
            return Ok(None);
        };
        self.at = end;
        Ok(Some((record, begin)))
    }
}
