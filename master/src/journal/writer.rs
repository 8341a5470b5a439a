//! Appends frames to preallocated segments.
//!
//! The next segment is filled with zeros by a helper thread while the current one is in use, so that rolling
//! over costs no pause.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use howdah_proto::v1;
use prost::Message;

use super::{JournalError, PREFIX_BYTES, header_path, segment_path};

/// The writing end of a run's journal.
#[derive(Debug)]
pub struct JournalWriter {
    run_dir: PathBuf,
    segment_bytes: u64,
    number: u32,
    file: File,
    /// Size of the current segment; larger than `segment_bytes` when one frame needed it.
    capacity: u64,
    offset: u64,
    next: Option<JoinHandle<Result<File, JournalError>>>,
    /// Frames not yet written, in order.
    buffer: Vec<u8>,
}

impl JournalWriter {
    /// Starts a journal in `run_dir`, which must exist and hold none.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn create(run_dir: &Path, header: &v1::JournalHeader, segment_bytes: u64) -> Result<Self, JournalError> {
        let journal = run_dir.join("journal");
        std::fs::create_dir(&journal).map_err(JournalError::io("create", &journal))?;
        let file = prepare(run_dir, 1, segment_bytes)?;
        let path = header_path(run_dir);
        let mut bytes = Vec::new();
        append_frame(&mut bytes, header);
        let mut out = OpenOptions::new().write(true).create_new(true).open(&path);
        out.as_mut()
            .map_err(|e| std::io::Error::from(e.kind()))
            .and_then(|out| out.write_all(&bytes).and_then(|()| out.sync_all()))
            .map_err(JournalError::io("write", &path))?;
        sync_dir(&journal)?;
        sync_dir(run_dir)?;
        Ok(JournalWriter {
            run_dir: run_dir.to_owned(),
            segment_bytes,
            number: 1,
            file,
            capacity: segment_bytes,
            offset: 0,
            next: None,
            buffer: Vec::new(),
        })
    }

    /// Adds one frame; it reaches the file with the next [`write`](Self::write) or [`sync`](Self::sync).
    ///
    /// # Errors
    /// When rolling over to the next segment fails.
    pub fn append(&mut self, frame: &v1::JournalFrame) -> Result<(), JournalError> {
        let size = (PREFIX_BYTES + frame.encoded_len()) as u64;
        if self.offset + self.buffer.len() as u64 + size > self.capacity {
            self.roll(size)?;
        }
        append_frame(&mut self.buffer, frame);
        Ok(())
    }

    /// Bytes added but not yet written.
    pub fn pending_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Hands what was added to the file system.
    ///
    /// # Errors
    /// When writing fails; the journal must not be used any more then.
    pub fn write(&mut self) -> Result<(), JournalError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.file.write_all_at(&self.buffer, self.offset).map_err(|e| self.failed("write", e))?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        if self.next.is_none() && self.offset > self.capacity / 2 {
            let (run_dir, number, bytes) = (self.run_dir.clone(), self.number + 1, self.segment_bytes);
            self.next = Some(std::thread::spawn(move || prepare(&run_dir, number, bytes)));
        }
        Ok(())
    }

    /// Writes what was added and waits until it is on disk.
    ///
    /// # Errors
    /// When writing or syncing fails; the journal must not be used any more then.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.write()?;
        self.file.sync_data().map_err(|e| self.failed("sync", e))
    }

    /// Writes everything and gives back what was preallocated.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn close(mut self) -> Result<(), JournalError> {
        self.sync()?;
        if let Some(next) = self.next.take()
            && matches!(next.join(), Ok(Ok(_)))
        {
            // Never used: an empty segment would read as an end all the same.
            let _ = std::fs::remove_file(segment_path(&self.run_dir, self.number + 1));
        }
        self.file.set_len(self.offset).map_err(|e| self.failed("truncate", e))?;
        self.file.sync_all().map_err(|e| self.failed("sync", e))
    }

    fn roll(&mut self, at_least: u64) -> Result<(), JournalError> {
        // What lies in the current segment is complete before the next one begins.
        self.sync()?;
        let number = self.number + 1;
        let prepared = match self.next.take() {
            Some(thread) => thread.join().expect("preparing a segment does not panic")?,
            None => prepare(&self.run_dir, number, self.segment_bytes)?,
        };
        self.capacity = self.segment_bytes.max(at_least);
        if at_least > self.segment_bytes {
            let path = segment_path(&self.run_dir, number);
            fill(&prepared, self.segment_bytes, at_least).map_err(JournalError::io("extend", &path))?;
        }
        self.file = prepared;
        self.number = number;
        self.offset = 0;
        sync_dir(&self.run_dir.join("journal"))
    }

    fn failed(&self, action: &'static str, source: std::io::Error) -> JournalError {
        JournalError::Io { action, path: segment_path(&self.run_dir, self.number), source }
    }
}

/// Appends one message with its length and checksum.
pub(super) fn append_frame(out: &mut Vec<u8>, message: &impl Message) {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    message.encode(out).expect("a vector grows");
    let payload = &out[start + PREFIX_BYTES..];
    let length = u32::try_from(payload.len()).expect("a batch is far smaller than 4 GiB");
    let crc = crc32fast::hash(payload);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
}

fn prepare(run_dir: &Path, number: u32, bytes: u64) -> Result<File, JournalError> {
    let path = segment_path(run_dir, number);
    let make = || {
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        fill(&file, 0, bytes)?;
        file.sync_all()?;
        Ok(file)
    };
    make().map_err(JournalError::io("create", &path))
}

fn fill(file: &File, from: u64, to: u64) -> std::io::Result<()> {
    let zeros = vec![0_u8; 1 << 20];
    let mut at = from;
    while at < to {
        let n = zeros.len().min((to - at) as usize);
        file.write_all_at(&zeros[..n], at)?;
        at += n as u64;
    }
    Ok(())
}

fn sync_dir(path: &Path) -> Result<(), JournalError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(JournalError::io("sync", path))
}
