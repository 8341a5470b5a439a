//! A digest over all decisions of a replay, so that two runs can be compared in one line.
//!
//! Each launch and kill is three words (instant; task; worker and kind of decision) that two multiplications fold into
//! a state of 128 bits; BLAKE3 makes the digest of the last state. A cryptographic hash over all words would cost as
//! much as the decisions. Nobody forges schedules: what has to be noticed is a difference by accident, and one that
//! keeps the state the same has a chance of about 2⁻⁶⁴. The arithmetic is the same on every machine.

use crate::job::{AttemptId, Locality, WorkerId};
use crate::time::Time;

/// Odd constants without a pattern: the first bits of π, as in Blowfish's tables.
const KEYS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// Collects decisions.
#[derive(Clone, Debug)]
pub(super) struct DecisionDigest {
    state: [u64; 2],
    decisions: u64,
}

impl Default for DecisionDigest {
    fn default() -> DecisionDigest {
        DecisionDigest { state: KEYS, decisions: 0 }
    }
}

impl DecisionDigest {
    /// An attempt was launched.
    #[inline]
    pub(super) fn launch(
        &mut self,
        now: Time,
        worker: WorkerId,
        attempt: &AttemptId,
        locality: Locality,
        speculative: bool,
    ) {
        self.add(now, worker, attempt, 1 | (locality as u32) << 2 | u32::from(speculative) << 4);
    }

    /// An attempt was told to stop.
    pub(super) fn kill(&mut self, now: Time, worker: WorkerId, attempt: &AttemptId) {
        self.add(now, worker, attempt, 2);
    }

    #[inline]
    fn add(&mut self, now: Time, worker: WorkerId, attempt: &AttemptId, what: u32) {
        let task = u64::from(attempt.job.0) | u64::from(attempt.index) << 32;
        let rest = u32::from(attempt.number) | (attempt.kind as u32) << 16 | what << 17;
        let place = u64::from(worker.0) | u64::from(rest) << 32;
        let [first, second] = self.state;
        // A factor is never 0 but by a chance of 2⁻⁶⁴, so no word is lost.
        let first = folded_product(first ^ now.as_us(), task ^ KEYS[0]);
        self.state = [first, folded_product(second ^ place, first ^ KEYS[1])];
        self.decisions += 1;
    }

    /// The digest of all decisions so far, as 64 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for word in [self.state[0], self.state[1], self.decisions] {
            hasher.update(&word.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Both halves of the product, each bit of which depends on many bits of both factors.
#[inline]
fn folded_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::job::{JobId, TaskKind};

    fn attempt(job: u32, index: u32, number: u16, kind: TaskKind) -> AttemptId {
        AttemptId { job: JobId(job), index, number, kind }
    }

    #[test]
    fn every_part_of_every_decision_counts_and_so_does_their_order() {
        let usual = (5, 0, attempt(1, 2, 0, TaskKind::Map), Locality::Node, false);
        let others = [
            (6, 0, usual.2, Locality::Node, false),
            (5, 1, usual.2, Locality::Node, false),
            (5, 0, attempt(2, 2, 0, TaskKind::Map), Locality::Node, false),
            (5, 0, attempt(1, 3, 0, TaskKind::Map), Locality::Node, false),
            (5, 0, attempt(1, 2, 1, TaskKind::Map), Locality::Node, false),
            (5, 0, attempt(1, 2, 0, TaskKind::Reduce), Locality::Node, false),
            (5, 0, usual.2, Locality::Rack, false),
            (5, 0, usual.2, Locality::Node, true),
        ];
        let digest = |decisions: &[_]| {
            let mut digest = DecisionDigest::default();
            for &(now, worker, ref attempt, locality, speculative) in decisions {
                digest.launch(Time::from_us(now), WorkerId(worker), attempt, locality, speculative);
            }
            digest.hex()
        };
        let mut seen = BTreeSet::from([digest(&[]), digest(&[usual]), digest(&[usual; 2]), digest(&[usual; 3])]);
        for other in others {
            // Alone, first, last and in the middle.
            for decisions in [&[other][..], &[other, usual], &[usual, other], &[usual, other, usual]] {
                assert!(seen.insert(digest(decisions)), "{other:?} counts");
            }
        }
        let mut kill = DecisionDigest::default();
        kill.kill(Time::from_us(5), WorkerId(0), &usual.2);
        assert!(seen.insert(kill.hex()), "a kill is no launch");
    }

    #[test]
    fn a_hundred_thousand_neighbouring_decisions_all_differ() {
        let mut seen = BTreeSet::new();
        for (now, job, index) in
            (0..1_000).flat_map(|now| (1..11).flat_map(move |job| (0..10).map(move |i| (now, job, i))))
        {
            let mut digest = DecisionDigest::default();
            let attempt = attempt(job, index, 0, TaskKind::Map);
            digest.launch(Time::from_us(now), WorkerId(0), &attempt, Locality::Unknown, false);
            digest.launch(Time::from_us(1_000), WorkerId(0), &attempt, Locality::Unknown, false);
            assert!(seen.insert(digest.state), "{now} {job} {index}");
        }
    }

    // The same number on every machine and in every version.
    #[test]
    fn a_known_schedule_has_a_known_digest() {
        let mut digest = DecisionDigest::default();
        digest.launch(Time::from_us(5), WorkerId(3), &attempt(1, 2, 0, TaskKind::Map), Locality::Rack, false);
        digest.kill(Time::from_us(9), WorkerId(3), &attempt(1, 2, 0, TaskKind::Map));
        assert_eq!(&digest.hex()[..16], "7f5a5f80246ebbdf");
    }
}
