//! A core whose every batch is written to a journal.
//!
//! The daemon's thread drives one; tests record runs with it that are then replayed elsewhere.

use std::path::Path;

use howdah_core::schedulers::Scheduler;
use howdah_core::time::Time;
use howdah_core::tracker::{ClusterConfig, Effect, Input, JobTracker, Rejection, SchedulerChoice};
use howdah_proto::convert::decision;
use howdah_proto::v1;
use prost::Message;

use crate::digest::{Chain, DIGEST_BYTES};
use crate::journal;
use crate::journal::{JournalError, JournalWriter};

/// Fingerprint of the sources by which this build decides: 16 hexadecimal digits.
pub const RULES: &str = env!("HOWDAH_RULES");

/// So much may be in memory only for the journal to be written again after a failure.
const MAX_UNSYNCED_BYTES: usize = 4 << 20;

/// From what a run's core is built; the journal's header holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Middle part of printed ids.
    pub cluster_id: u64,
    /// The core's effective configuration.
    pub cluster: ClusterConfig,
    /// The scheduler's name.
    pub scheduler: String,
    /// The scheduler's parameters.
    pub scheduler_params: std::collections::BTreeMap<String, String>,
    /// Of the run's random streams.
    pub seed: u64,
    /// Tells this cluster from another one that began in the same minute; nothing is decided by it.
    pub nonce: u64,
}

/// A core and its journal.
pub struct Recorder {
    tracker: JobTracker,
    chain: Chain,
    journal: JournalWriter,
    frame: v1::JournalFrame,
    /// Whether batches get frames.
    keeps: bool,
    pub(crate) position: Position,
    /// Of the last snapshot that it kept.
    snapshot_bytes: u64,
}

/// How far a recording has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// The policy in charge.
    pub(crate) in_force: SchedulerChoice,
    /// Batches so far.
    pub(crate) batches: u64,
    /// The batch with the first submission; zero before there was one.
    pub(crate) first_submission: Time,
    /// Bytes of the frames since the last snapshot that were there before this recording went on.
    pub(crate) bytes: u64,
}

impl Position {
    /// Takes in one batch, after which `last_job` is the last job's number.
    pub(crate) fn note(&mut self, now: Time, inputs: &[Input], effects: &[Effect], last_job: u32) {
        self.batches += 1;
        if self.first_submission == Time::ZERO && last_job > 0 {
            self.first_submission = now;
        }
        let refuses = |effect: &Effect| matches!(effect, Effect::Rejected { why: Rejection::BadScheduler, .. });
        for choice in inputs {
            if let Input::SetScheduler(choice) = choice
                && !effects.iter().any(refuses)
            {
                self.in_force.clone_from(choice);
            }
        }
    }
}

impl Origin {
    fn header(&self) -> v1::JournalHeader {
        v1::JournalHeader {
            version: journal::VERSION,
            cluster_id: self.cluster_id,
            cluster_config_json: serde_json::to_string(&self.cluster).expect("the configuration has string keys"),
            scheduler: self.scheduler.clone(),
            scheduler_params: self.scheduler_params.clone().into_iter().collect(),
            seed: self.seed,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms_epoch: crate::clock::now_ms_epoch(),
            rules: RULES.to_owned(),
            nonce: self.nonce,
        }
    }
}

impl Recorder {
    /// A fresh core that is recorded in `run_dir`, which exists and holds no journal yet. The scheduler is the
    /// one that `origin` names, made by the caller.
    ///
    /// # Errors
    /// When the journal cannot be made.
    pub fn create(
        run_dir: &Path,
        origin: &Origin,
        scheduler: Box<dyn Scheduler>,
        segment_bytes: u64,
    ) -> Result<Recorder, JournalError> {
        let journal = JournalWriter::create(run_dir, &origin.header(), segment_bytes)?;
        let tracker = JobTracker::new(origin.cluster.clone(), scheduler);
        let in_force = SchedulerChoice { name: origin.scheduler.clone(), params: origin.scheduler_params.clone() };
        Ok(Recorder {
            tracker,
            chain: Chain::new(),
            journal,
            frame: v1::JournalFrame::default(),
            keeps: true,
            position: Position { in_force, ..Position::default() },
            snapshot_bytes: 0,
        })
    }

    /// Goes on recording a core that has come as far as its journal.
    pub(crate) fn resumed(
        tracker: JobTracker,
        digest: [u8; DIGEST_BYTES],
        journal: JournalWriter,
        position: Position,
    ) -> Recorder {
        let frame = v1::JournalFrame::default();
        Recorder { tracker, chain: Chain::after(digest), journal, frame, keeps: true, position, snapshot_bytes: 0 }
    }

    /// From now on nothing is recorded: what that saves is what the journal costs.
    pub(crate) fn keep_nothing(&mut self) {
        self.keeps = false;
    }

    /// The core.
    pub fn tracker(&self) -> &JobTracker {
        &self.tracker
    }

    /// Applies one batch and adds its frame; `recorded` holds the inputs as the journal keeps them and is
    /// emptied. The effects may leave after [`sync`](Self::sync) or, if there are none, never need it.
    pub fn apply(
        &mut self,
        now: Time,
        inputs: &[Input],
        recorded: &mut Vec<v1::JournalInput>,
        effects: &mut Vec<Effect>,
    ) {
        let first = effects.len();
        self.tracker.apply(now, inputs, effects);
        if !self.keeps {
            return recorded.clear();
        }
        let new = &effects[first..];
        self.position.note(now, inputs, new, self.tracker.state().last_job());
        let frame = &mut self.frame;
        frame.time_us = now.as_us();
        std::mem::swap(&mut frame.inputs, recorded);
        frame.decisions.clear();
        frame.decisions.extend(new.iter().filter_map(decision));
        frame.preempted.clear();
        frame.preempted.extend(self.tracker.preempted().iter().map(v1::JournalPreemption::from));
        frame.reserved.clear();
        frame.reserved.extend(self.tracker.reserved().iter().map(v1::JournalReservation::from));
        frame.n_effects = new.len() as u32;
        frame.digest.clear();
        frame.digest.extend_from_slice(&self.chain.add(new));
        self.journal.append(frame);
        // The buffers keep their memory for the next batch.
        frame.inputs.clear();
        std::mem::swap(&mut frame.inputs, recorded);
    }

    /// Bytes of the frames since the last snapshot; 0 if there are no frames.
    pub(crate) fn bytes_since_snapshot(&self) -> u64 {
        if self.keeps { self.position.bytes + self.journal.bytes_since_snapshot() } else { 0 }
    }

    /// Begins a segment, whose number is returned, with a snapshot, which is on disk afterwards. The last batch was
    /// [`Input::Snapshot`](howdah_core::tracker::Input::Snapshot) and was not refused; `known` is what the driver knows
    /// beside the core.
    ///
    /// # Errors
    /// When the journal cannot be written. [`sync`](Self::sync) tries again; nothing may be removed before a snapshot that
    /// failed.
    pub(crate) fn keep_snapshot(&mut self, known: v1::JournalSnapshot) -> Result<u32, JournalError> {
        let snapshot = self.tracker.snapshot().expect("the input before is refused in the middle of a batch");
        let Position { in_force, batches, first_submission, .. } = &self.position;
        let snapshot = v1::JournalSnapshot {
            core_json: serde_json::to_vec(&snapshot).expect("a snapshot has string keys"),
            scheduler: Some(in_force.into()),
            batches: *batches,
            first_submission_us: first_submission.as_us(),
            ..known
        };
        let mut frame = v1::JournalFrame {
            time_us: self.tracker.state().now().as_us(),
            digest: self.chain.digest().to_vec(),
            snapshot: Some(snapshot),
            ..v1::JournalFrame::default()
        };
        self.snapshot_bytes = frame.encoded_len() as u64;
        self.journal.append_snapshot(&mut frame)?;
        self.position.bytes = 0;
        self.journal.sync()?;
        Ok(self.journal.segment())
    }

    /// Bytes of the last snapshot; 0 if it took none.
    pub(crate) fn snapshot_bytes(&self) -> u64 {
        self.snapshot_bytes
    }

    /// What the policy noted since this was last asked; each is logged.
    pub fn take_notes(&mut self) -> Vec<String> {
        let notes = self.tracker.take_notes();
        for note in &notes {
            tracing::info!(scheduler = self.tracker.scheduler().name(), "{note}");
        }
        notes
    }

    /// Hands the frames to the file system.
    ///
    /// # Errors
    /// When the journal cannot be written; the next call tries again.
    pub fn write(&mut self) -> Result<(), JournalError> {
        if self.journal.pending_bytes() > MAX_UNSYNCED_BYTES { self.journal.sync() } else { self.journal.write() }
    }

    /// Waits until the frames are on disk.
    ///
    /// # Errors
    /// When the journal cannot be written; the next call tries again.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn close(self) -> Result<(), JournalError> {
        self.journal.close()
    }
}
