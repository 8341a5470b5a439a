//! The canonical encoding of effects and the chain of their digests.
//!
//! Each effect is a tag byte and its fields as little-endian numbers, nothing else: the encoding depends
//! neither on this program's memory layout nor on the names of anything. The digest after a batch is the
//! BLAKE3 hash of the digest before it and the encodings of the batch's effects in order, so that two runs
//! with equal digests at one point did the same up to that point. Tags are part of the journal's format:
//! new effects get new tags.

use howdah_core::job::{AttemptId, AttemptState, Locality, TaskKind};
use howdah_core::tracker::{Effect, EndCause, Rejection};

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 32;

/// The running digest of all effects so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    digest: [u8; DIGEST_BYTES],
    scratch: Vec<u8>,
}

impl Chain {
    /// Before any effect: all zeros.
    pub fn new() -> Chain {
        Chain::default()
    }

    /// Continues after a recorded digest.
    pub fn after(digest: [u8; DIGEST_BYTES]) -> Chain {
        Chain { digest, scratch: Vec::new() }
    }

    /// Takes in one batch's effects and gives the digest after them.
    pub fn add(&mut self, effects: &[Effect]) -> [u8; DIGEST_BYTES] {
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.digest);
        for effect in effects {
            encode(effect, &mut self.scratch);
        }
        self.digest = *blake3::hash(&self.scratch).as_bytes();
        self.digest
    }

    /// The digest after the last batch.
    pub fn digest(&self) -> [u8; DIGEST_BYTES] {
        self.digest
    }
}

/// Appends the canonical encoding of one effect.
pub fn encode(effect: &Effect, out: &mut Vec<u8>) {
    let mut to = Encoder(out);
    match *effect {
        Effect::Launch { worker, attempt, locality, speculative } => {
            to.tag(1).u32(worker.0).attempt(attempt).byte(locality_number(locality)).byte(u8::from(speculative));
        }
        Effect::Kill { worker, attempt, cause } => {
            to.tag(2).u32(worker.0).attempt(attempt).byte(cause_number(cause));
        }
        Effect::Commit { worker, attempt } => {
            to.tag(3).u32(worker.0).attempt(attempt);
        }
        Effect::ForgetJob { worker, job } => {
            to.tag(4).u32(worker.0).u32(job.0);
        }
        Effect::Reinit { worker } => {
            to.tag(5).u32(worker.0);
        }
        Effect::Answer { worker, response_id, interval_ms } => {
            to.tag(6).u32(worker.0).u32(response_id).u32(interval_ms);
        }
        Effect::JobState { job, state } => {
            to.tag(7).u32(job.0).byte(state as u8);
        }
        Effect::CommitJob { job } => {
            to.tag(8).u32(job.0);
        }
        Effect::AbortJob { job } => {
            to.tag(9).u32(job.0);
        }
        Effect::AttemptEnded { attempt, worker, state, cause, started } => {
            to.tag(10).attempt(attempt).u32(worker.0).byte(state_number(state)).byte(cause_number(cause));
            to.u64(started.as_us());
        }
        Effect::MapOutputReady { attempt, worker } => {
            to.tag(11).attempt(attempt).u32(worker.0);
        }
        Effect::MapOutputLost { attempt, worker, cause } => {
            to.tag(12).attempt(attempt).u32(worker.0).byte(cause_number(cause));
        }
        Effect::OutputGone { attempt, worker } => {
            to.tag(16).attempt(attempt).u32(worker.0);
        }
        Effect::OutputKept { attempt, worker } => {
            to.tag(17).attempt(attempt).u32(worker.0);
        }
        Effect::TaskFailed { task } => {
            to.tag(15).u32(task.job.0).byte(u8::from(task.kind == TaskKind::Reduce)).u32(task.index);
        }
        Effect::WorkerState { worker, state } => {
            to.tag(13).u32(worker.0).byte(state as u8);
        }
        Effect::Rejected { worker, why } => {
            // No worker is all ones: worker numbers are dense from 0 and never reach it.
            to.tag(14).u32(worker.map_or(u32::MAX, |w| w.0));
            rejection(why, to);
        }
    }
}

fn rejection(why: Rejection, mut to: Encoder<'_>) {
    match why {
        Rejection::UnknownJob(job) => to.tag(1).u32(job.0),
        Rejection::JobOutOfOrder(job) => to.tag(2).u32(job.0),
        Rejection::MalformedJob(job) => to.tag(3).u32(job.0),
        Rejection::UnknownWorker(worker) => to.tag(4).u32(worker.0),
        Rejection::WorkerOutOfOrder(worker) => to.tag(5).u32(worker.0),
        Rejection::StaleIncarnation(worker) => to.tag(6).u32(worker.0),
        Rejection::WrongResponseId { reported, last } => to.tag(7).u32(reported).u32(last),
        Rejection::UnknownAttempt(attempt) => to.tag(8).attempt(attempt),
        Rejection::ImpossibleTransition { attempt, from, to: into } => {
            to.tag(9).attempt(attempt).byte(state_number(from)).byte(state_number(into))
        }
        Rejection::NotCommitting(job) => to.tag(10).u32(job.0),
        Rejection::MalformedReport(worker) => to.tag(11).u32(worker.0),
        Rejection::BadScheduler => to.tag(12),
        Rejection::NotAtRest => to.tag(13),
    };
}

const fn locality_number(locality: Locality) -> u8 {
    locality as u8
}

const fn cause_number(cause: EndCause) -> u8 {
    cause as u8
}

const fn state_number(state: AttemptState) -> u8 {
    state as u8
}

struct Encoder<'a>(&'a mut Vec<u8>);

impl Encoder<'_> {
    fn tag(&mut self, tag: u8) -> &mut Self {
        self.byte(tag)
    }

    fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn attempt(&mut self, attempt: AttemptId) -> &mut Self {
        self.u32(attempt.job.0).byte(u8::from(attempt.kind == TaskKind::Reduce)).u32(attempt.index);
        self.0.extend_from_slice(&attempt.number.to_le_bytes());
        self
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{JobId, WorkerId};

    use super::*;

    #[test]
    fn equal_effects_give_equal_digests_and_order_matters() {
        let a = Effect::CommitJob { job: JobId(1) };
        let b = Effect::Reinit { worker: WorkerId(1) };
        let digest = |batches: &[&[Effect]]| {
            let mut chain = Chain::new();
            for batch in batches {
                chain.add(batch);
            }
            chain.digest()
        };
        assert_eq!(digest(&[&[a, b]]), digest(&[&[a, b]]));
        assert_ne!(digest(&[&[a, b]]), digest(&[&[b, a]]));
        assert_ne!(digest(&[&[a, b]]), digest(&[&[a], &[b]]));
        assert_ne!(digest(&[]), digest(&[&[]]));
    }

    #[test]
    fn encoding_is_frozen() {
        let attempt = AttemptId { job: JobId(1), index: 2, number: 3, kind: TaskKind::Reduce };
        let mut out = Vec::new();
        encode(
            &Effect::Launch { worker: WorkerId(7), attempt, locality: Locality::Unknown, speculative: true },
            &mut out,
        );
        assert_eq!(out, [1, 7, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 0, 3, 0, 3, 1]);
    }
}
