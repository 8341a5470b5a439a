//! The JobTracker: jobs, tasks, attempts, slots, expiry. It decides everything and does nothing.
//!
//! [`JobTracker::apply`] is the only mutation. It takes all inputs of one instant and applies them by rank:
//! finished attempts (the statuses in reports), lost workers (registrations, goodbyes), submissions and
//! requests, the tick (expiries, then the policy's own deadlines), then the rounds: parked workers that new
//! work wakes, longest parked first, and this batch's reports in order of arrival. Within a rank the order is
//! that of arrival. **Invariants: [`JobTracker::check_invariants`] holds after every batch; no input makes it
//! panic; equal inputs give equal effects.**

mod as_recorded;
mod attempts;
mod attributes;
mod become_direct;
mod black_holes;
mod blacklist;
mod direct;
mod heartbeat_reports;
mod heartbeat_rounds;
mod interval;
mod jobs;
mod kept_outputs;
mod liveness;
mod output_gone;
mod parking;
mod parting;
mod snapshot;
mod usefulness;
mod work;
mod worker_losses;
mod workers;

use std::collections::VecDeque;

pub use self::direct::{AttemptProgress, Driver, Ended, Finished, Launched};
use self::interval::Pace;
pub use self::jobs::MAX_TASKS;
use self::liveness::Liveness;
use self::parking::Parking;
use self::parting::Parting;
pub use self::snapshot::{Snapshot, SnapshotError};
use super::planted::{Fault, planted};
use super::{ClusterConfig, Effect, Input, Preemption, Recorded, Rejection, Reservation, SchedulerChoice};
use crate::cluster::{AttemptRef, ClusterState, WorkerState};
use crate::job::{AttemptState, JobId, PerKind, TaskKind, WorkerId};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::schedulers::{Actions, Capabilities, Change, Reason, Scheduler, SchedulerError, registry};
use crate::time::{Span, Time};

/// The state machine of the master.
pub struct JobTracker {
    config: ClusterConfig,
    /// Whether a simulation drives it by `advance`, without reports and answers.
    direct: bool,
    state: ClusterState,
    scheduler: Box<dyn Scheduler>,
    /// Asked once, as a simulation would ask at every launch and end.
    capabilities: Capabilities,
    /// Effects of the batch under way.
    out: Vec<Effect>,
    liveness: Liveness,
    /// Launches that no report has confirmed yet, by their expiry; those confirmed meanwhile stay until
    /// they are first.
    launches: VecDeque<(Time, AttemptRef)>,
    parking: Parking,
    /// Workers whose heartbeat this batch brought, with the report's number; true if it repeats an answered one.
    callers: Vec<(WorkerId, u32, bool)>,
    /// Parked workers for which there is news.
    releases: Vec<WorkerId>,
    /// Kinds of which new work appeared for parked workers.
    wake: PerKind<bool>,
    /// Whether the policy asked to offer the parked workers in any case.
    wake_all: bool,
    /// Number of the report being applied.
    report: u32,
    actions: Actions,
    /// What the policy preempted in this batch.
    preempted: Vec<Preemption>,
    /// Slots that it kept for a job in this batch, or let go.
    reserved: Vec<Reservation>,
    /// What was decided in this batch when it came first, if it is not decided again.
    recorded: Option<Box<Recorded>>,
    /// Whether the policy ever reserved a worker.
    reserves: bool,
    pace: Pace,
    /// Small jobs with tasks that may start, by kind.
    small_waiting: PerKind<u32>,
    next_forgiving: Option<Time>,
}

impl JobTracker {
    /// A master without jobs and workers.
    pub fn new(config: ClusterConfig, scheduler: Box<dyn Scheduler>) -> JobTracker {
        JobTracker::with_state(config, ClusterState::new(), scheduler)
    }

    /// One whose policy begins with this state.
    fn with_state(config: ClusterConfig, state: ClusterState, mut scheduler: Box<dyn Scheduler>) -> JobTracker {
        scheduler.attach(&state);
        JobTracker {
            capabilities: scheduler.capabilities(),
            config,
            direct: false,
            state,
            scheduler,
            out: Vec::new(),
            liveness: Liveness::new(),
            launches: VecDeque::new(),
            parking: Parking::default(),
            callers: Vec::new(),
            releases: Vec::new(),
            wake: [false; 2],
            wake_all: false,
            report: 0,
            actions: Actions::default(),
            preempted: Vec::new(),
            reserved: Vec::new(),
            recorded: None,
            reserves: false,
            pace: Pace::default(),
            small_waiting: [0; 2],
            next_forgiving: None,
        }
    }

    /// Applies all inputs of one instant and appends their effects.
    ///
    /// `now` must not go back; an earlier time counts as the last one.
    pub fn apply(&mut self, now: Time, inputs: &[Input], effects: &mut Vec<Effect>) {
        self.state.now = self.state.now.max(now);
        self.preempted.clear();
        self.reserved.clear();
        self.state.reduced.clear();
        std::mem::swap(&mut self.out, effects);
        for input in inputs {
            match input {
                Input::Report(report) => self.on_report(report),
                // It says what the failures in the report after it are.
                Input::CannotServe { worker, job } => self.on_cannot_serve(*worker, *job),
                _ => {}
            }
        }
        self.on_inputs(inputs);
        self.settle();
        std::mem::swap(&mut self.out, effects);
    }

    /// Everything but reports, by rank.
    fn on_inputs(&mut self, inputs: &[Input]) {
        for input in inputs {
            match input {
                Input::Register(registration) => self.on_register(registration),
                Input::Goodbye { worker, incarnation } => self.on_goodbye(*worker, *incarnation, Parting::Asked),
                Input::Gone { worker, incarnation } => self.on_goodbye(*worker, *incarnation, Parting::Unasked),
                _ => {}
            }
        }
        for input in inputs {
            self.on_request(input);
        }
        if inputs.iter().any(|input| matches!(input, Input::Tick)) {
            self.on_tick();
        }
    }

    /// When a tick would change something; never in the past after a tick.
    #[inline(always)]
    pub fn next_deadline(&self) -> Option<Time> {
        if self.has_no_deadlines() {
            return None;
        }
        self.find_deadline()
    }

    fn find_deadline(&self) -> Option<Time> {
        // A policy that names the present again would make the driver spin.
        let named = if self.capabilities.has_deadlines { self.scheduler.next_deadline() } else { None };
        let policy = named.map(|due| due.max(self.state.now + Span::from_us(1)));
        let rare = match (policy, self.next_forgiving) {
            (Some(policy), Some(forgiving)) => Some(policy.min(forgiving)),
            (policy, forgiving) => policy.or(forgiving),
        };
        if self.direct {
            return rare;
        }
        let silent = self.liveness.longest_silent().map(|(_, contact)| contact + self.expiry());
        let launch = self.launches.front().map(|&(due, _)| due);
        let parked = self.parking.first_deadline().map(|(due, _)| due);
        [silent, launch, parked, rare].into_iter().flatten().min()
    }

    /// What policies, pages and explanations read.
    pub fn state(&self) -> &ClusterState {
        &self.state
    }

    /// The settings it was made with.
    pub fn config(&self) -> &ClusterConfig {
        &self.config
    }

    /// The policy.
    pub fn scheduler(&self) -> &dyn Scheduler {
        &*self.scheduler
    }

    /// Puts another policy in charge; what runs goes on, what its rule for speculative execution learned as well if the
    /// new one has the same rule, and parked workers are offered what waits with the next batch. A driver that records
    /// its inputs must record the switch as well.
    pub fn switch_scheduler(&mut self, mut scheduler: Box<dyn Scheduler>) {
        if self.reserves && scheduler.name() != self.scheduler.name() {
            // Nobody would release what another policy keeps.
            self.state.workers.iter_mut().for_each(|worker| worker.reserved = [None; 2]);
        }
        scheduler.attach(&self.state);
        if let (Some(new), Some(old)) = (scheduler.offer(), self.scheduler.offer()) {
            new.inherit(old);
        }
        self.scheduler = scheduler;
        self.policy_changed();
    }

    /// A policy is new in charge, or has new parameters: asks what it says of itself, and offers it who waits.
    fn policy_changed(&mut self) {
        self.capabilities = self.scheduler.capabilities();
        self.wake_all = true;
    }

    /// Whether [`Input::SetScheduler`] with this choice would be taken now; changes nothing.
    ///
    /// # Errors
    /// Names the parameter, or the place in its text, and what was expected.
    pub fn check_scheduler(&self, choice: &SchedulerChoice) -> Result<(), SchedulerError> {
        if choice.name == self.scheduler.name() && self.scheduler.fork().reconfigure(&choice.params, &self.state)? {
            return Ok(());
        }
        registry::by_name(&choice.name, &choice.params).map(drop)
    }

    fn on_set_scheduler(&mut self, choice: &SchedulerChoice) {
        let same = choice.name == self.scheduler.name();
        let taken = if same { self.scheduler.reconfigure(&choice.params, &self.state) } else { Ok(false) };
        let other = taken.and_then(|taken| match taken {
            true => Ok(None),
            false => registry::by_name(&choice.name, &choice.params).map(Some),
        });
        match other {
            Ok(None) => self.policy_changed(),
            Ok(Some(policy)) => self.switch_scheduler(policy),
            Err(_) => self.reject(None, Rejection::BadScheduler),
        }
    }

    /// What the policy noted since this was last asked, for logs.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.scheduler.take_notes()
    }

    /// What load and frequency do to tasks' times, where the policy's rule for speculative execution knows. It changes
    /// nothing.
    pub fn curves(&mut self) -> Option<(LoadCurve, FrequencyCurve)> {
        self.scheduler.offer()?.curves()
    }

    /// When a running attempt ends by what the policy's rule for speculative execution estimates now; `None` where
    /// nothing tells, or the rule estimates nothing. It changes nothing.
    pub fn expected_end(&mut self, attempt: AttemptRef) -> Option<Time> {
        self.scheduler.offer()?.expected_end(&self.state, attempt)
    }

    /// Why a job is not running more than it is.
    pub fn explain(&self, job: JobId) -> Reason {
        self.scheduler.explain(job, &self.state)
    }

    /// The heartbeat interval that an answer given now would name for a worker that does not park, in
    /// milliseconds; also the answer to a registration.
    pub fn interval_ms(&self) -> u32 {
        let mut pace = self.pace;
        let small = self.small_waiting != [0, 0];
        interval::interval_ms(&self.config.heartbeat, self.state.totals.present, small, &mut pace, self.state.now)
    }

    /// An independent copy, for predictions.
    pub fn fork(&self) -> JobTracker {
        JobTracker {
            config: self.config.clone(),
            direct: self.direct,
            state: self.state.clone(),
            scheduler: self.scheduler.fork(),
            capabilities: self.capabilities,
            out: Vec::new(),
            liveness: self.liveness.clone(),
            launches: self.launches.clone(),
            parking: self.parking.clone(),
            callers: Vec::new(),
            releases: Vec::new(),
            wake: self.wake,
            wake_all: self.wake_all,
            report: self.report,
            actions: Actions::default(),
            preempted: Vec::new(),
            reserved: Vec::new(),
            recorded: None,
            reserves: self.reserves,
            pace: self.pace,
            small_waiting: self.small_waiting,
            next_forgiving: self.next_forgiving,
        }
    }

    /// Recounts everything; slow, for tests.
    ///
    /// # Errors
    /// Names the first invariant that is violated.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.state.check()?;
        self.parking.check(&self.state.workers)?;
        if !self.liveness.check() {
            return Err("the list of silent workers is broken".to_owned());
        }
        for worker in &self.state.workers {
            let watched = worker.state != WorkerState::Lost && worker.parked.is_none();
            if self.liveness.watches(worker.id) != watched {
                return Err(format!("worker {}: watched should be {watched}", worker.name));
            }
        }
        let unconfirmed = self.state.attempts.iter().filter(|(_, a)| a.state == AttemptState::Launching);
        for (reference, attempt) in unconfirmed {
            let listed = self.launches.iter().any(|&(_, r)| r == reference);
            if !listed && self.config.launch_expiry().is_some() && !attempt.detached {
                return Err(format!("launch of {:?} never expires", attempt.id));
            }
        }
        if let Some(worker) = self.state.workers.iter().find(|worker| worker.calling != 0) {
            return Err(format!("worker {} was not served", worker.name));
        }
        let idle = self.callers.is_empty() && self.releases.is_empty() && self.actions.list.is_empty();
        if !idle {
            return Err("work is left over between batches".to_owned());
        }
        Ok(())
    }

    /// Requests and submissions.
    fn on_request(&mut self, input: &Input) {
        match input {
            Input::Submit { job, spec } => self.on_submit(*job, spec),
            Input::KillJob { job } => self.on_kill_job(*job),
            Input::KillAttempt { attempt, fail } => self.on_kill_attempt(*attempt, *fail),
            Input::SetPriority { job, priority } => self.on_set_priority(*job, *priority),
            Input::SetQueue { job, queue } => self.on_set_queue(*job, queue),
            Input::SetScheduler(choice) => self.on_set_scheduler(choice),
            Input::Drain { worker, drain } => self.on_drain(*worker, *drain),
            Input::Enable { worker } => self.on_enable(*worker),
            Input::Reach { worker, reachable } => self.on_reach(*worker, *reachable),
            Input::JobCommitted { job, ok } => self.on_committed(*job, *ok),
            Input::OutputGone { job, attempts } => self.on_output_gone(*job, attempts),
            Input::Recovered => self.on_recovered(),
            Input::Snapshot(choice) => self.on_snapshot(choice),
            Input::Register(_) | Input::Report(_) | Input::CannotServe { .. } | Input::Tick => {}
            Input::Goodbye { .. } | Input::Gone { .. } => {}
        }
    }

    /// Time has passed.
    ///
    /// `Deviation:` Hadoop sweeps for silent workers every third of the expiry, so that it notices them up to
    /// a third late; here the expiry is exact.
    fn on_tick(&mut self) {
        let now = self.state.now;
        while let Some((worker, contact)) = self.liveness.longest_silent()
            && contact + self.expiry() <= now
            && !planted(Fault::NeverExpire)
        {
            self.lose_worker(worker, Parting::Unasked);
        }
        self.expire_launches();
        self.forgive();
        self.scheduler.tick(now, &self.state, &mut self.actions);
        self.apply_actions(None);
    }

    /// Silence after which a worker is lost, in a cluster of this size.
    fn expiry(&self) -> Span {
        let beats = u64::from(self.config.expiry_beats);
        if beats == 0 {
            return self.config.expiry();
        }
        let longest = interval::longest_ms(&self.config.heartbeat, self.state.totals.present);
        self.config.expiry().max(Span::from_ms(beats.saturating_mul(longest)))
    }

    fn expire_launches(&mut self) {
        while let Some(&(due, reference)) = self.launches.front() {
            let waiting = self
                .state
                .attempts
                .get(reference)
                .is_some_and(|attempt| attempt.state == AttemptState::Launching && !attempt.detached);
            if waiting && due > self.state.now {
                return;
            }
            self.launches.pop_front();
            if waiting {
                self.end_attempt(reference.slot, AttemptState::Failed, super::EndCause::LaunchExpired);
            }
        }
    }

    /// The master was away: nobody is late yet, and the heartbeats that were parked are gone.
    fn on_recovered(&mut self) {
        let now = self.state.now;
        self.state.epoch += 1;
        self.parking.clear();
        for index in 0..self.state.workers.len() {
            let worker = &mut self.state.workers[index];
            if worker.state != WorkerState::Lost {
                worker.parked = None;
                worker.last_contact = now;
                let id = worker.id;
                if !self.liveness.watches(id) {
                    self.liveness.note_contact(id, now);
                }
            }
        }
        if !planted(Fault::KeepClocks) {
            self.liveness.restart(now);
        }
        if let Some(expiry) = self.config.launch_expiry() {
            self.launches.iter_mut().for_each(|launch| launch.0 = now + expiry);
        }
        self.observe(Change::Recovered);
    }

    fn observe(&mut self, change: Change) {
        self.scheduler.observe(&change, &self.state);
    }

    /// Tells the policy of a change after which it may have work for workers that wait.
    #[inline]
    fn observe_waking(&mut self, change: Change) {
        if self.scheduler.wakes_parked(&change) {
            self.wake = [true; 2];
        }
        self.observe(change);
    }

    /// Tells the policy of the end of an attempt, if it wants to know.
    #[inline]
    fn observe_end(&mut self, change: Change) {
        if self.capabilities.follows_attempts {
            self.observe_waking(change);
        }
    }

    fn reject(&mut self, worker: Option<WorkerId>, why: Rejection) {
        self.out.push(Effect::Rejected { worker, why });
    }

    /// Brings `offerable` up to date after a job changed.
    fn refresh(&mut self, id: JobId) {
        let Some(job) = self.state.jobs.get(id) else { return };
        if job.offerable == TaskKind::ALL.map(|kind| job.computes_offerable(kind)) {
            return;
        }
        for kind in TaskKind::ALL {
            let Some(job) = self.state.jobs.get_mut(id) else { return };
            let (old, new) = (job.offerable[kind], job.computes_offerable(kind));
            if old == new {
                continue;
            }
            job.offerable[kind] = new;
            let small = job.tasks[0].len() + job.tasks[1].len() <= interval::SMALL_JOB_TASKS;
            let change = |sum: &mut u32, by: u32| *sum = if new { *sum + by } else { *sum - by };
            change(&mut self.state.totals.offerable_jobs[kind], 1);
            change(&mut self.small_waiting[kind], u32::from(small));
            self.wake[kind] |= new;
            self.observe(Change::Offerable { job: id, kind, offerable: new });
        }
    }

    /// Carries out what the policy asked for after a worker's turn, or as time had come.
    fn apply_actions(&mut self, turn: Option<WorkerId>) {
        use crate::schedulers::Action;
        if self.recorded.is_some() {
            return self.act_as_recorded(turn);
        }
        let mut list = std::mem::take(&mut self.actions.list);
        for action in list.drain(..) {
            match action {
                Action::Preempt(reference) => {
                    if let Some(attempt) = self.state.attempts.get(reference) {
                        if !self.direct {
                            self.preempted.push(Preemption { attempt: attempt.id, turn });
                        }
                        self.order_kill(reference.slot, super::EndCause::Preempted, false);
                    }
                }
                Action::Reserve { worker, kind, job } => {
                    self.reserve(Reservation { worker, kind, job: Some(job), turn })
                }
                Action::Release { worker, kind } => self.reserve(Reservation { worker, kind, job: None, turn }),
                Action::Wake => self.wake_all = true,
            }
        }
        self.actions.list = list;
    }
    /// Keeps a worker's slots for a job that is not over, or lets them go.
    fn reserve(&mut self, reservation: Reservation) {
        let Reservation { worker, kind, job, .. } = reservation;
        let known = job.is_none_or(|job| self.state.job(job).is_some());
        let Some(worker) = self.state.workers.get_mut(worker.0 as usize).filter(|_| known) else { return };
        worker.reserved[kind] = job;
        match job {
            Some(_) => self.reserves = true,
            None => self.wake[kind] = true,
        }
        if !self.direct {
            self.reserved.push(reservation);
        }
    }
}
