//! The driver's half of the swarm's master: a journal that can lose its end, effects that leave after their batch is on
//! disk, output that is promoted file by file, and a new start that goes on from what the journal holds.

use std::collections::{BTreeMap, BTreeSet};

use super::compaction::core_after;
use super::requests::{held, only_takers_get_tasks};
use super::watch::outputs_are_kept_as_named;
use super::world::{Driver, Event, World};
use crate::job::{AttemptId, JobId, JobState, TaskId, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::task_tracker::{Directive, TrackerInput};
use crate::tracker::{Effect, Input, JobTracker, Preemption, Recorded, Report, Reservation, WorkerState};

/// A report under way: its node, which run of it, and its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) node: usize,
    pub(super) life: u32,
    pub(super) seq: u32,
}

/// One batch as the journal keeps it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) at: Time,
    pub(super) inputs: Vec<Input>,
    /// Number of the report in it, by worker and incarnation.
    report: Option<(WorkerId, u64, u32)>,
    pub(super) effects: Vec<Effect>,
    preempted: Vec<Preemption>,
    reserved: Vec<Reservation>,
}

/// A master that runs.
pub(super) struct Master {
    pub(super) tracker: JobTracker,
    /// The report of each worker that waits for its answer.
    pub(super) waiting: BTreeMap<WorkerId, Call>,
    pub(super) directives: BTreeMap<WorkerId, Vec<Directive>>,
    /// Output under promotion: the winners still to be moved.
    promoting: BTreeMap<JobId, Vec<AttemptId>>,
    /// Reports are not taken twice, nor in another order than they were sent.
    pub(super) newest: BTreeMap<(WorkerId, u64), u32>,
}

impl Master {
    fn new(tracker: JobTracker) -> Master {
        Master {
            tracker,
            waiting: BTreeMap::new(),
            directives: BTreeMap::new(),
            promoting: BTreeMap::new(),
            newest: BTreeMap::new(),
        }
    }

    /// Whether nothing is left of any job.
    pub(super) fn is_idle(&self) -> bool {
        self.tracker.is_at_rest() && self.directives.is_empty() && self.promoting.is_empty()
    }

    /// Directives wait for the next answer to their worker.
    fn note(&mut self, effect: &Effect) {
        let (worker, directive) = match *effect {
            Effect::Launch { worker, attempt, .. } => (worker, Directive::Launch(attempt)),
            Effect::Kill { worker, attempt, .. } => (worker, Directive::Kill(attempt)),
            Effect::Commit { worker, attempt } => (worker, Directive::Commit(attempt)),
            Effect::ForgetJob { worker, job } => (worker, Directive::ForgetJob(job)),
            Effect::Reinit { worker } => (worker, Directive::Reinit),
            _ => return,
        };
        self.directives.entry(worker).or_default().push(directive);
    }
}

impl World {
    /// One batch of the master, if it is there. False when it crashed before it could acknowledge.
    pub(super) fn master(&mut self, inputs: Vec<Input>) -> bool {
        self.batch(inputs, None)
    }

    /// As [`World::master`], for a batch with a report.
    pub(super) fn batch(&mut self, inputs: Vec<Input>, report: Option<(WorkerId, u64, u32)>) -> bool {
        let Some(mut master) = self.master.take() else { return false };
        let is_snapshot = inputs.iter().any(|input| matches!(input, Input::Snapshot(_)));
        let before = is_snapshot.then(|| held(&master.tracker));
        let mut effects = Vec::new();
        master.tracker.apply(self.now, &inputs, &mut effects);
        self.check(master.tracker.check_invariants());
        if before.is_some_and(|before| before != held(&master.tracker)) {
            self.fail("a snapshot changes what is held against workers".to_owned());
        }
        let takers = only_takers_get_tasks(&master.tracker, &effects, |attempt| !self.watch.was_launched(attempt));
        self.check(takers);
        self.check(stopping_jobs_stop(&master.tracker));
        self.check(zombies_are_refused(&master.tracker, &inputs, &effects));
        self.check(outputs_are_kept_as_named(&inputs, &effects));
        self.kept_outputs += effects.iter().filter(|effect| matches!(effect, Effect::OutputKept { .. })).count() as u64;
        self.inputs += inputs.len() as u64;
        let (preempted, reserved) = (master.tracker.preempted().to_vec(), master.tracker.reserved().to_vec());
        self.journal.push(Entry { at: self.now, inputs, report, effects: effects.clone(), preempted, reserved });
        let skips = self.driver == Some(Driver::SkipSync) && self.dice.one_in(2);
        if !skips {
            self.synced = self.journal.len();
        }
        let crashes = self.faults && self.dice.one_in(self.plan.master_crashes);
        if crashes && self.driver != Some(Driver::AnswerFirst) && self.dice.one_in(2) {
            // The frame is torn, or whole and nobody is notified.
            if self.dice.one_in(2) {
                self.journal.pop();
            }
            return self.crash();
        }
        self.master = Some(master);
        self.watch_new();
        self.note_held(&effects);
        // In the middle of a crash some effects leave and some do not.
        let leave = if crashes { self.dice.below(effects.len() as u64 + 1) as usize } else { effects.len() };
        for effect in &effects[..leave] {
            self.leave(effect);
        }
        if crashes {
            if self.driver == Some(Driver::AnswerFirst) {
                self.journal.pop();
            }
            self.journal.truncate(self.journal.len().min(self.synced));
            self.crash();
        }
        if !is_snapshot {
            self.compact();
        }
        true
    }

    /// The onlooker sees every batch once, when it is on disk.
    fn watch_new(&mut self) {
        if self.watched > self.journal.len() {
            return self.fail("a batch that left the master is not in its journal".to_owned());
        }
        while self.watched < self.journal.len() {
            let effects = std::mem::take(&mut self.journal[self.watched].effects);
            let state = self.master.as_ref().expect("only a running master is watched").tracker.state();
            let last = self.watched + 1 == self.journal.len();
            // Of batches before the last one the state is not known any more.
            let needs = |job| {
                last && state.job(job).is_some_and(|job| {
                    let reduces_are_done = job.tasks[1].is_empty() || job.tasks[1].all_done();
                    job.state() == JobState::Running && job.ending().is_none() && !reduces_are_done
                })
            };
            let seen = self.watch.see(&effects, needs);
            self.journal[self.watched].effects = effects;
            self.watched += 1;
            self.check(seen);
        }
        let max = |job: JobId, kind| {
            let conf = &self.plan.jobs[job.0 as usize - 1].conf;
            [conf.max_map_attempts, conf.max_reduce_attempts][kind]
        };
        if let Some(task) = self.watch.tried_too_often(max) {
            self.fail(format!("{task:?} is tried after it failed as often as it may"));
        }
    }

    fn leave(&mut self, effect: &Effect) {
        let Some(master) = &mut self.master else { return };
        master.note(effect);
        match *effect {
            Effect::Answer { worker, response_id, interval_ms } => {
                let directives = master.directives.remove(&worker).unwrap_or_default();
                if let Some(call) = master.waiting.remove(&worker) {
                    let interval = Span::from_ms(u64::from(interval_ms));
                    self.answer(call, TrackerInput::Answer { seq: call.seq, response_id, interval, directives });
                }
            }
            Effect::CommitJob { job } => self.begin_promotion(job),
            Effect::AbortJob { job } => self.private.retain(|attempt| attempt.job != job),
            Effect::JobState { job, state } if state.is_final() => {
                self.announced.insert(job, state);
                let its = |task: &TaskId| task.job == job;
                if state != JobState::Succeeded
                    && let Some(left) = self.promoted.keys().find(|task| its(task)).copied()
                {
                    self.fail(format!("{job:?} is {state:?}, and the output of {left:?} is in its place"));
                    return;
                }
                // Its reader takes the output and clears it away.
                let taken = self.promoted.iter().filter(|(task, _)| its(task)).map(|(&task, &winner)| (task, winner));
                self.taken.extend(taken.collect::<Vec<_>>());
                self.promoted.retain(|task, _| !its(task));
            }
            _ => {}
        }
    }

    fn begin_promotion(&mut self, job: JobId) {
        let commits = self.plan.jobs[job.0 as usize - 1].conf.commits_output;
        let last_stage = usize::from(self.plan.jobs[job.0 as usize - 1].n_reduces > 0);
        let mut winners: Vec<AttemptId> = self
            .watch
            .winner
            .values()
            .filter(|id| id.job == job && id.kind as usize == last_stage && commits)
            .copied()
            .collect();
        if self.driver == Some(Driver::PromoteAny) && self.starts > 1 {
            winners = self.private.iter().filter(|id| id.job == job).copied().collect();
        }
        self.lose_a_part(&winners);
        let Some(master) = &mut self.master else { return };
        master.promoting.insert(job, winners);
        self.later(Span::from_ms(5), Event::Promote { start: self.starts, job });
    }

    /// The file system forgets what a winner wrote.
    fn lose_a_part(&mut self, winners: &[AttemptId]) {
        let untouched: Vec<&AttemptId> = winners.iter().filter(|winner| self.private.contains(winner)).collect();
        let may_lose = self.driver.is_none_or(|fault| fault == Driver::LeaveMoved);
        // One of which nothing is in place yet, or one that was interrupted.
        let often = if untouched.len() < winners.len() { 2 } else { 6 };
        if self.faults && may_lose && !untouched.is_empty() && self.part_dice.one_in(often) {
            let lost = self.part_dice.below(untouched.len() as u64) as usize;
            self.private.remove(untouched[lost]);
            self.lost_parts += 1;
        }
    }

    /// What was moved before an interruption goes with the parts that are gone, and the tasks of all run again.
    fn withdraw(&mut self, gone: &mut Vec<AttemptId>) {
        let moved = self.promoted.iter().filter(|(task, _)| gone.iter().any(|part| part.job == task.job));
        let moved: Vec<(TaskId, AttemptId)> = moved.map(|(&task, &winner)| (task, winner)).collect();
        for (task, winner) in moved {
            self.promoted.remove(&task);
            self.withdrawn += 1;
            gone.push(winner);
        }
    }

    /// The winners of which nothing is there, before the first of them is moved.
    fn gone(&self, job: JobId) -> Vec<AttemptId> {
        let winners = self.master.as_ref().and_then(|master| master.promoting.get(&job)).into_iter().flatten();
        let is_there =
            |winner: &AttemptId| self.private.contains(winner) || self.promoted.get(&winner.task()) == Some(winner);
        winners.filter(|winner| !is_there(winner)).copied().collect()
    }

    /// One more file is moved, or the master learns that all are.
    pub(super) fn promote(&mut self, start: u32, job: JobId) {
        if start != self.starts || self.master.is_none() {
            return;
        }
        let mut gone = self.gone(job);
        if !gone.is_empty() && self.driver.is_none() {
            self.withdraw(&mut gone);
        }
        let Some(master) = &mut self.master else { return };
        if !gone.is_empty() && self.driver.is_none_or(|fault| fault == Driver::LeaveMoved) {
            master.promoting.remove(&job);
            self.master(vec![Input::OutputGone { job, attempts: gone.into() }]);
            return;
        }
        let Some(winner) = master.promoting.get_mut(&job).and_then(Vec::pop) else {
            master.promoting.remove(&job);
            self.master(vec![Input::JobCommitted { job, ok: true }]);
            return;
        };
        let moved = self.promoted.get(&winner.task()).copied();
        if self.private.remove(&winner) {
            if let Some(other) = moved {
                self.fail(format!("{winner:?} is promoted over the output of {other:?}"));
            }
            self.promoted.insert(winner.task(), winner);
        } else if moved != Some(winner) {
            self.fail(format!("{winner:?} won and has no output"));
        }
        // The master may be killed between any two renames.
        if self.faults && self.dice.one_in(self.plan.master_crashes) {
            self.crash();
            return;
        }
        self.later(Span::from_ms(5), Event::Promote { start, job });
    }

    /// The master's process is gone; what its system had not written may be, too.
    pub(super) fn crash(&mut self) -> bool {
        self.master = None;
        self.journal.truncate(self.journal.len().min(self.synced));
        self.synced = self.synced.min(self.journal.len());
        self.lose_unsynced_snapshot();
        self.crashes += 1;
        let away = Span::from_ms(200 + self.dice.below(self.dice.clone().below(60_000) + 1));
        self.later(away, Event::StartMaster);
        // Calls that wait for an answer break.
        for node in 0..self.nodes.len() {
            self.break_call(node);
        }
        false
    }

    /// A master starts on what the journal holds.
    pub(super) fn start_master(&mut self) {
        let kept = self.snapshots.last();
        let from = kept.map_or(0, |kept| kept.at);
        let mut master = match core_after(kept, &self.plan, self.plan.scheduler()) {
            Ok(tracker) => Master::new(tracker),
            Err(why) => return self.fail(why),
        };
        master.newest = kept.map_or_else(BTreeMap::new, |kept| kept.newest.clone());
        master.directives = kept.map_or_else(BTreeMap::new, |kept| kept.directives.clone());
        let mut committing = kept.map_or_else(BTreeSet::new, |kept| kept.committing.clone());
        let mut over = BTreeSet::new();
        for entry in &self.journal[from..] {
            let mut effects = Vec::new();
            master.tracker.apply(entry.at, &entry.inputs, &mut effects);
            if effects != entry.effects {
                return self.fail("a new start decides other than is recorded".to_owned());
            }
            for effect in &effects {
                master.note(effect);
                match *effect {
                    Effect::Answer { worker, .. } => drop(master.directives.remove(&worker)),
                    Effect::JobState { job, state: JobState::Committing } => drop(committing.insert(job)),
                    // A part of it was gone.
                    Effect::JobState { job, state: JobState::Running } => drop(committing.remove(&job)),
                    Effect::JobState { job, state } if state.is_final() => {
                        if committing.remove(&job) && state == JobState::Succeeded {
                            over.insert(job);
                        }
                        // Failed output is cleared away again, if that was not done.
                        if state != JobState::Succeeded {
                            self.private.retain(|attempt| attempt.job != job);
                        }
                    }
                    _ => {}
                }
            }
        }
        for (worker, incarnation, seq) in self.journal[from..].iter().filter_map(|entry| entry.report) {
            let newest = master.newest.entry((worker, incarnation)).or_default();
            *newest = seq.max(*newest);
        }
        self.check(self.whole_journal_leads_to(&master.tracker));
        self.check(self.nothing_held_is_forgotten(&master.tracker));
        self.check(self.another_policy_leaves_what_was_decided(&master.tracker));
        self.starts += 1;
        self.master = Some(master);
        self.watch_new();
        self.check(self.nothing_acknowledged_is_forgotten());
        self.check(self.no_change_is_forgotten());
        self.recovered_at = (self.starts > 1).then_some(self.now);
        if self.starts > 1 && self.driver != Some(Driver::NoRecovered) && !self.master(vec![Input::Recovered]) {
            return;
        }
        if self.driver == Some(Driver::PromoteTwice) {
            committing.append(&mut over);
        }
        if self.driver != Some(Driver::ForgetPromotion) {
            for job in committing {
                self.begin_promotion(job);
            }
        }
    }

    /// A start under another policy that applies what is recorded does what is recorded.
    fn another_policy_leaves_what_was_decided(&self, decided: &JobTracker) -> Result<(), String> {
        let kept = self.snapshots.last();
        let mut tracker = core_after(kept, &self.plan, self.plan.another_scheduler())?;
        for entry in &self.journal[kept.map_or(0, |kept| kept.at)..] {
            let mut effects = Vec::new();
            let recorded = Recorded::of(&entry.effects, &entry.preempted, &entry.reserved);
            tracker.apply_recorded(entry.at, &entry.inputs, recorded, &mut effects);
            if effects != entry.effects {
                return Err(format!("at {:?} another policy changed what was decided", entry.at));
            }
        }
        let kept = |tracker: &JobTracker| -> Vec<[Option<JobId>; 2]> {
            tracker.state().workers().iter().map(|worker| worker.reserved).collect()
        };
        if kept(&tracker) != kept(decided) {
            return Err("another policy changed what is reserved for whom".to_owned());
        }
        tracker.check_invariants()
    }

    fn nothing_acknowledged_is_forgotten(&self) -> Result<(), String> {
        let Some(master) = &self.master else { return Ok(()) };
        let state = master.tracker.state();
        for job in &self.submitted {
            if job.0 > state.last_job() {
                return Err(format!("{job:?} was acknowledged and is forgotten"));
            }
        }
        for (&job, &end) in &self.announced {
            if state.ended_job(job).map(|summary| summary.state) != Some(end) {
                return Err(format!("{job:?} was told to be {end:?} and is not"));
            }
        }
        for &job in &self.killed {
            if state.job(job).is_some_and(|job| job.ending().is_none()) {
                return Err(format!("the kill of {job:?} was acknowledged and is forgotten"));
            }
        }
        Ok(())
    }

    /// No worker is lost for silence sooner after a restart than it would be after its last word.
    pub(super) fn check_grace(&mut self) {
        let Some(at) = self.recovered_at else { return };
        if self.now.since(at) >= Span::from_ms(self.plan.config.expiry_ms) {
            self.recovered_at = None;
            return;
        }
        let Some(entry) = self.journal.last() else { return };
        let is_tick = entry.inputs.iter().all(|input| matches!(input, Input::Tick));
        let is_loss = |effect: &Effect| matches!(effect, Effect::WorkerState { state: WorkerState::Lost, .. });
        if is_tick && entry.at >= at && entry.effects.iter().any(is_loss) {
            self.fail("a worker is lost for silence while the master was away".to_owned());
        }
    }
}

/// What runs of a job that is to end has been told to stop.
fn stopping_jobs_stop(tracker: &JobTracker) -> Result<(), String> {
    let state = tracker.state();
    let forgotten = state.attempts().iter().map(|(_, attempt)| attempt).find(|attempt| {
        let ending = state
            .job(attempt.id().job)
            .is_some_and(|job| job.ending().is_some() && job.state() != JobState::Committing);
        ending && !attempt.detached() && attempt.kill.is_none()
    });
    forgotten.map_or(Ok(()), |attempt| Err(format!("{:?} runs on although its job is to end", attempt.id())))
}

/// A report of an earlier run of a worker is refused.
fn zombies_are_refused(tracker: &JobTracker, inputs: &[Input], effects: &[Effect]) -> Result<(), String> {
    let is_zombie = |report: &Report| {
        let worker = tracker.state().worker(report.worker);
        worker.is_some_and(|worker| worker.state() != WorkerState::Lost && report.incarnation < worker.incarnation())
    };
    for input in inputs {
        if let Input::Report(report) = input
            && is_zombie(report)
            && !effects
                .iter()
                .any(|effect| matches!(effect, Effect::Rejected { worker, .. } if *worker == Some(report.worker)))
        {
            return Err(format!("a report of an earlier run of worker {} counts", report.worker.0));
        }
    }
    Ok(())
}
