//! How one frame is stored, in both layouts.
//!
//! Layout 1, which the header still has: the payload's length and its CRC-32, as little-endian `u32`. Layout 2 puts
//! four fixed bytes before them, so that frames behind a damaged one are found without trying every offset, and its
//! checksum covers the length.

use prost::Message;

/// What a frame of layout 2 begins with.
const MAGIC: [u8; 4] = *b"hwF2";
/// No frame is larger: a batch is limited in inputs and every input in size.
const MAX_FRAME_BYTES: usize = 1 << 30;
/// Bytes of a frame's hash.
pub(super) const LINK_BYTES: usize = 16;

/// The hash that the next frame holds.
pub(super) type Link = [u8; LINK_BYTES];

/// Of a stored payload.
pub(super) fn link(payload: &[u8]) -> Link {
    let hash = blake3::hash(payload);
    let mut link = [0; LINK_BYTES];
    link.copy_from_slice(&hash.as_bytes()[..LINK_BYTES]);
    link
}

/// Which bytes stand before a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Of version 1, and of every header.
    One,
    /// Of version 2.
    Two,
}

/// What can be wrong with a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Damage {
    Short,
    Size,
    Checksum,
    Start,
}

impl Damage {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Damage::Short => "it ends early",
            Damage::Size => "its length is impossible",
            Damage::Checksum => "its checksum is wrong",
            Damage::Start => "it does not begin as a frame does",
        }
    }
}

/// What a prefix says of its payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) length: usize,
    pub(super) checksum: u32,
    /// The checksum as far as it covers what stands before the payload.
    pub(super) sum_before: u32,
}

fn number(at: &[u8]) -> u32 {
    at.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

impl Layout {
    /// Of a journal of this version.
    pub(super) const fn of(version: u32) -> Layout {
        if version < 2 { Layout::One } else { Layout::Two }
    }

    /// Bytes before the payload.
    pub(super) const fn prefix(self) -> usize {
        match self {
            Layout::One => 8,
            Layout::Two => 12,
        }
    }

    pub(super) fn append(self, out: &mut Vec<u8>, message: &impl Message) {
        let start = out.len();
        let prefix = self.prefix();
        out.resize(start + prefix, 0);
        message.encode(out).expect("a vector grows");
        let length = u32::try_from(out.len() - start - prefix).expect("a batch is far smaller than 4 GiB");
        let at = start + prefix - 8;
        out[at..at + 4].copy_from_slice(&length.to_le_bytes());
        let crc = self.checksum(&out[at..at + 4], &out[start + prefix..]);
        out[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
        if self == Layout::Two {
            out[start..start + 4].copy_from_slice(&MAGIC);
        }
    }

    fn checksum(self, length: &[u8], payload: &[u8]) -> u32 {
        match self {
            Layout::One => crc32fast::hash(payload),
            Layout::Two => {
                let mut hasher = crc32fast::Hasher::new();
                hasher.update(length);
                hasher.update(payload);
                hasher.finalize()
            }
        }
    }

    /// The payload at `offset`; `None` where the segment ends: zeros, or the end of the file.
    pub(super) fn frame_at(self, bytes: &[u8], offset: usize) -> Result<Option<&[u8]>, Damage> {
        let rest = &bytes[offset..];
        let prefix = self.prefix();
        let Some(head) = rest.get(..prefix) else {
            return if rest.iter().all(|&b| b == 0) { Ok(None) } else { Err(Damage::Short) };
        };
        let (length_at, crc_at) = (&head[prefix - 8..prefix - 4], &head[prefix - 4..]);
        let length = number(length_at) as usize;
        if length == 0 && (self == Layout::One || head.iter().all(|&b| b == 0)) {
            return Ok(None);
        }
        if self == Layout::Two && head[..4] != MAGIC {
            return Err(Damage::Start);
        }
        if length > MAX_FRAME_BYTES {
            return Err(Damage::Size);
        }
        let payload = rest.get(prefix..prefix + length).ok_or(Damage::Short)?;
        if self.checksum(length_at, payload) != number(crc_at) {
            return Err(Damage::Checksum);
        }
        Ok(Some(payload))
    }

    /// What the bytes at `offset` say that follows, if they are the prefix of a frame.
    pub(super) fn claim(self, bytes: &[u8], offset: usize) -> Option<Claim> {
        let head = bytes.get(offset..)?.get(..self.prefix())?;
        let (length_at, crc_at) = head[self.prefix() - 8..].split_at(4);
        Some(Claim {
            length: number(length_at) as usize,
            checksum: number(crc_at),
            sum_before: self.checksum(length_at, &[]),
        })
    }

    /// Where the next frame may begin, from `offset` on.
    pub(super) fn next_start(self, bytes: &[u8], offset: usize) -> Option<usize> {
        let rest = bytes.get(offset..)?;
        match self {
            Layout::One => (!rest.is_empty()).then_some(offset),
            Layout::Two => rest.windows(MAGIC.len()).position(|window| window == MAGIC).map(|at| offset + at),
        }
    }
}
