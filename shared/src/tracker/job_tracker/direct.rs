//! The core without heartbeats' letters, for simulations: what ends is told as ids, and a turn is a worker's number.
//!
//! A [`Report`](crate::tracker::Report) lists everything that a worker runs, so that a network may lose and repeat
//! it; a simulation loses nothing, and building and checking such lists would be most of its work. Here directives
//! leave as effects at once, nothing waits for a confirmation and no heartbeat is parked; everything else, from the
//! end of an attempt to the round that fills its slot, is the same code. **Invariant: a tracker is driven directly
//! all its life or never.**

use super::JobTracker;
use crate::cluster::{ClusterState, EndCause, NONE, Vitals, Worker, WorkerState};
use crate::job::{AttemptId, AttemptState, Phase, Progress, TaskKind, WorkerId};
use crate::schedulers::{Change, Scheduler};
use crate::time::Time;
use crate::tracker::{ClusterConfig, Effect, Input};

/// The end of an attempt on its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Which.
    pub attempt: AttemptId,
    /// Where.
    pub worker: WorkerId,
    /// `Succeeded`, `Failed` or `Killed`.
    pub state: AttemptState,
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Which.
    pub attempt: AttemptId,
    /// What it does.
    pub phase: Phase,
    /// How far it is.
    pub progress: Progress,
}

impl JobTracker {
    /// A master without jobs and workers that is driven by [`advance`](JobTracker::advance).
    ///
    /// Nobody is expected to speak: workers and launches do not expire, a lost worker says `Goodbye`.
    pub fn direct(config: &ClusterConfig, scheduler: Box<dyn Scheduler>) -> JobTracker {
        let config = ClusterConfig { expiry_ms: u64::MAX, launch_expiry_ms: 0, max_parking_ms: 0, ..config.clone() };
        JobTracker { direct: true, ..JobTracker::new(config, scheduler) }
    }

    /// Applies everything of one instant and appends its effects: ends, then `inputs` (never a `Report`), then a
    /// round for each worker of `turns` in this order. Returns the kinds of which new work appeared that workers
    /// without a turn might take.
    ///
    /// `now` must not go back. The end of an attempt that does not run on its worker is ignored.
    // Into the simulation's loop, as when it had one caller: apart from it, a replay is about a tenth slower.
    #[inline(always)]
    pub fn advance(
        &mut self,
        now: Time,
        finished: &[Finished],
        inputs: &[Input],
        turns: &[WorkerId],
        effects: &mut Vec<Effect>,
    ) -> [bool; 2] {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        self.state.now = self.state.now.max(now);
        if !effects.is_empty() {
            std::mem::swap(&mut self.out, effects);
        }
        for end in finished {
            self.on_finished(end);
        }
        if !inputs.is_empty() {
            self.on_inputs(inputs);
        }
        for &worker in turns {
            self.run_round(worker, false);
        }
        std::mem::swap(&mut self.out, effects);
        let all = std::mem::take(&mut self.wake_all);
        std::mem::take(&mut self.wake).map(|kind| kind || all)
    }

    /// What a report says besides ends and free slots: the worker's vitals, and how far attempts on it are. Others stay
    /// where they were; one that does not run there is ignored. Its round is a turn of `advance`.
    ///
    /// `now` must not go back.
    pub fn hear(&mut self, now: Time, worker: WorkerId, vitals: &Vitals, attempts: &[Heard]) {
        debug_assert!(self.direct, "made by `JobTracker::direct`");
        self.state.now = self.state.now.max(now);
        let speaks = |known: &&mut Worker| known.state != WorkerState::Lost;
        let Some(known) = self.state.workers.get_mut(worker.0 as usize).filter(speaks) else { return };
        known.vitals = *vitals;
        known.last_heard = self.state.now;
        for heard in attempts {
            if let Some(slot) = self.state.find_on(worker, heard.attempt) {
                self.update_attempt(slot, AttemptState::Running, heard.phase, heard.progress);
            }
        }
        self.observe(Change::Reported { worker });
    }

    fn on_finished(&mut self, end: &Finished) {
        if end.state == AttemptState::Succeeded && self.succeed_alone(end) {
            return;
        }
        let Some(slot) = self.state.find_on(end.worker, end.attempt) else { return };
        let attempt = self.state.attempts.at_mut(slot);
        // Whoever succeeds here has been granted the commit; a second one is a loser by then.
        attempt.commit |= end.state == AttemptState::Succeeded;
        let attempt = *attempt;
        let (state, cause) =
            if attempt.kill.is_none() { (end.state, EndCause::Reported) } else { self.outcome(&attempt, end.state) };
        self.end_attempt(slot, state, cause);
    }

    /// The usual end, in one go: nobody wanted the attempt stopped and it is its task's only one. Does what
    /// `end_attempt` does for it, without looking the job up at each step; false, and nothing done, if the case is
    /// another one.
    #[inline]
    fn succeed_alone(&mut self, end: &Finished) -> bool {
        let Finished { attempt: id, worker, .. } = *end;
        let Some(job) = self.state.jobs.get_mut(id.job) else { return false };
        let tasks = &mut job.tasks[id.kind as usize];
        let Some(task) = tasks.tasks.get_mut(id.index as usize) else { return false };
        if task.n_running != 1 {
            return false;
        }
        let slot = task.head;
        let attempt = self.state.attempts.at(slot);
        let usual = attempt.id.number == id.number
            && attempt.worker == worker
            && attempt.kill.is_none()
            && !attempt.speculative;
        if !usual {
            return false;
        }
        let started = attempt.started;
        if attempt.progress != Progress::ZERO {
            // Its task's best, as it is the only one.
            tasks.running_progress -= u64::from(attempt.progress.parts());
        }
        task.head = NONE;
        tasks.attempt_stops(id.index);
        let stage_done = job.succeed(id, worker, self.state.now);
        let offers_change = job.offerable[1] != job.computes_offerable(TaskKind::Reduce);
        self.state.unlink(slot);
        self.state.free_directly(worker, id.kind);
        let (state, cause) = (AttemptState::Succeeded, EndCause::Reported);
        self.out.push(Effect::AttemptEnded { attempt: id, worker, state, cause, started });
        self.observe_end(Change::Ended { attempt: id, worker, state, cause, started });
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

impl ClusterState {
    /// Makes the slot of an ended attempt free at once, as no report will say so.
    #[inline]
    pub(super) fn free_directly(&mut self, worker: WorkerId, kind: TaskKind) {
        let worker = &mut self.workers[worker.0 as usize];
        if worker.state == WorkerState::Lost {
            return;
        }
        worker.free[kind as usize] = worker.slots[kind as usize].saturating_sub(worker.occupied[kind as usize]);
    }
}
