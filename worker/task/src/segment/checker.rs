//! Checks a segment while it arrives, without holding or decoding it.

use super::{BLOCK_HEADER_BYTES, BlockHeader, END_BYTES, HEADER_BYTES, codec_of};
use crate::api::error::TaskError;

/// Fed with a segment's bytes in pieces of any size, says whether they are what was written.
pub(crate) struct SegmentChecker {
    what: String,
    seen: u64,
    state: State,
    /// Payload of the end.
    end: [u8; END_BYTES as usize],
}

enum State {
    /// Collecting the segment's or a block's header.
    Header { bytes: [u8; BLOCK_HEADER_BYTES], have: usize, first: bool },
    /// Within a block's stored bytes.
    Payload { header: BlockHeader, left: u32, crc: crc32fast::Hasher },
    /// After the end.
    Ended,
}

impl SegmentChecker {
    /// `what` names the segment in errors.
    pub(crate) fn new(what: String) -> SegmentChecker {
        SegmentChecker {
            what,
            seen: 0,
            state: State::Header { bytes: [0; BLOCK_HEADER_BYTES], have: 0, first: true },
            end: [0; END_BYTES as usize],
        }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TaskError> {
        while !bytes.is_empty() {
            let used = self.step(bytes).map_err(|detail| TaskError::Damaged {
                what: self.what.clone(),
                offset: self.seen,
                detail,
            })?;
            self.seen += used as u64;
            bytes = &bytes[used..];
        }
        Ok(())
    }

    /// Says whether the segment was complete, and how many records it has.
    pub(crate) fn finish(self) -> Result<u64, TaskError> {
        match self.state {
            State::Ended => Ok(u64::from_le_bytes(self.end)),
            _ => Err(TaskError::Damaged { what: self.what, offset: self.seen, detail: "it ends too early".to_owned() }),
        }
    }

    /// Uses some of `bytes`, at least one.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, String> {
        match &mut self.state {
            State::Ended => Err("bytes follow its end".to_owned()),
            State::Header { bytes: header, have, first } => {
                let wanted = if *first { HEADER_BYTES } else { BLOCK_HEADER_BYTES };
                let used = bytes.len().min(wanted - *have);
                header[*have..*have + used].copy_from_slice(&bytes[..used]);
                *have += used;
                if *have < wanted {
                    return Ok(used);
                }
                if *first {
                    if codec_of(&header[..]).is_none() {
                        return Err("expected the header of a segment".to_owned());
                    }
                    self.state = State::Header { bytes: [0; BLOCK_HEADER_BYTES], have: 0, first: false };
                } else {
                    let header = BlockHeader::from_bytes(*header);
                    if header.stored_len == 0 {
                        return Err("a block without bytes".to_owned());
                    }
                    let crc = header.start_crc();
                    self.state = State::Payload { header, left: header.stored_len, crc };
                }
                Ok(used)
            }
            State::Payload { header, left, crc } => {
                let used = bytes.len().min(*left as usize);
                crc.update(&bytes[..used]);
                if header.is_end() {
                    let at = (END_BYTES - *left) as usize;
                    self.end[at..at + used].copy_from_slice(&bytes[..used]);
                }
                *left -= used as u32;
                if *left > 0 {
                    return Ok(used);
                }
                let found = crc.clone().finalize();
                if found != header.crc {
                    return Err(format!("block checksum {found:08x}, expected {:08x}", header.crc));
                }
                self.state = if header.is_end() {
                    State::Ended
                } else {
                    State::Header { bytes: [0; BLOCK_HEADER_BYTES], have: 0, first: false }
                };
                Ok(used)
            }
        }
    }
}
