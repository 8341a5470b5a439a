//! Finds whole frames among bytes that may be anything, as behind a frame that is torn or damaged.
//!
//! Frames hold what tasks and peers said, so any number of places may look like the beginning of a large frame. To sum up what
//! each of them claims would take as long as all claims together. So the sums of the beginnings of the bytes are made once,
//! and the checksum of what a place claims follows from two of them. **Invariant: the time is linear in the bytes, whatever they
//! are, and no frame is missed.**

use crc32fast::Hasher;

use super::frame::Layout;

/// Between two sums that are kept.
const APART: usize = 32;
/// A payload of so many bytes is summed up where it is.
const NEAR: usize = 64;

/// The frames from a place on, by their places, with their payloads; none that lies in another.
pub(super) struct Search<'a> {
    layout: Layout,
    bytes: &'a [u8],
    /// Where the next frame may begin.
    at: usize,
    /// Where the sums begin.
    from: usize,
    /// The checksum of what is between `from` and each multiple of `APART` behind it.
    sums: Vec<u32>,
}

impl<'a> Search<'a> {
    /// Looks at `from` and behind it.
    pub(super) fn new(layout: Layout, bytes: &'a [u8], from: usize) -> Search<'a> {
        let from = from.min(bytes.len());
        let mut sums = vec![0];
        let mut hasher = Hasher::new();
        for piece in bytes[from..].chunks_exact(APART) {
            hasher.update(piece);
            sums.push(hasher.clone().finalize());
        }
        Search { layout, bytes, at: from, from, sums }
    }

    /// The checksum of what is between `from` and this place behind it.
    fn sum(&self, to: usize) -> u32 {
        let kept = (to - self.from) / APART;
        let mut hasher = Hasher::new_with_initial(self.sums[kept]);
        hasher.update(&self.bytes[self.from + kept * APART..to]);
        hasher.finalize()
    }

    /// Whether what a place claims is there and has the checksum that it names. Of a short payload it is not known.
    fn may_be(&self, start: usize) -> bool {
        let Some(claim) = self.layout.claim(self.bytes, start) else { return false };
        let payload = start + self.layout.prefix();
        if claim.length > self.bytes.len() - payload {
            return false;
        }
        if claim.length <= NEAR {
            return true;
        }
        // A sum is linear: that of the payload is the sum up to its end, less the sum up to its beginning moved on by its length;
        // and what is summed up before the payload is moved on by as much.
        let length = claim.length as u64;
        let mut sum = Hasher::new_with_initial_len(claim.sum_before ^ self.sum(payload), 0);
        sum.combine(&Hasher::new_with_initial_len(self.sum(payload + claim.length), length));
        sum.finalize() == claim.checksum
    }
}

impl<'a> Iterator for Search<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<(usize, &'a [u8])> {
        while let Some(start) = self.layout.next_start(self.bytes, self.at) {
            self.at = start + 1;
            if self.may_be(start)
                && let Ok(Some(payload)) = self.layout.frame_at(self.bytes, start)
            {
                self.at = start + self.layout.prefix() + payload.len();
                return Some((start, payload));
            }
        }
        self.at = self.bytes.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use howdah_fuzz::{change, changed};
    use howdah_proto::v1;
    use proptest::prelude::*;

    use super::*;

    /// What is found when every place is tried in full.
    fn one_by_one(layout: Layout, bytes: &[u8], from: usize) -> Vec<(usize, &[u8])> {
        let mut found = Vec::new();
        let mut at = from;
        while let Some(start) = layout.next_start(bytes, at) {
            at = start + 1;
            if let Ok(Some(payload)) = layout.frame_at(bytes, start) {
                found.push((start, payload));
                at = start + layout.prefix() + payload.len();
            }
        }
        found
    }

    fn frames(layout: Layout, sizes: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for size in sizes {
            layout.append(&mut bytes, &v1::JournalFrame { digest: vec![7; *size], ..Default::default() });
        }
        bytes
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_trying_every_place_finds(
            sizes in proptest::collection::vec(0_usize..300, 0..12),
            changes in proptest::collection::vec(change(), 0..4),
            first in any::<bool>(),
            from in 0_usize..200,
        ) {
            let layout = if first { Layout::One } else { Layout::Two };
            let bytes = changed(&frames(layout, &sizes), &changes);
            let from = from.min(bytes.len());
            let found: Vec<_> = Search::new(layout, &bytes, from).collect();
            prop_assert_eq!(found, one_by_one(layout, &bytes, from));
        }
    }

    #[test]
    fn frames_of_any_length_are_found_behind_bytes_that_are_none() {
        for layout in [Layout::One, Layout::Two] {
            for size in 1..200 {
                let mut bytes = b"hwF2 no frame \x07".repeat(5);
                let start = bytes.len();
                bytes.extend(frames(layout, &[size]));
                let found: Vec<usize> = Search::new(layout, &bytes, 1).map(|(at, _)| at).collect();
                assert_eq!(found.last(), Some(&start), "{size} bytes, {layout:?}");
            }
        }
    }
}
