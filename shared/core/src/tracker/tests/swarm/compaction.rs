//! Snapshots in the swarm's journal, and the removal of what came before them.
//!
//! A master takes one now and then, mostly at rest, and may be killed before it is on disk, after that, and before the entries
//! before it are removed. Some of these stay, as `keep_inputs` has it. Whether and when is drawn apart, so that the worlds
//! of before are as they were but for it.

use std::collections::{BTreeMap, BTreeSet};

use super::master::Master;
use super::plan::Plan;
use super::world::{Driver, World};
use crate::cluster::Job;
use crate::job::{JobId, JobState, WorkerId};
use crate::schedulers::Scheduler;
use crate::tracker::task_tracker::Directive;
use crate::tracker::{Input, JobTracker};

/// A snapshot as the journal keeps it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Entries before it that are still there.
    pub(super) at: usize,
    json: String,
    /// What the driver knows beside the core.
    pub(super) newest: BTreeMap<(WorkerId, u64), u32>,
    pub(super) directives: BTreeMap<WorkerId, Vec<Directive>>,
    /// Jobs whose output is being promoted.
    pub(super) committing: BTreeSet<JobId>,
}

impl Kept {
    fn tracker(&self, plan: &Plan, scheduler: Box<dyn Scheduler>) -> Result<JobTracker, String> {
        let snapshot = serde_json::from_str(&self.json).map_err(|e| format!("a snapshot does not read: {e}"))?;
        JobTracker::from_snapshot(plan.config.clone(), scheduler, snapshot).map_err(|e| e.to_string())
    }
}

/// The core that a snapshot, or nothing, leads to.
pub(super) fn core_after(
    kept: Option<&Kept>,
    plan: &Plan,
    scheduler: Box<dyn Scheduler>,
) -> Result<JobTracker, String> {
    match kept {
        Some(kept) => kept.tracker(plan, scheduler),
        None => Ok(JobTracker::new(plan.config.clone(), scheduler)),
    }
}

impl World {
    /// Takes a snapshot, perhaps; less often if the master is not at rest.
    pub(super) fn compact(&mut self) {
        let Some(choice) = self.plan.choice() else { return };
        let Some(idle) = self.master.as_ref().map(Master::is_idle) else { return };
        let takes = if idle { self.compaction_dice.one_in(3) } else { self.work_dice.one_in(40) };
        if !takes {
            return;
        }
        if !self.master(vec![Input::Snapshot(Box::new(choice))]) {
            return;
        }
        let Some(master) = &self.master else { return };
        let Some(snapshot) = master.tracker.snapshot() else {
            return self.fail("a master between two batches has no snapshot".to_owned());
        };
        self.n_at_work += u64::from(snapshot.live_jobs().next().is_some());
        // Also those whose promotion has yet to begin after a start.
        let committing = master.tracker.state().jobs().filter(|job| job.state() == JobState::Committing);
        let json = serde_json::to_string(&snapshot).expect("a snapshot has string keys");
        self.snapshots.push(Kept {
            at: self.journal.len(),
            json,
            newest: master.newest.clone(),
            directives: master.directives.clone(),
            committing: committing.map(Job::id).collect(),
        });
        self.n_snapshots += 1;
        if self.driver == Some(Driver::RemoveFirst) {
            self.remove_inputs();
        }
        if self.is_killed_here() {
            return;
        }
        self.synced_snapshots = self.snapshots.len();
        if self.is_killed_here() {
            return;
        }
        if self.driver != Some(Driver::RemoveFirst) && self.compaction_dice.one_in(2) {
            self.remove_inputs();
        }
        let _ = self.is_killed_here();
    }

    fn is_killed_here(&mut self) -> bool {
        let killed = self.faults && self.plan.master_crashes > 0 && self.compaction_dice.one_in(4);
        if killed {
            self.crash();
        }
        killed
    }

    /// The entries before some snapshot go, those before later ones stay.
    fn remove_inputs(&mut self) {
        let newest = self.snapshots.len() as u64;
        let first = if self.driver.is_some() { newest - 1 } else { self.compaction_dice.below(newest) } as usize;
        let gone = self.snapshots[first].at;
        self.journal.drain(..gone);
        self.snapshots.drain(..first);
        self.snapshots.iter_mut().for_each(|kept| kept.at -= gone);
        self.synced_snapshots = self.synced_snapshots.saturating_sub(first);
        self.synced -= gone;
        self.watched -= gone;
        self.entries_are_gone(gone);
    }

    /// What a kill leaves of the last snapshot: nothing, or all of it.
    pub(super) fn lose_unsynced_snapshot(&mut self) {
        if self.snapshots.len() > self.synced_snapshots && self.compaction_dice.one_in(2) {
            self.snapshots.truncate(self.synced_snapshots);
        }
        let entries = self.journal.len();
        self.snapshots.retain(|kept| kept.at <= entries);
        self.synced_snapshots = self.snapshots.len();
    }

    /// All that is left of the journal leads where its newest snapshot leads.
    pub(super) fn whole_journal_leads_to(&self, found: &JobTracker) -> Result<(), String> {
        let first = self.snapshots.first().filter(|kept| kept.at == 0);
        let mut tracker = core_after(first, &self.plan, self.plan.scheduler())?;
        for entry in &self.journal {
            let mut effects = Vec::new();
            tracker.apply(entry.at, &entry.inputs, &mut effects);
            if effects != entry.effects {
                return Err(format!("at {:?} the journal before the last snapshot decides otherwise", entry.at));
            }
        }
        if tracker.snapshot() != found.snapshot() || tracker.next_deadline() != found.next_deadline() {
            return Err("the whole journal leads elsewhere than its last snapshot".to_owned());
        }
        Ok(())
    }
}
