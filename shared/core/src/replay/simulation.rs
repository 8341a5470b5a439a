//! The event loop: one instant after another, each handed to the core as a whole.
//!
//! At an instant, the attempts that end then are told to the core (in order of launch), then jobs arrive and are
//! promoted, then workers have their turns; what the core launches is given its end, from the template. A reduce
//! that was launched before its job's last map had finished is a *filler*: it gets its end when the maps are done.
//! **Invariant: the same trace and options give the same instants, inputs and decisions on every machine.**

mod begin;
mod faults;
mod follow;
mod policy;
mod resume;
mod stage;
mod work;

pub use self::resume::Course;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use self::stage::Stage;
use super::arrivals::Arrival;
use super::attributes::{AttributeSteps, Attributes};
use super::followers::Followers;
use super::job::{SimJob, in_view, spec};
use super::jobs::SimJobs;
use super::report::{Observer, ReplayReport};
use super::watch::Watch;
use crate::cluster::Job;
use crate::job::profile::Trace;
use crate::job::{AttemptId, JobId, JobState, PerKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{AttemptProgress, Effect, Finished, Input, JobTracker};

/// A replay that only asks for work is over after so many steps in vain, if they also took so long.
const QUIET_STEPS: u32 = 10_000;
const QUIET_TIME: Span = Span::from_secs(3_600);

/// An order to stop an attempt, which reaches its worker with its next regular heartbeat unless it speaks earlier.
#[derive(Clone, Copy, Debug)]
struct Order {
    /// That heartbeat, for which the attempt's end is planned.
    at: Time,
    worker: WorkerId,
    attempt: AttemptId,
}

/// A replay under way.
pub struct Simulation<'t> {
    trace: &'t Trace,
    slowstart_ppm: Option<u32>,
    /// Whether jobs come with profiles and sizes, which the policy reads.
    profiled: bool,
    tracker: JobTracker,
    stage: Stage<'t>,
    /// By time; those from `n_arrived` on are still to come.
    arrivals: Vec<Arrival>,
    n_arrived: usize,
    followers: Followers,
    /// What workers will say of themselves.
    attributes: AttributeSteps,
    /// What some say at this instant.
    saying: Vec<(WorkerId, Attributes)>,
    /// Whether there are workers of whom something can be required.
    has_workers: bool,
    /// When the next of all things happens that are not ends of attempts, as `next_time` found it.
    next_rare: Time,
    /// The first of them that moves only with what happens: arrivals, promotions, workers' comings, goings and changes,
    /// another policy's first instant.
    next_fixed: Time,
    /// Whether neither workers nor the policy ever ask, and nothing happens on machines but what was planned.
    nobody_asks: bool,
    /// When the next job comes; [`Time::MAX`] after the last.
    next_arrival: Time,
    commits: BinaryHeap<Reverse<(Time, JobId)>>,
    /// When the next job is promoted; [`Time::MAX`] without one.
    next_commit: Time,
    /// Workers that stopped at this instant.
    stopped: Vec<WorkerId>,
    /// Whether any attempt was ever ordered to stop.
    ordered: bool,
    /// Orders to stop attempts that wait for their workers' next words.
    orders: Vec<Order>,
    /// Steps without effects since the last one with effects, and when that was.
    quiet: (u32, Time),
    tasks_in_all: u64,
    finished: Vec<Finished>,
    reports: Vec<AttemptProgress>,
    inputs: Vec<Input>,
    /// Whether a tick is among this instant's inputs.
    ticks: bool,
    effects: Vec<Effect>,
}

impl<'t> Simulation<'t> {
    /// A simulation in which nothing is to come: whoever makes one adds arrivals, promotions and changes.
    fn idle(trace: &'t Trace, tracker: JobTracker, stage: Stage<'t>) -> Simulation<'t> {
        Simulation {
            trace,
            slowstart_ppm: None,
            profiled: true,
            tracker,
            stage,
            arrivals: Vec::new(),
            n_arrived: 0,
            followers: Followers::default(),
            attributes: AttributeSteps::default(),
            saying: Vec::new(),
            has_workers: true,
            next_rare: Time::ZERO,
            next_fixed: Time::ZERO,
            nobody_asks: false,
            next_arrival: Time::MAX,
            commits: BinaryHeap::new(),
            next_commit: Time::MAX,
            stopped: Vec::new(),
            ordered: false,
            orders: Vec::new(),
            quiet: (0, Time::ZERO),
            tasks_in_all: 0,
            finished: Vec::new(),
            reports: Vec::new(),
            inputs: Vec::new(),
            ticks: false,
            effects: Vec::new(),
        }
    }

    /// Tells `observer` of every attempt and job that is over from now on.
    pub fn observe(&mut self, observer: Box<dyn Observer + 't>) {
        self.stage.watch = Some(Watch::new(observer));
        self.settle();
    }

    /// The instant of the last step.
    pub fn now(&self) -> Time {
        self.stage.now
    }

    /// The master, for its state, its policy and its explanations.
    pub fn tracker(&self) -> &JobTracker {
        &self.tracker
    }

    /// Tasks that are done, and tasks in all.
    pub fn progress(&self) -> (u64, u64) {
        (self.stage.tasks_done, self.tasks_in_all)
    }

    /// When the next step happens; `None` when all jobs are over or nothing can move those that are not.
    ///
    /// A replay whose jobs cannot go on (no worker is left, or the policy gives a job nothing) ends when only
    /// heartbeats and the policy's own deadlines are left and nothing has come of them for an hour.
    #[inline(always)]
    pub fn next_time(&mut self) -> Option<Time> {
        let fixed = self.next_fixed;
        let working = self.stage.sharing.next_time();
        self.next_rare = if self.nobody_asks { fixed } else { self.next_asking().min(fixed).min(working) };
        let next = self.stage.ends.next_time().min(self.next_rare);
        let over = self.next_arrival == Time::MAX && self.tracker.state().n_jobs() == 0;
        if next == Time::MAX || over {
            return None;
        }
        let (steps, since) = self.quiet;
        if steps >= QUIET_STEPS && self.stage.now.since(since) >= QUIET_TIME {
            let only_asking = fixed.min(working) == Time::MAX && self.stage.ends.next_time() == Time::MAX;
            if only_asking {
                return None;
            }
        }
        Some(next.max(self.stage.now))
    }

    /// When a worker asks for work next, or the policy for a tick.
    fn next_asking(&self) -> Time {
        let beat = self.stage.heartbeats.next_time(self.tracker.state());
        beat.min(self.tracker.next_deadline().unwrap_or(Time::MAX))
    }

    /// Lets one instant happen. False when nothing is left to happen: then either all jobs are over, or the report
    /// shows those that cannot go on in the state in which they are stuck, and [`JobTracker::explain`] says why.
    pub fn step(&mut self) -> bool {
        self.instant()
    }

    /// Takes as many steps as there are, but at most `n`. False when nothing is left to happen.
    pub fn run_for(&mut self, n: u32) -> bool {
        (0..n).all(|_| self.instant())
    }

    #[inline(always)]
    fn instant(&mut self) -> bool {
        let Some(now) = self.next_time() else { return false };
        self.stage.now = now;
        let shares = self.stage.sharing.is_active();
        if shares && self.next_rare <= now {
            self.work();
        }
        let mut only = self.stage.ends.take_at(now, &mut self.finished);
        if !self.stage.plain || self.ordered {
            self.finished.extend(only.take());
            self.look_at_finished();
        }
        match only {
            Some(end) => self.stage.heartbeats.turn_of(end, self.tracker.state().attempts()),
            None => self.stage.heartbeats.turns_of(&self.finished, self.tracker.state().attempts()),
        }
        if self.next_rare <= now {
            self.gather_inputs();
        }
        loop {
            let turnover = self.stage.turnover();
            let woken =
                if self.stage.heartbeats.reports() { self.advance_with_reports() } else { self.advance(only.take()) };
            if !self.effects.is_empty() {
                self.follow();
            } else if !self.nobody_asks {
                self.note_quiet(turnover);
            }
            if !self.stopped.is_empty() {
                self.take_outputs();
            }
            if !self.orders.is_empty() {
                self.hand_out_orders();
            }
            if !self.stage.heartbeats.after_turns(now, woken, self.tracker.state()) {
                return true;
            }
        }
    }

    /// Looks at this instant's ends where not all is plain.
    #[inline(never)]
    fn look_at_finished(&mut self) {
        if self.stage.sharing.is_active() {
            self.stop_finished();
        }
        if self.ordered {
            // What was stopped leaves its own end behind, of which nobody speaks.
            let attempts = self.tracker.state().attempts();
            self.finished.retain(|end| attempts.get(end.attempt).is_some());
        }
    }

    /// Counts a step without effects, unless there was a turnover since `before`.
    #[inline(never)]
    fn note_quiet(&mut self, before: u64) {
        if before == self.stage.turnover() {
            self.quiet.0 = self.quiet.0.saturating_add(1);
        } else {
            self.quiet = (0, self.stage.now);
        }
    }

    /// Notifies the core of this instant's ends (the only one, or those that were finished) and inputs and gives its
    /// turns, and does what it answers. Returns the kinds of which new work appeared.
    #[inline(always)]
    fn advance(&mut self, only: Option<Finished>) -> PerKind<bool> {
        let pool = self.stage.heartbeats.pool_turn();
        let turns = match pool {
            Some(_) => 0,
            None => self.stage.heartbeats.turns_at(self.stage.now, self.tracker.state()).len(),
        };
        self.tracker.begin_instant(self.stage.now);
        match only {
            Some(end) => self.tracker.end(end, &mut self.stage),
            None => self.end_finished(),
        }
        if self.next_rare <= self.stage.now {
            self.take_inputs();
        }
        if pool == Some(true) {
            self.tracker.turn(WorkerId(0), &mut self.stage);
        }
        for index in 0..turns {
            let worker = self.stage.heartbeats.turn_at(index);
            self.tracker.turn(worker, &mut self.stage);
        }
        self.tracker.end_instant(&mut self.effects)
    }

    /// Tells the core of several ends.
    #[inline(never)]
    fn end_finished(&mut self) {
        for &end in &self.finished {
            self.tracker.end(end, &mut self.stage);
        }
        self.finished.clear();
    }

    /// An independent copy, not observed, that goes on from here as this one does.
    pub fn fork(&self) -> Simulation<'t> {
        let mut fork = Simulation {
            slowstart_ppm: self.slowstart_ppm,
            profiled: self.profiled,
            arrivals: self.arrivals.clone(),
            n_arrived: self.n_arrived,
            followers: self.followers.clone(),
            attributes: self.attributes.clone(),
            has_workers: self.has_workers,
            next_rare: self.next_rare,
            next_fixed: self.next_fixed,
            next_arrival: self.next_arrival,
            commits: self.commits.clone(),
            next_commit: self.next_commit,
            ordered: self.ordered,
            orders: self.orders.clone(),
            quiet: self.quiet,
            tasks_in_all: self.tasks_in_all,
            ..Simulation::idle(self.trace, self.tracker.fork(), self.stage.fork())
        };
        fork.settle();
        fork
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        while self.instant() {}
    }

    /// Runs until nothing is left to happen up to an instant, this one included.
    pub fn run_until(&mut self, until: Time) {
        while self.next_time().is_some_and(|next| next <= until) && self.instant() {}
    }

    /// What happened so far; jobs that are not over have their present state and instant.
    pub fn report(&self) -> ReplayReport {
        let mut report = self.stage.report.clone();
        let known = self.stage.jobs.iter().filter(|job| !job.is_over_before());
        report.jobs = known.map(|job| job.outcome).collect();
        for job in report.jobs.iter_mut().filter(|job| !job.state.is_final()) {
            job.finish = self.stage.now;
        }
        let first = report.jobs.iter().map(|job| job.submit).min().unwrap_or_default();
        let last = report.jobs.iter().map(|job| job.finish).max().unwrap_or_default();
        report.makespan = last.since(first);
        report.events = 2 * self.stage.launches + 3 * report.jobs.len() as u64;
        report.decisions_digest = self.stage.digest.hex();
        report.costs = *self.tracker.state().costs();
        report
    }

    /// Comings and goings of workers and promotions, if they are due; and whether the policy's deadline is.
    #[inline(never)]
    fn gather_inputs(&mut self) {
        self.change_workers();
        self.change_attributes();
        while self.next_commit <= self.stage.now {
            let Some(Reverse((_, job))) = self.commits.pop() else { break };
            self.next_commit = self.commits.peek().map_or(Time::MAX, |next| next.0.0);
            self.inputs.push(Input::JobCommitted { job, ok: true });
        }
        self.ticks = self.tracker.next_deadline().is_some_and(|due| due <= self.stage.now);
    }

    /// The next input of this instant after those that were gathered: arrivals, then the tick. Each is made when it is
    /// its turn: of ten thousand jobs that come at once, the first would have left the processor's cache by then.
    fn next_input(&mut self) -> Option<Input> {
        let due = self.next_arrival <= self.stage.now;
        if due && let Some(&Arrival { at, template: index, deadline }) = self.arrivals.get(self.n_arrived) {
            self.n_arrived += 1;
            self.next_arrival = self.arrivals.get(self.n_arrived).map_or(Time::MAX, |next| next.at);
            let id = JobId(self.stage.jobs.next_number());
            let template = &self.trace.jobs[index as usize];
            self.stage.jobs.push(SimJob::new(template, index, id, at, deadline));
            let spec = spec(template, self.slowstart_ppm, deadline, self.profiled);
            return Some(Input::Submit { job: id, spec: Arc::new(in_view(spec, self.has_workers)) });
        }
        let workers = self.stage.machines.losses.next_time().min(self.attributes.next_time());
        self.next_fixed = self.next_arrival.min(self.next_commit).min(workers);
        std::mem::take(&mut self.ticks).then_some(Input::Tick)
    }

    /// Plans the arrivals of jobs that waited for this one of the trace.
    pub(super) fn call_followers(&mut self, template: u32) {
        for follower in self.followers.of(template, self.stage.now) {
            let place = self.n_arrived + self.arrivals[self.n_arrived..].partition_point(|next| next.at <= follower.at);
            self.arrivals.insert(place, follower);
        }
        self.next_arrival = self.arrivals.get(self.n_arrived).map_or(Time::MAX, |next| next.at);
        self.next_fixed = self.next_fixed.min(self.next_arrival);
    }

    /// Lets the core take this instant's inputs.
    #[inline(never)]
    fn take_inputs(&mut self) {
        for (worker, attributes) in self.saying.drain(..) {
            self.tracker.change_attributes(self.stage.now, worker, &attributes);
        }
        self.tracker.take(&self.inputs);
        self.inputs.clear();
        if self.next_arrival <= self.stage.now && self.tracker.scheduler().capabilities().counts_departures {
            let departed = departing(&self.tracker, &self.stage.jobs, &[]);
            self.tracker.take(&departed);
        }
        while let Some(input) = self.next_input() {
            self.tracker.take(&[input]);
        }
    }
}

/// Jobs whose last task ended at this instant and that have nothing to promote: they are over before others come, but for
/// those of which `known` says so already. To most policies that is the same as right after the others, which is when
/// promotions of no length are announced.
fn departing(tracker: &JobTracker, jobs: &SimJobs<'_>, known: &[Input]) -> Vec<Input> {
    let is_known = |id: JobId| known.iter().any(|input| matches!(input, Input::JobCommitted { job, .. } if *job == id));
    let committing = tracker.state().jobs().filter(|job| job.state() == JobState::Committing).map(Job::id);
    let at_once = committing.filter(|&id| jobs[id.0 as usize - 1].commit == Span::ZERO && !is_known(id));
    at_once.map(|job| Input::JobCommitted { job, ok: true }).collect()
}
