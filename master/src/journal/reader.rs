//! Reads a journal back, one frame at a time.
//!
//! A master that was killed leaves a torn last write: that is reported and tolerated. Damage anywhere else is an
//! error. What follows tells the two apart: each frame says which frames were on disk when it was added, so a valid
//! frame behind the bad one that vouches for it means damage. The pages of one write reach the disk in any order;
//! valid frames of the same write vouch for nothing.

use std::path::{Path, PathBuf};

use howdah_guards::Guard;
use howdah_proto::v1;
use prost::Message;

use super::across::{DamagedSnapshot, Place, at, follower};
use super::frame::{Layout, Link, link};
use super::paths::{header_path, segment_path};
use super::search::Search;
use super::start::{Start, earliest, is_followed, latest};
use super::{JournalError, VERSION};

/// A reader that finds its first segment removed looks so many times where to begin.
const MAX_OPENINGS: usize = 5;

/// Where a journal breaks off in the middle of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// The last segment.
    pub path: PathBuf,
    /// Of the torn frame's first byte.
    pub offset: u64,
}

/// Where a journal's valid frames end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Number of the last segment.
    pub segment: u32,
    /// Behind its last frame.
    pub offset: u64,
    /// Frames before, the end marks included.
    pub sequence: u64,
    pub(super) link: Link,
    /// Of the frame before the last one, if that is a snapshot.
    pub(super) before_snapshot: Option<Link>,
}

/// The frames of a run, oldest first.
#[derive(Debug)]
pub struct JournalReader {
    run_dir: PathBuf,
    header: v1::JournalHeader,
    layout: Layout,
    number: u32,
    segment: Vec<u8>,
    offset: usize,
    sequence: u64,
    link: Link,
    before_snapshot: Option<Link>,
    ended: bool,
    truncation: Option<Truncation>,
    done: bool,
    /// Of the frames that were read.
    bytes: u64,
    /// What reading began with, unless that was the beginning.
    began: Option<Box<Since>>,
    /// A snapshot that was passed since the last frame.
    passed: Option<Box<v1::JournalSnapshot>>,
    damaged: Vec<DamagedSnapshot>,
}

/// A snapshot that reading began with: what came before it is not read, or is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// What the master remembered.
    pub snapshot: v1::JournalSnapshot,
    /// Microseconds since the epoch of the batch before it.
    pub time_us: u64,
    /// The digest after that batch.
    pub digest: Vec<u8>,
}

/// Reads a run's header.
///
/// # Errors
/// When it is missing, damaged or of another version.
pub fn read_header(run_dir: &Path) -> Result<v1::JournalHeader, JournalError> {
    stored_header(run_dir).map(|(header, _)| header)
}

/// With the hash of what is stored.
pub(super) fn stored_header(run_dir: &Path) -> Result<(v1::JournalHeader, Link), JournalError> {
    let path = header_path(run_dir);
    let bytes = std::fs::read(&path).map_err(JournalError::io("read", &path))?;
    let corrupt = |problem: &str| JournalError::Corrupt { path: path.clone(), offset: 0, problem: problem.to_owned() };
    let payload = Layout::One.frame_at(&bytes, 0).map_err(|damage| corrupt(damage.text()))?;
    let payload = payload.ok_or_else(|| corrupt("it is empty"))?;
    let header = v1::JournalHeader::decode(payload).map_err(|e| corrupt(&e.to_string()))?;
    if header.version == 0 || header.version > VERSION {
        return Err(JournalError::Version { path, found: header.version });
    }
    Ok((header, link(payload)))
}

impl JournalReader {
    /// Opens the journal of a run's directory, to read all there is of it.
    ///
    /// # Errors
    /// When the header or the first segment cannot be read.
    pub fn open(run_dir: &Path) -> Result<JournalReader, JournalError> {
        JournalReader::wherever(run_dir, earliest)
    }

    /// Opens it at its newest snapshot, or at its beginning if it has none.
    ///
    /// # Errors
    /// As [`open`](JournalReader::open).
    pub fn open_latest(run_dir: &Path) -> Result<JournalReader, JournalError> {
        JournalReader::wherever(run_dir, latest)
    }

    /// Begins where `start` says; a master that runs may remove just that segment meanwhile, and then has another one.
    fn wherever(
        run_dir: &Path,
        start: fn(&Path) -> Result<Start, JournalError>,
    ) -> Result<JournalReader, JournalError> {
        let mut tries = 1..MAX_OPENINGS;
        loop {
            match JournalReader::at(run_dir, start(run_dir)?) {
                Err(error) if error.is_not_found() && tries.next().is_some() => {}
                found => return found,
            }
        }
    }

    fn at(run_dir: &Path, start: Start) -> Result<JournalReader, JournalError> {
        let (header, link) = stored_header(run_dir)?;
        let number = match start {
            Start::Beginning => 1,
            Start::Snapshot(number) => number,
        };
        let mut reader = JournalReader {
            run_dir: run_dir.to_owned(),
            layout: Layout::of(header.version),
            header,
            number,
            segment: read_segment(run_dir, number)?,
            offset: 0,
            sequence: 0,
            link,
            before_snapshot: None,
            ended: false,
            truncation: None,
            done: false,
            bytes: 0,
            began: None,
            passed: None,
            damaged: Vec::new(),
        };
        if start != Start::Beginning {
            reader.begin_with_snapshot()?;
        }
        Ok(reader)
    }

    /// Takes the snapshot at the beginning of the segment on trust: what it would follow is not read.
    fn begin_with_snapshot(&mut self) -> Result<(), JournalError> {
        let corrupt = |problem: String| JournalError::Corrupt { path: self.path(), offset: 0, problem };
        let payload = self.layout.frame_at(&self.segment, 0).map_err(|damage| corrupt(damage.text().to_owned()))?;
        let payload = payload.ok_or_else(|| corrupt("it is empty".to_owned()))?;
        let frame = v1::JournalFrame::decode(payload).map_err(|e| corrupt(e.to_string()))?;
        let Some(snapshot) = frame.snapshot else { return Err(corrupt("it is no snapshot".to_owned())) };
        // Until now the link is the header's.
        if snapshot.header != self.link && Guard::WholeJournal.stands() {
            let problem = "is a snapshot of another journal".to_owned();
            return Err(JournalError::Missing { path: self.path(), offset: 0, problem });
        }
        self.link = link(payload);
        self.before_snapshot = Link::try_from(&frame.previous[..]).ok();
        self.sequence = frame.sequence;
        self.offset = self.layout.prefix() + payload.len();
        self.began = Some(Box::new(Since { snapshot, time_us: frame.time_us, digest: frame.digest }));
        Ok(())
    }

    /// The snapshot that reading began with; `None` where it began with the beginning.
    pub fn began(&self) -> Option<&Since> {
        self.began.as_deref()
    }

    /// The last snapshot between the batch that was read last and the one before it, if there is one.
    pub fn take_passed(&mut self) -> Option<v1::JournalSnapshot> {
        self.passed.take().map(|passed| *passed)
    }

    /// Damaged snapshots that were passed so far: what follows each says that nothing but it is missing.
    pub fn damaged_snapshots(&self) -> &[DamagedSnapshot] {
        &self.damaged
    }

    /// What the run was built from.
    pub fn header(&self) -> &v1::JournalHeader {
        &self.header
    }

    /// Where the journal broke off, once all frames were read.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// Whether the last frame so far is the mark of a master that stopped of its own accord.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Bytes of the frames that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The segment that is being read.
    pub fn path(&self) -> PathBuf {
        segment_path(&self.run_dir, self.number)
    }

    /// Behind the last frame that was read.
    pub fn tail(&self) -> Tail {
        Tail {
            segment: self.number,
            offset: self.offset as u64,
            sequence: self.sequence,
            link: self.link,
            before_snapshot: self.before_snapshot,
        }
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// When a frame is damaged and is not the torn end of the run, or frames are missing.
    pub fn next_frame(&mut self) -> Result<Option<v1::JournalFrame>, JournalError> {
        while !self.done {
            let problem = match self.layout.frame_at(&self.segment, self.offset) {
                Ok(None) => {
                    self.next_segment()?;
                    continue;
                }
                Ok(Some(payload)) => match v1::JournalFrame::decode(payload) {
                    Ok(frame) => {
                        self.check_place(&frame)?;
                        let before = std::mem::replace(&mut self.link, link(payload));
                        self.before_snapshot = frame.snapshot.is_some().then_some(before);
                        self.sequence += 1;
                        let bytes = self.layout.prefix() + payload.len();
                        self.offset += bytes;
                        self.bytes += bytes as u64;
                        self.ended = frame.end;
                        if let Some(snapshot) = frame.snapshot {
                            self.passed = Some(Box::new(snapshot));
                            continue;
                        }
                        if frame.end {
                            continue;
                        }
                        return Ok(Some(frame));
                    }
                    Err(e) => e.to_string(),
                },
                Err(damage) => damage.text().to_owned(),
            };
            if self.pass_damaged_snapshot(&problem) {
                continue;
            }
            if self.is_torn_end() {
                self.end_torn();
                return Ok(None);
            }
            return Err(JournalError::Corrupt { path: self.path(), offset: self.offset as u64, problem });
        }
        Ok(None)
    }

    /// Goes on behind a damaged snapshot that begins this segment, if a frame behind it says that it was one and that it
    /// followed what was read last. In recordings of before frames said so, it is damage like any other.
    fn pass_damaged_snapshot(&mut self, problem: &str) -> bool {
        if self.layout == Layout::One || self.offset > 0 {
            return false;
        }
        let damaged = DamagedSnapshot { path: self.path(), problem: problem.to_owned() };
        let place = Place { sequence: self.sequence + 2, before_snapshot: self.link };
        let follower = match follower(&self.segment, &place) {
            Some(found) => found,
            None => {
                let Ok(next) = read_segment(&self.run_dir, self.number + 1) else { return false };
                let Some(found) = at(&next, 0, &place) else { return false };
                self.segment = next;
                self.number += 1;
                found
            }
        };
        self.offset = follower.offset;
        self.sequence += 1;
        self.link = follower.previous;
        self.damaged.push(damaged);
        true
    }

    /// Whether the frame follows the one before it.
    fn check_place(&self, frame: &v1::JournalFrame) -> Result<(), JournalError> {
        if self.layout == Layout::One || !Guard::WholeJournal.stands() {
            return Ok(());
        }
        let expected = self.sequence + 1;
        let problem = if frame.sequence != expected {
            format!("has number {}, expected {expected}: frames are missing", frame.sequence)
        } else if frame.previous != self.link {
            format!(
                "(number {expected}) does not continue the frame before it, which is another journal's or was changed"
            )
        } else {
            return Ok(());
        };
        Err(JournalError::Missing { path: self.path(), offset: self.offset as u64, problem })
    }

    fn end_torn(&mut self) {
        self.truncation = Some(Truncation { path: self.path(), offset: self.offset as u64 });
        self.done = true;
    }

    /// Nothing follows that vouches for the frame here.
    fn is_torn_end(&self) -> bool {
        if self.later_segment_has_frames() {
            return false;
        }
        let vouches = |payload: &[u8]| match self.layout {
            Layout::One => true,
            Layout::Two => v1::JournalFrame::decode(payload).is_ok_and(|frame| frame.synced > self.sequence),
        };
        !Search::new(self.layout, &self.segment, self.offset + 1).any(|(_, payload)| vouches(payload))
    }

    fn later_segment_has_frames(&self) -> bool {
        let path = segment_path(&self.run_dir, self.number + 1);
        std::fs::read(path).is_ok_and(|bytes| bytes.iter().any(|&b| b != 0))
    }

    fn next_segment(&mut self) -> Result<(), JournalError> {
        if let Some(at) = self.segment[self.offset..].iter().position(|&b| b != 0) {
            // Zeros where a frame was, data behind them: pages of the last write may reach the disk in any order.
            let problem = format!("its length is zero, but data follows at offset {}", self.offset + at);
            if self.pass_damaged_snapshot(&problem) {
                return Ok(());
            }
            if self.is_torn_end() {
                self.end_torn();
                return Ok(());
            }
            return Err(JournalError::Corrupt { path: self.path(), offset: self.offset as u64, problem });
        }
        let next = segment_path(&self.run_dir, self.number + 1);
        if !next.exists() {
            self.done = true;
            if is_followed(&self.run_dir, self.number) {
                // The oldest go first, so a master that removes what it no longer needs took this one, too.
                let removed = !self.path().exists();
                return Err(if removed {
                    JournalError::Removed { path: next }
                } else {
                    JournalError::MissingSegment { path: next }
                });
            }
            return Ok(());
        }
        let segment = match read_segment(&self.run_dir, self.number + 1) {
            Err(error) if error.is_not_found() && !self.path().exists() => {
                return Err(JournalError::Removed { path: next });
            }
            read => read?,
        };
        if segment.iter().all(|&b| b == 0) {
            // Prepared, never used: the frames end in the segment before.
            self.done = true;
            if is_followed(&self.run_dir, self.number + 1) {
                let problem = "is missing: its segment is empty, but a later one exists".to_owned();
                return Err(JournalError::Missing { path: next, offset: 0, problem });
            }
            return Ok(());
        }
        self.segment = segment;
        self.number += 1;
        self.offset = 0;
        Ok(())
    }
}

fn read_segment(run_dir: &Path, number: u32) -> Result<Vec<u8>, JournalError> {
    let path = segment_path(run_dir, number);
    std::fs::read(&path).map_err(JournalError::io("read", &path))
}
