//! The policy's side of a turn: changes are noted for the program and the fallback, a round is one question.

use howdah_core::cluster::ClusterState;
use howdah_core::job::{AttemptId, JobId, TaskKind};
use howdah_core::schedulers::registry;
use howdah_core::schedulers::{
    Actions, Assignment, Capabilities, Change, Queues, Reason, Round, Scheduler, SchedulerError,
};
use howdah_core::time::Time;

use super::super::protocol::{Named, notice};
use super::talk::put;
use super::{External, NAME, Program, Turn};

impl External {
    fn with_fallback(&self, fallback: Box<dyn Scheduler>) -> External {
        let (command, made_of) = (self.command.clone(), self.fallback_made_of.clone());
        External::new(command, self.timeout, self.patience, self.warn, fallback, made_of)
    }
}

impl Queues for External {
    fn validate_capacity(&self, slots: [u32; 2]) -> Result<(), SchedulerError> {
        self.fallback.queues().validate_capacity(slots)
    }
}

impl Scheduler for External {
    fn name(&self) -> &'static str {
        NAME
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.fallback.observe(change, state);
        if self.given_up() {
            return;
        }
        match *change {
            Change::Queue { job } | Change::Deadline { job } => {
                self.changed.insert(job);
                self.moved.insert(job);
            }
            Change::Submitted { job } | Change::Priority { job, .. } | Change::Offerable { job, .. } => {
                self.changed.insert(job);
            }
            Change::Launched { attempt, .. } | Change::Ended { attempt, .. } => {
                self.changed.insert(attempt.job);
            }
            Change::Returned { task } => {
                self.changed.insert(task.job);
            }
            Change::JobOver { job, .. } => {
                self.changed.remove(&job);
                self.why.remove(&job);
                if self.known.remove(&job) {
                    self.gone.push(job.0);
                }
            }
            Change::Worker { .. } | Change::Reported { .. } | Change::Recovered => {}
        }
        if let Program::Running { notices, .. } = &self.program
            && let Some(line) = notice(change, notices, state)
        {
            put(&mut self.unsent, &line);
            self.drain_notices();
        }
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.wishes.clear();
        self.declined.clear();
        self.declined_more = false;
        if self.given_up() {
            self.turn = Turn::Fallback;
            self.begin_fallback(round, state);
        } else {
            self.turn = Turn::NotAsked;
        }
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        if self.turn == Turn::NotAsked {
            self.turn = Turn::Program { questions: 0 };
        }
        if self.turn != Turn::Fallback {
            match self.ask_program(state, round) {
                Ok(Some(assignment)) => return Some(assignment),
                Ok(None) => {
                    self.strikes = 0;
                    return None;
                }
                Err(wrong) => self.on_wrong(wrong, round, state),
            }
        }
        self.fallback.assign(round, state)
    }

    fn end_round(&mut self, state: &ClusterState, actions: &mut Actions) {
        if self.turn == Turn::Fallback {
            self.fallback.end_round(state, actions);
            return;
        }
        // The slots may be full before the list is at its end; an answer that nothing was wrong with is a good one.
        if self.turn != Turn::NotAsked {
            self.strikes = 0;
        }
        for Named { job, kind, task, number } in self.preempt.drain(..) {
            let wanted = AttemptId { job: JobId(job), kind: kind.into(), index: task, number };
            let found = state.attempts().iter().find(|(_, attempt)| attempt.id() == wanted && !attempt.detached());
            if let Some((reference, _)) = found {
                actions.preempt(reference);
            }
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        if self.given_up() { self.fallback.next_deadline() } else { self.again }
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        if self.given_up() {
            self.fallback.tick(now, state, actions);
        } else if self.again.is_some_and(|again| again <= now) {
            self.again = None;
            actions.wake_parked();
        }
    }

    /// Nobody knows what a program waits for.
    fn wakes_parked(&self, change: &Change) -> bool {
        if self.given_up() {
            self.fallback.wakes_parked(change)
        } else {
            matches!(change, Change::Ended { .. } | Change::Queue { .. })
        }
    }

    /// What a program makes of queues, only the program knows.
    fn capabilities(&self) -> Capabilities {
        let by_fallback = || self.fallback.capabilities().may_speculate;
        let may_speculate = match self.program {
            Program::Running { speculates, .. } => speculates || by_fallback(),
            Program::NotStarted => true,
            Program::GivenUp => by_fallback(),
        };
        Capabilities { may_speculate, reads_queues: true, ..Capabilities::default() }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, job: JobId, state: &ClusterState) -> Reason {
        if self.given_up() {
            return self.fallback.explain(job, state);
        }
        if let Some(reason) = Reason::common(job, state) {
            return reason;
        }
        if let Some(why) = self.why.get(&job) {
            return Reason::Limit(why.clone());
        }
        let waits = |kind: &TaskKind| state.job(job).is_some_and(|job| job.offerable(*kind));
        let kind = TaskKind::ALL.into_iter().find(waits).unwrap_or(TaskKind::Map);
        match Reason::in_order(kind, None, state) {
            // Whether it is next, only the program knows.
            Reason::SlotsTaken { slots, .. } => Reason::Limit(format!(
                "All {kind} slots are taken ({slots} in all), and the program `{}`, which decides who has the next one, \
                 says no more.",
                self.command
            )),
            _ => Reason::Limit(format!(
                "Slots are free, and the program `{}`, which decides, has not chosen it and says no more.",
                self.command
            )),
        }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.fallback.attach(state);
        self.gone.extend(self.known.iter().filter(|id| state.job(**id).is_none()).map(|id| id.0));
        self.known.retain(|id| state.job(*id).is_some());
        self.changed = state.jobs().map(|job| job.id()).collect();
        self.again = None;
    }

    /// The copy starts a program of its own and tells it of all jobs: a program whose choices follow from the jobs as
    /// they are goes on as the first one does.
    fn fork(&self) -> Box<dyn Scheduler> {
        let fallback = self.fallback.fork();
        let mut copy = self.with_fallback(fallback);
        if self.given_up() {
            copy.program = Program::GivenUp;
        }
        copy.changed = self.known.union(&self.changed).copied().collect();
        copy.again = self.again;
        copy.why = self.why.clone();
        Box::new(copy)
    }

    /// With a program of its own, which it is told of all jobs. The former one ends before: it may keep a file or a port. A
    /// program that was given up stays so.
    fn renewed(&mut self) -> Option<Box<dyn Scheduler>> {
        let (name, params) = &self.fallback_made_of;
        let mut renewed = self.with_fallback(registry::by_name(name, params).ok()?);
        if self.given_up() {
            renewed.program = Program::GivenUp;
            return Some(Box::new(renewed));
        }
        self.program = Program::NotStarted;
        // At once, as at a master's start. One that does not say hello now is found out when it is asked.
        let _ = renewed.start();
        Some(Box::new(renewed))
    }
}
