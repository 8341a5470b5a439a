//! The attempts that a worker holds, from launch to the acknowledgement of their end.
//!
//! ```text
//!  Waiting ──► Running ──► CommitPending ──► Ended ──(acknowledged)──► forgotten
//!     │           └────────────┴──► Stopping ──► Dying ──► Ended   (or Ended from each of them)
//!     └── killed, or its job cannot be had ────► Ended
//! ```

use super::held::{Held, IdleProcess, JobTerms, Stage, Undying};
use super::{Directive, StopCause, TaskTracker, TrackerEffect};
use crate::job::limits::FETCH_FAILURES;
use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, TaskKind};
use crate::time::{Span, Time};
use crate::tracker::planted::{Fault, planted};

impl TaskTracker {
    pub(super) fn occupied(&self, kind: TaskKind) -> u16 {
        let running = self.attempts.iter().filter(|held| held.attempt.kind == kind && !held.is_ended());
        let undying = self.undying.iter().filter(|undying| undying.kind == kind);
        (running.count() + undying.count()) as u16
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
                held.stage = Stage::Stopping { cause, hard: now + grace };
                effects.push(TrackerEffect::Terminate { attempt, cause });
            }
            Stage::Stopping { .. } | Stage::Dying { .. } | Stage::Ended(_) => {}
        }
    }

    /// Everything dies now and nothing of it is reported: the master has given up on this incarnation.
    pub(super) fn kill_all(&mut self, effects: &mut Vec<TrackerEffect>) {
        for held in &self.attempts {
            if !matches!(held.stage, Stage::Waiting | Stage::Ended(_)) {
                effects.push(TrackerEffect::Kill { attempt: held.attempt });
            }
        }
        self.attempts.clear();
        self.retire_idle(effects);
        for terms in self.jobs.drain(..) {
            effects.push(TrackerEffect::DropJob { job: terms.job });
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
        end: AttemptState,
        process_alive: bool,
        effects: &mut Vec<TrackerEffect>,
    ) {
        let ok = end == AttemptState::Succeeded;
        let Some(held) = self.held(attempt) else { return };
        let state = match held.stage {
            Stage::Ended(_) => return,
            // A result that came before the signal counts.
            _ if ok => end,
            Stage::Stopping { cause: StopCause::Directive, .. } | Stage::Dying { cause: StopCause::Directive, .. } => {
                AttemptState::Killed
            }
            Stage::Stopping { .. } | Stage::Dying { .. } => AttemptState::Failed,
            Stage::Waiting | Stage::Running | Stage::CommitPending => end,
        };
        let stopping = matches!(held.stage, Stage::Stopping { .. } | Stage::Dying { .. });
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

    /// Timeouts, hard kills, processes that do not end, and waiting processes that waited long enough.
    pub(super) fn on_deadlines(&mut self, now: Time, effects: &mut Vec<TrackerEffect>) {
        let (grace, patience) = (self.config.kill_grace, self.config.kill_patience);
        for held in &mut self.attempts {
            let attempt = held.attempt;
            match held.stage {
                Stage::Running if held.timeout_at.is_some_and(|at| at <= now) => {
                    held.stage = Stage::Stopping { cause: StopCause::Timeout, hard: now + grace };
                    effects.push(TrackerEffect::Terminate { attempt, cause: StopCause::Timeout });
                }
                Stage::Stopping { cause, hard } if hard <= now => {
                    held.stage = Stage::Dying { cause, until: now + patience };
                    effects.push(TrackerEffect::Kill { attempt });
                }
                // Its machine's fault, whatever it was stopped for: it ends as killed and its job pays nothing.
                Stage::Dying { until, .. } if until <= now => {
                    let state = AttemptState::Killed;
                    held.stage = Stage::Ended(state);
                    held.reported_in = 0;
                    self.undying.push(Undying { process: held.process, kind: attempt.kind });
                    effects.push(TrackerEffect::GivenUp { attempt, process: held.process });
                    effects.push(TrackerEffect::Finished { attempt, state });
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
