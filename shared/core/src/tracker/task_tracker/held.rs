//! What a worker holds of an attempt, of a job's terms and of a process that waits.

use super::messages::StopCause;
use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, TaskKind};
use crate::time::{Span, Time};

/// Where an attempt is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Launched, but the job's file is not here yet.
    Waiting,
    /// In a process.
    Running,
    /// Output complete.
    CommitPending,
    /// Signalled; at `hard` the hard signal follows.
    Stopping { cause: StopCause, hard: Time },
    /// Signalled hard; a process that is still there at `until` is given up.
    Dying { cause: StopCause, until: Time },
    /// Over.
    Ended(AttemptState),
}

/// One attempt.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) attempt: AttemptId,
    pub(super) stage: Stage,
    pub(super) phase: Phase,
    pub(super) progress: Progress,
    /// The process that runs or ran it; meaningless while waiting.
    pub(super) process: u32,
    /// Attempts that the process has run, this one included.
    pub(super) runs_of_process: i32,
    /// When it fails for lack of progress.
    pub(super) timeout_at: Option<Time>,
    pub(super) timeout: Span,
    /// The report that carried its newest state that matters (commit pending, ended); 0 for none yet.
    pub(super) reported_in: u32,
    /// Whether its output was ever complete; it then stays so in reports, also while it is being stopped.
    pub(super) complete: bool,
    pub(super) granted: bool,
    /// Map attempts it could not fetch, with the report that carried each (0 for none yet).
    pub(super) fetch_failures: Vec<(AttemptId, u32)>,
}

/// What the driver said of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobTerms {
    pub(super) job: JobId,
    /// `None` until the job's file is here.
    pub(super) known: Option<(Span, i32)>,
}

/// A process that was killed and does not end. Its attempt is over, its slot stays taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undying {
    pub(super) process: u32,
    pub(super) kind: TaskKind,
}

/// A process that waits for another attempt of its job.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleProcess {
    pub(super) process: u32,
    pub(super) job: JobId,
    pub(super) until: Time,
    pub(super) runs: i32,
}

impl Held {
    pub(super) fn new(attempt: AttemptId, stage: Stage) -> Held {
        Held {
            attempt,
            stage,
            phase: Phase::Starting,
            progress: Progress::ZERO,
            process: 0,
            runs_of_process: 0,
            timeout_at: None,
            timeout: Span::ZERO,
            reported_in: 0,
            complete: false,
            granted: false,
            fetch_failures: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> AttemptState {
        match self.stage {
            Stage::CommitPending | Stage::Stopping { .. } | Stage::Dying { .. } if self.complete => {
                AttemptState::CommitPending
            }
            Stage::Waiting | Stage::Running | Stage::CommitPending | Stage::Stopping { .. } | Stage::Dying { .. } => {
                AttemptState::Running
            }
            Stage::Ended(state) => state,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Whether the master should be notified of it before the next interval.
    pub(super) fn is_news(&self) -> bool {
        let state = matches!(self.stage, Stage::Ended(_)) || (self.stage == Stage::CommitPending && !self.granted);
        (state && self.reported_in == 0) || self.fetch_failures.iter().any(|&(_, seq)| seq == 0)
    }

    pub(super) fn mark_reported(&mut self, seq: u32) {
        if self.is_news() && self.reported_in == 0 && self.stage != Stage::Running {
            self.reported_in = seq;
        }
        for failure in self.fetch_failures.iter_mut().filter(|failure| failure.1 == 0) {
            failure.1 = seq;
        }
    }

    /// Report `seq` was lost: what it carried is news again.
    pub(super) fn forget_report(&mut self, seq: u32) {
        if self.reported_in == seq {
            self.reported_in = 0;
        }
        for failure in self.fetch_failures.iter_mut().filter(|failure| failure.1 == seq) {
            failure.1 = 0;
        }
    }

    /// Each fetch failure travels in one report, unless that report is lost.
    pub(super) fn failures_of_report(&self, seq: u32) -> Vec<AttemptId> {
        self.fetch_failures.iter().filter(|failure| failure.1 == seq).map(|failure| failure.0).collect()
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        match self.stage {
            Stage::Running => self.timeout_at,
            Stage::Stopping { hard: at, .. } | Stage::Dying { until: at, .. } => Some(at),
            Stage::Waiting | Stage::CommitPending | Stage::Ended(_) => None,
        }
    }

    pub(super) fn alive(&mut self, now: Time) {
        self.timeout_at = (self.timeout > Span::ZERO).then(|| now + self.timeout);
    }
}
