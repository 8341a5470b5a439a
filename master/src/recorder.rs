//! A core whose every batch is written to a journal.
//!
//! The daemon's thread drives one; tests record runs with it that are then replayed elsewhere.

use std::path::Path;

use howdah_core::schedulers::Scheduler;
use howdah_core::time::Time;
use howdah_core::tracker::{ClusterConfig, Effect, Input, JobTracker};
use howdah_proto::convert::decision;
use howdah_proto::v1;

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
}

/// A core and its journal.
pub struct Recorder {
    tracker: JobTracker,
    chain: Chain,
    journal: JournalWriter,
    frame: v1::JournalFrame,
    /// Whether batches get frames.
    keeps: bool,
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
        Ok(Recorder { tracker, chain: Chain::new(), journal, frame: v1::JournalFrame::default(), keeps: true })
    }

    /// Goes on recording a core that has come as far as its journal.
    pub(crate) fn resumed(tracker: JobTracker, digest: [u8; DIGEST_BYTES], journal: JournalWriter) -> Recorder {
        Recorder { tracker, chain: Chain::after(digest), journal, frame: v1::JournalFrame::default(), keeps: true }
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
