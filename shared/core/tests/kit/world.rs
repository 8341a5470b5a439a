//! Random worlds: a cluster of naive workers and a careless crowd, driven by a list of random numbers.
//!
//! After each batch the kit checks the core's own invariants; [`Watch`] checks what can be seen from outside:
//! attempts start and end once, a task is won once, a job's final state is its last word.

use std::collections::{BTreeMap, BTreeSet};

use howdah_core::job::{AttemptId, JobId, JobSpec, JobState, Priority, SplitHosts, TaskId, TaskKind};
use howdah_core::time::Span;
use howdah_core::tracker::{Effect, Input, WorkerState};

use super::*;

/// Random numbers from a list; when it is used up, all zeros.
pub struct Dice<'a>(pub std::slice::Iter<'a, u32>);

impl Dice<'_> {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0.next().map_or(0, |&x| x % n.max(1))
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}

/// What an onlooker knows from the effects.
#[derive(Clone, Default)]
pub struct Watch {
    launched: BTreeSet<AttemptId>,
    ended: BTreeMap<AttemptId, AttemptState>,
    winner: BTreeMap<TaskId, AttemptId>,
    granted: BTreeMap<TaskId, AttemptId>,
    over: BTreeSet<JobId>,
    pub to_commit: Vec<JobId>,
    pub outputs: BTreeSet<AttemptId>,
}

impl Watch {
    pub fn see(&mut self, effect: &Effect) {
        match *effect {
            Effect::Launch { attempt, .. } => {
                assert!(!self.over.contains(&attempt.job), "{attempt:?} is launched after its job");
                assert!(!self.ended.contains_key(&attempt), "{attempt:?} is launched after its end");
                self.launched.insert(attempt);
            }
            Effect::Commit { attempt, .. } => {
                let other = self.granted.insert(attempt.task(), attempt).filter(|other| *other != attempt);
                assert!(
                    other.is_none_or(|other| self.ended.contains_key(&other)),
                    "two may commit: {other:?}, {attempt:?}"
                );
            }
            Effect::AttemptEnded { attempt, state, .. } => {
                assert!(!self.over.contains(&attempt.job), "{attempt:?} ends after its job");
                assert!(self.ended.insert(attempt, state).is_none(), "{attempt:?} ends twice");
                if state == Succeeded {
                    let other = self.winner.insert(attempt.task(), attempt);
                    assert!(other.is_none(), "{attempt:?} wins after {other:?}");
                }
            }
            Effect::MapOutputReady { attempt, .. } => assert!(self.outputs.insert(attempt)),
            Effect::OutputKept { attempt, .. } => {
                let winner = *self.winner.entry(attempt.task()).or_insert(attempt);
                assert_eq!(winner, attempt, "the output of another attempt is kept");
                self.outputs.insert(attempt);
            }
            Effect::MapOutputLost { attempt, .. } => {
                assert!(self.outputs.remove(&attempt));
                assert_eq!(self.winner.remove(&attempt.task()), Some(attempt));
            }
            Effect::JobState { job, state } => {
                assert!(!self.over.contains(&job), "{job:?} changes after its end");
                if state.is_final() {
                    self.over.insert(job);
                    self.outputs.retain(|attempt| attempt.job != job);
                    let silent = self.launched.iter().find(|a| a.job == job && !self.ended.contains_key(a));
                    assert_eq!(silent, None, "job {job:?} ends before an attempt");
                }
            }
            Effect::CommitJob { job } => self.to_commit.push(job),
            _ => {}
        }
    }
}

/// A world under way.
pub struct World {
    pub cluster: Cluster,
    pub watch: Watch,
    seen: usize,
    /// No more failures, losses or requests.
    pub calm: bool,
}

impl World {
    pub fn new(dice: &mut Dice<'_>) -> World {
        let scheduler: Box<dyn Scheduler> = match dice.below(3) {
            0 => by_name("fifo", &BTreeMap::new()).expect("fifo exists"),
            1 => Box::new(odd::Odd::eager()),
            _ => Box::new(odd::Odd::wild(dice.below(u32::MAX))),
        };
        World::under(dice, scheduler)
    }

    /// A world whose policy is this one.
    pub fn under(dice: &mut Dice<'_>, scheduler: Box<dyn Scheduler>) -> World {
        let change = |config: &mut ClusterConfig| {
            config.expiry_ms = 30_000;
            config.launch_expiry_ms = 20_000;
            config.heartbeat = match dice.below(3) {
                0 => HeartbeatRule::Fixed { interval_ms: 3_000 },
                1 => HeartbeatRule::default(),
                _ => HeartbeatRule::Adaptive { min_ms: 100, max_ms: 5_000, heartbeats_in_second: 100 },
            };
            config.blacklist.max_faults = 1 + dice.below(3);
        };
        let mut cluster = Cluster::made(change, scheduler);
        cluster.parks = !dice.one_in(3);
        cluster.batches = Some(Vec::new());
        for worker in 0..1 + dice.below(6) {
            let host = format!("h{}", worker / (1 + dice.below(2)));
            let (maps, reduces) = (dice.below(4) as u16, dice.below(3) as u16);
            cluster.add_worker(&host, &format!("/r{}", dice.below(2)), maps, reduces);
        }
        // One that can do anything, so that every job can end.
        cluster.add_worker("h0", "/r0", 2, 2);
        World { cluster, watch: Watch::default(), seen: 0, calm: false }
    }

    /// A world whose JobTracker is a fork of this one's, and everything else a copy.
    pub fn fork(&self) -> World {
        World { cluster: self.cluster.fork(), watch: self.watch.clone(), ..*self }
    }

    pub fn look(&mut self) {
        for effect in &self.cluster.effects[self.seen..] {
            self.watch.see(effect);
        }
        self.seen = self.cluster.effects.len();
    }

    /// One random thing happens.
    pub fn step(&mut self, dice: &mut Dice<'_>) {
        let n = self.cluster.puppets.len() as u32;
        match dice.below(40) {
            0..=2 => self.submit(dice),
            3..=27 => self.work(dice.below(n), dice),
            28..=30 => self.cluster.advance(u64::from(dice.below(4_000))),
            31 if dice.one_in(3) => self.cluster.advance(35_000),
            32 => self.request(dice),
            33 if dice.one_in(2) => self.restart(dice.below(n), dice),
            34 if dice.one_in(2) => self.goodbye(dice.below(n)),
            35 if dice.one_in(4) => {
                self.cluster.puppets.iter_mut().for_each(|p| p.waiting = false);
                self.cluster.apply(&[Input::Recovered]);
            }
            36 => {
                let worker = dice.below(n);
                self.cluster.puppets[worker as usize].deaf = true;
            }
            _ => self.promote(dice),
        }
        self.look();
    }

    fn submit(&mut self, dice: &mut Dice<'_>) {
        if self.cluster.jobs >= 12 {
            return;
        }
        let (maps, reduces) = (dice.below(7), dice.below(4));
        let mut spec = job_with(maps, reduces, |conf| {
            conf.max_map_attempts = 1 + dice.below(4) as u16;
            conf.max_reduce_attempts = 1 + dice.below(4) as u16;
            conf.max_tracker_failures = 1 + dice.below(4) as u16;
            conf.max_map_failures_percent = [0, 0, 30, 100][dice.below(4) as usize];
            conf.max_reduce_failures_percent = [0, 0, 30, 100][dice.below(4) as usize];
            conf.slowstart_ppm = [50_000, 0, 500_000, 1_000_000][dice.below(4) as usize];
            conf.commits_output = !dice.one_in(4);
        });
        spec.priority = Priority::ALL[dice.below(5) as usize];
        // Who submits, and until when it should be done, follow from the number: policies look at both.
        let number = self.cluster.jobs;
        spec.user = format!("user{}", number % 3).into();
        spec.conf.deadline = number.is_multiple_of(2).then(|| Span::from_ms(1_000 * u64::from(maps + 1)));
        if dice.one_in(2) {
            let hosts: Vec<Vec<String>> =
                (0..maps).map(|_| (0..dice.below(3)).map(|_| format!("h{}", dice.below(6))).collect()).collect();
            spec.split_hosts = SplitHosts::new(hosts.iter().map(|h| h.iter().map(String::as_str)));
        }
        let _: JobSpec = spec.clone();
        self.cluster.submit(spec);
    }

    /// A worker starts anew, and says that it has some outputs of maps that ended, its own or not.
    fn restart(&mut self, worker: u32, dice: &mut Dice<'_>) {
        let mut kept: Vec<AttemptId> = self.watch.ended.keys().filter(|id| id.kind == TaskKind::Map).copied().collect();
        kept.retain(|_| dice.one_in(2));
        self.cluster.restart_with(worker, &kept);
    }

    /// A worker's attempts get on and it reports.
    pub fn work(&mut self, worker: u32, dice: &mut Dice<'_>) {
        if self.cluster.puppets[worker as usize].reinit {
            return self.restart(worker, dice);
        }
        let mut notes = BTreeMap::new();
        let outputs: Vec<AttemptId> = self.watch.outputs.iter().copied().collect();
        let puppet = &mut self.cluster.puppets[worker as usize];
        for (&id, state) in &mut puppet.attempts {
            let spec = self.cluster.tracker.state().job(id.job).map(|j| j.spec().clone());
            let commits =
                spec.is_some_and(|s| s.conf.commits_output && (id.kind == TaskKind::Reduce || s.n_reduces == 0));
            if state.is_final() {
                continue;
            }
            if id.kind == TaskKind::Reduce && !self.calm && dice.one_in(3) && !outputs.is_empty() {
                let map = outputs[dice.below(outputs.len() as u32) as usize];
                if map.job == id.job {
                    notes.insert(id, vec![map]);
                }
            }
            let granted = puppet.grants.contains(&id);
            *state = match dice.below(6) {
                _ if puppet.kills.contains(&id) && (self.calm || !dice.one_in(3)) => Killed,
                1 | 2 if !self.calm => *state,
                3 if !self.calm => Failed,
                4 if !self.calm && dice.one_in(3) => Killed,
                _ if commits && !granted => CommitPending,
                _ => Succeeded,
            };
        }
        if !self.calm && dice.one_in(20) {
            // An attempt disappears without a word.
            puppet.attempts.pop_first();
        }
        let mut report = self.cluster.report_of(worker);
        for attempt in &mut report.attempts {
            attempt.progress = Progress::from_parts(dice.below(12_000) as u16);
            attempt.fetch_failures = notes.remove(&attempt.attempt).unwrap_or_default();
        }
        self.cluster.puppets[worker as usize].waiting = true;
        let mut batch = vec![Input::Report(Box::new(report))];
        if dice.one_in(4) {
            batch.push(Input::Tick);
        }
        self.cluster.apply(&batch);
    }

    fn request(&mut self, dice: &mut Dice<'_>) {
        let job = JobId(1 + dice.below(self.cluster.jobs.max(1)));
        let running: Vec<AttemptId> = self.cluster.state().attempts().iter().map(|(_, a)| a.id()).collect();
        let input = match dice.below(7) {
            4 => Input::CannotServe { worker: WorkerId(dice.below(self.cluster.puppets.len() as u32)), job },
            5 => {
                let worker = WorkerId(dice.below(self.cluster.puppets.len() as u32));
                Input::Reach { worker, reachable: dice.one_in(2) }
            }
            6 => Input::SetQueue { job, queue: ["default", "a", "pool-1:2+1"][dice.below(3) as usize].into() },
            0 if dice.one_in(2) => Input::KillJob { job },
            1 if !running.is_empty() => {
                Input::KillAttempt { attempt: running[dice.below(running.len() as u32) as usize], fail: dice.one_in(2) }
            }
            2 => {
                let worker = WorkerId(dice.below(self.cluster.puppets.len() as u32));
                Input::Drain { worker, drain: dice.one_in(2) }
            }
            _ => Input::SetPriority { job, priority: Priority::ALL[dice.below(5) as usize] },
        };
        self.cluster.apply(&[input]);
    }

    fn goodbye(&mut self, worker: u32) {
        let incarnation = self.cluster.puppets[worker as usize].incarnation;
        self.cluster.apply(&[Input::Goodbye { worker: WorkerId(worker), incarnation }]);
        self.cluster.puppets[worker as usize].reinit = true;
    }

    fn promote(&mut self, dice: &mut Dice<'_>) {
        if let Some(job) = self.watch.to_commit.pop() {
            let ok = self.calm || !dice.one_in(5);
            self.cluster.apply(&[Input::JobCommitted { job, ok }]);
            self.look();
        }
    }

    /// Everyone behaves from now on: every job must end.
    pub fn finish(&mut self) {
        self.calm = true;
        let mut none = Dice([].iter());
        for worker in 0..self.cluster.puppets.len() as u32 {
            self.cluster.apply(&[Input::Drain { worker: WorkerId(worker), drain: false }]);
            self.look();
        }
        for round in 0.. {
            if self.cluster.state().n_jobs() == 0 {
                break;
            }
            assert!(round < 400, "jobs never end: {:#?}", self.stuck());
            for worker in 0..self.cluster.puppets.len() as u32 {
                let lost = self.cluster.state().workers()[worker as usize].state() == WorkerState::Lost;
                if lost {
                    self.cluster.restart(worker);
                }
                self.work(worker, &mut none);
                self.look();
            }
            self.promote(&mut none);
            self.cluster.advance(1_000);
            self.look();
        }
        assert!(self.watch.outputs.is_empty());
    }

    fn stuck(&self) -> Vec<String> {
        let state = self.cluster.state();
        let mut lines: Vec<String> = state
            .jobs()
            .map(|job| {
                format!(
                    "{:?} {:?} {:?}: {}",
                    job.id(),
                    job.state(),
                    job.ending(),
                    self.cluster.tracker.explain(job.id())
                )
            })
            .collect();
        lines.extend(
            state
                .workers()
                .iter()
                .map(|w| format!("{} {:?} {:?}", w.name(), w.state(), TaskKind::ALL.map(|k| w.slots(k)))),
        );
        lines.extend(state.attempts().iter().map(|(_, a)| format!("{a:?}")));
        lines
    }

    /// How the jobs ended, for tests that want some of each.
    pub fn ends(&self) -> Vec<JobState> {
        self.cluster.state().ended_jobs().map(|(_, job)| job.state).collect()
    }
}
