//! Rounds: one worker's turn to get attempts, and the answers that end its heartbeat.
//!
//! After a batch's inputs, parked workers are offered what new work appeared, longest parked first; then each
//! report of the batch has its round. A worker is answered at once if there is anything new for it, and
//! otherwise parked if it may be, until its deadline. Directives are repeated in every answer until a report confirms them, but
//! only new ones release a parked worker, so that a directive that takes its time does not make the worker
//! ask in circles.

use super::{Driver, Ended, JobTracker, Launched, interval};
use crate::cluster::{Attempt, AttemptRef, Job, TaskState, WorkerState, link};
use crate::job::{AttemptId, AttemptState, Locality, TaskId, TaskKind, WorkerId};
use crate::schedulers::{Assignment, Change, Round};
use crate::time::Time;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, EndCause};

/// Attempt numbers of each run of the master begin this far above those of the run before.
const NUMBERS_PER_EPOCH: u32 = 1_000;
/// The highest first number of a run; beyond it, numbers go on from the last one.
const MAX_FIRST_NUMBER: u32 = 64_000;

/// A driver that is notified of launches by answers only.
pub(super) struct Answered;

impl Driver for Answered {
    fn ended(&mut self, _ended: Ended) {}

    fn launched(&mut self, _worker: WorkerId, _launched: &Launched) {}
}

/// Keeps what a job knows of its launches; true if this is the first.
#[inline(always)]
fn note_launch(job: &mut Job, kind: TaskKind, locality: Locality, worker: WorkerId, now: Time) -> bool {
    if kind == TaskKind::Map {
        job.launched_at[locality as usize] += 1;
    }
    if job.touched_last != Some(worker) {
        job.touch(worker);
    }
    let first = job.launched.is_none();
    job.launched.get_or_insert(now);
    first
}

impl JobTracker {
    /// After all inputs: offers, rounds, answers.
    pub(super) fn settle(&mut self) {
        self.offer_parked();
        let mut callers = std::mem::take(&mut self.callers);
        for &(worker, report, repeat) in &callers {
            let calling = &mut self.state.workers[worker.0 as usize].calling;
            if *calling == report {
                *calling = 0;
                self.serve(worker, repeat);
            }
        }
        callers.clear();
        self.callers = callers;
        self.offer_parked();
        let mut releases = std::mem::take(&mut self.releases);
        for &worker in &releases {
            let waiting = self.state.worker(worker).is_some_and(|w| w.parked.is_some() && w.news);
            if waiting {
                self.answer(worker, false);
            }
        }
        releases.clear();
        // What a release brings for other parked workers was released with it or waits for the next batch.
        self.releases = releases;
        self.answer_overdue();
    }

    /// Answers the workers that have been parked long enough; last, so that work of the same batch still finds them.
    pub(super) fn answer_overdue(&mut self) {
        while let Some((due, worker)) = self.parking.first_deadline()
            && due <= self.state.now
        {
            self.answer(worker, false);
        }
    }

    /// A report's own turn. One that crossed the answer before it has one like any other: the slots that it says are
    /// free would stand idle until the next.
    fn serve(&mut self, id: WorkerId, repeat: bool) {
        self.run_answered_round(id, false);
        let worker = &self.state.workers[id.0 as usize];
        // That answer may be lost instead of on its way, so the one that repeats it is never held back.
        if repeat || worker.news || !worker.may_park || self.config.max_parking_ms == 0 {
            self.answer(id, repeat);
        } else {
            self.park(id);
        }
    }

    /// Offers new work to parked workers, longest parked first, as long as there is any.
    fn offer_parked(&mut self) {
        if self.recorded.is_some() {
            return self.offer_recorded();
        }
        let mut from = 0;
        loop {
            let wanted = |kind: usize| self.wake_all || (self.wake[kind] && self.state.totals.offerable_jobs[kind] > 0);
            let Some((turn, worker)) = self.parking.next(from, [wanted(0), wanted(1)]) else { break };
            from = turn + 1;
            if self.run_answered_round(worker, true) > 0 {
                self.answer(worker, false);
            }
        }
        self.wake = [false; 2];
        self.wake_all = false;
    }

    /// A round of a worker that reports: its launches go with the answer.
    #[inline(never)]
    fn run_answered_round(&mut self, id: WorkerId, parked: bool) -> u32 {
        if self.recorded.is_some() {
            return self.run_recorded_round(id, parked);
        }
        self.run_round(id, parked, &mut Answered)
    }

    /// Lets the policy fill a worker's free slots; returns the number of launches.
    #[inline(always)]
    pub(super) fn run_round(&mut self, id: WorkerId, parked: bool, driver: &mut impl Driver) -> u32 {
        let worker = &self.state.workers[id.0 as usize];
        if worker.state != WorkerState::Live || !worker.accepts || worker.free == [0, 0] {
            return 0;
        }
        let [free_maps, free_reduces] = worker.free;
        let round = Round { now: self.state.now, worker: id, free_maps, free_reduces, parked };
        self.scheduler.begin_round(&round, &self.state);
        let mut launched = 0;
        while self.has_use_for(id)
            // Not taken out of its option: a copy would wait for the fields that the policy has just written.
            && let Some(assignment) = &self.scheduler.assign(&round, &self.state)
            && self.launch(id, assignment, driver)
        {
            launched += 1;
        }
        self.scheduler.end_round(&self.state, &mut self.actions);
        if !self.actions.list.is_empty() {
            self.apply_actions(Some(id));
        }
        launched
    }

    /// Whether a worker has a free slot for which something waits, or may be made to wait.
    #[inline]
    fn has_use_for(&self, id: WorkerId) -> bool {
        let [maps, reduces] = self.state.workers[id.0 as usize].free;
        let offered = self.state.totals.offerable_jobs;
        (maps > 0 && offered[0] > 0)
            || (reduces > 0 && offered[1] > 0)
            || ((maps > 0 || reduces > 0) && self.capabilities.may_speculate)
    }

    /// What `launch` checks besides where the job is not plain or the attempt not its task's first.
    #[inline(never)]
    fn allows(&self, id: WorkerId, a: &Assignment) -> bool {
        let worker = &self.state.workers[id.0 as usize];
        let Some(job) = self.state.job(a.job) else { return false };
        let fits = !a.speculative || {
            let Some(task) = job.tasks[a.kind].tasks.get(a.index as usize) else { return false };
            let mut others = self.state.attempts_of(TaskId { job: a.job, kind: a.kind, index: a.index });
            task.state == TaskState::Running
                && task.n_running < u8::MAX
                && !others.any(|attempt: &Attempt| attempt.worker == id)
        };
        fits && self.state.job_may_use(job, a.kind, worker) && !self.state.task_avoids(job, a.kind, a.index, id)
    }

    /// Starts an attempt; false, and nothing done, if the policy's choice is not possible.
    #[inline(always)]
    pub(super) fn launch(&mut self, id: WorkerId, a: &Assignment, driver: &mut impl Driver) -> bool {
        self.start_plain(id, a, driver).or_else(|| self.start(id, a, driver)).is_some()
    }

    /// Starts an attempt as nearly always: the first of a pending task of a plain job. `None`, and nothing done, says
    /// nothing: [`start`](JobTracker::start) decides. A test holds that both do the same.
    #[inline(always)]
    fn start_plain(&mut self, id: WorkerId, a: &Assignment, driver: &mut impl Driver) -> Option<()> {
        let Assignment { job: job_id, kind, index, locality, speculative } = *a;
        let (first_number, state) = (self.first_number(), self.first_state());
        let job = self.state.jobs.get_mut(job_id)?;
        let worker = &mut self.state.workers[id.0 as usize];
        let possible = !speculative
            && !planted(Fault::NoFastPaths)
            && job.is_plain(kind)
            && job.offerable[kind]
            && worker.free[kind] > 0
            && worker.occupied[kind] < worker.slots[kind]
            && worker.reserved[kind].is_none()
            && !worker.unreachable;
        if !possible {
            return None;
        }
        let now = self.state.now;
        let tasks = &mut job.tasks[kind];
        let number = tasks.next_number(index, first_number)?;
        let attempt = AttemptId { job: job_id, kind, index, number };
        let running = Attempt::new(attempt, id, now, locality, state);
        let reference = link(&mut self.state.attempts, &mut self.state.totals, worker, kind, running);
        tasks.start_alone(index, number, reference.slot);
        worker.free[kind] -= 1;
        worker.news = !self.direct;
        let last = tasks.pending.count() == 0;
        let first = note_launch(job, kind, locality, id, now);
        self.started(id, &Launched { attempt, reference, locality, speculative: false }, [first, last], driver);
        Some(())
    }

    /// Starts an attempt, if the job and the worker can have it.
    #[inline(never)]
    fn start(&mut self, id: WorkerId, a: &Assignment, driver: &mut impl Driver) -> Option<()> {
        if !self.allows(id, a) {
            return None;
        }
        let Assignment { job: job_id, kind, index, locality, speculative } = *a;
        let (first_number, state) = (self.first_number(), self.first_state());
        let job = self.state.jobs.get_mut(job_id)?;
        let worker = &mut self.state.workers[id.0 as usize];
        let goes_on = job.offerable[kind] || (job.ending.is_none() && !job.all_done());
        let slots = job.slots[kind];
        let tasks = &mut job.tasks[kind];
        let task = tasks.starting(index)?;
        let possible = goes_on
            && (speculative || task.state == TaskState::Pending)
            && worker.free[kind] >= slots
            && worker.occupied[kind] + slots <= worker.slots[kind]
            && task.next_number < u16::MAX
            && worker.reserved[kind].is_none_or(|reserved| reserved == job_id);
        if !possible {
            return None;
        }
        let number = task.next_number.max(first_number);
        task.next_number = number + 1;
        let next = task.head;
        if !speculative {
            tasks.take_pending(index);
        }
        let last = tasks.pending.count() == 0;
        let now = self.state.now;
        let id_of = TaskId { job: job_id, kind, index }.attempt(number);
        let mut attempt = Attempt::new(id_of, id, now, locality, state);
        (attempt.speculative, attempt.slots, attempt.next) = (speculative, slots, next);
        worker.free[kind] -= slots;
        worker.news = !self.direct;
        let reference = link(&mut self.state.attempts, &mut self.state.totals, worker, kind, attempt);
        tasks.attempt_starts(index, reference.slot);
        if let (false, TaskKind::Map, Some(places)) = (speculative, kind, &mut job.locality) {
            places.taken(&job.spec, index, &job.tasks[0].pending, &self.state.topology);
        }
        job.note_plain();
        let first = note_launch(job, kind, locality, id, now);
        if speculative {
            job.costs.launch(true);
            self.state.costs.launch(true);
        }
        self.started(id, &Launched { attempt: id_of, reference, locality, speculative }, [first, last], driver);
        Some(())
    }

    /// The lowest number of an attempt that this run of the master starts.
    #[inline(always)]
    fn first_number(&self) -> u16 {
        match self.state.epoch {
            0 => 0,
            epoch => (epoch.saturating_mul(NUMBERS_PER_EPOCH)).min(MAX_FIRST_NUMBER) as u16,
        }
    }

    /// The state of an attempt that was just started: launches need no confirmation where the tracker is driven directly.
    #[inline(always)]
    fn first_state(&self) -> AttemptState {
        if self.direct { AttemptState::Running } else { AttemptState::Launching }
    }

    /// An attempt was started: tells the driver and the policy, and whether it is its job's first and took the job's last
    /// pending task of its kind.
    #[inline(always)]
    fn started(&mut self, id: WorkerId, launched: &Launched, [first, last]: [bool; 2], driver: &mut impl Driver) {
        if self.out.is_empty() || !self.direct {
            driver.launched(id, launched);
        } else {
            self.out.push(launched.as_effect(id));
        }
        if let Some(expiry) = self.config.launch_expiry() {
            self.expire_launch_later(self.state.now + expiry, launched.reference);
        }
        if first {
            self.job_runs(launched.attempt.job);
        }
        if last {
            self.refresh(launched.attempt.job);
        }
        if self.capabilities.follows_attempts {
            let Launched { attempt, reference, speculative, .. } = launched.rebuilt();
            self.observe(Change::Launched { attempt, reference, worker: id, speculative });
        }
    }

    fn expire_launch_later(&mut self, due: Time, reference: AttemptRef) {
        while let Some(&(_, first)) = self.launches.front()
            && self.state.attempts.get(first).is_none_or(|attempt| attempt.state != AttemptState::Launching)
        {
            self.launches.pop_front();
        }
        self.launches.push_back((due, reference));
    }

    /// Holds a worker's heartbeat back.
    fn park(&mut self, id: WorkerId) {
        let limit = self.interval_ms().min(u32::try_from(self.config.max_parking_ms).unwrap_or(u32::MAX));
        let deadline = self.state.now + interval::span(limit);
        self.liveness.remove(id);
        self.parking.enter(&mut self.state.workers[id.0 as usize], deadline);
    }

    /// Ends a worker's heartbeat with all directives that it has not confirmed.
    ///
    /// A `repeat` is the last answer once more, under its number, with what has come since. A report that names the
    /// number need not have had what came since. Launches can bear that, as reports list what runs; a directive that
    /// the number itself confirms is repeated under the next number.
    /// `Deviation:` Hadoop sends the very same answer again, and the slots of that report wait for the next one.
    pub(super) fn answer(&mut self, id: WorkerId, repeat: bool) {
        let interval_ms = self.interval_ms();
        let now = self.state.now;
        let worker = &mut self.state.workers[id.0 as usize];
        self.parking.leave(worker);
        worker.last_contact = now;
        self.liveness.note_contact(id, now);
        let mut again = false;
        for &slot in &worker.attempts {
            let attempt = self.state.attempts.at_mut(slot);
            let (worker, attempt_id) = (attempt.worker, attempt.id);
            if let Some(cause) = attempt.kill {
                attempt.kill_sent |= !repeat;
                again |= !attempt.kill_sent;
                self.out.push(Effect::Kill { worker, attempt: attempt_id, cause });
            } else if attempt.state == AttemptState::Launching {
                let Attempt { locality, speculative, .. } = *attempt;
                self.out.push(Effect::Launch { worker, attempt: attempt_id, locality, speculative });
                if let Some(recorded) = &mut self.recorded {
                    recorded.launches.pop_front();
                }
            } else if attempt.commit {
                self.out.push(Effect::Commit { worker, attempt: attempt_id });
            }
        }
        for &(attempt, _) in &worker.strays {
            self.out.push(Effect::Kill { worker: id, attempt, cause: EndCause::JobEnded });
        }
        for (job, sent) in &mut worker.forget {
            *sent |= !repeat;
            again |= !*sent;
            self.out.push(Effect::ForgetJob { worker: id, job: *job });
        }
        worker.news = again;
        if !repeat {
            worker.response_id = worker.response_id.wrapping_add(1);
        }
        self.out.push(Effect::Answer { worker: id, response_id: worker.response_id, interval_ms });
    }

    /// Notes that there is something new for a worker.
    pub(super) fn news(&mut self, id: WorkerId) {
        let worker = &mut self.state.workers[id.0 as usize];
        worker.news = true;
        if worker.parked.is_some() {
            self.releases.push(id);
        }
    }
}
