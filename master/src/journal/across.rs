//! What lies behind a damaged snapshot.
//!
//! A snapshot adds nothing to what comes before it, so reading may go on without it, if it is certain that nothing else is
//! missing. The frame behind a snapshot holds the hash of the frame before it, and its own number. **Invariant: reading goes on
//! only where both fit; the frames after it are chained as ever.**

use std::path::PathBuf;

use howdah_proto::v1;
use prost::Message;

use super::frame::{Layout, Link};

/// Looking for the frame reads so many times the segment at most.
const MAX_SEARCHES: usize = 8;

/// A snapshot that does not read and is done without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedSnapshot {
    /// The segment that it begins.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: String,
}

/// What the frame behind it says.
pub(super) struct Place {
    /// The frame's number.
    pub(super) sequence: u64,
    /// Of the frame before the snapshot.
    pub(super) before_snapshot: Link,
}

/// The frame behind it.
pub(super) struct Follower {
    pub(super) offset: usize,
    /// Of the snapshot, as it was written.
    pub(super) previous: Link,
}

/// The frame at this place of a segment, if it is the one behind the snapshot.
pub(super) fn at(segment: &[u8], offset: usize, place: &Place) -> Option<Follower> {
    let payload = Layout::Two.frame_at(segment, offset).ok()??;
    let frame = v1::JournalFrame::decode(payload).ok()?;
    let fits = frame.sequence == place.sequence && frame.before_snapshot == place.before_snapshot;
    let previous = Link::try_from(&frame.previous[..]).ok()?;
    fits.then_some(Follower { offset, previous })
}

/// Looks for it behind the beginning of a segment. One pass: only places that look like a frame are checked.
pub(super) fn follower(segment: &[u8], place: &Place) -> Option<Follower> {
    let mut budget = segment.len().saturating_mul(MAX_SEARCHES);
    let mut from = 1;
    while let Some(start) = Layout::Two.next_start(segment, from) {
        from = start + 1;
        if let Some(found) = at(segment, start, place) {
            return Some(found);
        }
        budget = budget.checked_sub(Layout::Two.claimed(segment, start))?;
    }
    None
}
