//! The swarm's world: time, the network, workers with pretended processes, clients.
//!
//! Nothing here decides anything. Messages are lost, delivered twice and late; workers crash, freeze, are cut off and
//! come back; the master crashes between any two things that it does. After a while the faults stop, and then
//! everything must end well.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::compaction::Kept;
use super::master::{Call, Entry, Master};
use super::plan::{Dice, Plan};
use super::requests::Requests;
use super::watch::Watch;
use crate::job::{AttemptId, JobId, JobState, Phase, Progress, TaskId, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::task_tracker::{TaskTracker, TrackerConfig, TrackerEffect, TrackerInput};
use crate::tracker::{Effect, Input, Registration, Report, Vitals};

/// How long after the last fault everything has to be over.
const CALM: Span = Span::from_secs(1_200);
/// A call that got lost is given up after this.
const CALL_TIMEOUT: Span = Span::from_secs(1);
/// Between two looks of a reduce at the outputs that it misses.
const LOOK: Span = Span::from_ms(500);
/// How long a keeper that hangs takes to see that its process is gone.
const KEEPER_HANGS: Span = Span::from_secs(25);

/// Faults of the driver that can be planted, beside those of the state machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    /// Answers leave before their frame is on disk.
    AnswerFirst,
    /// Some frames are not synced before their effects leave.
    SkipSync,
    /// After a restart whatever lies there is promoted, not what won.
    PromoteAny,
    /// A restart does not tell the core that it was one.
    NoRecovered,
    /// A restart does not go on with promotions that were interrupted.
    ForgetPromotion,
    /// A restart promotes the output of jobs that are over once more.
    PromoteTwice,
    /// One field that is out of bounds refuses the whole report, and not only itself.
    RefuseReport,
    /// A keeper that hangs never tells the end of its process, and its slot is gone.
    HungKeeper,
    /// What came before a snapshot is removed before the snapshot is on disk.
    RemoveFirst,
    /// A promotion that was interrupted and then misses a part leaves in place what it had moved.
    LeaveMoved,
}

/// Something that happens at an instant.
pub(super) enum Event {
    Submit,
    KillJob(JobId),
    /// Somebody changes a job.
    Change,
    Register {
        node: usize,
        life: u32,
        incarnation: u64,
        /// Map outputs on its disk then.
        kept: Vec<AttemptId>,
    },
    /// The master has taken the registration, and wants these of the outputs that it named.
    Registered {
        node: usize,
        life: u32,
        input: TrackerInput,
        named: Vec<AttemptId>,
        keep: BTreeSet<AttemptId>,
    },
    Report {
        node: usize,
        life: u32,
        seq: u32,
        report: Box<Report>,
    },
    /// The keeper of a process that was killed has seen its end.
    Reaped {
        node: usize,
        life: u32,
        attempt: AttemptId,
    },
    ToNode {
        node: usize,
        life: u32,
        input: TrackerInput,
    },
    Process {
        node: usize,
        life: u32,
        attempt: AttemptId,
    },
    Promote {
        start: u32,
        job: JobId,
    },
    StartMaster,
    StartNode(usize),
    WorkerFault,
    /// Somebody asks something of a worker, or of an attempt.
    Ask,
    /// The connections of a worker have been closed for a while.
    Gone {
        worker: WorkerId,
        incarnation: u64,
    },
    RegisterAgain {
        node: usize,
        incarnation: u64,
        kept: Vec<AttemptId>,
    },
}

/// What a pretended process does.
#[derive(Clone, Debug, Default)]
struct Process {
    fetched: BTreeSet<u32>,
    fails: bool,
    hangs: bool,
    granted: bool,
    /// It was killed; its keeper has yet to notice.
    killed: bool,
}

/// A worker.
pub(super) struct Node {
    /// `None` while it is down.
    tracker: Option<TaskTracker>,
    /// Which run of it; what belongs to an earlier one is ignored.
    life: u32,
    running: BTreeMap<AttemptId, Process>,
    /// Map outputs on its disk.
    outputs: BTreeSet<AttemptId>,
    /// The network reaches it again then.
    cut_until: Time,
    last_seq: u32,
    registering: bool,
}

pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) dice: Dice,
    pub(super) driver: Option<Driver>,
    pub(super) now: Time,
    pub(super) master: Option<Master>,
    pub(super) journal: Vec<Entry>,
    /// Entries that are on disk.
    pub(super) synced: usize,
    /// Entries that the onlooker has seen.
    pub(super) watched: usize,
    /// Snapshots in the journal, oldest first, and how many of them are on disk.
    pub(super) snapshots: Vec<Kept>,
    pub(super) synced_snapshots: usize,
    pub(super) compaction_dice: Dice,
    pub(super) work_dice: Dice,
    /// For parts that the file system loses.
    pub(super) part_dice: Dice,
    /// For map outputs that a worker that crashed still has.
    disk_dice: Dice,
    pub(super) kept_outputs: u64,
    pub(super) lost_parts: u64,
    /// Parts that were in place and went, as another was gone.
    pub(super) withdrawn: u64,
    pub(super) changes: Changes,
    pub(super) watch: Watch,
    pub(super) nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), Event>,
    next: u64,
    /// Output that attempts wrote for themselves, and output that readers see.
    pub(super) private: BTreeSet<AttemptId>,
    pub(super) promoted: BTreeMap<TaskId, AttemptId>,
    /// Output that its reader took away once the job was said to have succeeded.
    pub(super) taken: BTreeMap<TaskId, AttemptId>,
    /// What was announced to clients.
    pub(super) submitted: BTreeSet<JobId>,
    pub(super) killed: BTreeSet<JobId>,
    pub(super) announced: BTreeMap<JobId, JobState>,
    pub(super) kills_asked: BTreeSet<JobId>,
    pub(super) faults: bool,
    pub(super) starts: u32,
    pub(super) recovered_at: Option<Time>,
    broken: Option<String>,
    // For the report.
    pub(super) inputs: u64,
    pub(super) crashes: u64,
    pub(super) n_snapshots: u64,
    /// Of those, with jobs that were not over.
    pub(super) n_at_work: u64,
    pub(super) worker_faults: u64,
    pub(super) requests: Requests,
}

/// What a world that held went through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorldOutcome {
    pub(super) simulated: Span,
    pub(super) requests: u64,
    pub(super) black_holes: u64,
    pub(super) poison: u64,
    pub(super) inputs: u64,
    pub(super) master_crashes: u64,
    pub(super) worker_faults: u64,
    pub(super) jobs: u64,
    pub(super) snapshots: u64,
    pub(super) snapshots_at_work: u64,
    pub(super) lost_parts: u64,
    pub(super) kept_outputs: u64,
    pub(super) withdrawn: u64,
    pub(super) changes: u64,
}

impl World {
    pub(super) fn new(seed: u64, driver: Option<Driver>) -> World {
        let mut dice = Dice::new(seed);
        let mut plan = Plan::draw(&mut dice);
        let requests = Requests::new(seed, &mut plan);
        let watch = Watch::new(plan.config.max_worker_losses);
        let node = |_: &_| Node {
            tracker: None,
            life: 0,
            running: BTreeMap::new(),
            outputs: BTreeSet::new(),
            cut_until: Time::ZERO,
            last_seq: 0,
            registering: false,
        };
        let nodes = plan.slots.iter().map(node).collect();
        World {
            plan,
            dice,
            driver,
            now: Time::from_ms(1_000),
            master: None,
            journal: Vec::new(),
            synced: 0,
            watched: 0,
            snapshots: Vec::new(),
            synced_snapshots: 0,
            compaction_dice: Dice::new(seed.rotate_left(17) ^ 0x5A5A),
            work_dice: Dice::new(seed.rotate_left(29) ^ 0xA5A5),
            part_dice: Dice::new(seed.rotate_left(41) ^ 0x3C3C),
            disk_dice: Dice::new(seed.rotate_left(53) ^ 0xC3C3),
            kept_outputs: 0,
            lost_parts: 0,
            withdrawn: 0,
            changes: Changes::new(seed),
            watch,
            nodes,
            events: BTreeMap::new(),
            next: 0,
            private: BTreeSet::new(),
            promoted: BTreeMap::new(),
            taken: BTreeMap::new(),
            submitted: BTreeSet::new(),
            killed: BTreeSet::new(),
            announced: BTreeMap::new(),
            kills_asked: BTreeSet::new(),
            faults: true,
            starts: 0,
            recovered_at: None,
            broken: None,
            inputs: 0,
            crashes: 0,
            n_snapshots: 0,
            n_at_work: 0,
            worker_faults: 0,
            requests,
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    pub(super) fn check(&mut self, result: Result<(), String>) {
        if let Err(why) = result {
            self.fail(why);
        }
    }

    pub(super) fn later(&mut self, after: Span, event: Event) {
        self.next += 1;
        self.events.insert((self.now + after, self.next), event);
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// Says what should not have happened, or did not.
    pub(super) fn run(mut self) -> Result<WorldOutcome, String> {
        self.start_master();
        for node in 0..self.nodes.len() {
            self.start_node(node);
        }
        self.later(Span::from_ms(500), Event::Submit);
        self.next_worker_fault();
        self.begin_requests();
        for n in 0..self.dice.below(3) {
            let after = Span::from_ms(1_000 + self.dice.below(30_000));
            self.later(after, Event::KillJob(JobId(1 + n as u32 * 2)));
        }
        self.begin_changes();
        let calm_from = self.now + self.plan.faults_for;
        let end = calm_from + CALM;
        let (mut at_once, mut last) = (0, self.now);
        while self.broken.is_none() && !self.is_over() {
            let Some(at) = self.next_instant().filter(|&at| at <= end) else {
                let open: Vec<String> = self.open_jobs();
                return Err(format!("nothing more happens, but {}", open.join(", ")));
            };
            if self.faults && at >= calm_from {
                self.calm_down();
                continue;
            }
            self.now = self.now.max(at);
            at_once = if self.now == last { at_once + 1 } else { 0 };
            last = self.now;
            if at_once > 20_000 {
                return Err(format!("time stands still at {:?}", self.now));
            }
            self.step(at);
            self.check_grace();
        }
        match self.broken.take() {
            Some(why) => Err(why),
            None => self.final_checks(),
        }
    }

    fn next_instant(&self) -> Option<Time> {
        let event = self.events.first_key_value().map(|(&(at, _), _)| at);
        let nodes = self.nodes.iter().filter_map(|node| node.tracker.as_ref()?.next_deadline()).min();
        let master = self.master.as_ref().and_then(|master| master.tracker.next_deadline());
        [event, nodes, master].into_iter().flatten().min()
    }

    fn step(&mut self, at: Time) {
        if self.events.first_key_value().is_some_and(|(&(due, _), _)| due == at) {
            let (_, event) = self.events.pop_first().expect("seen above");
            self.happen(event);
        } else if self.master.as_ref().and_then(|master| master.tracker.next_deadline()) == Some(at) {
            self.master(vec![Input::Tick]);
        } else {
            for node in 0..self.nodes.len() {
                self.node(node, TrackerInput::Tick);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Submit => self.submit(),
            Event::KillJob(job) => {
                let state = self.master.as_ref().map(|master| master.tracker.state());
                if state.is_some_and(|state| state.job(job).is_some()) {
                    self.kills_asked.insert(job);
                    if self.master(vec![Input::KillJob { job }]) {
                        self.killed.insert(job);
                    }
                }
            }
            Event::Change => self.change(),
            Event::Register { node, life, incarnation, kept } => self.on_register(node, life, incarnation, kept),
            Event::Registered { node, life, input, named, keep } => {
                if self.nodes[node].life == life {
                    let goes = |output: &AttemptId| named.contains(output) && !keep.contains(output);
                    self.nodes[node].outputs.retain(|output| !goes(output));
                    self.node(node, input);
                }
            }
            Event::Report { node, life, seq, report } => self.on_report(node, life, seq, report),
            Event::Reaped { node, life, attempt } => {
                if self.nodes[node].life == life && self.nodes[node].running.remove(&attempt).is_some() {
                    self.node(node, TrackerInput::Ended { attempt, ok: false, process_alive: false });
                }
            }
            Event::ToNode { node, life, input } => {
                if self.nodes[node].life == life {
                    self.node(node, input);
                }
            }
            Event::Process { node, life, attempt } => {
                if self.nodes[node].life == life {
                    self.process(node, attempt);
                }
            }
            Event::Promote { start, job } => self.promote(start, job),
            Event::StartMaster => {
                if self.master.is_none() {
                    self.start_master();
                }
            }
            Event::StartNode(node) => self.start_node(node),
            Event::WorkerFault => self.worker_fault(),
            Event::Ask => self.ask(),
            Event::Gone { worker, incarnation } => self.on_gone(worker, incarnation),
            Event::RegisterAgain { node, incarnation, kept } => self.on_registered_again(node, incarnation, kept),
        }
    }

    /// One client hands in all jobs; a call that broke is tried again once it is known what became of it.
    fn submit(&mut self) {
        let number = self.submitted.len() as u32 + 1;
        let Some(spec) = self.plan.jobs.get(number as usize - 1).cloned() else { return };
        let state = self.master.as_ref().map(|master| master.tracker.state().last_job());
        let entered = match state {
            None => false,
            Some(last) if last >= number => true,
            Some(_) => self.master(vec![Input::Submit { job: JobId(number), spec: spec.into() }]),
        };
        if entered {
            self.submitted.insert(JobId(number));
        }
        let pause = Span::from_ms(100 + self.dice.below(8_000));
        self.later(pause, Event::Submit);
    }

    fn on_register(&mut self, node: usize, life: u32, incarnation: u64, kept: Vec<AttemptId>) {
        let Some(master) = &mut self.master else { return self.break_call(node) };
        let state = master.tracker.state();
        let worker = state
            .worker_named(&format!("w{node}"))
            .map_or(WorkerId(state.workers().len() as u32), |worker| worker.id());
        let known = state.worker(worker).map_or(0, |worker| worker.incarnation());
        if incarnation >= known {
            master.waiting.remove(&worker);
        }
        let hello = Registration { starts: true, ..self.plan.registration(node, worker, incarnation, kept.clone()) };
        let interval = Span::from_ms(u64::from(master.tracker.interval_ms()));
        let taken = self.master(vec![Input::Register(Box::new(hello))]) && incarnation >= known;
        if taken && !self.is_lost(node) {
            let effects = self.journal.last().map_or(&[][..], |entry| &entry.effects);
            let keep = effects.iter().filter_map(|effect| match *effect {
                Effect::OutputKept { attempt, worker: its } if its == worker => Some(attempt),
                _ => None,
            });
            let (keep, input) = (keep.collect(), TrackerInput::Registered { worker, interval });
            self.later(Span::from_ms(1), Event::Registered { node, life, input, named: kept, keep });
        } else {
            self.later(CALL_TIMEOUT, Event::ToNode { node, life, input: TrackerInput::RegisterFailed });
        }
    }

    fn on_report(&mut self, node: usize, life: u32, seq: u32, report: Box<Report>) {
        let (worker, incarnation) = (report.worker, report.incarnation);
        let failed = Event::ToNode { node, life, input: TrackerInput::HeartbeatFailed { seq } };
        let Some(master) = &mut self.master else { return self.later(CALL_TIMEOUT, failed) };
        // What an attempt of such a job says for people to read is out of bounds, and left out.
        let is_odd = report.attempts.iter().any(|said| self.plan.is_odd(said.attempt.job));
        if is_odd && self.driver == Some(Driver::RefuseReport) {
            return self.later(Span::from_ms(1), failed);
        }
        let newest = master.newest.entry((worker, incarnation)).or_default();
        if seq <= *newest {
            // The newer one is here already; the call of this one ends.
            return;
        }
        *newest = seq.max(*newest);
        // An earlier run of the worker gets no answer: that would reach the present one.
        if master.tracker.state().worker(worker).is_none_or(|known| known.incarnation() == incarnation) {
            master.waiting.insert(worker, Call { node, life, seq });
        } else {
            self.later(CALL_TIMEOUT, failed);
        }
        self.batch(vec![Input::Report(report)], Some((worker, incarnation, seq)));
    }

    fn is_cut(&self, node: usize) -> bool {
        self.now < self.nodes[node].cut_until
    }

    fn is_lost(&mut self, node: usize) -> bool {
        self.is_cut(node) || (self.faults && self.dice.one_in(self.plan.loss))
    }

    /// How long a message takes, and whether it comes twice.
    fn delay(&mut self) -> (Span, bool) {
        let us = 200 + self.dice.below(2_000);
        let late = self.faults && self.dice.one_in(self.plan.late);
        let late = if late { self.dice.below(20_000_000) } else { 0 };
        (Span::from_us(us + late), self.faults && self.dice.one_in(self.plan.twice))
    }

    /// The master answers a report.
    pub(super) fn answer(&mut self, call: Call, input: TrackerInput) {
        let Call { node, life, seq } = call;
        if self.is_lost(node) {
            let input = TrackerInput::HeartbeatFailed { seq };
            return self.later(CALL_TIMEOUT, Event::ToNode { node, life, input });
        }
        let (delay, twice) = self.delay();
        if twice {
            let (again, _) = self.delay();
            self.later(again, Event::ToNode { node, life, input: input.clone() });
        }
        self.later(delay, Event::ToNode { node, life, input });
    }

    /// The connection of a worker's open call breaks.
    pub(super) fn break_call(&mut self, node: usize) {
        let Node { life, last_seq: seq, registering, .. } = self.nodes[node];
        let input = if registering { TrackerInput::RegisterFailed } else { TrackerInput::HeartbeatFailed { seq } };
        self.later(Span::from_ms(1), Event::ToNode { node, life, input });
    }

    fn start_node(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        if node.tracker.is_some() {
            return;
        }
        node.life += 1;
        let [map_slots, reduce_slots] = self.plan.slots[index];
        let config = TrackerConfig {
            map_slots,
            reduce_slots,
            // Each run leaves room for registrations of its own.
            incarnation: u64::from(node.life) << 32,
            seed: index as u64,
            ..TrackerConfig::default()
        };
        (node.last_seq, node.registering) = (0, false);
        node.tracker = Some(TaskTracker::new(config));
        self.node(index, TrackerInput::Tick);
    }

    fn next_worker_fault(&mut self) {
        if let Some(every) = self.plan.worker_faults_every {
            let after = Span::from_us(1 + self.dice.below(2 * every.as_us()));
            self.later(after, Event::WorkerFault);
        }
    }

    fn worker_fault(&mut self) {
        if !self.faults {
            return;
        }
        self.worker_faults += 1;
        let index = self.dice.below(self.nodes.len() as u64) as usize;
        let long = Span::from_ms(100 + self.dice.below(self.dice.clone().below(90_000) + 1));
        let node = &mut self.nodes[index];
        if self.dice.one_in(2) {
            // Its network goes away and comes back; what it runs goes on.
            node.cut_until = self.now + long;
            self.break_call(index);
        } else if node.tracker.take().is_some() {
            node.running.clear();
            node.life += 1;
            // Its disk may have gone with it, or some files.
            let all = self.disk_dice.one_in(4);
            let mut outputs = std::mem::take(&mut self.nodes[index].outputs);
            outputs.retain(|_| !all && !self.disk_dice.one_in(6));
            self.nodes[index].outputs = outputs;
            self.connections_close(index);
            self.later(long, Event::StartNode(index));
        }
        self.next_worker_fault();
    }

    /// A worker's process ends in order, to be started again soon; false if there is none.
    pub(super) fn stop_node(&mut self, index: usize) -> bool {
        let node = &mut self.nodes[index];
        if node.tracker.take().is_none() {
            return false;
        }
        node.running.clear();
        node.outputs.clear();
        node.life += 1;
        self.later(Span::from_secs(2), Event::StartNode(index));
        true
    }

    /// No fault from now on.
    fn calm_down(&mut self) {
        self.faults = false;
        if self.master.is_none() {
            self.start_master();
        }
        for index in 0..self.nodes.len() {
            self.nodes[index].cut_until = Time::ZERO;
            self.start_node(index);
        }
        self.take_back_drained();
    }

    fn node(&mut self, index: usize, input: TrackerInput) {
        if matches!(input, TrackerInput::Registered { .. } | TrackerInput::RegisterFailed) {
            self.nodes[index].registering = false;
        }
        let Some(tracker) = &mut self.nodes[index].tracker else { return };
        let mut effects = Vec::new();
        tracker.apply(self.now, &[input], &mut effects);
        let sound = tracker.check_invariants();
        self.check(sound);
        for effect in effects {
            self.node_effect(index, effect);
        }
    }

    fn node_effect(&mut self, node: usize, effect: TrackerEffect) {
        let life = self.nodes[node].life;
        match effect {
            TrackerEffect::Register { incarnation } => {
                self.nodes[node].registering = true;
                if self.is_lost(node) {
                    return self.later(CALL_TIMEOUT, Event::ToNode { node, life, input: TrackerInput::RegisterFailed });
                }
                let (delay, _) = self.delay();
                let kept: Vec<AttemptId> = self.nodes[node].outputs.iter().copied().collect();
                self.register_again(node, incarnation, &kept);
                self.later(delay, Event::Register { node, life, incarnation, kept });
            }
            TrackerEffect::Report { seq } => self.send_report(node, life, seq),
            TrackerEffect::FetchJob { job } => {
                let timeout = self.plan.jobs[job.0 as usize - 1].conf.task_timeout_ms;
                let task_timeout = Span::from_ms(timeout);
                let known = TrackerInput::JobKnown { job, task_timeout, reuse_tasks: 1 };
                self.later(Span::from_ms(3), Event::ToNode { node, life, input: known });
            }
            TrackerEffect::Start { attempt, .. } => self.start_process(node, attempt),
            TrackerEffect::GrantCommit { attempt } => {
                if let Some(process) = self.nodes[node].running.get_mut(&attempt) {
                    process.granted = true;
                }
                self.later(Span::from_ms(5), Event::Process { node, life, attempt });
            }
            TrackerEffect::Terminate { attempt, .. } if self.dice.one_in(4) => {
                // It does not listen; the hard signal will end it.
                let _ = attempt;
            }
            TrackerEffect::Terminate { attempt, .. } | TrackerEffect::Kill { attempt } => self.kill(node, attempt),
            TrackerEffect::ForgetJob { job } => self.nodes[node].outputs.retain(|output| output.job != job),
            _ => {}
        }
    }

    /// A process gets its signal. Its end is known when its keeper says so, and that may take its time.
    fn kill(&mut self, node: usize, attempt: AttemptId) {
        let life = self.nodes[node].life;
        let Some(process) = self.nodes[node].running.get_mut(&attempt) else {
            // It has just ended by itself.
            let input = TrackerInput::Ended { attempt, ok: false, process_alive: false };
            return self.later(Span::from_ms(1), Event::ToNode { node, life, input });
        };
        if std::mem::replace(&mut process.killed, true) {
            return;
        }
        let keeper_hangs = self.plan.keeper_hangs(attempt);
        if keeper_hangs && self.driver == Some(Driver::HungKeeper) {
            return;
        }
        let after = if keeper_hangs { KEEPER_HANGS } else { Span::from_ms(1) };
        self.later(after, Event::Reaped { node, life, attempt });
    }

    fn send_report(&mut self, node: usize, life: u32, seq: u32) {
        let tracker = self.nodes[node].tracker.as_ref().expect("it has just asked for this");
        let report = Box::new(tracker.report(Vitals::default(), self.has_room(node)));
        self.nodes[node].last_seq = seq;
        if self.is_lost(node) {
            return self
                .later(CALL_TIMEOUT, Event::ToNode { node, life, input: TrackerInput::HeartbeatFailed { seq } });
        }
        let (delay, twice) = self.delay();
        if twice {
            let (again, _) = self.delay();
            self.later(again, Event::Report { node, life, seq, report: report.clone() });
        }
        if delay > CALL_TIMEOUT {
            // The worker has given it up when it arrives.
            self.later(CALL_TIMEOUT, Event::ToNode { node, life, input: TrackerInput::HeartbeatFailed { seq } });
        }
        self.later(delay, Event::Report { node, life, seq, report });
    }

    fn start_process(&mut self, node: usize, attempt: AttemptId) {
        let kind = attempt.kind;
        // A worker that begins anew does not wait for what it has killed.
        let fills = |(other, process): &(&AttemptId, &Process)| other.kind == kind && !process.killed;
        let running = self.nodes[node].running.iter().filter(fills).count();
        if running >= usize::from(self.plan.slots[node][kind]) {
            self.fail(format!("{attempt:?} starts on a worker whose slots are full"));
        }
        let process = Process {
            fails: self.faults && self.dice.one_in(self.plan.failures),
            hangs: self.faults && self.dice.one_in(self.plan.hangs),
            ..Process::default()
        };
        if self.nodes[node].running.insert(attempt, process).is_some() {
            self.fail(format!("{attempt:?} is started twice"));
        }
        let mut ms = (100 + self.dice.below(2_000)) * self.plan.slowness[node];
        if self.fails_all(node)
            && let Some(process) = self.nodes[node].running.get_mut(&attempt)
        {
            (process.fails, process.hangs, ms) = (true, false, 50);
        }
        let life = self.nodes[node].life;
        self.later(Span::from_ms(ms), Event::Process { node, life, attempt });
    }

    /// A process gets on, or is over.
    fn process(&mut self, node: usize, attempt: AttemptId) {
        let Some(process) = self.nodes[node].running.get(&attempt).cloned() else { return };
        let life = self.nodes[node].life;
        let spec = &self.plan.jobs[attempt.job.0 as usize - 1];
        let is_last_stage = attempt.kind == TaskKind::Reduce || spec.n_reduces == 0;
        if process.hangs || process.killed {
            return;
        }
        if process.fails || process.granted {
            self.nodes[node].running.remove(&attempt);
            // Another job took the disk that some of them needed.
            let spared = !process.granted && attempt.index % 4 == 3;
            let ended = TrackerInput::Ended { attempt, ok: process.granted, process_alive: false };
            return self.node(node, if spared { TrackerInput::Spared { attempt } } else { ended });
        }
        if !is_last_stage {
            self.nodes[node].running.remove(&attempt);
            self.nodes[node].outputs.insert(attempt);
            return self.node(node, TrackerInput::Ended { attempt, ok: true, process_alive: false });
        }
        if attempt.kind == TaskKind::Reduce && !self.fetch(node, attempt, spec.n_maps) {
            return self.later(LOOK, Event::Process { node, life, attempt });
        }
        self.private.insert(attempt);
        self.node(node, TrackerInput::CommitPending { attempt });
    }

    /// A reduce looks for what it misses; true when it has all.
    fn fetch(&mut self, node: usize, attempt: AttemptId, n_maps: u32) -> bool {
        let ready: Vec<AttemptId> = self.watch.outputs.keys().filter(|map| map.job == attempt.job).copied().collect();
        for map in ready {
            let has = |other: &Node| other.tracker.is_some() && other.outputs.contains(&map);
            let there = self.nodes.iter().enumerate().any(|(at, other)| has(other) && (at == node || !self.is_cut(at)));
            let Some(process) = self.nodes[node].running.get_mut(&attempt) else { return false };
            if process.fetched.contains(&map.index) {
                continue;
            }
            if there && self.now >= self.nodes[node].cut_until {
                let process = self.nodes[node].running.get_mut(&attempt).expect("found above");
                process.fetched.insert(map.index);
            } else {
                self.node(node, TrackerInput::FetchFailure { attempt, map });
            }
        }
        let Some(process) = self.nodes[node].running.get(&attempt) else { return false };
        let done = process.fetched.len() as u32 == n_maps;
        let progress = Progress::from_parts((process.fetched.len() * 3_000 / n_maps.max(1) as usize) as u16);
        // It waits for maps: that is life, too.
        self.node(node, TrackerInput::Progress { attempt, phase: Phase::Shuffle, progress });
        done
    }
}
