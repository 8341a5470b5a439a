//! Where reading a journal can begin: with its first frame, or with a snapshot.
//!
//! A snapshot is the first frame of its segment, so a look at how each segment begins finds them. What came before a
//! snapshot may be gone, wholly or, when the master was killed while it removed it, in part.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use howdah_proto::v1;
use prost::Message;

use super::error::JournalError;
use super::frame::Layout;
use super::paths::segment_path;

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first frame of all, which follows the header.
    Beginning,
    /// With the snapshot at the beginning of this segment.
    Snapshot(u32),
}

/// The segments that lie beside each other up to the last one, ascending; there may be others before a gap.
pub(super) fn last_segments(run_dir: &Path) -> Vec<u32> {
    let mut all: Vec<u32> = std::fs::read_dir(run_dir.join("journal"))
        .into_iter()
        .flatten()
        .filter_map(|entry| number_of(&entry.ok()?.path()))
        .collect();
    all.sort_unstable();
    let gap = all.windows(2).rposition(|pair| pair[0] + 1 != pair[1]);
    all.split_off(gap.map_or(0, |before| before + 1))
}

/// Whether there is any segment behind this one.
pub(super) fn is_followed(run_dir: &Path, number: u32) -> bool {
    last_segments(run_dir).last().is_some_and(|&last| last > number)
}

/// The number of a segment by its file.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    let is_segment = path.extension().is_some_and(|extension| extension == "seg");
    path.file_stem()?.to_str()?.parse().ok().filter(|_| is_segment)
}

/// Where reading begins that wants all there is.
///
/// # Errors
/// When the beginning is gone and there is no snapshot to begin with.
pub(super) fn earliest(run_dir: &Path) -> Result<Start, JournalError> {
    let segments = last_segments(run_dir);
    if segments.first().is_none_or(|&first| first == 1) {
        return Ok(Start::Beginning);
    }
    let first = segments.iter().copied().find(|&number| begins_with_snapshot(run_dir, number));
    without_beginning(run_dir, first)
}

/// Where reading begins that wants the present.
///
/// # Errors
/// When the beginning is gone and there is no snapshot to begin with.
pub(super) fn latest(run_dir: &Path) -> Result<Start, JournalError> {
    let segments = last_segments(run_dir);
    let last = segments.iter().rev().copied().find(|&number| begins_with_snapshot(run_dir, number));
    match (last, segments.first()) {
        (None, None | Some(1)) => Ok(Start::Beginning),
        (last, _) => without_beginning(run_dir, last),
    }
}

fn without_beginning(run_dir: &Path, snapshot: Option<u32>) -> Result<Start, JournalError> {
    match snapshot {
        Some(number) => Ok(Start::Snapshot(number)),
        // Reading stops at the gap, or at the lack of the first segment, and says so.
        None if segment_path(run_dir, 1).exists() => Ok(Start::Beginning),
        None => {
            let first = last_segments(run_dir).first().copied().unwrap_or(1);
            let path = segment_path(run_dir, first);
            let problem = problem_of(&path);
            Err(JournalError::NoSnapshot { path, problem })
        }
    }
}

/// Why a segment's first frame is no snapshot.
fn problem_of(path: &Path) -> String {
    match std::fs::read(path) {
        Err(error) => error.to_string(),
        Ok(bytes) => match Layout::Two.frame_at(&bytes, 0) {
            Err(damage) => damage.text().to_owned(),
            Ok(None) => "it is empty".to_owned(),
            Ok(Some(_)) => "it is a batch".to_owned(),
        },
    }
}

/// Whether the first frame of a segment is a whole snapshot.
pub(super) fn begins_with_snapshot(run_dir: &Path, number: u32) -> bool {
    first_frame(&segment_path(run_dir, number)).is_some_and(|frame| frame.snapshot.is_some())
}

/// Reads no more of the file than its first frame says that it has.
fn first_frame(path: &Path) -> Option<v1::JournalFrame> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut bytes = vec![0; Layout::Two.prefix()];
    file.read_exact(&mut bytes).ok()?;
    let claimed = Layout::Two.claim(&bytes, 0)?.length as u64;
    if claimed > size {
        return None;
    }
    file.take(claimed).read_to_end(&mut bytes).ok()?;
    let payload = Layout::Two.frame_at(&bytes, 0).ok()??;
    v1::JournalFrame::decode(payload).ok()
}
