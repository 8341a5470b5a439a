//! One log as a reader gets it: pieces of a file, and a line where something was left out.

use std::fs::File;
use std::io;
use std::path::Path;

use howdah_core::job::{AttemptId, ClusterId};

use super::Logs;
use super::container::Scan;
use super::live::{COLLECTED, read_collected};
use super::record::{FILES, Kept, Key};
use crate::plain;

/// A part of what is read.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Of a file, by itself: the reader has its own place in it.
    Bytes {
        file: File,
        offset: u64,
        length: u64,
    },
    Said(Vec<u8>),
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Piece::Bytes { length, .. } => *length,
            Piece::Said(text) => text.len() as u64,
        }
    }

    /// Without its first bytes, of which it has more.
    fn after(self, skipped: u64) -> Piece {
        match self {
            Piece::Bytes { file, offset, length } => {
                Piece::Bytes { file, offset: offset + skipped, length: length - skipped }
            }
            Piece::Said(text) => Piece::Said(text[skipped as usize..].to_vec()),
        }
    }
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) pieces: Vec<Piece>,
}

impl Reading {
    pub(crate) fn length(&self) -> u64 {
        self.pieces.iter().map(Piece::length).sum()
    }

    /// What follows the first bytes.
    pub(crate) fn after(self, mut skipped: u64) -> Reading {
        let mut pieces = Vec::new();
        for piece in self.pieces {
            let length = piece.length();
            if skipped < length {
                pieces.push(piece.after(skipped));
            }
            skipped = skipped.saturating_sub(length);
        }
        Reading { pieces }
    }
}

impl Logs {
    /// A log of an attempt, by its number in [`FILES`], whether the attempt runs or is over.
    pub(crate) fn read(&self, cluster: ClusterId, attempt: AttemptId, which: usize) -> io::Result<Reading> {
        if let Some(reading) = self.read_container(cluster, attempt, which)? {
            return Ok(reading);
        }
        let live = read_live(&self.live(cluster, attempt), which);
        // It may have been collected meanwhile, and be empty or gone for that.
        match self.read_container(cluster, attempt, which)? {
            Some(reading) => Ok(reading),
            None => live,
        }
    }

    /// `None` when the container does not have it, or there is none.
    fn read_container(&self, cluster: ClusterId, attempt: AttemptId, which: usize) -> io::Result<Option<Reading>> {
        let path = self.container(cluster, attempt.job);
        // Nothing that is not a container has logs, whoever put it there.
        let Ok(file) = plain::open(&path) else { return Ok(None) };
        let Ok(places) = self.indexes.find(&file, Key::of(attempt)) else { return Ok(None) };
        if places.is_empty() {
            return Ok(None);
        }
        let length = file.metadata()?.len();
        let mut pieces = Vec::new();
        for at in places {
            let Some((record, begin)) = (Scan { at }).next(&file, length)? else { continue };
            // Only if somebody has cut the container is it another's.
            if record.key != Key::of(attempt) {
                continue;
            }
            let begin = begin + record.files[..which].iter().map(|file| file.kept).sum::<u64>();
            add(&mut pieces, &path, record.files[which], begin)?;
        }
        Ok(Some(Reading { pieces }))
    }

    /// Whether the attempt's logs are in the container.
    pub(super) fn has(&self, cluster: ClusterId, attempt: AttemptId) -> bool {
        matches!(self.read_container(cluster, attempt, 0), Ok(Some(_)))
    }
}

fn read_live(dir: &Path, which: usize) -> io::Result<Reading> {
    let offset = read_collected(plain::open(&dir.join(COLLECTED)).ok())[which];
    let file = plain::open(&dir.join(FILES[which]))?;
    let length = file.metadata()?.len();
    // The task may have cut it.
    let offset = if offset <= length { offset } else { 0 };
    Ok(Reading { pieces: vec![Piece::Bytes { file, offset, length: length - offset }] })
}

/// What was kept of one file, and how much was not.
fn add(pieces: &mut Vec<Piece>, path: &Path, kept: Kept, begin: u64) -> io::Result<()> {
    let part = |offset, length| -> io::Result<Piece> { Ok(Piece::Bytes { file: plain::open(path)?, offset, length }) };
    let head = kept.head();
    if head > 0 {
        pieces.push(part(begin, head)?);
    }
    if !kept.is_cut() {
        return Ok(());
    }
    let (left_out, all) = (kept.length - kept.kept, kept.length);
    let said = format!(
        "\n[howdah: {left_out} of {all} bytes are left out here: the job's logs on this worker have come near to \
         `userlog_job_bytes`]\n"
    );
    pieces.push(Piece::Said(said.into_bytes()));
    if kept.kept > head {
        pieces.push(part(begin + head, kept.kept - head)?);
    }
    Ok(())
}
