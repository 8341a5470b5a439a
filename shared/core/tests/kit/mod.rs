//! A small cluster for scenario tests: built in a line, fed with inputs, checked effect by effect.
//!
//! [`Cluster::apply`] checks the invariants after every batch and collects the effects; a scenario takes those
//! it expects and ends with [`Cluster::nothing_else`]. Reports are written by hand or by [`Cluster::report`],
//! which repeats what the cluster's workers received.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part of the kit")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use howdah_core::cluster::{ClusterState, EndCause};
use howdah_core::job::{
    AttemptId, JobConf, JobId, JobSpec, JobState, Phase, Progress, Requirements, SplitHosts, TaskKind, WorkerId,
};
use howdah_core::schedulers::{Scheduler, by_name};
use howdah_core::time::Time;
use howdah_core::tracker::{
    AttemptReport, AttributeSet, ClusterConfig, Effect, HeartbeatRule, Input, JobTracker, Preemption, Registration,
    Report, Reservation, Vitals,
};

pub mod odd;
pub mod world;

pub use AttemptState::{CommitPending, Failed, Killed, Running, Succeeded};
pub use howdah_core::job::AttemptState;

pub fn map(job: u32, index: u32, number: u16) -> AttemptId {
    AttemptId { job: JobId(job), kind: TaskKind::Map, index, number }
}

pub fn reduce(job: u32, index: u32, number: u16) -> AttemptId {
    AttemptId { job: JobId(job), kind: TaskKind::Reduce, index, number }
}

/// A job of so many maps and reduces.
pub fn job(n_maps: u32, n_reduces: u32) -> JobSpec {
    JobSpec {
        name: "test".into(),
        user: "tester".into(),
        queue: "default".into(),
        n_maps,
        n_reduces,
        ..JobSpec::default()
    }
}

/// The same with changed settings.
pub fn job_with(n_maps: u32, n_reduces: u32, change: impl FnOnce(&mut JobConf)) -> JobSpec {
    let mut spec = job(n_maps, n_reduces);
    change(&mut spec.conf);
    spec
}

/// A job of so many maps that requires something of its workers.
pub fn job_for(n_maps: u32, requires: &[&str]) -> JobSpec {
    job_with(n_maps, 0, |conf| conf.requires = Requirements::parse(requires).expect("requirements"))
}

/// A job of maps with data on the given hosts, one list per map.
pub fn job_on(hosts: &[&[&str]]) -> JobSpec {
    JobSpec { split_hosts: SplitHosts::new(hosts.iter().map(|h| h.iter().copied())), ..job(hosts.len() as u32, 0) }
}

/// What a simulated worker knows.
#[derive(Clone, Debug, Default)]
pub struct Puppet {
    pub incarnation: u64,
    pub response_id: u32,
    pub slots: [u16; 2],
    pub host: String,
    pub rack: String,
    /// What it runs, and ends that no answer has acknowledged.
    pub attempts: BTreeMap<AttemptId, AttemptState>,
    /// Attempts that it was told to stop, and that may commit.
    pub kills: BTreeSet<AttemptId>,
    pub grants: BTreeSet<AttemptId>,
    /// A report is under way.
    pub waiting: bool,
    /// It was told to register again.
    pub reinit: bool,
    /// The next answer is lost on its way.
    pub deaf: bool,
    /// What each of its reports says of its attributes.
    pub attributes: Option<AttributeSet>,
    /// Directives on their way.
    pub inbox: Vec<Effect>,
}

/// A JobTracker under test with its workers as puppets.
pub struct Cluster {
    pub tracker: JobTracker,
    pub now: Time,
    pub puppets: Vec<Puppet>,
    /// Effects not yet taken by the scenario.
    pub effects: Vec<Effect>,
    pub parks: bool,
    /// Whether workers report loads and progress without any sense.
    pub noisy: bool,
    /// All batches, if they are to be kept: inputs, effects, what the policy preempted and reserved.
    pub batches: Option<Vec<Batch>>,
    jobs: u32,
}

/// One batch as it was.
pub type Batch = (Time, Vec<Input>, Vec<Effect>, Vec<Preemption>, Vec<Reservation>);

impl Cluster {
    /// FIFO, a fixed heartbeat of 3 s, Hadoop's timeouts; workers do not park.
    pub fn new() -> Cluster {
        Cluster::with(|_| {})
    }

    /// As [`Cluster::new`], with a policy that gives every running task a speculative attempt where it can.
    pub fn eager() -> Cluster {
        Cluster::made(|_| {}, Box::new(odd::Odd::eager()))
    }

    pub fn with(change: impl FnOnce(&mut ClusterConfig)) -> Cluster {
        Cluster::made(change, by_name("fifo", &BTreeMap::new()).expect("fifo exists"))
    }

    pub fn made(change: impl FnOnce(&mut ClusterConfig), scheduler: Box<dyn Scheduler>) -> Cluster {
        let mut config =
            ClusterConfig { heartbeat: HeartbeatRule::Fixed { interval_ms: 3_000 }, ..ClusterConfig::default() };
        change(&mut config);
        Cluster {
            tracker: JobTracker::new(config, scheduler),
            now: Time::from_ms(1_000_000),
            puppets: Vec::new(),
            effects: Vec::new(),
            parks: false,
            noisy: false,
            batches: None,
            jobs: 0,
        }
    }

    /// Adds workers `w0`, `w1`, …, each on an own host `h0`, … in rack `/r`.
    pub fn workers(mut self, n: u32, maps: u16, reduces: u16) -> Cluster {
        for _ in 0..n {
            let id = self.puppets.len() as u32;
            self.add_worker(&format!("h{id}"), "/r", maps, reduces);
        }
        self.effects.clear();
        self
    }

    /// The same cluster with a fork of its JobTracker.
    pub fn fork(&self) -> Cluster {
        Cluster {
            tracker: self.tracker.fork(),
            puppets: self.puppets.clone(),
            effects: self.effects.clone(),
            batches: self.batches.clone(),
            ..*self
        }
    }

    pub fn parking(mut self) -> Cluster {
        self.parks = true;
        self
    }

    pub fn add_worker(&mut self, host: &str, rack: &str, maps: u16, reduces: u16) -> WorkerId {
        let worker = WorkerId(self.puppets.len() as u32);
        self.puppets.push(Puppet {
            incarnation: 1,
            slots: [maps, reduces],
            host: host.into(),
            rack: rack.into(),
            ..Puppet::default()
        });
        self.apply(&[self.registration(worker, host, rack)]);
        worker
    }

    pub fn registration(&self, worker: WorkerId, host: &str, rack: &str) -> Input {
        let puppet = &self.puppets[worker.0 as usize];
        Input::Register(Box::new(Registration {
            worker,
            incarnation: puppet.incarnation,
            starts: false,
            name: format!("w{}", worker.0),
            host: host.into(),
            rack: rack.into(),
            map_slots: puppet.slots[0],
            reduce_slots: puppet.slots[1],
            attributes: Vec::new(),
            kept: Vec::new(),
        }))
    }

    /// The worker's process starts anew: it has nothing and registers.
    pub fn restart(&mut self, worker: u32) {
        self.restart_with(worker, &[]);
    }

    /// The worker's process starts anew, with these map outputs on its disk.
    pub fn restart_with(&mut self, worker: u32, kept: &[AttemptId]) {
        self.hello(worker, true, kept);
    }

    /// The worker's process goes on and says hello again, with nothing that it had.
    pub fn register_again(&mut self, worker: u32) {
        self.hello(worker, false, &[]);
    }

    fn hello(&mut self, worker: u32, starts: bool, kept: &[AttemptId]) {
        let puppet = &mut self.puppets[worker as usize];
        *puppet = Puppet {
            incarnation: puppet.incarnation + 1,
            slots: puppet.slots,
            host: puppet.host.clone(),
            rack: puppet.rack.clone(),
            ..Puppet::default()
        };
        let (host, rack) = (puppet.host.clone(), puppet.rack.clone());
        let mut hello = self.registration(WorkerId(worker), &host, &rack);
        if let Input::Register(hello) = &mut hello {
            (hello.starts, hello.kept) = (starts, kept.to_vec());
        }
        self.apply(&[hello]);
    }

    /// The master starts anew on a snapshot, which is written and read in between.
    pub fn restart_master(&mut self) {
        let fifo = || by_name("fifo", &BTreeMap::new()).expect("fifo exists");
        let snapshot = self.tracker.snapshot().expect("nothing is under way");
        let text = serde_json::to_string(&snapshot).expect("it is written");
        let read = serde_json::from_str(&text).expect("it is of the form");
        let restored = JobTracker::from_snapshot(self.tracker.config().clone(), fifo(), read);
        self.tracker = restored.expect("it is a master's");
        assert_eq!(self.tracker.snapshot(), Some(snapshot));
        self.apply(&[Input::Recovered]);
    }

    pub fn submit(&mut self, spec: JobSpec) -> JobId {
        self.jobs += 1;
        let job = JobId(self.jobs);
        self.apply(&[Input::Submit { job, spec: Arc::new(spec) }]);
        job
    }

    /// Applies a batch now, checks the invariants and notes what the workers are sent.
    pub fn apply(&mut self, inputs: &[Input]) {
        let from = self.effects.len();
        self.tracker.apply(self.now, inputs, &mut self.effects);
        if let Err(broken) = self.tracker.check_invariants() {
            panic!("{broken}\nafter {inputs:?}\neffects {:?}", &self.effects[from..]);
        }
        if let Some(batches) = &mut self.batches {
            let effects = self.effects[from..].to_vec();
            let (preempted, reserved) = (self.tracker.preempted().to_vec(), self.tracker.reserved().to_vec());
            batches.push((self.now, inputs.to_vec(), effects, preempted, reserved));
        }
        for effect in &self.effects[from..] {
            take_effect(&mut self.puppets, effect);
        }
    }

    /// Time passes; ticks at every deadline on the way.
    pub fn advance(&mut self, ms: u64) {
        let end = Time::from_us(self.now.as_us() + ms * 1_000);
        while let Some(due) = self.tracker.next_deadline().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.apply(&[Input::Tick]);
            let next = self.tracker.next_deadline();
            assert!(
                next.is_none_or(|next| next > self.now),
                "deadline {next:?} is not after the tick at {:?}",
                self.now
            );
        }
        self.now = end;
    }

    /// A heartbeat with the puppet's attempts as they are.
    pub fn report_of(&self, worker: u32) -> Report {
        let puppet = &self.puppets[worker as usize];
        let mut free = puppet.slots;
        for (id, state) in &puppet.attempts {
            free[id.kind] -= u16::from(!state.is_final());
        }
        let mut report = Report {
            worker: WorkerId(worker),
            incarnation: puppet.incarnation,
            response_id: puppet.response_id,
            free_maps: free[0],
            free_reduces: free[1],
            accepts_tasks: true,
            may_park: self.parks,
            attempts: puppet.attempts.iter().map(|(&id, &state)| status(id, state)).collect(),
            vitals: Vitals::default(),
            attributes: puppet.attributes.clone(),
        };
        if self.noisy {
            odd::make_noise(&mut report, self.now);
        }
        report
    }

    /// Changes a worker's attributes and sends a heartbeat, which tells them, as all later ones do.
    pub fn tell(&mut self, worker: u32, attributes: &[(&str, &str)]) {
        let known = &mut self.puppets[worker as usize].attributes;
        let version = known.as_ref().map_or(1, |set| set.version + 1);
        let attributes = attributes.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        *known = Some(AttributeSet { version, attributes });
        self.beat(worker);
    }

    /// Sends that heartbeat.
    pub fn beat(&mut self, worker: u32) {
        let report = self.report_of(worker);
        self.puppets[worker as usize].waiting = true;
        self.apply(&[Input::Report(Box::new(report))]);
    }

    /// Changes attempts on a worker and sends a heartbeat.
    pub fn report(&mut self, worker: u32, changes: &[(AttemptId, AttemptState)]) {
        for &(id, state) in changes {
            self.puppets[worker as usize].attempts.insert(id, state);
        }
        self.beat(worker);
    }

    /// Fails an attempt in a way that no other one can mend and sends a heartbeat.
    pub fn fail_for_good(&mut self, worker: u32, attempt: AttemptId) {
        self.puppets[worker as usize].attempts.insert(attempt, AttemptState::Failed);
        let mut report = self.report_of(worker);
        report.attempts.iter_mut().filter(|status| status.attempt == attempt).for_each(|status| status.fatal = true);
        self.puppets[worker as usize].waiting = true;
        self.apply(&[Input::Report(Box::new(report))]);
    }

    pub fn state(&self) -> &ClusterState {
        self.tracker.state()
    }

    pub fn job_state(&self, job: JobId) -> JobState {
        let state = self.state();
        state.job(job).map(|j| j.state()).or(state.ended_job(job).map(|j| j.state)).expect("the job exists")
    }

    /// What runs on a worker as the core has it.
    pub fn running_on(&self, worker: u32) -> Vec<AttemptId> {
        let mut ids: Vec<_> = self.state().attempts_on(WorkerId(worker)).map(|a| a.id()).collect();
        ids.sort();
        ids
    }

    /// Takes all effects that the filter keeps.
    pub fn take<T>(&mut self, keep: impl Fn(&Effect) -> Option<T>) -> Vec<T> {
        let mut taken = Vec::new();
        self.effects.retain(|effect| match keep(effect) {
            Some(value) => {
                taken.push(value);
                false
            }
            None => true,
        });
        taken
    }

    pub fn ends(&mut self) -> Vec<(AttemptId, AttemptState, EndCause)> {
        self.take(|effect| match *effect {
            Effect::AttemptEnded { attempt, state, cause, .. } => Some((attempt, state, cause)),
            _ => None,
        })
    }

    pub fn launches(&mut self) -> Vec<(u32, AttemptId)> {
        self.take(|effect| match *effect {
            Effect::Launch { worker, attempt, .. } => Some((worker.0, attempt)),
            _ => None,
        })
    }

    pub fn answers(&mut self) -> Vec<u32> {
        self.take(|effect| match *effect {
            Effect::Answer { worker, .. } => Some(worker.0),
            _ => None,
        })
    }

    pub fn job_states(&mut self) -> Vec<(u32, JobState)> {
        self.take(|effect| match *effect {
            Effect::JobState { job, state } => Some((job.0, state)),
            _ => None,
        })
    }

    /// Takes one effect that must be there.
    pub fn expect(&mut self, wanted: Effect) {
        let position = self.effects.iter().position(|effect| *effect == wanted);
        let position = position.unwrap_or_else(|| panic!("expected {wanted:?} among {:#?}", self.effects));
        self.effects.remove(position);
    }

    /// All effects have been taken, but for answers.
    pub fn nothing_else(&mut self) {
        self.answers();
        assert!(self.effects.is_empty(), "unexpected {:#?}", self.effects);
    }
}

/// A status line of a report.
pub fn status(attempt: AttemptId, state: AttemptState) -> AttemptReport {
    let phase = Phase::Starting;
    AttemptReport { attempt, state, phase, progress: Progress::ZERO, fetch_failures: Vec::new(), fatal: false }
}

/// Directives wait for the answer that carries them, as in a driver.
fn take_effect(puppets: &mut [Puppet], effect: &Effect) {
    let worker = match *effect {
        Effect::Launch { worker, .. }
        | Effect::Kill { worker, .. }
        | Effect::Commit { worker, .. }
        | Effect::ForgetJob { worker, .. }
        | Effect::Reinit { worker }
        | Effect::Answer { worker, .. } => worker,
        _ => return,
    };
    if let Some(puppet) = puppets.get_mut(worker.0 as usize) {
        puppet.take_effect(effect);
    }
}

impl Puppet {
    fn take_effect(&mut self, effect: &Effect) {
        let Effect::Answer { response_id, .. } = *effect else {
            self.inbox.push(*effect);
            return;
        };
        let inbox = std::mem::take(&mut self.inbox);
        self.waiting = false;
        if std::mem::take(&mut self.deaf) {
            return;
        }
        self.response_id = response_id;
        // The answered report contained every end so far.
        self.attempts.retain(|_, state| !state.is_final());
        for directive in inbox {
            match directive {
                Effect::Launch { attempt, .. } => {
                    self.attempts.entry(attempt).or_insert(Running);
                    let n =
                        self.attempts.iter().filter(|(id, state)| id.kind == attempt.kind && !state.is_final()).count();
                    assert!(n <= usize::from(self.slots[attempt.kind]), "more launches than slots");
                }
                Effect::Kill { attempt, .. } => drop(self.kills.insert(attempt)),
                Effect::Commit { attempt, .. } => drop(self.grants.insert(attempt)),
                Effect::Reinit { .. } => self.reinit = true,
                _ => {}
            }
        }
    }
}
