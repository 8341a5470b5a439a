//! Appends frames to preallocated segments.
//!
//! The next segment is filled with zeros by a helper thread while the current one is in use, so that rolling over
//! costs no pause. What is not known to be on disk stays in memory: after a failure (a full disk, no file
//! descriptors) everything since the last sync is written once more, as a file system may forget what it could not
//! write and call the next sync a success.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use howdah_proto::v1;
use prost::Message;

use super::JournalError;
use super::frame::{Layout, Link, link};
use super::paths::{header_path, segment_path};
use super::reader::{Tail, stored_header};

/// At least what its number, its link and the number of the frame that was on disk add to a frame.
const CHAINED_BYTES: usize = 64;

/// Of a buffer of frames that are on disk. Snapshots are larger, and come seldom.
const KEPT_BYTES: usize = 256 << 10;

/// The writing end of a run's journal.
#[derive(Debug)]
pub struct JournalWriter {
    run_dir: PathBuf,
    segment_bytes: u64,
    number: u32,
    file: File,
    /// Size of the current segment; larger than `segment_bytes` when one frame needed it.
    capacity: u64,
    /// Where the current segment's frames that are on disk end.
    synced: u64,
    /// Frames of the current segment after that.
    unsynced: Vec<u8>,
    /// How much of them the file system has.
    written: usize,
    /// Frames for the segments after this one.
    waiting: VecDeque<Vec<u8>>,
    next: Option<JoinHandle<Result<File, JournalError>>>,
    /// Frames added so far, and of those on disk.
    sequence: u64,
    synced_sequence: u64,
    link: Link,
    /// Of the frame before the last one, if that is a snapshot.
    before_snapshot: Option<Link>,
    /// Of the frames added since it was made, or since the last snapshot.
    bytes: u64,
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
        Layout::One.append(&mut bytes, header);
        let mut out = OpenOptions::new().write(true).create_new(true).open(&path);
        out.as_mut()
            .map_err(|e| std::io::Error::from(e.kind()))
            .and_then(|out| out.write_all(&bytes).and_then(|()| out.sync_all()))
            .map_err(JournalError::io("write", &path))?;
        sync_dir(&journal)?;
        sync_dir(run_dir)?;
        let tail = Tail {
            segment: 1,
            offset: 0,
            sequence: 0,
            link: link(&bytes[Layout::One.prefix()..]),
            before_snapshot: None,
        };
        Ok(JournalWriter::at(run_dir, &tail, file, segment_bytes))
    }

    /// Goes on where the valid frames of a journal end; what lies behind them is cut off. Nobody else may write it.
    ///
    /// # Errors
    /// When the last segment cannot be cut or the next one not be made.
    pub fn resume(run_dir: &Path, tail: &Tail, segment_bytes: u64) -> Result<Self, JournalError> {
        let path = segment_path(run_dir, tail.segment);
        let last = OpenOptions::new().write(true).open(&path).map_err(JournalError::io("open", &path))?;
        last.set_len(tail.offset).and_then(|()| last.sync_all()).map_err(JournalError::io("cut", &path))?;
        // A segment whose only frame was torn is used again: an empty one in the middle would read as the end.
        let is_unused = tail.offset == 0 && tail.segment > 1;
        let segment = if is_unused { tail.segment } else { tail.segment + 1 };
        let file = prepare(run_dir, segment, segment_bytes)?;
        sync_dir(&run_dir.join("journal"))?;
        let tail = Tail { segment, offset: 0, ..tail.clone() };
        Ok(JournalWriter::at(run_dir, &tail, file, segment_bytes))
    }

    fn at(run_dir: &Path, tail: &Tail, file: File, segment_bytes: u64) -> JournalWriter {
        JournalWriter {
            run_dir: run_dir.to_owned(),
            segment_bytes,
            number: tail.segment,
            file,
            capacity: segment_bytes,
            synced: tail.offset,
            unsynced: Vec::new(),
            written: 0,
            waiting: VecDeque::new(),
            next: None,
            sequence: tail.sequence,
            synced_sequence: tail.sequence,
            link: tail.link,
            before_snapshot: tail.before_snapshot,
            bytes: 0,
        }
    }

    /// Adds one frame, which gets its number and its link; it reaches the file with the next [`write`](Self::write) or
    /// [`sync`](Self::sync).
    pub fn append(&mut self, frame: &mut v1::JournalFrame) {
        self.sequence += 1;
        frame.sequence = self.sequence;
        frame.previous.clear();
        frame.previous.extend_from_slice(&self.link);
        frame.synced = self.synced_sequence;
        frame.before_snapshot.clear();
        frame.before_snapshot.extend(self.before_snapshot.take().into_iter().flatten());
        let start = self.unsynced.len();
        Layout::Two.append(&mut self.unsynced, frame);
        self.bytes += (self.unsynced.len() - start) as u64;
        self.link = link(&self.unsynced[start + Layout::Two.prefix()..]);
        if !self.waiting.is_empty() || self.synced + self.unsynced.len() as u64 > self.capacity {
            // Splitting a whole buffer off would leave another one of its size.
            let frame = if start == 0 { std::mem::take(&mut self.unsynced) } else { self.unsynced.split_off(start) };
            self.waiting.push_back(frame);
        }
    }

    /// Adds a snapshot, which begins a segment of its own; everything before it has to be on disk. It is on disk after
    /// the next successful [`sync`](Self::sync), however many fail before that.
    ///
    /// # Errors
    /// When what came before cannot be synced or the header not be read; the snapshot is not added then.
    pub fn append_snapshot(&mut self, frame: &mut v1::JournalFrame) -> Result<(), JournalError> {
        self.sync()?;
        if let Some(snapshot) = &mut frame.snapshot {
            snapshot.header = stored_header(&self.run_dir)?.1.to_vec();
        }
        if self.synced == 0 {
            // Nothing is in this segment yet; an empty one in the middle would read as the end.
            let needed = (Layout::Two.prefix() + frame.encoded_len() + CHAINED_BYTES) as u64;
            if needed > self.capacity {
                fill(&self.file, self.capacity, needed).map_err(|e| self.failed("extend", e))?;
                self.capacity = needed;
            }
            self.append_link_kept(frame);
            return Ok(());
        }
        // The rest of the segment stays unused.
        self.file.set_len(self.synced).map_err(|e| self.failed("truncate", e))?;
        self.append_link_kept(frame);
        if self.waiting.is_empty() {
            self.waiting.push_back(std::mem::take(&mut self.unsynced));
        }
        Ok(())
    }

    /// Adds a snapshot's frame; the next one will say what came before it.
    fn append_link_kept(&mut self, frame: &mut v1::JournalFrame) {
        let before = self.link;
        self.append(frame);
        self.before_snapshot = Some(before);
        self.bytes = 0;
    }

    /// Number of the segment that is written.
    pub fn segment(&self) -> u32 {
        self.number
    }

    /// Bytes of the frames added since it was made, or since the last snapshot.
    pub fn bytes_since_snapshot(&self) -> u64 {
        self.bytes
    }

    /// Bytes added but not yet on disk.
    pub fn pending_bytes(&self) -> usize {
        self.unsynced.len() + self.waiting.iter().map(Vec::len).sum::<usize>()
    }

    /// Hands what was added to the file system.
    ///
    /// # Errors
    /// When writing fails. Nothing is lost then: the next call tries again.
    pub fn write(&mut self) -> Result<(), JournalError> {
        self.write_current()?;
        while !self.waiting.is_empty() {
            // What lies in the current segment is complete before the next one begins.
            self.sync_current()?;
            self.roll()?;
            while let Some(frame) = self.waiting.front()
                && self.unsynced.len() as u64 + frame.len() as u64 <= self.capacity
            {
                self.unsynced.extend_from_slice(frame);
                self.waiting.pop_front();
            }
            self.write_current()?;
        }
        if self.next.is_none() && self.synced + self.unsynced.len() as u64 > self.capacity / 2 {
            let (run_dir, number, bytes) = (self.run_dir.clone(), self.number + 1, self.segment_bytes);
            let spawned = std::thread::Builder::new().spawn(move || prepare(&run_dir, number, bytes));
            // Without a thread the segment is made when it is needed.
            self.next = spawned.ok();
        }
        Ok(())
    }

    /// Writes what was added and waits until it is on disk.
    ///
    /// # Errors
    /// When writing or syncing fails. Nothing is lost then: the next call tries again.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.write()?;
        self.sync_current()?;
        self.synced_sequence = self.sequence;
        Ok(())
    }

    /// Writes everything and an end mark, and gives back what was preallocated.
    ///
    /// # Errors
    /// When writing or syncing fails.
    pub fn close(mut self) -> Result<(), JournalError> {
        // The mark vouches for all frames before it.
        self.sync()?;
        self.append(&mut v1::JournalFrame { end: true, ..v1::JournalFrame::default() });
        self.sync()?;
        if let Some(next) = self.next.take()
            && matches!(next.join(), Ok(Ok(_)))
        {
            // Never used: an empty segment would read as an end all the same.
            let _ = std::fs::remove_file(segment_path(&self.run_dir, self.number + 1));
        }
        self.file.set_len(self.synced).map_err(|e| self.failed("truncate", e))?;
        self.file.sync_all().map_err(|e| self.failed("sync", e))
    }

    fn write_current(&mut self) -> Result<(), JournalError> {
        let new = &self.unsynced[self.written..];
        if !new.is_empty() {
            let written = self.file.write_all_at(new, self.synced + self.written as u64);
            written.map_err(|e| self.failed_once("write", e))?;
            self.written = self.unsynced.len();
        }
        Ok(())
    }

    fn sync_current(&mut self) -> Result<(), JournalError> {
        self.write_current()?;
        if !self.unsynced.is_empty() {
            self.file.sync_data().map_err(|e| self.failed_once("sync", e))?;
            self.synced += self.unsynced.len() as u64;
            self.unsynced.clear();
            self.unsynced.shrink_to(KEPT_BYTES);
            self.written = 0;
        }
        Ok(())
    }

    /// Begins the next segment; the current one is on disk.
    fn roll(&mut self) -> Result<(), JournalError> {
        let number = self.number + 1;
        let prepared = match self.next.take().map(JoinHandle::join) {
            Some(Ok(Ok(file))) => file,
            // It failed while there was time; now the reason counts.
            Some(_) | None => prepare(&self.run_dir, number, self.segment_bytes)?,
        };
        let at_least = self.waiting.front().map_or(0, |frame| frame.len() as u64);
        let path = segment_path(&self.run_dir, number);
        if at_least > self.segment_bytes {
            fill(&prepared, self.segment_bytes, at_least).map_err(JournalError::io("extend", &path))?;
        }
        sync_dir(&self.run_dir.join("journal"))?;
        self.capacity = self.segment_bytes.max(at_least);
        self.file = prepared;
        self.number = number;
        self.synced = 0;
        Ok(())
    }

    /// What the file system has of the unsynced part is not known any more.
    fn failed_once(&mut self, action: &'static str, source: std::io::Error) -> JournalError {
        self.written = 0;
        self.failed(action, source)
    }

    fn failed(&self, action: &'static str, source: std::io::Error) -> JournalError {
        JournalError::Io { action, path: segment_path(&self.run_dir, self.number), source }
    }
}

/// Makes a segment, or takes over one that was made and never used.
pub(super) fn prepare(run_dir: &Path, number: u32, bytes: u64) -> Result<File, JournalError> {
    let path = segment_path(run_dir, number);
    let make = || {
        let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                if std::fs::read(&path)?.iter().any(|&b| b != 0) {
                    return Err(std::io::Error::new(e.kind(), "it exists already and holds data"));
                }
                OpenOptions::new().write(true).truncate(true).open(&path)?
            }
            made => made?,
        };
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
