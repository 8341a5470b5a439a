//! Which task of a job a worker gets.
//!
//! Hadoop's order: tasks that failed before come first whatever their place, then maps with data on the
//! worker's host, in its rack, anywhere. Within a level the lowest index goes first.
//! Source: `docs/hadoop.md#tasks-and-attempts` and `docs/hadoop.md#fifo`.

use std::fmt;

use crate::cluster::{ClusterState, Job, Worker, WorkerState};
use crate::job::{Locality, TaskKind};

/// A task and how close to its data it would run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The task's index.
    pub index: u32,
    /// `Unknown` for reduces and for splits without known place.
    pub locality: Locality,
}

/// Why a job has nothing for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decline {
    /// No task of this kind is pending, or none may start yet.
    NothingPending,
    /// The worker does not meet what the job requires.
    Requirements,
    /// The job's attempts failed there too often.
    AvoidsWorker,
    /// Its pending tasks failed there and are to run elsewhere.
    FailedHere,
    /// The worker's slots are reserved for another job.
    Reserved,
    /// A task takes more slots than the worker has free.
    TooLarge,
}

impl fmt::Display for Decline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decline::NothingPending => "no task waits",
            Decline::Requirements => "the worker does not meet what the job requires",
            Decline::AvoidsWorker => "the job's attempts failed too often on the worker",
            Decline::FailedHere => "the waiting tasks failed on the worker and are to run elsewhere",
            Decline::TooLarge => "a task takes more slots than the worker has free",
            Decline::Reserved => "the worker's slots are reserved for another job",
        })
    }
}

/// A rule that picks a task of one job for one worker.
pub trait TaskChoice: Send {
    /// The task to start.
    ///
    /// # Errors
    /// Says why there is none.
    fn choose(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> Result<Choice, Decline>;

    /// An independent copy.
    fn fork(&self) -> Box<dyn TaskChoice>;
}

/// Failed first, then the nearest.
#[derive(Clone, Copy, Debug, Default)]
pub struct NearestFirst;

impl NearestFirst {
    /// The choice, up to a level: with `Rack`, maps without data in the worker's rack are left alone.
    ///
    /// # Errors
    /// Says why there is none.
    #[inline(always)]
    pub fn within(
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: &Worker,
        level: Locality,
    ) -> Result<Choice, Decline> {
        match NearestFirst::usual(job, kind, worker) {
            Some(choice) => Ok(choice),
            None => NearestFirst::search(state, job, kind, worker, level),
        }
    }

    /// Most jobs want nothing special of most workers; the answer is the one that the rules give. `None` says nothing.
    #[inline(always)]
    pub(super) fn usual(job: &Job, kind: TaskKind, worker: &Worker) -> Option<Choice> {
        let plain =
            job.offerable(kind) && job.is_plain(kind) && worker.reserved(kind).is_none() && !worker.is_unreachable();
        let index = if plain { job.tasks(kind).pending().first()? } else { return None };
        Some(Choice { index, locality: Locality::Unknown })
    }

    /// The rules one after the other.
    #[inline(never)]
    fn search(
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: &Worker,
        level: Locality,
    ) -> Result<Choice, Decline> {
        let tasks = job.tasks(kind);
        if !job.offerable(kind) {
            return Err(Decline::NothingPending);
        }
        if worker.reserved(kind).is_some_and(|reserved| reserved != job.id()) {
            return Err(Decline::Reserved);
        }
        // Before what it has free at present: nobody is to wait for a worker that will not do.
        if !job.spec().conf.requires.is_empty() && !state.meets_requirements(job, worker) {
            return Err(Decline::Requirements);
        }
        if worker.free(kind) < job.slots(kind) {
            return Err(Decline::TooLarge);
        }
        if state.job_avoids(job, kind, worker.id()) {
            return Err(Decline::AvoidsWorker);
        }
        let allowed = |index: &u32| !state.task_avoids(job, kind, *index, worker.id());
        if let Some(index) = tasks.failed_first().find(allowed) {
            return Ok(Choice { index, locality: state.locality(job, kind, index, worker) });
        }
        let pending = tasks.pending();
        if let (TaskKind::Map, Some(places)) = (kind, job.locality()) {
            if let Some(index) = places.pending_on_host(worker.host(), pending).find(allowed) {
                return Ok(Choice { index, locality: Locality::Node });
            }
            if level >= Locality::Rack
                && let Some(index) = places.pending_in_rack(worker.rack(), pending).find(allowed)
            {
                return Ok(Choice { index, locality: Locality::Rack });
            }
            if level < Locality::OffRack {
                return Err(Decline::NothingPending);
            }
        }
        let index = pending.iter().find(allowed).ok_or(Decline::FailedHere)?;
        Ok(Choice { index, locality: state.locality(job, kind, index, worker) })
    }
}

impl TaskChoice for NearestFirst {
    #[inline(always)]
    fn choose(&mut self, state: &ClusterState, job: &Job, kind: TaskKind, worker: &Worker) -> Result<Choice, Decline> {
        debug_assert_eq!(worker.state(), WorkerState::Live, "only live workers have rounds");
        NearestFirst::within(state, job, kind, worker, Locality::Unknown)
    }

    fn fork(&self) -> Box<dyn TaskChoice> {
        Box::new(*self)
    }
}
