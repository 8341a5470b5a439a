//! A digest over all decisions of a replay, so that two runs can be compared in one line.
//!
//! BLAKE3 over 24 bytes for each launch and kill: instant, attempt, worker and kind of decision, little-endian. The
//! bytes are gathered in blocks, as hashing them one decision at a time would cost more than the decision.

use crate::job::{AttemptId, Locality, WorkerId};
use crate::time::Time;

const BLOCK: usize = 64 * 1024;
const RECORD: usize = 24;

/// Collects decisions.
#[derive(Clone, Debug)]
pub(super) struct DecisionDigest {
    hasher: blake3::Hasher,
    block: Vec<u8>,
}

impl Default for DecisionDigest {
    fn default() -> DecisionDigest {
        DecisionDigest { hasher: blake3::Hasher::new(), block: Vec::with_capacity(BLOCK) }
    }
}

impl DecisionDigest {
    /// An attempt was launched.
    pub(super) fn launch(
        &mut self,
        now: Time,
        worker: WorkerId,
        attempt: AttemptId,
        locality: Locality,
        speculative: bool,
    ) {
        self.add(now, worker, attempt, 1 | (locality as u32) << 2 | u32::from(speculative) << 4);
    }

    /// An attempt was told to stop.
    pub(super) fn kill(&mut self, now: Time, worker: WorkerId, attempt: AttemptId) {
        self.add(now, worker, attempt, 2);
    }

    fn add(&mut self, now: Time, worker: WorkerId, attempt: AttemptId, what: u32) {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&now.as_us().to_le_bytes());
        record[8..12].copy_from_slice(&attempt.job.0.to_le_bytes());
        record[12..16].copy_from_slice(&attempt.index.to_le_bytes());
        record[16..20].copy_from_slice(&worker.0.to_le_bytes());
        let rest = u32::from(attempt.number) | (attempt.kind as u32) << 16 | what << 17;
        record[20..].copy_from_slice(&rest.to_le_bytes());
        if self.block.len() + RECORD > BLOCK {
            self.hasher.update(&self.block);
            self.block.clear();
        }
        self.block.extend_from_slice(&record);
    }

    /// The digest of all decisions so far, as 64 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        self.hasher.clone().update(&self.block).finalize().to_hex().to_string()
    }
}
