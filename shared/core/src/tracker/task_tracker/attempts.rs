//! The attempts that a worker holds, from launch to the acknowledgement of their end.
//!
//! ```text
//!  Waiting ──► Running ──► CommitPending ──► Ended ──(acknowledged)──► forgotten
//!     │           └────────────┴──► Stopping ──► Ended
//!     └── killed, or its job cannot be had ────► Ended
//! ```

use super::{Directive, StopCause, TaskTracker, TrackerEffect};
use crate::job::limits::FETCH_FAILURES;
use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, TaskKind};
use crate::time::{Span, Time};
use crate::tracker::planted::{Fault, planted};

/// Where an attempt is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Launched, but the job's file is not here yet.
    Waiting,
    /// In a process.
    Running,
    /// Output complete.
    CommitPending,
    /// Signalled; at `hard` the hard signal follows, `None` once it has.
    Stopping { cause: StopCause, hard: Option<Time> },
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
    process: u32,
    /// Attempts that the process has run, this one included.
    runs_of_process: i32,
    /// When it fails for lack of progress.
    timeout_at: Option<Time>,
    timeout: Span,
    /// The report that carried its newest state that matters (commit pending, ended); 0 for none yet.
    reported_in: u32,
    /// Whether its output was ever complete; it then stays so in reports, also while it is being stopped.
    complete: bool,
    granted: bool,
    /// Map attempts it could not fetch, with the report that carried each (0 for none yet).
    pub(super) fetch_failures: Vec<(AttemptId, u32)>,
}

/// What the driver told of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobTerms {
    pub(super) job: JobId,
    /// `None` until the job's file is here.
    known: Option<(Span, i32)>,
}

/// A process that waits for another attempt of its job.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleProcess {
    pub(super) process: u32,
    pub(super) job: JobId,
    pub(super) until: Time,
    runs: i32,
}

impl Held {
    fn new(attempt: AttemptId, stage: Stage) -> Held {
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
            Stage::CommitPending | Stage::Stopping { .. } if self.complete => AttemptState::CommitPending,
            Stage::Waiting | Stage::Running | Stage::CommitPending | Stage::Stopping { .. } => AttemptState::Running,
            Stage::Ended(state) => state,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Whether the master should hear of it before the next interval.
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
            Stage::Stopping { hard, .. } => hard,
            Stage::Waiting | Stage::CommitPending | Stage::Ended(_) => None,
        }
    }

    fn alive(&mut self, now: Time) {
        self.timeout_at = (self.timeout > Span::ZERO).then(|| now + self.timeout);
    }
}

impl TaskTracker {
    pub(super) fn occupied(&self, kind: TaskKind) -> u16 {
        self.attempts.iter().filter(|held| held.attempt.kind == kind && !held.is_ended()).count() as u16
    }

    fn held(&mut self, attempt: AttemptId) -> Option<&mut Held> {
        self.attempts.iter_mut().find(|held| held.attempt == attempt)
    }

    pub(super) fn on_directive(&mut self, now: Time, directive: Directive, effects: &mut Vec<TrackerEffect>) {
        match directive {
            Directive::Launch(attempt) => self.on_launch(attempt, effects),
            Directive::Kill(attempt) => self.on_kill(now, attempt, StopCause::Directive, effects),
            Directive::Commit(attempt) => {
                if let Some(held) = self.held(attempt)
                    && held.stage == Stage::CommitPending
                    && !held.granted
                {
                    held.granted = true;
                    effects.push(TrackerEffect::GrantCommit { attempt });
                }
            }
            Directive::ForgetJob(job) => {
                self.retire_of(job, effects);
                self.jobs.retain(|terms| terms.job != job);
                effects.push(TrackerEffect::ForgetJob { job });
            }
            // Handled before any other directive of its answer.
            Directive::Reinit => {}
        }
    }

    fn on_launch(&mut self, attempt: AttemptId, effects: &mut Vec<TrackerEffect>) {
        if self.held(attempt).is_some() && !planted(Fault::StartTwice) {
            return;
        }
        if self.draining {
            // Given back at once, so that the master need not wait for the launch to expire.
            self.attempts.push(Held::new(attempt, Stage::Ended(AttemptState::Killed)));
            effects.push(TrackerEffect::Finished { attempt, state: AttemptState::Killed });
            return;
        }
        if self.free(attempt.kind) == 0 {
            effects.push(TrackerEffect::NoSlot { attempt });
            return;
        }
        self.attempts.push(Held::new(attempt, Stage::Waiting));
        if !self.jobs.iter().any(|terms| terms.job == attempt.job) {
            self.jobs.push(JobTerms { job: attempt.job, known: None });
            effects.push(TrackerEffect::FetchJob { job: attempt.job });
        }
    }

    fn on_kill(&mut self, now: Time, attempt: AttemptId, cause: StopCause, effects: &mut Vec<TrackerEffect>) {
        let grace = self.config.kill_grace;
        let Some(held) = self.held(attempt) else { return };
        match held.stage {
            Stage::Waiting => {
                held.stage = Stage::Ended(AttemptState::Killed);
                effects.push(TrackerEffect::Finished { attempt, state: AttemptState::Killed });
            }
            Stage::Running | Stage::CommitPending => {
                held.stage = Stage::Stopping { cause, hard: Some(now + grace) };
                effects.push(TrackerEffect::Terminate { attempt, cause });
            }
            Stage::Stopping { .. } | Stage::Ended(_) => {}
        }
    }

    /// Everything dies now and nothing of it is reported: the master has given up on this incarnation.
    pub(super) fn kill_all(&mut self, effects: &mut Vec<TrackerEffect>) {
        for held in &self.attempts {
            if matches!(held.stage, Stage::Running | Stage::CommitPending | Stage::Stopping { .. }) {
                effects.push(TrackerEffect::Kill { attempt: held.attempt });
            }
        }
        self.attempts.clear();
        self.retire_idle(effects);
        for terms in self.jobs.drain(..) {
            effects.push(TrackerEffect::ForgetJob { job: terms.job });
        }
    }

    pub(super) fn retire_idle(&mut self, effects: &mut Vec<TrackerEffect>) {
        effects.extend(self.idle.drain(..).map(|idle| TrackerEffect::Retire { process: idle.process }));
    }

    fn retire_of(&mut self, job: JobId, effects: &mut Vec<TrackerEffect>) {
        self.idle.retain(|idle| {
            if idle.job == job {
                effects.push(TrackerEffect::Retire { process: idle.process });
            }
            idle.job != job
        });
    }

    pub(super) fn on_job_known(&mut self, job: JobId, task_timeout: Span, reuse_tasks: i32) {
        if let Some(terms) = self.jobs.iter_mut().find(|terms| terms.job == job) {
            terms.known = Some((task_timeout, reuse_tasks));
        }
    }

    pub(super) fn on_job_unavailable(&mut self, job: JobId, effects: &mut Vec<TrackerEffect>) {
        self.jobs.retain(|terms| terms.job != job);
        // The file may have been there before: a process that waits for more attempts of the job gets none.
        self.retire_of(job, effects);
        for held in self.attempts.iter_mut().filter(|h| h.attempt.job == job && h.stage == Stage::Waiting) {
            held.stage = Stage::Ended(AttemptState::Failed);
            effects.push(TrackerEffect::Finished { attempt: held.attempt, state: AttemptState::Failed });
        }
    }

    /// Starts the attempts whose job is known, in a waiting process of the job where there is one.
    pub(super) fn start_ready(&mut self, now: Time, effects: &mut Vec<TrackerEffect>) {
        for held in self.attempts.iter_mut().filter(|held| held.stage == Stage::Waiting) {
            let job = held.attempt.job;
            let Some((timeout, _)) = self.jobs.iter().find(|terms| terms.job == job).and_then(|terms| terms.known)
            else {
                continue;
            };
            let waiting = self.idle.iter().position(|idle| idle.job == job);
            let (process, reused, runs) = match waiting {
                Some(at) => {
                    let idle = self.idle.swap_remove(at);
                    (idle.process, true, idle.runs + 1)
                }
                None => {
                    self.next_process += 1;
                    (self.next_process, false, 1)
                }
            };
            held.stage = Stage::Running;
            held.process = process;
            held.timeout = timeout;
            held.runs_of_process = runs;
            held.alive(now);
            effects.push(TrackerEffect::Start { attempt: held.attempt, process, reused });
        }
    }

    pub(super) fn on_progress(&mut self, now: Time, attempt: AttemptId, phase: Phase, progress: Progress) {
        if let Some(held) = self.held(attempt)
            && !held.is_ended()
        {
            held.phase = phase;
            held.progress = progress;
            held.alive(now);
        }
    }

    pub(super) fn on_fetch_failure(&mut self, attempt: AttemptId, map: AttemptId) {
        if let Some(held) = self.held(attempt)
            && held.stage == Stage::Running
            && held.fetch_failures.len() < FETCH_FAILURES
        {
            held.fetch_failures.push((map, 0));
        }
    }

    pub(super) fn on_commit_pending(&mut self, now: Time, attempt: AttemptId) {
        if let Some(held) = self.held(attempt)
            && held.stage == Stage::Running
        {
            held.stage = Stage::CommitPending;
            held.complete = true;
            held.reported_in = 0;
            held.alive(now);
        }
    }

    pub(super) fn on_ended(
        &mut self,
        now: Time,
        attempt: AttemptId,
        ok: bool,
        process_alive: bool,
        effects: &mut Vec<TrackerEffect>,
    ) {
        let Some(held) = self.held(attempt) else { return };
        let state = match held.stage {
            Stage::Ended(_) => return,
            // A result that came before the signal counts.
            _ if ok => AttemptState::Succeeded,
            Stage::Stopping { cause: StopCause::Directive, .. } => AttemptState::Killed,
            Stage::Waiting | Stage::Running | Stage::CommitPending | Stage::Stopping { .. } => AttemptState::Failed,
        };
        let stopping = matches!(held.stage, Stage::Stopping { .. });
        held.stage = Stage::Ended(state);
        held.reported_in = 0;
        if ok {
            held.progress = Progress::DONE;
        }
        let (process, runs) = (held.process, held.runs_of_process);
        effects.push(TrackerEffect::Finished { attempt, state });
        if process_alive {
            let limit = self.jobs.iter().find(|terms| terms.job == attempt.job).and_then(|terms| terms.known);
            let again = limit.is_some_and(|(_, reuse)| reuse == -1 || runs < reuse);
            if again && ok && !stopping && self.accepts() {
                let until = now + self.config.reuse_idle;
                self.idle.push(IdleProcess { process, job: attempt.job, until, runs });
            } else {
                effects.push(TrackerEffect::Retire { process });
            }
        }
    }

    /// Timeouts, hard kills, and waiting processes that waited long enough.
    pub(super) fn on_deadlines(&mut self, now: Time, effects: &mut Vec<TrackerEffect>) {
        let grace = self.config.kill_grace;
        for held in &mut self.attempts {
            let attempt = held.attempt;
            match held.stage {
                Stage::Running if held.timeout_at.is_some_and(|at| at <= now) => {
                    held.stage = Stage::Stopping { cause: StopCause::Timeout, hard: Some(now + grace) };
                    effects.push(TrackerEffect::Terminate { attempt, cause: StopCause::Timeout });
                }
                Stage::Stopping { cause, hard: Some(at) } if at <= now => {
                    held.stage = Stage::Stopping { cause, hard: None };
                    effects.push(TrackerEffect::Kill { attempt });
                }
                _ => {}
            }
        }
        self.idle.retain(|idle| {
            if idle.until <= now {
                effects.push(TrackerEffect::Retire { process: idle.process });
            }
            idle.until > now
        });
    }

    /// Takes in an answer's number; false when the answer is too old to matter.
    pub(super) fn on_answer(&mut self, now: Time, seq: u32, response_id: u32, interval: Span, empty: bool) -> bool {
        if !self.contact.on_answer(now, seq, response_id, interval, empty) {
            return false;
        }
        self.attempts.retain(|held| !(held.is_ended() && held.reported_in != 0 && held.reported_in <= seq));
        self.attributes.on_answer(seq);
        for held in &mut self.attempts {
            held.fetch_failures.retain(|&(_, carried_in)| carried_in == 0 || carried_in > seq);
        }
        true
    }
}
