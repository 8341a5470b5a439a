//! The TaskTracker: what one worker runs, what it reports, which directives it obeys.
//!
//! Pure like the JobTracker: [`TaskTracker::apply`] is the only mutation; processes, sockets and files are
//! the driver's. A simulated worker drives the same object with simulated processes.
//!
//! Invariants: an attempt is started once, however often its launch is repeated; an attempt's end is
//! reported until an answer to a report that contained it has arrived; never more attempts than slots.
//! Source: `docs/hadoop.md#heartbeats`, MR1 `TaskTracker.offerService`.

mod attempts;
mod attributes;
mod check;
mod contact;
mod held;
mod messages;
#[cfg(test)]
mod tests;

pub use messages::{Directive, StopCause, TrackerConfig, TrackerEffect, TrackerInput};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use self::attributes::ReportedAttributes;
use self::contact::{Contact, Parking};
use self::held::{Held, IdleProcess, JobTerms, Undying};
use super::planted::{Fault, planted};
use super::{AttemptReport, Report, Vitals};
use crate::job::{AttemptState, JobId, TaskKind, WorkerId};
use crate::time::Time;

/// One worker's state. See the module's documentation.
#[derive(Clone, Debug)]
pub struct TaskTracker {
    config: TrackerConfig,
    contact: Contact,
    attributes: ReportedAttributes,
    /// In order of launch; ended ones stay until their end is acknowledged. At most a few per slot.
    attempts: Vec<Held>,
    /// Jobs whose terms the driver has given, in order of arrival.
    jobs: Vec<JobTerms>,
    /// Processes that wait for another attempt of their job.
    idle: Vec<IdleProcess>,
    /// Processes that were killed and do not end; at most one per slot.
    undying: Vec<Undying>,
    next_process: u32,
    draining: bool,
    /// The master should be notified soon that this worker drains.
    announce: bool,
    stopped: bool,
    jitter: ChaCha8Rng,
}

impl TaskTracker {
    /// A tracker that will register as soon as it is first applied to.
    pub fn new(config: TrackerConfig) -> TaskTracker {
        let jitter = ChaCha8Rng::seed_from_u64(config.seed);
        let contact = Contact::new(config.incarnation, config.retry_first);
        TaskTracker {
            config,
            contact,
            attributes: ReportedAttributes::default(),
            attempts: Vec::new(),
            jobs: Vec::new(),
            idle: Vec::new(),
            undying: Vec::new(),
            next_process: 0,
            draining: false,
            announce: false,
            stopped: false,
            jitter,
        }
    }

    /// Applies all inputs of one instant, then settles: starts what can start, reports what must be reported.
    ///
    /// `now` must not be earlier than in the call before. Effects are appended.
    pub fn apply(&mut self, now: Time, inputs: &[TrackerInput], effects: &mut Vec<TrackerEffect>) {
        for input in inputs {
            if self.stopped {
                return;
            }
            self.on_input(now, input, effects);
        }
        self.on_deadlines(now, effects);
        self.settle(now, effects);
    }

    fn on_input(&mut self, now: Time, input: &TrackerInput, effects: &mut Vec<TrackerEffect>) {
        match input {
            TrackerInput::Registered { worker, interval } => {
                if self.contact.on_registered(now, *worker, *interval) {
                    self.attributes.on_registered();
                }
            }
            TrackerInput::RegisterFailed => self.contact.on_failure(now, &self.config, &mut self.jitter),
            TrackerInput::Answer { seq, response_id, interval, directives } => {
                if directives.contains(&Directive::Reinit) {
                    // Whatever its number: a master that was restarted counts anew.
                    self.on_unknown(*seq, effects);
                } else if self.on_answer(now, *seq, *response_id, *interval, directives.is_empty()) {
                    for directive in directives {
                        self.on_directive(now, *directive, effects);
                    }
                }
            }
            TrackerInput::HeartbeatFailed { seq } => {
                if self.contact.outstanding() == Some(*seq) {
                    for held in &mut self.attempts {
                        held.forget_report(*seq);
                    }
                    self.attributes.forget_report(*seq);
                    if planted(Fault::ForgetEnd) {
                        self.attempts.retain(|held| !held.is_ended());
                    }
                    self.contact.on_failure(now, &self.config, &mut self.jitter);
                }
            }
            TrackerInput::Unknown { seq } => self.on_unknown(*seq, effects),
            TrackerInput::Attributes(attributes) => self.attributes.change(attributes),
            TrackerInput::JobKnown { job, task_timeout, reuse_tasks } => {
                self.on_job_known(*job, *task_timeout, *reuse_tasks);
            }
            TrackerInput::JobUnavailable { job } => self.on_job_unavailable(*job, effects),
            TrackerInput::Progress { attempt, phase, progress } => self.on_progress(now, *attempt, *phase, *progress),
            TrackerInput::FetchFailure { attempt, map } => self.on_fetch_failure(*attempt, *map),
            TrackerInput::CommitPending { attempt } => self.on_commit_pending(now, *attempt),
            TrackerInput::Ended { attempt, ok, process_alive } => {
                let state = if *ok { AttemptState::Succeeded } else { AttemptState::Failed };
                self.on_ended(now, *attempt, state, *process_alive, effects);
            }
            TrackerInput::Spared { attempt } => self.on_ended(now, *attempt, AttemptState::Killed, false, effects),
            TrackerInput::ProcessGone { process } => {
                self.idle.retain(|idle| idle.process != *process);
                self.undying.retain(|undying| undying.process != *process);
            }
            TrackerInput::Drain => {
                self.announce |= !self.draining;
                self.draining = true;
            }
            TrackerInput::Stop => {
                self.kill_all(effects);
                self.stopped = true;
                effects.push(TrackerEffect::Stopped);
            }
            TrackerInput::Tick => {}
        }
    }

    fn on_unknown(&mut self, seq: u32, effects: &mut Vec<TrackerEffect>) {
        if self.contact.is_of_this_registration(seq) {
            self.kill_all(effects);
            self.contact.on_reinit();
        }
    }

    fn settle(&mut self, now: Time, effects: &mut Vec<TrackerEffect>) {
        if self.stopped {
            return;
        }
        self.start_ready(now, effects);
        if self.draining && self.attempts.is_empty() {
            self.retire_idle(effects);
            self.stopped = true;
            effects.push(TrackerEffect::Stopped);
            return;
        }
        let news = self.announce || self.attributes.is_news() || self.attempts.iter().any(Held::is_news);
        if let Some(effect) = self.contact.due(now, news, self.parking(), self.config.park_pause) {
            if let TrackerEffect::Report { seq } = effect {
                self.announce = false;
                self.attributes.mark_reported(seq);
                for held in &mut self.attempts {
                    held.mark_reported(seq);
                }
            }
            if matches!(effect, TrackerEffect::Register { .. }) {
                self.attributes.mark_registering();
            }
            effects.push(effect);
        }
    }

    fn parking(&self) -> Parking {
        if !self.accepts() || (self.free(TaskKind::Map) == 0 && self.free(TaskKind::Reduce) == 0) {
            Parking::No
        } else if self.attempts.is_empty() {
            Parking::AtOnce
        } else {
            Parking::AfterPause
        }
    }

    /// The report of the last [`TrackerEffect::Report`], to be taken right after the `apply` that gave it.
    ///
    /// `healthy` is the driver's judgement (disk space); `vitals` go in as they are.
    pub fn report(&self, vitals: Vitals, healthy: bool) -> Report {
        let accepts_tasks = healthy && self.accepts();
        Report {
            worker: self.contact.worker(),
            incarnation: self.contact.incarnation(),
            response_id: self.contact.response_id(),
            free_maps: self.free(TaskKind::Map),
            free_reduces: self.free(TaskKind::Reduce),
            accepts_tasks,
            may_park: accepts_tasks && self.parking() != Parking::No,
            attempts: self.attempts.iter().map(|held| self.report_of(held)).collect(),
            vitals,
            attributes: self.attributes.to_report(),
        }
    }

    /// What a registration is to say of the worker's attributes: the last [`TrackerInput::Attributes`].
    pub fn attributes(&self) -> &[(String, String)] {
        self.attributes.all()
    }

    fn report_of(&self, held: &Held) -> AttemptReport {
        AttemptReport {
            attempt: held.attempt,
            state: held.state(),
            phase: held.phase,
            progress: held.progress,
            fetch_failures: held.failures_of_report(self.contact.last_seq()),
            // The driver knows, and adds it.
            fatal: false,
        }
    }

    /// When a tick would change something; `None` when only an input can.
    pub fn next_deadline(&self) -> Option<Time> {
        if self.stopped {
            return None;
        }
        let attempts = self.attempts.iter().filter_map(Held::deadline);
        let idle = self.idle.iter().map(|idle| idle.until);
        attempts.chain(idle).chain(self.contact.deadline(self.parking(), self.config.park_pause)).min()
    }

    /// Free slots of one kind.
    pub fn free(&self, kind: TaskKind) -> u16 {
        let slots = match kind {
            TaskKind::Map => self.config.map_slots,
            TaskKind::Reduce => self.config.reduce_slots,
        };
        slots.saturating_sub(self.occupied(kind))
    }

    /// The number that the master gave us; 0 before the first registration.
    pub fn worker(&self) -> WorkerId {
        self.contact.worker()
    }

    /// The incarnation that the next registration or report names.
    pub fn incarnation(&self) -> u64 {
        self.contact.incarnation()
    }

    /// Whether it has use for the file of a job.
    pub fn awaits(&self, job: JobId) -> bool {
        self.jobs.iter().any(|terms| terms.job == job)
    }

    /// Whether new attempts are welcome.
    pub fn accepts(&self) -> bool {
        !self.draining && !self.stopped
    }

    /// Whether the tracker has stopped; it then ignores everything.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}
