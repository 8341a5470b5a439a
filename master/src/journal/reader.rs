//! Reads a journal back, one frame at a time.
//!
//! A run that was cut off leaves a torn last frame: that is reported and tolerated. Damage anywhere else is
//! an error. The two are told apart by what follows: nothing but zeros, or no valid frame, means torn.

use std::path::{Path, PathBuf};

use howdah_proto::v1;
use prost::Message;

use super::{JournalError, MAX_FRAME_BYTES, PREFIX_BYTES, VERSION, header_path, segment_path};

/// Where a journal breaks off in the middle of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// The last segment.
    pub path: PathBuf,
    /// Of the torn frame's first byte.
    pub offset: u64,
}

/// The frames of a run, oldest first.
#[derive(Debug)]
pub struct JournalReader {
    run_dir: PathBuf,
    header: v1::JournalHeader,
    number: u32,
    segment: Vec<u8>,
    offset: usize,
    truncation: Option<Truncation>,
    done: bool,
}

/// Reads a run's header.
///
/// # Errors
/// When it is missing, damaged or of another version.
pub fn read_header(run_dir: &Path) -> Result<v1::JournalHeader, JournalError> {
    let path = header_path(run_dir);
    let bytes = std::fs::read(&path).map_err(JournalError::io("read", &path))?;
    let corrupt = |problem: &str| JournalError::Corrupt { path: path.clone(), offset: 0, problem: problem.to_owned() };
    let payload = frame_at(&bytes, 0).map_err(|damage| corrupt(damage.text()))?;
    let payload = payload.ok_or_else(|| corrupt("it is empty"))?;
    let header = v1::JournalHeader::decode(payload).map_err(|e| corrupt(&e.to_string()))?;
    if header.version != VERSION {
        return Err(JournalError::Version { path, found: header.version });
    }
    Ok(header)
}

impl JournalReader {
    /// Opens the journal of a run's directory.
    ///
    /// # Errors
    /// When the header or the first segment cannot be read.
    pub fn open(run_dir: &Path) -> Result<JournalReader, JournalError> {
        let header = read_header(run_dir)?;
        let segment = read_segment(run_dir, 1)?;
        Ok(JournalReader {
            run_dir: run_dir.to_owned(),
            header,
            number: 1,
            segment,
            offset: 0,
            truncation: None,
            done: false,
        })
    }

    /// What the run was built from.
    pub fn header(&self) -> &v1::JournalHeader {
        &self.header
    }

    /// Where the journal broke off, once all frames were read.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// When a frame is damaged and is not the torn end of the run.
    pub fn next_frame(&mut self) -> Result<Option<v1::JournalFrame>, JournalError> {
        while !self.done {
            let problem = match frame_at(&self.segment, self.offset) {
                Ok(None) => {
                    self.next_segment()?;
                    continue;
                }
                Ok(Some(payload)) => match v1::JournalFrame::decode(payload) {
                    Ok(frame) => {
                        self.offset += PREFIX_BYTES + payload.len();
                        return Ok(Some(frame));
                    }
                    Err(e) => e.to_string(),
                },
                Err(damage) => damage.text().to_owned(),
            };
            if self.is_torn_end() {
                self.end_torn();
                return Ok(None);
            }
            return Err(JournalError::Corrupt { path: self.path(), offset: self.offset as u64, problem });
        }
        Ok(None)
    }

    fn path(&self) -> PathBuf {
        segment_path(&self.run_dir, self.number)
    }

    fn end_torn(&mut self) {
        self.truncation = Some(Truncation { path: self.path(), offset: self.offset as u64 });
        self.done = true;
    }

    /// Nothing valid follows, in this segment or a later one.
    fn is_torn_end(&self) -> bool {
        // First what is cheap: looking for a frame at every offset takes long in a full segment.
        if self.later_segment_has_frames() {
            return false;
        }
        let rest = &self.segment[self.offset..];
        !(1..rest.len()).any(|skip| matches!(frame_at(rest, skip), Ok(Some(_))))
    }

    fn later_segment_has_frames(&self) -> bool {
        let path = segment_path(&self.run_dir, self.number + 1);
        std::fs::read(path).is_ok_and(|bytes| bytes.iter().any(|&b| b != 0))
    }

    fn next_segment(&mut self) -> Result<(), JournalError> {
        if let Some(at) = self.segment[self.offset..].iter().position(|&b| b != 0) {
            // Zeros where a frame was, data behind them: pages of the last write may reach the disk in any order.
            if self.is_torn_end() {
                self.end_torn();
                return Ok(());
            }
            let problem = format!("its length is zero, but data follows at offset {}", self.offset + at);
            return Err(JournalError::Corrupt { path: self.path(), offset: self.offset as u64, problem });
        }
        let next = segment_path(&self.run_dir, self.number + 1);
        if !next.exists() {
            self.done = true;
            let after = segment_path(&self.run_dir, self.number + 2);
            if after.exists() {
                return Err(JournalError::MissingSegment { path: next });
            }
            return Ok(());
        }
        self.segment = read_segment(&self.run_dir, self.number + 1)?;
        self.number += 1;
        self.offset = 0;
        Ok(())
    }
}

fn read_segment(run_dir: &Path, number: u32) -> Result<Vec<u8>, JournalError> {
    let path = segment_path(run_dir, number);
    std::fs::read(&path).map_err(JournalError::io("read", &path))
}

/// What can be wrong with a frame.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Short,
    Size,
    Checksum,
}

impl Damage {
    const fn text(self) -> &'static str {
        match self {
            Damage::Short => "it ends early",
            Damage::Size => "its length is impossible",
            Damage::Checksum => "its checksum is wrong",
        }
    }
}

/// The payload at `offset`; `None` where a length of zero or the end of the file ends the segment.
fn frame_at(bytes: &[u8], offset: usize) -> Result<Option<&[u8]>, Damage> {
    let rest = &bytes[offset..];
    let Some(prefix) = rest.first_chunk::<PREFIX_BYTES>() else {
        return if rest.iter().all(|&b| b == 0) { Ok(None) } else { Err(Damage::Short) };
    };
    let length = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize;
    let crc = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
    if length == 0 {
        return Ok(None);
    }
    if length > MAX_FRAME_BYTES {
        return Err(Damage::Size);
    }
    let payload = rest.get(PREFIX_BYTES..PREFIX_BYTES + length).ok_or(Damage::Short)?;
    if crc32fast::hash(payload) != crc {
        return Err(Damage::Checksum);
    }
    Ok(Some(payload))
}
