//! What comes of what the core says: each launch is given its end, each end is counted, orders go to workers, jobs move on.

use std::cmp::Reverse;

use super::super::job::{Filler, Reducing};
use super::super::options::ShuffleModel;
use super::Simulation;
use super::faults::Order;
use crate::job::{AttemptId, AttemptState, JobId, JobState, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{Effect, EndCause, Ended, Finished, Launched};

impl Simulation<'_> {
    /// Does what the core asks for.
    #[inline(never)]
    pub(super) fn follow(&mut self) {
        self.quiet = (0, self.now);
        for index in 0..self.effects.len() {
            match self.effects[index] {
                Effect::Launch { worker, attempt, locality, speculative } => {
                    if let Some(reference) = self.tracker.state().reference(worker, attempt) {
                        self.on_launch(worker, Launched { attempt, reference, locality, speculative });
                    }
                }
                Effect::AttemptEnded { attempt, worker, state: AttemptState::Succeeded, started, .. } => {
                    self.on_success(Ended { attempt, worker, started });
                }
                Effect::AttemptEnded { attempt, state, cause, started, .. } => {
                    self.on_ended(attempt, state, cause, started);
                }
                Effect::Kill { worker, attempt, cause } => {
                    if let Some(watch) = &mut self.watch {
                        watch.observer.stopped(self.now, attempt, worker, cause);
                    }
                    self.on_kill(worker, attempt);
                }
                Effect::JobState { job, state } => self.on_job_state(job, state),
                Effect::CommitJob { job } => {
                    let at = self.now + self.jobs[job.0 as usize - 1].commit;
                    self.commits.push(Reverse((at, job)));
                    self.next_commit = self.next_commit.min(at);
                    self.next_fixed = self.next_fixed.min(at);
                }
                Effect::TaskFailed { task } if task.kind == TaskKind::Map && self.does_without(task.job) => {
                    self.map_done(task.job);
                }
                Effect::MapOutputLost { attempt, .. } => {
                    self.on_output_lost(attempt.job.0 as usize - 1, attempt.index);
                }
                Effect::WorkerState { worker, .. } => self.beats.change(worker),
                _ => {}
            }
        }
        self.effects.clear();
    }

    /// An attempt was started: its end is planned, unless it has to wait for maps.
    #[inline(always)]
    pub(super) fn on_launch(&mut self, worker: WorkerId, launched: Launched) {
        let Launched { attempt, reference, locality, speculative } = launched;
        self.digest.launch(self.now, worker, attempt, locality, speculative);
        let launch = self.launches;
        self.launches += 1;
        self.beats.launched(worker);
        if let Some(watch) = &mut self.watch {
            watch.launched(attempt, worker, self.now, locality, speculative);
        }
        if self.sharing.is_active() {
            return self.launch_sharing(Filler { attempt, reference, worker, launch }, locality);
        }
        let job = &mut self.jobs[attempt.job.0 as usize - 1];
        let template = job.outcome.template;
        if let Some((state, after)) = self.fates.scripted(template, attempt) {
            self.plan_at(worker, launch, after, Finished { attempt: reference, state });
            return;
        }
        match attempt.kind {
            TaskKind::Map => {
                let work = self.machines.at_distance(job.map(attempt.index), locality);
                self.plan_end(Filler { attempt, reference, worker, launch }, template, work);
            }
            TaskKind::Reduce if job.maps_left > 0 => job.fillers.push(Filler { attempt, reference, worker, launch }),
            TaskKind::Reduce => {
                let (shuffle, reduce) = (job.typical_shuffle(attempt.index), job.reduce(attempt.index));
                self.plan_reduce(Filler { attempt, reference, worker, launch }, shuffle, reduce, false);
            }
        }
    }

    /// Plans the end of a reduce whose maps are done; whether it waited for them.
    #[inline(never)]
    pub(super) fn plan_reduce(&mut self, launched: Filler, shuffle: Span, reduce: Span, waited: bool) {
        let Filler { attempt, worker, .. } = launched;
        let shuffle = match self.shuffle {
            ShuffleModel::SimMr => shuffle,
            ShuffleModel::Mumak => Span::ZERO,
        };
        let shares = self.sharing.is_active() && shuffle > Span::ZERO;
        // Where machines are shared only time will tell.
        let after = |work| if shares { Time::MAX } else { self.machines.end_of(worker, self.now, work) };
        if let Some(watch) = &mut self.watch {
            watch.shuffles(attempt, self.now, after(shuffle));
        }
        let template = self.jobs[attempt.job.0 as usize - 1].outcome.template;
        if self.machines.losses.any() {
            // One that fails before needs no map from then on, told or not.
            let (_, end) = self.fates.drawn(template, attempt, shuffle + reduce);
            let reduce = Reducing { attempt: launched, sorted: after(shuffle.min(end)) };
            self.jobs[attempt.job.0 as usize - 1].reducing.push(reduce);
        }
        if self.sharing.is_active() {
            return self.begin_reduce(launched, shuffle, reduce, waited);
        }
        self.plan_end(launched, template, shuffle + reduce);
    }

    /// Plans the end of an attempt that has so much work left from now on.
    #[inline(always)]
    fn plan_end(&mut self, launched: Filler, template: u32, work: Span) {
        let (state, work) = self.fates.drawn(template, launched.attempt, work);
        self.plan_at(launched.worker, launched.launch, work, Finished { attempt: launched.reference, state });
    }

    /// Plans an end that comes after so much work, unless its worker is down.
    #[inline(always)]
    fn plan_at(&mut self, worker: WorkerId, launch: u64, work: Span, end: Finished) {
        if !self.machines.losses.is_down(worker) {
            let at = self.machines.end_of(worker, self.now, work);
            self.ends.plan(self.beats.told(worker, at), launch, end);
        }
    }

    /// An attempt succeeded.
    #[inline(always)]
    pub(super) fn on_success(&mut self, ended: Ended) {
        let Ended { attempt: id, started, .. } = ended;
        if let Some(watch) = &mut self.watch {
            watch.ended(id, self.now, AttemptState::Succeeded, EndCause::Reported);
        }
        self.give_back(id, started);
        self.tasks_done += 1;
        if id.kind == TaskKind::Map {
            self.map_done(id.job);
        }
    }

    /// An attempt came to another end.
    #[inline(never)]
    fn on_ended(&mut self, id: AttemptId, state: AttemptState, cause: EndCause, started: Time) {
        if let Some(watch) = &mut self.watch {
            watch.ended(id, self.now, state, cause);
        }
        let held = self.give_back(id, started);
        self.report.wasted_us[id.kind as usize] += held;
        let job = &mut self.jobs[id.job.0 as usize - 1];
        match state {
            AttemptState::Failed => job.outcome.failed_attempts += 1,
            _ => job.outcome.killed_attempts += 1,
        }
        job.fillers.retain(|filler| filler.attempt != id);
    }

    /// An attempt's slots are free again: how long it held them, in microseconds of one slot.
    #[inline(always)]
    fn give_back(&mut self, id: AttemptId, started: Time) -> u64 {
        let slots = self.jobs[id.job.0 as usize - 1].slots[id.kind as usize];
        let held = self.now.since(started).as_us() * u64::from(slots);
        self.report.busy_us[id.kind as usize] += held;
        if id.kind == TaskKind::Reduce && self.machines.losses.any() {
            self.jobs[id.job.0 as usize - 1].reducing.retain(|reduce| reduce.attempt.attempt != id);
        }
        held
    }

    /// A map's output is there, or will never be: the last one starts the shuffle of the reduces that wait.
    #[inline(always)]
    pub(super) fn map_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.maps_left -= 1;
        if job.maps_left == 0 {
            self.all_maps_done(id);
        }
    }

    #[inline(never)]
    fn all_maps_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.outcome.maps_done = Some(self.now);
        for filler in std::mem::take(&mut job.fillers) {
            let (job, index) = (&self.jobs[id.0 as usize - 1], filler.attempt.index);
            let (shuffle, reduce) = (job.first_shuffle(index), job.reduce(index));
            self.plan_reduce(filler, shuffle, reduce, true);
        }
    }

    /// Whether a job goes on although a task is out of attempts.
    fn does_without(&self, job: JobId) -> bool {
        self.tracker.state().job(job).is_some_and(|job| job.ending().is_none())
    }

    /// The worker stops the attempt when the directive reaches it.
    #[inline(never)]
    fn on_kill(&mut self, worker: WorkerId, attempt: AttemptId) {
        self.digest.kill(self.now, worker, attempt);
        self.ordered = true;
        if !self.machines.losses.is_down(worker) {
            if self.sharing.is_active() {
                self.stop_when_reached(worker, attempt);
            }
            let (at, wins) = self.beats.stopped(worker, self.now);
            let order = if wins { 0 } else { self.launches };
            if let Some(attempt) = self.tracker.state().reference(worker, attempt) {
                self.ends.plan(at, order, Finished { attempt, state: AttemptState::Killed });
            }
            if at > self.now && !wins {
                self.orders.push(Order { at, worker, attempt });
            }
        }
    }

    #[inline(never)]
    fn on_job_state(&mut self, id: JobId, state: JobState) {
        let outcome = &mut self.jobs[id.0 as usize - 1].outcome;
        outcome.state = state;
        if state == JobState::Running {
            outcome.start = Some(self.now);
        }
        if state.is_final() {
            outcome.finish = self.now;
            outcome.costs = self.tracker.state().ended_job(id).map(|job| job.costs).unwrap_or_default();
            if let Some(watch) = &mut self.watch {
                watch.observer.job(outcome);
            }
        }
    }
}
