//! When the master takes a snapshot, and what of the journal goes then.
//!
//! One is due when the frames since the one before fill a segment, so that a start never reads much more than that. A moment
//! without jobs is waited for, in which the state is small and policies begin anew without harm, until the frames fill
//! [`AT_WORK`](super::compaction) times as much: then jobs are stored as well. Histories on their way to the disk are waited for.
//! While some cannot be written, the jobs that are over and have none are stored, too, or the journal would grow for as long as
//! that lasts. **Invariants: of every job that is over either the history is on disk or the snapshot has what it is made of, for
//! from then on nobody reads what came before; nothing is being cleared away; nothing is removed before the snapshot is on disk.**

use std::fs::File;
use std::io::ErrorKind;
use std::time::Instant;

use howdah_core::tracker::{Effect, Input, Rejection};

use super::{Compaction, Engine};
use crate::config::KeepInputs;
use crate::history;
use crate::journal::{self, JournalError};

impl Engine {
    /// Takes a snapshot if one is due and nothing is under way, and removes what is kept no longer.
    ///
    /// # Errors
    /// When the journal cannot be written and the master is to stop.
    pub(super) fn compact_if_due(&mut self) -> Result<(), JournalError> {
        let bytes = self.recorder.bytes_since_snapshot();
        if !self.compaction.is_due(bytes) || !self.is_between_batches() {
            return Ok(());
        }
        if !self.is_at_rest() && !self.compaction.is_due_at_work(bytes) {
            return Ok(());
        }
        let began = Instant::now();
        let choice = self.recorder.position.in_force.clone();
        let now = self.clock.stamp();
        self.record(Input::Snapshot(Box::new(choice)));
        self.batch(now)?;
        let refused = |effect: &Effect| matches!(effect, Effect::Rejected { why: Rejection::NotAtRest, .. });
        if self.effects.iter().any(refused) {
            self.compaction.refused_at = bytes;
            tracing::warn!("the core takes no snapshot; the journal grows on");
            return Ok(());
        }
        let known = self.tables.remembered(self.recorder.tracker().state());
        // The names of the histories are on disk as well; where there is no folder, there are none.
        let histories = self.compaction.run_dir.join(history::DIRECTORY);
        let synced = File::open(&histories).and_then(|folder| folder.sync_all());
        if let Err(error) = synced
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %histories.display(), "cannot sync the histories; the journal grows on");
            self.compaction.refused_at = bytes;
            return Ok(());
        }
        let snapshot = match self.recorder.keep_snapshot(known) {
            Ok(snapshot) => snapshot,
            // Either it is in the journal by then, or there will be another one; what came before it stays.
            Err(error) => return self.wait_for_journal(error),
        };
        self.compaction.refused_at = 0;
        let (size, jobs) = (self.recorder.snapshot_bytes(), self.tables.live_jobs());
        self.compaction.last_bytes = size;
        let (unwritten, ms) = (self.tables.unwritten().jobs, began.elapsed().as_millis() as u64);
        tracing::info!(bytes, size, jobs, unwritten, ms, "a snapshot of the master is in the journal");
        self.remove_inputs(snapshot);
        Ok(())
    }

    /// Whether no batch is under way, and nothing of one that is over.
    fn is_between_batches(&self) -> bool {
        let are_written = self.out.has_all_histories() && self.tables.unwritten().jobs == 0;
        self.out.is_idle()
            && (are_written || self.out.lacks_histories())
            && self.inputs.is_empty()
            && self.pending.is_empty()
            && self.deferred.is_empty()
    }

    /// Whether next to nothing is to be stored.
    fn is_at_rest(&self) -> bool {
        self.recorder.tracker().is_at_rest()
            && self.tables.live_jobs() == 0
            && self.tables.unwritten().jobs == 0
            && self.tables.workers.iter().all(|row| row.directives.is_empty())
    }

    /// What came before the snapshot that begins this segment, on a thread of its own: a journal that grew for months has
    /// thousands of files.
    fn remove_inputs(&self, snapshot: u32) {
        let Compaction { run_dir, keep: KeepInputs { bytes }, .. } = &self.compaction;
        let (run_dir, keep) = (run_dir.clone(), *bytes);
        if keep == 0 {
            return;
        }
        let remove = move || match journal::remove_before_snapshot(&run_dir, snapshot, keep) {
            Ok(removed) if removed.segments > 0 => {
                tracing::info!(segments = removed.segments, bytes = removed.bytes, "old inputs are removed");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "cannot remove old inputs; tried again after the next snapshot"),
        };
        // Without a thread they stay until the next snapshot.
        drop(std::thread::Builder::new().name("compact".to_owned()).spawn(remove));
    }
}
