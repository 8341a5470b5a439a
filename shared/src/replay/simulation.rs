//! The event loop: one instant after another, each handed to the core as a whole.
//!
//! At an instant, the attempts that end then are told to the core (in order of launch), then jobs arrive and are
//! promoted, then workers have their turns; what the core launches is given its end, from the template. A reduce
//! that was launched before its job's last map had finished is a *filler*: it gets its end when the maps are done.
//! **Invariant: the same trace and options give the same instants, inputs and decisions on every machine.**

mod faults;
mod work;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use self::faults::Order;
use super::beats::Beats;
use super::digest::DecisionDigest;
use super::ends::Ends;
use super::error::ReplayError;
use super::fates::Fates;
use super::job::{Filler, Reducing, SimJob, spec};
use super::options::{ReplayOptions, ShuffleModel};
use super::report::{Observer, ReplayReport};
use super::setup::{Arrival, Setup};
use super::sharing::Sharing;
use super::watch::Watch;
use super::workers::Machines;
use crate::job::profile::Trace;
use crate::job::{AttemptId, AttemptState, JobId, JobState, Locality, TaskKind, WorkerId};
use crate::schedulers::{self, Scheduler};
use crate::time::{Span, Time};
use crate::tracker::{Effect, Finished, Heard, Input, JobTracker};

/// A replay that only asks for work is over after so many steps in vain, if they also took so long.
const QUIET_STEPS: u32 = 10_000;
const QUIET_TIME: Span = Span::from_secs(3_600);

/// A replay under way.
pub struct Simulation<'t> {
    trace: &'t Trace,
    slowstart_ppm: Option<u32>,
    shuffle: ShuffleModel,
    tracker: JobTracker,
    now: Time,
    /// By time; those from `n_arrived` on are still to come.
    arrivals: Vec<Arrival>,
    n_arrived: usize,
    /// When the next of all things happens that are not ends of attempts, as `next_time` found it.
    next_rare: Time,
    /// When the next job comes; [`Time::MAX`] after the last.
    next_arrival: Time,
    ends: Ends,
    commits: BinaryHeap<Reverse<(Time, JobId)>>,
    /// When the next job is promoted; [`Time::MAX`] without one.
    next_commit: Time,
    /// The instant at which another policy took over, until it was asked; else [`Time::MAX`].
    took_over: Time,
    beats: Beats,
    machines: Machines,
    /// Where attempts work, if they slow each other down or their progress is told.
    sharing: Sharing,
    fates: Fates,
    /// Workers that stopped at this instant.
    stopped: Vec<WorkerId>,
    /// Whether any attempt was ever ordered to stop.
    ordered: bool,
    /// Orders to stop attempts that wait for their workers' next words.
    orders: Vec<Order>,
    /// By number of job, less 1.
    jobs: Vec<SimJob<'t>>,
    /// Steps without effects since the last one with effects, and when that was.
    quiet: (u32, Time),
    /// Attempts launched so far.
    launches: u64,
    tasks_done: u64,
    tasks_in_all: u64,
    report: ReplayReport,
    digest: DecisionDigest,
    watch: Option<Watch<'t>>,
    finished: Vec<Finished>,
    heard: Vec<Heard>,
    inputs: Vec<Input>,
    effects: Vec<Effect>,
}

impl<'t> Simulation<'t> {
    /// Makes the cluster and its policy, and plans the arrivals.
    ///
    /// # Errors
    /// Names the option or job that does not fit, and what was expected.
    pub fn new(trace: &'t Trace, options: &ReplayOptions) -> Result<Simulation<'t>, ReplayError> {
        let scheduler = schedulers::by_name(&options.scheduler, &options.scheduler_params)?;
        Simulation::with_scheduler(trace, options, scheduler)
    }

    /// As [`Simulation::new`], under a policy of the caller's: the core can neither read files nor start programs,
    /// and a policy under test need not be registered. The options' own scheduler is not looked at.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn with_scheduler(
        trace: &'t Trace,
        options: &ReplayOptions,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Simulation<'t>, ReplayError> {
        let Setup { tracker, arrivals, beats, machines, sharing, slots } = Setup::new(trace, options, scheduler)?;
        let tasks = |job: &Arrival| {
            let template = &trace.jobs[job.template as usize];
            u64::from(template.n_maps) + u64::from(template.n_reduces)
        };
        Ok(Simulation {
            trace,
            slowstart_ppm: options.slowstart_ppm,
            shuffle: options.shuffle,
            tracker,
            now: Time::ZERO,
            tasks_in_all: arrivals.iter().map(tasks).sum(),
            jobs: Vec::with_capacity(arrivals.len()),
            next_rare: Time::ZERO,
            next_arrival: arrivals.first().map_or(Time::MAX, |arrival| arrival.at),
            arrivals,
            n_arrived: 0,
            ends: Ends::default(),
            commits: BinaryHeap::new(),
            next_commit: Time::MAX,
            took_over: Time::MAX,
            beats,
            machines,
            sharing,
            fates: Fates::new(&options.faults, &trace.jobs, options.seed),
            stopped: Vec::new(),
            ordered: false,
            orders: Vec::new(),
            quiet: (0, Time::ZERO),
            launches: 0,
            tasks_done: 0,
            report: ReplayReport { slots, ..ReplayReport::default() },
            digest: DecisionDigest::default(),
            watch: None,
            finished: Vec::new(),
            heard: Vec::new(),
            inputs: Vec::new(),
            effects: Vec::new(),
        })
    }

    /// Tells `observer` of every attempt and job that is over from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer + 't>) {
        self.watch = Some(Watch::new(observer));
    }

    /// The instant of the last step.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The master, for its state, its policy and its explanations.
    pub fn tracker(&self) -> &JobTracker {
        &self.tracker
    }

    /// Puts another policy in charge from the next instant on; what runs goes on. If it is the first one that may
    /// speculate, it hears of attempts that run already by the share of their time that has passed.
    pub fn switch_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        let reports = scheduler.may_speculate() && !self.sharing.is_empty();
        self.beats.set_policy(scheduler.limits_rounds(), reports, self.now);
        if reports {
            let state = self.tracker.state();
            let planned = self.ends.iter().filter_map(|(at, end)| {
                let slot = state.find_on(end.worker, end.attempt)?;
                Some((end.attempt, (state.attempts.at(slot).started(), at)))
            });
            self.sharing.activate(planned);
        }
        self.tracker.switch_scheduler(scheduler);
        // The old policy may have let everything wait for a deadline of its own, which is gone with it.
        self.took_over = self.now;
    }

    /// Tasks that are done, and tasks in all.
    pub fn progress(&self) -> (u64, u64) {
        (self.tasks_done, self.tasks_in_all)
    }

    /// When the next step happens; `None` when all jobs are over or nothing can move those that are not.
    ///
    /// A replay whose jobs cannot go on (no worker is left, or the policy gives a job nothing) ends when only
    /// heartbeats and the policy's own deadlines are left and nothing has come of them for an hour.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        let fixed = self.next_arrival.min(self.next_commit).min(self.machines.losses.next_time()).min(self.took_over);
        let asking = self.beats.next_time(self.tracker.state()).min(self.tracker.next_deadline().unwrap_or(Time::MAX));
        let working = self.sharing.next_time();
        self.next_rare = fixed.min(asking).min(working);
        let next = self.ends.next_time().min(self.next_rare);
        let over = self.next_arrival == Time::MAX && self.tracker.state().n_jobs() == 0;
        if next == Time::MAX || over {
            return None;
        }
        let (steps, since) = self.quiet;
        if steps >= QUIET_STEPS && self.now.since(since) >= QUIET_TIME {
            let only_asking = fixed.min(working) == Time::MAX && self.ends.next_time() == Time::MAX;
            if only_asking {
                return None;
            }
        }
        Some(next.max(self.now))
    }

    /// Lets one instant happen. False when nothing is left to happen: then either all jobs are over, or the report
    /// shows those that cannot go on in the state in which they are stuck, and [`JobTracker::explain`] says why.
    pub fn step(&mut self) -> bool {
        let Some(now) = self.next_time() else { return false };
        self.now = now;
        let shares = self.sharing.is_active();
        if shares && self.next_rare <= now {
            self.work();
        }
        self.ends.take_at(now, |end| self.finished.push(end));
        if shares {
            self.stop_finished();
        }
        if self.ordered {
            // What was stopped leaves its own end behind, of which nobody speaks.
            let state = self.tracker.state();
            self.finished.retain(|end| state.find_on(end.worker, end.attempt).is_some());
        }
        for end in &self.finished {
            self.beats.turn(end.worker);
        }
        if self.next_rare <= now {
            self.gather_inputs();
        }
        loop {
            let woken = if self.beats.reports() {
                self.advance_with_reports()
            } else {
                let turns = self.beats.turns_at(now, self.tracker.state());
                self.tracker.advance(now, &self.finished, &self.inputs, turns, &mut self.effects)
            };
            self.finished.clear();
            self.inputs.clear();
            self.quiet =
                if self.effects.is_empty() { (self.quiet.0.saturating_add(1), self.quiet.1) } else { (0, now) };
            self.follow();
            if !self.stopped.is_empty() {
                self.take_outputs();
            }
            if !self.orders.is_empty() {
                self.hand_out_orders();
            }
            if !self.beats.after_turns(now, woken, self.tracker.state()) {
                return true;
            }
        }
    }

    /// An independent copy, not observed, that goes on from here as this one does.
    pub fn fork(&self) -> Simulation<'t> {
        Simulation {
            trace: self.trace,
            slowstart_ppm: self.slowstart_ppm,
            shuffle: self.shuffle,
            tracker: self.tracker.fork(),
            now: self.now,
            arrivals: self.arrivals.clone(),
            n_arrived: self.n_arrived,
            next_rare: self.next_rare,
            next_arrival: self.next_arrival,
            ends: self.ends.clone(),
            commits: self.commits.clone(),
            next_commit: self.next_commit,
            took_over: self.took_over,
            beats: self.beats.clone(),
            machines: self.machines.clone(),
            sharing: self.sharing.clone(),
            fates: self.fates.clone(),
            stopped: Vec::new(),
            ordered: self.ordered,
            orders: self.orders.clone(),
            jobs: self.jobs.clone(),
            quiet: self.quiet,
            launches: self.launches,
            tasks_done: self.tasks_done,
            tasks_in_all: self.tasks_in_all,
            report: self.report.clone(),
            digest: self.digest.clone(),
            watch: None,
            finished: Vec::new(),
            heard: Vec::new(),
            inputs: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// What happened so far; jobs that are not over have their present state and instant.
    pub fn report(&self) -> ReplayReport {
        let mut report = self.report.clone();
        report.jobs = self.jobs.iter().map(|job| job.outcome).collect();
        for job in report.jobs.iter_mut().filter(|job| !job.state.is_final()) {
            job.finish = self.now;
        }
        let first = report.jobs.iter().map(|job| job.submit).min().unwrap_or_default();
        let last = report.jobs.iter().map(|job| job.finish).max().unwrap_or_default();
        report.makespan = last.since(first);
        report.events = 2 * self.launches + 3 * self.jobs.len() as u64;
        report.decisions_digest = self.digest.hex();
        report.costs = *self.tracker.state().costs();
        report.speculative_won = report.costs.won.into();
        report
    }

    /// Arrivals, promotions, comings and goings of workers, and the policy's deadline, if they are due.
    #[inline(never)]
    fn gather_inputs(&mut self) {
        self.took_over = Time::MAX;
        self.change_workers();
        while self.next_commit <= self.now {
            let Some(Reverse((_, job))) = self.commits.pop() else { break };
            self.next_commit = self.commits.peek().map_or(Time::MAX, |next| next.0.0);
            self.inputs.push(Input::JobCommitted { job, ok: true });
        }
        while self.next_arrival <= self.now {
            let Some(&Arrival { at, template: index, deadline }) = self.arrivals.get(self.n_arrived) else { break };
            self.n_arrived += 1;
            self.next_arrival = self.arrivals.get(self.n_arrived).map_or(Time::MAX, |next| next.at);
            let id = JobId(self.n_arrived as u32);
            let template = &self.trace.jobs[index as usize];
            self.jobs.push(SimJob::new(template, index, id, at, deadline));
            let spec = Arc::new(spec(template, self.slowstart_ppm, deadline));
            self.inputs.push(Input::Submit { job: id, spec });
        }
        if self.tracker.next_deadline().is_some_and(|due| due <= self.now) {
            self.inputs.push(Input::Tick);
        }
    }

    /// Does what the core asks for.
    fn follow(&mut self) {
        for index in 0..self.effects.len() {
            match self.effects[index] {
                Effect::Launch { worker, attempt, locality, speculative } => {
                    self.on_launch(worker, attempt, locality, speculative);
                }
                Effect::AttemptEnded { attempt, state, cause, started, .. } => {
                    if let Some(watch) = &mut self.watch {
                        watch.ended(attempt, self.now, state, cause);
                    }
                    self.on_ended(attempt, state, started);
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

    #[inline(always)]
    fn on_launch(&mut self, worker: WorkerId, attempt: AttemptId, locality: Locality, speculative: bool) {
        self.digest.launch(self.now, worker, attempt, locality, speculative);
        let launch = self.launches;
        self.launches += 1;
        self.beats.launched(worker);
        self.report.speculative += u64::from(speculative);
        if let Some(watch) = &mut self.watch {
            watch.launched(attempt, worker, self.now, locality, speculative);
        }
        if self.sharing.is_active() {
            return self.launch_sharing(Filler { attempt, worker, launch }, locality);
        }
        let job = &mut self.jobs[attempt.job.0 as usize - 1];
        let template = job.outcome.template;
        if let Some((state, after)) = self.fates.scripted(template, attempt) {
            self.plan_at(worker, launch, after, Finished { attempt, worker, state });
            return;
        }
        match attempt.kind {
            TaskKind::Map => {
                let work = self.machines.at_distance(job.map(attempt.index), locality);
                self.plan_end(worker, attempt, launch, template, work);
            }
            TaskKind::Reduce if job.maps_left > 0 => job.fillers.push(Filler { attempt, worker, launch }),
            TaskKind::Reduce => {
                let (shuffle, reduce) = (job.typical_shuffle(attempt.index), job.reduce(attempt.index));
                self.plan_reduce(Filler { attempt, worker, launch }, shuffle, reduce, false);
            }
        }
    }

    /// Plans the end of a reduce whose maps are done; whether it waited for them.
    #[inline(never)]
    fn plan_reduce(&mut self, launched: Filler, shuffle: Span, reduce: Span, waited: bool) {
        let Filler { attempt, worker, launch } = launched;
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
        self.plan_end(worker, attempt, launch, template, shuffle + reduce);
    }

    /// Plans the end of an attempt that has so much work left from now on.
    #[inline(always)]
    fn plan_end(&mut self, worker: WorkerId, attempt: AttemptId, launch: u64, template: u32, work: Span) {
        let (state, work) = self.fates.drawn(template, attempt, work);
        self.plan_at(worker, launch, work, Finished { attempt, worker, state });
    }

    /// Plans an end that comes after so much work, unless its worker is down.
    #[inline(always)]
    fn plan_at(&mut self, worker: WorkerId, launch: u64, work: Span, end: Finished) {
        if !self.machines.losses.is_down(worker) {
            let at = self.machines.end_of(worker, self.now, work);
            self.ends.plan(self.beats.told(worker, at), launch, end);
        }
    }

    #[inline]
    fn on_ended(&mut self, id: AttemptId, state: AttemptState, started: Time) {
        let slots = self.jobs[id.job.0 as usize - 1].slots[id.kind as usize];
        let held = self.now.since(started).as_us() * u64::from(slots);
        self.report.busy_us[id.kind as usize] += held;
        if id.kind == TaskKind::Reduce && self.machines.losses.any() {
            self.jobs[id.job.0 as usize - 1].reducing.retain(|reduce| reduce.attempt.attempt != id);
        }
        if state == AttemptState::Succeeded {
            self.tasks_done += 1;
            if id.kind == TaskKind::Map {
                self.map_done(id.job);
            }
            return;
        }
        self.report.wasted_us[id.kind as usize] += held;
        let job = &mut self.jobs[id.job.0 as usize - 1];
        match state {
            AttemptState::Failed => job.outcome.failed_attempts += 1,
            _ => job.outcome.killed_attempts += 1,
        }
        job.fillers.retain(|filler| filler.attempt != id);
    }

    /// A map's output is there, or will never be: the last one starts the shuffle of the reduces that wait.
    fn map_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.maps_left -= 1;
        if job.maps_left > 0 {
            return;
        }
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
            self.ends.plan(at, order, Finished { attempt, worker, state: AttemptState::Killed });
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
