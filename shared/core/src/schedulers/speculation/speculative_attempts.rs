//! What every rule keeps: which tasks run, the cap, and in a dry run what it would have started.
//!
//! In a dry run (`speculation.dry-run=true`) a pick is noted and not assigned. A task whose speculative attempt was
//! noted counts as having it until its first one ends, for the cap as well, so that no task is noted heartbeat by
//! heartbeat and the number of picks is that of a real run under the same events.

use std::collections::BTreeSet;

use super::candidate;
use super::cap::Cap;
use super::running::RunningTasks;
use crate::cluster::{Attempt, ClusterState, Job};
use crate::job::{AttemptId, JobId, TaskKind, WorkerId};
use crate::schedulers::params::{Reader, SchedulerError};
use crate::schedulers::{Assignment, Change};

/// Notes that nobody has taken are forgotten beyond so many.
const MOST_NOTES: usize = 1_000;

/// The common part.
#[derive(Clone, Debug)]
pub(super) struct SpeculativeAttempts {
    running: RunningTasks,
    cap: Cap,
    dry: Option<DryRun>,
}

/// What would run.
#[derive(Clone, Debug, Default)]
struct DryRun {
    /// Attempts that a second one was noted for.
    originals: BTreeSet<AttemptId>,
    picks: u64,
    notes: Vec<String>,
}

fn count(attempts: &BTreeSet<AttemptId>, job: JobId, kind: TaskKind) -> u64 {
    let first = AttemptId { job, index: 0, number: 0, kind: TaskKind::Map };
    let of_job = attempts.range(first..).take_while(|attempt| attempt.job == job);
    of_job.filter(|attempt| attempt.kind == kind).count() as u64
}

impl SpeculativeAttempts {
    /// Reads `speculation.cap`, with a default share of the slots in percent (0 for none), and `speculation.dry-run`.
    pub(super) fn from_params(params: &mut Reader<'_>, percent: u16) -> Result<SpeculativeAttempts, SchedulerError> {
        Ok(SpeculativeAttempts {
            running: RunningTasks::default(),
            cap: Cap::from_params(params, percent)?,
            dry: (params.word("speculation.dry-run", &["false", "true"])? == "true").then(DryRun::default),
        })
    }

    /// Whether picks are only noted.
    pub(super) fn is_dry(&self) -> bool {
        self.dry.is_some()
    }

    /// Whether one more may start.
    pub(super) fn allowed(&self, state: &ClusterState) -> bool {
        let noted = self.dry.as_ref().map_or(0, |dry| dry.originals.len());
        self.cap.allows(state, noted as u64)
    }

    /// Speculative attempts of a job and kind that run, or would.
    pub(super) fn n_of(&self, job: JobId, kind: TaskKind) -> u64 {
        let noted = self.dry.as_ref().map_or(0, |dry| count(&dry.originals, job, kind));
        count(self.cap.running(), job, kind) + noted
    }

    /// Running tasks of a job, ascending.
    pub(super) fn tasks(&self, job: JobId, kind: TaskKind) -> impl Iterator<Item = u32> + '_ {
        self.running.of(job, kind)
    }

    /// The only attempt of a running task that may get a second one on `worker`.
    pub(super) fn only_attempt<'s>(
        &self,
        state: &'s ClusterState,
        job: &Job,
        kind: TaskKind,
        index: u32,
        worker: WorkerId,
    ) -> Option<&'s Attempt> {
        let attempt = candidate::only_attempt(state, job, kind, index, worker)?;
        let noted = self.dry.as_ref().is_some_and(|dry| dry.originals.contains(&attempt.id()));
        (!noted).then_some(attempt)
    }

    /// The speculative attempt of a task; in a dry run a note, and nothing.
    pub(super) fn start(
        &mut self,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        index: u32,
        worker: WorkerId,
    ) -> Option<Assignment> {
        let Some(dry) = &mut self.dry else { return Some(candidate::second(state, job, kind, index, worker)) };
        let original = candidate::only_attempt(state, job, kind, index, worker)?;
        if dry.originals.insert(original.id()) {
            dry.picks += 1;
            if dry.notes.len() < MOST_NOTES {
                let name = state.worker(worker).map_or("?", |worker| worker.name());
                dry.notes.push(format!(
                    "speculation, dry run: {kind} {index} of job {} would get a speculative attempt on worker `{name}` at {} % \
                     of the first; {} so far",
                    job.id().0,
                    original.progress().parts() / 100,
                    dry.picks,
                ));
            }
        }
        None
    }

    pub(super) fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.running.observe(change, state);
        self.cap.observe(change);
        if let (Change::Ended { attempt, .. }, Some(dry)) = (change, &mut self.dry) {
            dry.originals.remove(attempt);
        }
    }

    pub(super) fn attach(&mut self, state: &ClusterState) {
        self.running.attach(state);
        self.cap.attach(state);
        if let Some(dry) = &mut self.dry {
            dry.originals.clear();
        }
    }

    /// After `attach`, in the place of another one: a dry run goes on with what it has noted.
    pub(super) fn inherit(&mut self, old: &SpeculativeAttempts) {
        if let (Some(dry), Some(old)) = (&mut self.dry, &old.dry) {
            *dry = old.clone();
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        self.dry.as_mut().map_or_else(Vec::new, |dry| std::mem::take(&mut dry.notes))
    }
}
