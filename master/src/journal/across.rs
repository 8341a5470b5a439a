//! What lies behind a damaged snapshot.
//!
//! A snapshot adds nothing to what comes before it, so reading may go on without it, if it is certain that nothing else is
//! missing. The frame behind a snapshot holds the hash of the frame before it, and its own number. **Invariant: reading goes on
//! only where both fit; the frames after it are chained as ever.**

use std::path::PathBuf;

use howdah_proto::v1;
use prost::Message;

use super::frame::{Layout, Link};
use super::search::Search;

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
    read(Layout::Two.frame_at(segment, offset).ok()??, offset, place)
}

fn read(payload: &[u8], offset: usize, place: &Place) -> Option<Follower> {
    let frame = v1::JournalFrame::decode(payload).ok()?;
    let fits = frame.sequence == place.sequence && frame.before_snapshot == place.before_snapshot;
    let previous = Link::try_from(&frame.previous[..]).ok()?;
    fits.then_some(Follower { offset, previous })
}

/// Looks for it behind the beginning of a segment.
pub(super) fn follower(segment: &[u8], place: &Place) -> Option<Follower> {
    Search::new(Layout::Two, segment, 1).find_map(|(offset, payload)| read(payload, offset, place))
}
