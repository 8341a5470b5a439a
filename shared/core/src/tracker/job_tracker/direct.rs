//! The core without heartbeat messages, for simulations: what ends is passed as ids, and a turn is a worker's number.
//!
//! A [`Report`](crate::tracker::Report) lists everything that a worker runs, so that a network may lose and repeat
//! it; a simulation loses nothing, and building and checking such lists would be most of its work. Here directives
//! leave as effects at once, nothing waits for a confirmation and no heartbeat is parked; everything else, from the
//! end of an attempt to the round that fills its slot, is the same code. **Invariant: a tracker is driven directly
//! all its life or never; a fork for a prediction takes the one step between the two,
//! [`into_direct`](JobTracker::into_direct), and never goes back.**
//!
//! Nearly all that happens is that an attempt succeeds and another one is launched. A [`Driver`] is notified of these
//! two at once, in the middle of the instant; the rest are effects at its end. **What is passed and the effects after it
//! are in the order in which it happened: once an effect waits, all that follows is an effect as well.**

use std::sync::Arc;

use super::JobTracker;
use crate::cluster::{Attempt, AttemptRef, EndCause, Vitals, Worker, WorkerState};
use crate::job::{AttemptId, AttemptState, JobId, JobSpec, Locality, PerKind, Phase, Progress, TaskKind, WorkerId};
use crate::schedulers::{Change, Scheduler};
use crate::time::Time;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Blacklist, ClusterConfig, Effect, Input};

/// The end of an attempt on its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The attempt, as the state has it.
    pub attempt: AttemptRef,
    /// `Succeeded`, `Failed` or `Killed`.
    pub state: AttemptState,
}

/// The usual end: the attempt was its task's only one and succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The attempt that succeeded.
    pub attempt: AttemptId,
    /// The worker that ran it.
    pub worker: WorkerId,
    /// When it was assigned.
    pub started: Time,
}

/// An attempt that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The attempt that fills a slot from now on.
    pub attempt: AttemptId,
    /// Finds it in the state while it runs.
    pub reference: AttemptRef,
    /// How close to its data.
    pub locality: Locality,
    /// Whether another attempt of the task is running.
    pub speculative: bool,
}

impl Ended {
    fn as_effect(self) -> Effect {
        let (state, cause) = (AttemptState::Succeeded, EndCause::Reported);
        let Ended { attempt, worker, started } = self;
        Effect::AttemptEnded { attempt, worker, state, cause, started }
    }

    fn as_change(self) -> Change {
        let (state, cause) = (AttemptState::Succeeded, EndCause::Reported);
        let Ended { attempt, worker, started } = self;
        Change::Ended { attempt, worker, state, cause, started }
    }
}

impl Launched {
    /// The same made of its parts. What is handed to a call anywhere in a function is kept in memory all through it;
    /// whoever does so where that is rare hands this on.
    #[inline(always)]
    pub(crate) fn rebuilt(&self) -> Launched {
        let AttemptRef { slot, launch } = self.reference;
        let (locality, speculative) = (self.locality, self.speculative);
        Launched { attempt: self.attempt.rebuilt(), reference: AttemptRef { slot, launch }, locality, speculative }
    }

    pub(super) fn as_effect(&self, worker: WorkerId) -> Effect {
        let Launched { attempt, locality, speculative, .. } = self.rebuilt();
        Effect::Launch { worker, attempt, locality, speculative }
    }
}

/// Who drives a tracker directly.
pub trait Driver {
    /// An attempt came to the usual end.
    fn ended(&mut self, ended: Ended);

    /// An attempt was started on a worker.
    fn launched(&mut self, worker: WorkerId, launched: &Launched);
}

/// One that is notified of everything by effects.
impl Driver for Vec<Effect> {
    fn ended(&mut self, ended: Ended) {
        self.push(ended.as_effect());
    }

    fn launched(&mut self, worker: WorkerId, launched: &Launched) {
        self.push(launched.as_effect(worker));
    }
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptProgress {
    /// An attempt that runs on the worker.
    pub attempt: AttemptId,
    /// The phase that it is in.
    pub phase: Phase,
    /// Over all of its phases.
    pub progress: Progress,
}

/// The settings where nobody is expected to speak.
pub(super) fn directly(config: &ClusterConfig) -> ClusterConfig {
    // A black hole is found by what each worker does right after a failure, which the usual ends do not look at.
    let blacklist = Blacklist { short_failures: 0, ..config.blacklist.clone() };
    ClusterConfig { expiry_ms: u64::MAX, launch_expiry_ms: 0, max_parking_ms: 0, blacklist, ..config.clone() }
}

impl JobTracker {
    /// A master without jobs and workers that is driven by [`advance`](JobTracker::advance).
    ///
    /// Nobody is expected to speak: workers and launches do not expire, a lost worker says `Goodbye`.
    pub fn direct(config: &ClusterConfig, scheduler: Box<dyn Scheduler>) -> JobTracker {
        JobTracker { direct: true, ..JobTracker::new(directly(config), scheduler) }
    }

    /// Whether it is driven so.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Applies everything of one instant and appends its effects: ends, then `inputs` (never a `Report`), then a
    /// round for each worker of `turns` in this order. Returns the kinds of which new work appeared that workers
    /// without a turn might take.
    ///
    /// `now` must not go back. The end of an attempt that does not run is ignored.
    pub fn advance(
        &mut self,
        now: Time,
        finished: &[Finished],
        inputs: &[Input],
        turns: &[WorkerId],
        effects: &mut Vec<Effect>,
    ) -> PerKind<bool> {
        self.begin_instant(now);
        for &end in finished {
            self.end(end, effects);
        }
        self.take(inputs);
        for &worker in turns {
            self.turn(worker, effects);
        }
        self.end_instant(effects)
    }

    /// Begins an instant. `now` must not go back.
    #[inline(always)]
    pub fn begin_instant(&mut self, now: Time) {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        self.state.now = self.state.now.max(now);
    }

    /// Applies the end of an attempt, which is ignored if it does not run. The driver is notified of the usual end, of
    /// an attempt that was its task's only one and that nobody wanted stopped.
    #[inline(always)]
    pub fn end(&mut self, end: Finished, driver: &mut impl Driver) {
        let Some(&attempt) = self.state.attempts.get(end.attempt) else { return };
        let usual = end.state == AttemptState::Succeeded
            && attempt.kill.is_none()
            && !attempt.speculative
            && !planted(Fault::NoFastPaths);
        if !usual || !self.succeed_alone(end.attempt.slot, attempt, driver) {
            self.end_slow_path(end);
        }
    }

    /// Applies inputs, never a `Report`, after all ends of the instant.
    #[inline(always)]
    pub fn take(&mut self, inputs: &[Input]) {
        if !inputs.is_empty() {
            self.on_inputs(inputs);
        }
    }

    /// Gives a worker its turn, after all inputs of the instant.
    #[inline(always)]
    pub fn turn(&mut self, worker: WorkerId, driver: &mut impl Driver) {
        self.run_round(worker, false, driver);
    }

    /// Whether a driver never has to ask for [`next_deadline`](JobTracker::next_deadline), as long as no attempt fails:
    /// it is none under this policy.
    pub fn has_no_deadlines(&self) -> bool {
        self.direct && !self.capabilities.has_deadlines && self.next_forgiving.is_none()
    }

    /// Replaces a job's specification, if it is not over, by one that says more of its durations and is the same
    /// otherwise.
    pub fn specify(&mut self, job: JobId, spec: impl FnOnce() -> Arc<JobSpec>) {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        if let Some(job) = self.state.jobs.get_mut(job) {
            job.spec = spec();
        }
    }

    /// Ends an instant: appends the effects that the driver was not given. Returns the kinds of which new work appeared
    /// that workers without a turn might take.
    #[inline(always)]
    pub fn end_instant(&mut self, effects: &mut Vec<Effect>) -> PerKind<bool> {
        if !self.out.is_empty() {
            effects.append(&mut self.out);
        }
        if !(self.wake_all || self.wake[0] || self.wake[1]) {
            return [false; 2];
        }
        let all = std::mem::take(&mut self.wake_all);
        std::mem::take(&mut self.wake).map(|kind| kind || all)
    }

    /// What a report says besides ends and free slots: the worker's vitals, and how far attempts on it are. Others stay
    /// where they were; one that does not run there is ignored. Its round is a turn of `advance`.
    ///
    /// `now` must not go back.
    pub fn take_report(&mut self, now: Time, worker: WorkerId, vitals: &Vitals, attempts: &[AttemptProgress]) {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        self.state.now = self.state.now.max(now);
        let speaks = |known: &&mut Worker| known.state != WorkerState::Lost;
        let Some(known) = self.state.workers.get_mut(worker.0 as usize).filter(speaks) else { return };
        known.vitals = *vitals;
        known.last_contact = self.state.now;
        for report in attempts {
            if let Some(slot) = self.state.find_on(worker, report.attempt) {
                self.update_attempt(slot, AttemptState::Running, report.phase, report.progress);
            }
        }
        self.observe(Change::Reported { worker });
    }

    #[inline(never)]
    fn end_slow_path(&mut self, end: Finished) {
        let slot = end.attempt.slot;
        let attempt = self.state.attempts.at_mut(slot);
        // Whoever succeeds here has been granted the commit; a second one is a loser by then.
        attempt.commit |= end.state == AttemptState::Succeeded;
        let attempt = *attempt;
        let (state, cause) =
            if attempt.kill.is_none() { (end.state, EndCause::Reported) } else { self.outcome(&attempt, end.state) };
        self.end_attempt(slot, state, cause);
    }

    /// The usual end in one go: does what `end_attempt` does for it, without looking the job up at each step. False,
    /// and nothing done, if the attempt is not its task's only one. A test holds that both do the same.
    #[inline(always)]
    fn succeed_alone(&mut self, slot: u32, attempt: Attempt, driver: &mut impl Driver) -> bool {
        let Attempt { id, worker, started, progress, .. } = attempt;
        let Some(job) = self.state.jobs.get_mut(id.job) else { return false };
        let Some(stage_done) = job.succeed_alone(id, worker, progress, self.state.now) else { return false };
        // Only the maps that are done decide whether reduces may start, and one more never forbids it.
        let offers_change = id.kind == TaskKind::Map && !job.offerable[1] && job.computes_offerable(TaskKind::Reduce);
        let ended = Ended { attempt: id, worker, started };
        if self.out.is_empty() {
            driver.ended(ended);
        } else {
            self.out.push(ended.as_effect());
        }
        self.state.unlink(slot).free_at_once(id.kind);
        if self.capabilities.follows_attempts {
            self.observe_waking(ended.as_change());
        }
        if offers_change {
            self.refresh(id.job);
        }
        if stage_done {
            self.check_job(id.job);
        }
        true
    }

    /// Tells an attempt's worker to stop it.
    pub(super) fn kill_at_once(&mut self, slot: u32) {
        let attempt = self.state.attempts.at_mut(slot);
        if let (true, false, Some(cause)) = (self.direct, attempt.kill_sent, attempt.kill) {
            attempt.kill_sent = true;
            self.out.push(Effect::Kill { worker: attempt.worker, attempt: attempt.id, cause });
        }
    }
}

impl Worker {
    /// Makes the slots of an ended attempt free at once, as no report will say so.
    #[inline]
    pub(super) fn free_at_once(&mut self, kind: TaskKind) {
        if self.state != WorkerState::Lost {
            self.free[kind] = self.slots[kind].saturating_sub(self.occupied[kind]);
        }
    }
}
