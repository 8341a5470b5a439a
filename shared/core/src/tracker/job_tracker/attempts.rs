//! How attempts end, and what that does to their tasks and jobs.
//!
//! The first success of a task wins. Its other attempts are over for the job at once (*detached*): they hold
//! nothing but their workers' slots until those have stopped them, so a job never waits for a loser on a
//! worker that hangs. Failures count towards the task's attempts, kills do not.
//! Source: `docs/hadoop.md#heartbeats` and `docs/hadoop.md#tasks-and-attempts`.

use super::JobTracker;
use crate::cluster::{Attempt, EndCause, Jobs, NONE, ReducePhases, TaskState};
use crate::job::{AttemptId, AttemptState, JobId, JobState, TaskId, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::time::Time;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, Rejection};

/// Notifications after which a map's output is doubted.
const FETCH_FAILURES: u32 = 3;

impl JobTracker {
    /// An attempt is gone from its worker.
    pub(super) fn end_attempt(&mut self, slot: u32, state: AttemptState, cause: EndCause) {
        let attempt = *self.state.attempts.at(slot);
        if !attempt.detached {
            self.state.unchain(slot);
        }
        let worker = self.state.unlink(slot);
        if planted(Fault::LeakSlot) && state == AttemptState::Killed {
            worker.occupied[attempt.id.kind] += attempt.slots;
        }
        if self.direct {
            worker.free_at_once(attempt.id.kind);
        }
        if attempt.detached {
            return;
        }
        self.conclude(&attempt, state, cause);
    }

    /// An attempt is over for its job but still on its worker, which is told to stop it.
    fn detach(&mut self, slot: u32, cause: EndCause) {
        let attempt = *self.state.attempts.at(slot);
        self.state.unchain(slot);
        let detached = self.state.attempts.at_mut(slot);
        detached.detached = true;
        detached.kill.get_or_insert(cause);
        self.news(attempt.worker);
        self.kill_at_once(slot);
        self.conclude(&attempt, AttemptState::Killed, cause);
    }

    /// Detaches what still runs of a task.
    pub(super) fn detach_all(&mut self, task: TaskId, cause: EndCause) {
        loop {
            let slot = self.state.chain(task);
            if slot == NONE {
                return;
            }
            self.detach(slot, cause);
        }
    }

    /// What the end of an attempt means for its task and job.
    fn conclude(&mut self, attempt: &Attempt, state: AttemptState, cause: EndCause) {
        let Attempt { id, worker, started, .. } = *attempt;
        let task = id.task();
        self.out.push(Effect::AttemptEnded { attempt: id, worker, state, cause, started });
        self.pace.ended(self.state.now);
        self.count_costs(attempt, state, cause);
        match state {
            AttemptState::Succeeded => {
                self.note_phases(attempt);
                self.on_success(id, worker);
                self.note_done(task, worker);
            }
            AttemptState::Failed if cause == EndCause::TooManyWorkerLosses => {
                // The worker was charged with its loss.
                self.charge_task(task);
                self.after_failure(task);
            }
            AttemptState::Failed => {
                self.count_failure(task, worker);
                self.after_failure(task);
                if cause == EndCause::Reported {
                    self.note_short_failure(attempt);
                }
            }
            _ => {
                let job = self.state.jobs.get_mut(id.job).expect("attempts in chains have live jobs");
                job.tasks[id.kind].attempts_killed += 1;
                self.after_loss(task);
            }
        }
        self.observe_end(Change::Ended { attempt: id, worker, state, cause, started });
        self.refresh(id.job);
        if state == AttemptState::Succeeded && !planted(Fault::TwoWinners) {
            self.detach_all(task, EndCause::LostRace);
        } else {
            self.grant_commit(task);
        }
        self.check_job(id.job);
    }

    /// Keeps for whoever predicts times when a reduce's phases began, until the next batch.
    fn note_phases(&mut self, attempt: &Attempt) {
        let [sort_from, reduce_from] = attempt.phases_from;
        if reduce_from > Time::ZERO {
            self.state.reduced.push(ReducePhases { attempt: attempt.id, sort_from, reduce_from });
        }
    }

    /// What the end of an attempt costs where its task had more than one.
    fn count_costs(&mut self, attempt: &Attempt, state: AttemptState, cause: EndCause) {
        if !attempt.speculative && cause != EndCause::LostRace {
            return;
        }
        let now = self.state.now;
        self.state.costs.end(attempt, state, cause, now);
        if let Some(job) = self.state.jobs.get_mut(attempt.id.job) {
            job.costs.end(attempt, state, cause, now);
        }
    }

    fn on_success(&mut self, id: AttemptId, worker: WorkerId) {
        let now = self.state.now;
        let job = self.state.jobs.get_mut(id.job).expect("attempts in chains have live jobs");
        job.succeed(id, worker, now);
        if let (TaskKind::Map, Some(failures)) = (id.kind, job.failures.get_mut()) {
            failures.left.remove(&id.index);
        }
        if id.kind == TaskKind::Map && job.spec.n_reduces > 0 {
            self.out.push(Effect::MapOutputReady { attempt: id, worker });
        }
    }

    /// Charges a failed attempt to its task, and to no worker.
    pub(super) fn charge_task(&mut self, task: TaskId) {
        let job = self.state.jobs.get_mut(task.job).expect("attempts in chains have live jobs");
        let tasks = &mut job.tasks[task.kind];
        tasks.attempts_failed += 1;
        let failures = &mut tasks.tasks[task.index as usize].failures;
        *failures = failures.saturating_add(u16::from(!planted(Fault::ForgetFailure)));
        job.note_plain();
    }

    /// Charges a failed attempt to its task and its worker.
    pub(super) fn count_failure(&mut self, task: TaskId, worker: WorkerId) {
        self.charge_task(task);
        let job = self.state.jobs.get_mut(task.job).expect("attempts in chains have live jobs");
        let places = job.failures.make().of_task.entry((task.kind, task.index)).or_default();
        if !places.contains(&worker) {
            places.push(worker);
        }
        self.charge_worker(task.job, worker);
    }

    /// Leaves a task just the one failure that is about to be counted: no other attempt could do better.
    pub(super) fn use_up(&mut self, task: TaskId) {
        let job = self.state.jobs.get_mut(task.job).expect("attempts in chains have live jobs");
        let conf = &job.spec.conf;
        let max = match task.kind {
            TaskKind::Map => conf.max_map_attempts,
            TaskKind::Reduce => conf.max_reduce_attempts,
        };
        let failures = &mut job.tasks[task.kind].tasks[task.index as usize].failures;
        *failures = (*failures).max(max.max(1) - 1);
    }

    /// Counts one failure of a job on a worker.
    pub(super) fn charge_worker(&mut self, job: JobId, worker: WorkerId) {
        let Some(job) = self.state.jobs.get_mut(job) else { return };
        let failures = job.failures.make();
        let n = failures.by_worker.entry(worker).or_default();
        *n = n.saturating_add(1);
        let max = job.spec.conf.max_tracker_failures;
        failures.flaky = failures.by_worker.values().filter(|&&n| n >= max).count() as u32;
        job.note_plain();
    }

    /// A task lost an attempt by a failure: it runs again, or it is out of attempts.
    pub(super) fn after_failure(&mut self, id: TaskId) {
        let job = self.state.jobs.get_mut(id.job).expect("attempts in chains have live jobs");
        let conf = &job.spec.conf;
        let (max, percent) = match id.kind {
            TaskKind::Map => (conf.max_map_attempts, conf.max_map_failures_percent),
            TaskKind::Reduce => (conf.max_reduce_attempts, conf.max_reduce_failures_percent),
        };
        let tasks = &mut job.tasks[id.kind];
        let task = &mut tasks.tasks[id.index as usize];
        if task.failures < max.max(1) {
            self.after_loss(id);
            return;
        }
        task.state = TaskState::Failed;
        tasks.n_failed += 1;
        if id.kind == TaskKind::Map && tasks.all_done() {
            job.maps_done = Some(self.state.now);
        }
        let too_many = u64::from(tasks.n_failed) * 100 > u64::from(percent) * u64::from(tasks.len());
        self.out.push(Effect::TaskFailed { task: id });
        if too_many {
            self.begin_ending(id.job, JobState::Failed);
        }
        self.detach_all(id, EndCause::LostRace);
    }

    /// A task lost an attempt or its output: unless something else of it runs, it waits again.
    fn after_loss(&mut self, id: TaskId) {
        let job = self.state.jobs.get_mut(id.job).expect("only tasks of live jobs lose attempts");
        let tasks = &mut job.tasks[id.kind];
        let task = &tasks.tasks[id.index as usize];
        if task.state != TaskState::Running || task.head != NONE {
            return;
        }
        if task.next_number == u16::MAX {
            // No number is left for another attempt; nobody gets here without killing for days.
            tasks.tasks[id.index as usize].state = TaskState::Failed;
            tasks.n_failed += 1;
            self.out.push(Effect::TaskFailed { task: id });
            self.begin_ending(id.job, JobState::Failed);
            return;
        }
        tasks.return_to_pending(id.index);
        if let (TaskKind::Map, Some(places)) = (id.kind, &mut job.locality) {
            places.returned(&job.spec, id.index, &self.state.topology);
        }
        job.note_plain();
        self.wake[id.kind] = true;
        self.observe(Change::Returned { task: id });
    }

    /// Lets an attempt that waits for it commit, if no other one of its task may.
    pub(super) fn grant_commit(&mut self, task: TaskId) {
        let (mut slot, mut waiting) = (self.state.chain(task), None);
        while slot != NONE {
            let attempt = self.state.attempts.at(slot);
            if attempt.commit && !planted(Fault::DoubleCommit) {
                return;
            }
            if attempt.state == AttemptState::CommitPending && attempt.kill.is_none() && !attempt.commit {
                waiting = Some(slot);
            }
            slot = attempt.next;
        }
        if let Some(slot) = waiting {
            let attempt = self.state.attempts.at_mut(slot);
            attempt.commit = true;
            let worker = attempt.worker;
            self.news(worker);
        }
    }

    /// Tells a worker to stop an attempt. A grant to commit stays with it until it is gone, as it may have used
    /// the grant already.
    pub(super) fn order_kill(&mut self, slot: u32, cause: EndCause, fails: bool) {
        let attempt = self.state.attempts.at_mut(slot);
        if attempt.kill.is_some() {
            return;
        }
        (attempt.kill, attempt.kill_fails) = (Some(cause), fails);
        let worker = attempt.worker;
        self.news(worker);
        self.kill_at_once(slot);
    }

    /// Someone wants one attempt gone.
    pub(super) fn on_kill_attempt(&mut self, id: AttemptId, fail: bool) {
        match self.state.find(id) {
            Some(slot) => self.order_kill(slot, EndCause::Requested, fail),
            None => self.reject(None, Rejection::UnknownAttempt(id)),
        }
    }

    /// A finished map's output is gone or bad: unless no reduce needs it any more, the map runs again.
    pub(super) fn lose_output(&mut self, job: JobId, map: u32, cause: EndCause) {
        let task = TaskId { job, kind: TaskKind::Map, index: map };
        let Some(live) = self.state.jobs.get_mut(job) else { return };
        let Some((worker, number)) = live.tasks[0].winner(map) else { return };
        let tasks = &mut live.tasks[0];
        tasks.n_succeeded -= 1;
        // As after its last attempt's end, so that the paths below meet.
        tasks.tasks[map as usize].state = TaskState::Running;
        if let Some(failures) = live.failures.get_mut() {
            failures.of_fetches.remove(&map);
        }
        // A worker may come back with it. A simulation's never do.
        if cause == EndCause::WorkerLost && !self.direct {
            live.failures.make().left.insert(map, (worker, number));
        }
        live.maps_done = None;
        self.out.push(Effect::MapOutputLost { attempt: task.attempt(number), worker, cause });
        if cause == EndCause::TooManyFetchFailures {
            self.count_failure(task, worker);
            self.after_failure(task);
        } else {
            live_killed(&mut self.state.jobs, job);
            self.after_loss(task);
        }
        self.refresh(job);
        self.check_job(job);
    }

    /// A reduce could not fetch the output of a map.
    ///
    /// Three notifications, and at least half as many as there are running reduces, make it a failure.
    pub(super) fn on_fetch_failure(&mut self, from: WorkerId, reduce: AttemptId, map: AttemptId) {
        let known = self.state.job(map.job).filter(|_| map.job == reduce.job && map.kind == TaskKind::Map);
        let Some(job) = known.filter(|job| map.index < job.tasks[0].len()) else {
            self.reject(Some(from), Rejection::UnknownAttempt(map));
            return;
        };
        let present = job.tasks[0].winner(map.index).is_some_and(|(_, number)| number == map.number);
        if !present || job.ending.is_some() || job.state != JobState::Running {
            return;
        }
        let running = job.tasks[1].n_running;
        let job = self.state.jobs.get_mut(map.job).expect("found above");
        let n = job.failures.make().of_fetches.entry(map.index).or_default();
        *n += 1;
        if *n >= FETCH_FAILURES && u64::from(*n) * 2 >= u64::from(running) {
            self.lose_output(map.job, map.index, EndCause::TooManyFetchFailures);
        }
    }
}

/// Counts a finished map whose output was lost with its worker as killed.
fn live_killed(jobs: &mut Jobs, job: JobId) {
    if let Some(job) = jobs.get_mut(job) {
        job.tasks[0].attempts_killed += 1;
    }
}
