//! Heartbeats: who speaks, in which order, and what their attempts say.
//!
//! A report comes from the network: each of its statements is checked against what the core knows, and one
//! that cannot be is answered with a typed rejection. A finished attempt is repeated by its worker until an
//! answer arrives, so the end of an attempt that is over already is no news and no error.

use smallvec::SmallVec;

use super::JobTracker;
use crate::cluster::{Attempt, EndCause, WorkerState};
use crate::job::{AttemptId, AttemptState, JobId, Phase, Progress, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{AttemptReport, Effect, Rejection, Report};

/// Attempts that nobody waits for and that one worker is told to stop at a time; they are searched one by one.
const MAX_STRAYS: usize = 256;

/// What a report's number says about it.
enum Turn {
    Fresh,
    Repeat,
}

impl JobTracker {
    /// A heartbeat: all but its round, which comes after the batch's other inputs.
    pub(super) fn on_report(&mut self, report: &Report) {
        let id = report.worker;
        let turn = match self.turn_of(report) {
            Ok(turn) => turn,
            Err(why) => return self.refuse(id, why),
        };
        let now = self.state.now;
        // 0 means "no report".
        self.report = self.report.wrapping_add(1).max(1);
        let worker = &mut self.state.workers[id.0 as usize];
        self.parking.leave(worker);
        self.liveness.note_contact(id, now);
        worker.last_contact = now;
        worker.vitals = report.vitals;
        worker.may_park = report.may_park;
        worker.accepts = report.accepts_tasks;
        if let Some(set) = &report.attributes {
            self.on_attributes(id, set);
        }
        let fresh = matches!(turn, Turn::Fresh);
        for attempt in &report.attempts {
            self.on_attempt_report(id, attempt, fresh);
        }
        if fresh {
            self.after_fresh_report(id);
        }
        self.count_free(report);
        self.observe(Change::Reported { worker: id });
        // A worker has one heartbeat under way: a newer report takes the place of an older one.
        self.state.workers[id.0 as usize].calling = self.report;
        self.callers.push((id, self.report, !fresh));
    }

    fn turn_of(&self, report: &Report) -> Result<Turn, Rejection> {
        let id = report.worker;
        let known = self.state.worker(id).filter(|worker| worker.state != WorkerState::Lost);
        let worker = known.ok_or(Rejection::UnknownWorker(id))?;
        if worker.incarnation != report.incarnation && !planted(Fault::AcceptZombie) {
            return Err(Rejection::StaleIncarnation(id));
        }
        let last = worker.response_id;
        if report.response_id == last {
            Ok(Turn::Fresh)
        } else if last.checked_sub(1) == Some(report.response_id) {
            Ok(Turn::Repeat)
        } else {
            Err(Rejection::WrongResponseId { reported: report.response_id, last })
        }
    }

    /// Sends a worker back to register again. A report of another run of the worker gets no answer: that
    /// would reach the present run.
    fn refuse(&mut self, id: WorkerId, why: Rejection) {
        self.reject(Some(id), why);
        if matches!(why, Rejection::StaleIncarnation(_)) {
            return;
        }
        let mut response_id = 0;
        if let Some(worker) = self.state.workers.get_mut(id.0 as usize) {
            response_id = worker.response_id;
            worker.calling = 0;
            if self.parking.leave(worker) {
                self.liveness.note_contact(id, self.state.now);
            }
        }
        self.out.push(Effect::Reinit { worker: id });
        self.out.push(Effect::Answer { worker: id, response_id, interval_ms: 0 });
    }

    /// One attempt's status.
    fn on_attempt_report(&mut self, from: WorkerId, report: &AttemptReport, fresh: bool) {
        let id = report.attempt;
        let Some(slot) = self.state.find_on(from, id) else {
            return self.on_unknown_attempt(from, id, report.state);
        };
        let attempt = self.state.attempts.at_mut(slot);
        attempt.seen = self.report;
        let (was, commit) = (attempt.state, attempt.commit);
        if !attempt.detached && !self.may_become(id, was, commit, report.state) {
            let why = Rejection::ImpossibleTransition { attempt: id, from: was, to: report.state };
            return self.reject(Some(from), why);
        }
        if fresh {
            for &map in &report.fetch_failures {
                if id.kind == TaskKind::Reduce {
                    self.on_fetch_failure(from, id, map);
                } else {
                    self.reject(Some(from), Rejection::UnknownAttempt(map));
                }
            }
        }
        // A fetch failure may have failed the job, but its attempts stay until their workers say so.
        let attempt = *self.state.attempts.at(slot);
        if report.state.is_final() {
            let (state, cause) = self.outcome(&attempt, report.state);
            if report.fatal && (state, cause) == (AttemptState::Failed, EndCause::Reported) && !attempt.detached {
                self.use_up(id.task());
            }
            self.end_attempt(slot, state, cause);
            return;
        }
        self.update_attempt(slot, report.state, report.phase, report.progress);
        if report.state == AttemptState::CommitPending && !attempt.detached {
            self.grant_commit(id.task());
        }
    }

    /// Whether an attempt's state may follow its last one.
    fn may_become(&self, id: AttemptId, from: AttemptState, commit: bool, to: AttemptState) -> bool {
        let commits = self.state.job(id.job).is_some_and(|job| {
            job.spec.conf.commits_output && (id.kind == TaskKind::Reduce || job.spec.n_reduces == 0)
        });
        match to {
            AttemptState::Launching => false,
            AttemptState::Running => from != AttemptState::CommitPending,
            AttemptState::CommitPending => commits,
            AttemptState::Succeeded => !commits || commit || self.is_stopping(id),
            AttemptState::Failed | AttemptState::Killed => true,
        }
    }

    /// Whether the attempt was told to stop, so that a success of it may come too late.
    fn is_stopping(&self, id: AttemptId) -> bool {
        self.state.find(id).is_some_and(|slot| self.state.attempts.at(slot).kill.is_some())
    }

    /// What a reported end means, given what the core wanted of the attempt.
    pub(super) fn outcome(&self, attempt: &Attempt, reported: AttemptState) -> (AttemptState, EndCause) {
        use AttemptState::{Failed, Killed, Succeeded};
        let ending = self.state.job(attempt.id.job).is_none_or(|job| job.ending.is_some());
        let commits = self.state.job(attempt.id.job).is_some_and(|job| {
            job.spec.conf.commits_output && (attempt.id.kind == TaskKind::Reduce || job.spec.n_reduces == 0)
        });
        match (attempt.kill, reported) {
            (None, reported) if self.is_only_blind(attempt, reported) => (Killed, EndCause::Unserved),
            (None, reported) => (reported, EndCause::Reported),
            // The order to stop came too late; without the grant it needed, its output does not count.
            (Some(_), Succeeded) if !ending && (!commits || attempt.commit) => (Succeeded, EndCause::Reported),
            (Some(cause), _) if attempt.kill_fails && !ending => (Failed, cause),
            (Some(cause), _) => (Killed, cause),
        }
    }

    /// What a running attempt's worker says of it.
    pub(super) fn update_attempt(&mut self, slot: u32, state: AttemptState, phase: Phase, progress: Progress) {
        let attempt = self.state.attempts.at(slot);
        let task = attempt.id.task();
        let before = if attempt.detached { 0 } else { self.state.best_progress(task) };
        let now = self.state.now;
        let attempt = self.state.attempts.at_mut(slot);
        attempt.state = state;
        let fits = match phase {
            Phase::Starting => true,
            Phase::Map => attempt.id.kind == TaskKind::Map,
            Phase::Shuffle | Phase::Sort | Phase::Reduce => attempt.id.kind == TaskKind::Reduce,
        };
        if fits {
            attempt.enter(phase, now);
        }
        (attempt.progress, attempt.reported) = (progress, now);
        if !attempt.detached {
            self.state.progress_changed(task, before);
        }
    }

    /// An attempt that the core does not have on this worker.
    fn on_unknown_attempt(&mut self, from: WorkerId, id: AttemptId, state: AttemptState) {
        if state.is_final() && self.was_given(id) {
            return;
        }
        self.reject(Some(from), Rejection::UnknownAttempt(id));
        if state.is_final() {
            return;
        }
        // It runs something that nobody waits for: stop it.
        let number = self.report;
        let worker = &mut self.state.workers[from.0 as usize];
        let full = worker.strays.len() >= MAX_STRAYS;
        match worker.strays.iter_mut().find(|(stray, _)| *stray == id) {
            Some(stray) => stray.1 = number,
            // The others have their turn when these are gone.
            None if full => {}
            None => {
                worker.strays.push((id, number));
                worker.news = true;
            }
        }
    }

    /// Whether this attempt can have existed.
    fn was_given(&self, id: AttemptId) -> bool {
        match self.state.job(id.job) {
            Some(job) => {
                let task = job.tasks[id.kind].tasks.get(id.index as usize);
                task.is_some_and(|task| id.number < task.next_number)
            }
            None => id.job >= JobId(1) && id.job.0 <= self.state.last_job(),
        }
    }

    /// What a fresh report says by what it does not list.
    fn after_fresh_report(&mut self, id: WorkerId) {
        let number = self.report;
        let worker = &mut self.state.workers[id.0 as usize];
        worker.forget.retain(|&mut (_, sent)| !sent);
        worker.strays.retain(|&mut (_, seen)| seen == number);
        for slot in self.unlisted(id) {
            let attempt = *self.state.attempts.at(slot);
            if attempt.state == AttemptState::Launching && !attempt.kill_sent {
                continue;
            }
            // The worker had it, or has been told to stop what it never got: it is gone.
            let (state, cause) = match attempt.kill {
                Some(cause) if attempt.kill_fails => (AttemptState::Failed, cause),
                Some(cause) => (AttemptState::Killed, cause),
                None => (AttemptState::Killed, EndCause::Vanished),
            };
            self.end_attempt(slot, state, cause);
        }
    }

    /// The slots that a report leaves free: those that it says are, less what is on its way to the worker. A report that
    /// crossed an answer does not know yet what that answer launches.
    fn count_free(&mut self, report: &Report) {
        let id = report.worker;
        let mut under_way = [0u16; 2];
        for slot in self.unlisted(id) {
            let attempt = self.state.attempts.at(slot);
            if attempt.state == AttemptState::Launching {
                let under_way = &mut under_way[attempt.id.kind];
                *under_way = under_way.saturating_add(attempt.slots);
            }
        }
        let worker = &mut self.state.workers[id.0 as usize];
        for (kind, reported) in [report.free_maps, report.free_reduces].into_iter().enumerate() {
            let vacant = worker.slots[kind].saturating_sub(worker.occupied[kind]);
            worker.free[kind] = vacant.min(reported.saturating_sub(under_way[kind]));
        }
    }

    /// The attempts that the core has on a worker and that its last report did not list, by slot in the arena.
    fn unlisted(&self, id: WorkerId) -> SmallVec<[u32; 8]> {
        let attempts = self.state.workers[id.0 as usize].attempts.iter().copied();
        attempts.filter(|&slot| self.state.attempts.at(slot).seen != self.report).collect()
    }
}
