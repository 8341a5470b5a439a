//! What a replay tells: an outcome per job, and what the whole run did.
//!
//! Instants count from the trace's start.

use crate::cluster::{EndCause, SpeculationCosts};
use crate::job::{AttemptId, AttemptState, JobId, JobState, Locality, PerKind, WorkerId};
use crate::time::{Span, Time};

/// One job's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// Its number in the run, from 1 in order of submission.
    pub id: JobId,
    /// Its place in the trace's list.
    pub template: u32,
    /// When it came.
    pub submit: Time,
    /// Its first launch; `None` for jobs without tasks and jobs that never started.
    pub start: Option<Time>,
    /// Its last map's end; `None` for jobs without maps.
    pub maps_done: Option<Time>,
    /// When it was over.
    pub finish: Time,
    /// How it ended; not final if the replay was stopped or could not go on.
    pub state: JobState,
    /// From its submission.
    pub deadline: Option<Span>,
    /// Attempts that failed.
    pub failed_attempts: u32,
    /// Attempts that were killed or lost.
    pub killed_attempts: u32,
    /// What its speculative attempts cost, as the core counts it; of a job that is not over, nothing yet.
    pub costs: SpeculationCosts,
}

impl JobOutcome {
    /// Completion time: from submission to finish.
    pub fn completion(&self) -> Span {
        self.finish.since(self.submit)
    }

    /// By how much of its deadline the job was late, both counted from its submission (SimMR §V-A); 0 when it was
    /// in time or had none.
    pub fn relative_deadline_exceeded(&self) -> f64 {
        match self.deadline.map(Span::as_us) {
            Some(deadline) if deadline > 0 && self.completion().as_us() > deadline => {
                (self.completion().as_us() - deadline) as f64 / deadline as f64
            }
            _ => 0.0,
        }
    }
}

/// The run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayReport {
    /// In order of submission.
    pub jobs: Vec<JobOutcome>,
    /// From the first submission to the last finish.
    pub makespan: Span,
    /// As SimMR counts them: two per task attempt, three per job.
    pub events: u64,
    /// A hash over all launches and kills with their times, as hexadecimal digits.
    pub decisions_digest: String,
    /// Slot time of map and reduce attempts, lost ones included, in microseconds.
    pub busy_us: PerKind<u64>,
    /// Of it, slot time of attempts that did not win.
    pub wasted_us: PerKind<u64>,
    /// Speculative attempts, how they fared and what they cost, as the core counts it.
    pub costs: SpeculationCosts,
    /// Map and reduce slots of the cluster.
    pub slots: PerKind<u32>,
}

impl ReplayReport {
    /// Share of the slots of each kind that was busy from the first submission to the last finish.
    pub fn utilisation(&self) -> PerKind<f64> {
        [0, 1].map(|kind| {
            let all = self.slots[kind] as f64 * self.makespan.as_us() as f64;
            if all > 0.0 { self.busy_us[kind] as f64 / all } else { 0.0 }
        })
    }
}

/// One attempt's life, given when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The attempt that is over.
    pub attempt: AttemptId,
    /// The worker that ran it; 0 in the slot-pool model.
    pub worker: WorkerId,
    /// How it ended.
    pub state: AttemptState,
    /// Why, unless it succeeded.
    pub cause: EndCause,
    /// When it got its slot.
    pub start: Time,
    /// When a reduce had its last map and its own shuffle began to count; its start if the maps were done before.
    pub maps_done: Option<Time>,
    /// When a reduce had shuffled and sorted, if it came so far.
    pub sorted: Option<Time>,
    /// When it gave its slot back.
    pub end: Time,
    /// How close to its data it ran.
    pub locality: Locality,
    /// Whether another attempt of the task ran when it was launched.
    pub speculative: bool,
}

/// Someone who wants to see more than the report. Called in order of time.
pub trait Observer {
    /// An attempt was launched.
    fn launched(&mut self, _at: Time, _attempt: AttemptId, _worker: WorkerId, _locality: Locality, _speculative: bool) {
    }

    /// An attempt was ordered to stop.
    fn stopped(&mut self, _at: Time, _attempt: AttemptId, _worker: WorkerId, _cause: EndCause) {}

    /// An attempt is over.
    fn attempt(&mut self, _record: &AttemptRecord) {}

    /// A job is over.
    fn job(&mut self, _outcome: &JobOutcome) {}
}
