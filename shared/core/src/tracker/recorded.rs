//! What was decided in one batch, as a record has it.
//!
//! A start of the master applies it where it would decide otherwise; `job_tracker/as_recorded.rs` does.

use std::collections::VecDeque;

use super::effect::Effect;
use crate::job::{AttemptId, JobId, Locality, TaskKind, WorkerId};

/// What was decided in one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// What workers were told to launch, in that order, launches that were sent before included.
    pub launches: VecDeque<RecordedLaunch>,
    /// Attempts that the policy stopped, in the order in which it did.
    pub preemptions: Vec<Preemption>,
    /// Slots that the policy kept or gave free, in the order in which it did.
    pub reservations: Vec<Reservation>,
}

/// One launch, as a worker received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedLaunch {
    /// The worker that received it.
    pub worker: WorkerId,
    /// The attempt that it was to start.
    pub attempt: AttemptId,
    /// How close to its data.
    pub locality: Locality,
    /// Whether another attempt of the task ran.
    pub speculative: bool,
}

/// An attempt that the policy had stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The attempt that was stopped.
    pub attempt: AttemptId,
    /// After whose turn; `None` where time had come.
    pub turn: Option<WorkerId>,
}

/// Slots of a worker that the policy kept for a job, or no longer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Whose slots.
    pub worker: WorkerId,
    /// Of which kind.
    pub kind: TaskKind,
    /// For whom; `None` where they are anybody's again.
    pub job: Option<JobId>,
    /// After whose turn; `None` where time had come.
    pub turn: Option<WorkerId>,
}

impl Recorded {
    /// The decisions of a batch with these effects, in which the policy preempted these attempts and kept these slots.
    pub fn of(effects: &[Effect], preemptions: &[Preemption], reservations: &[Reservation]) -> Recorded {
        let launch = |effect: &Effect| match *effect {
            Effect::Launch { worker, attempt, locality, speculative } => {
                Some(RecordedLaunch { worker, attempt, locality, speculative })
            }
            _ => None,
        };
        Recorded {
            launches: effects.iter().filter_map(launch).collect(),
            preemptions: preemptions.to_vec(),
            reservations: reservations.to_vec(),
        }
    }
}
