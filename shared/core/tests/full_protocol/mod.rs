//! A cluster that follows the whole protocol: workers that write whole reports to a [`JobTracker`] and do what its answers say.
//!
//! What the simulation spares itself is all here: every heartbeat, idle ones too, lists everything that runs; launches
//! count only when an answer brings them; a winner asks for leave to commit before it ends; a worker may be parked.
//! Times come from the same job templates as the simulation's, by the rules of SimMR §III-B. Attempts that the templates
//! call lost are lost again.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod live;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{
    AttemptId, AttemptState, JobConf, JobId, JobProfile, JobSpec, JobState, Locality, Phase, Progress, TaskKind,
    WorkerId,
};
use howdah_core::replay::{SimHeartbeat, SimWorker, WorkersView};
use howdah_core::schedulers::by_name;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{AttemptReport, ClusterConfig, Effect, Input, JobTracker, Report, Vitals};

/// Something that a worker runs.
struct Run {
    attempt: AttemptId,
    launch: usize,
    /// `None` while a reduce waits for maps.
    end: Option<Time>,
    /// How it ends.
    state: AttemptState,
}

struct Worker {
    slots: [u16; 2],
    response_id: u32,
    runs: Vec<Run>,
    /// Whether its heartbeat waits at the master.
    waits: bool,
}

struct Job<'t> {
    template: &'t JobTemplate,
    maps_left: u32,
}

/// The cluster.
pub struct FullProtocol<'t> {
    view: &'t WorkersView,
    /// Whether heartbeats are held back instead of being repeated.
    parks: bool,
    tracker: JobTracker,
    now: Time,
    workers: Vec<Worker>,
    arrivals: Vec<&'t JobTemplate>,
    jobs: Vec<Job<'t>>,
    commits: BTreeSet<(Time, JobId)>,
    /// All attempts: when they were launched, and where.
    pub launches: BTreeMap<AttemptId, (Time, WorkerId)>,
    /// When each job was over and how, in order of submission.
    pub finished: BTreeMap<JobId, (Time, JobState)>,
    granted: BTreeSet<AttemptId>,
    /// Who spoke at this instant, and whether anyone reported an end.
    spoke: (BTreeSet<usize>, bool),
    /// Whether several workers ever spoke at one instant of which one reported an end. Who of them came first is
    /// anyone's choice then.
    pub is_ambiguous: bool,
}

impl<'t> FullProtocol<'t> {
    /// A cluster of this view under FIFO. Parked workers write when something ends; others at the view's heartbeats.
    pub fn new(trace: &'t Trace, view: &'t WorkersView, parks: bool) -> FullProtocol<'t> {
        let config = ClusterConfig { launch_expiry_ms: 0, expiry_ms: u64::MAX, ..ClusterConfig::default() };
        let mut arrivals: Vec<&JobTemplate> = trace.jobs.iter().collect();
        arrivals.sort_by_key(|job| job.submit_ms);
        let fresh = |worker: &SimWorker| Worker {
            slots: [worker.map_slots, worker.reduce_slots],
            response_id: 0,
            runs: Vec::new(),
            waits: false,
        };
        let mut full_protocol = FullProtocol {
            view,
            parks,
            tracker: JobTracker::new(config, by_name("fifo", &BTreeMap::new()).expect("fifo exists")),
            now: Time::ZERO,
            workers: view.workers.iter().map(fresh).collect(),
            arrivals,
            jobs: Vec::new(),
            commits: BTreeSet::new(),
            launches: BTreeMap::new(),
            finished: BTreeMap::new(),
            granted: BTreeSet::new(),
            spoke: (BTreeSet::new(), false),
            is_ambiguous: false,
        };
        let hellos: Vec<Input> = view
            .workers
            .iter()
            .zip(0..)
            .map(|(worker, index)| worker.hello(WorkerId(index), 1))
            .map(Box::new)
            .map(Input::Register)
            .collect();
        full_protocol.apply(&hellos);
        full_protocol
    }

    /// Runs until every job is over.
    pub fn run(&mut self) {
        while self.jobs.len() < self.arrivals.len() || self.tracker.state().n_jobs() > 0 {
            self.now = self.next_time();
            self.spoke = (BTreeSet::new(), false);
            self.pass(true);
            while self.is_due() {
                self.pass(false);
            }
        }
    }

    fn next_time(&self) -> Time {
        let arrival = self.arrivals.get(self.jobs.len()).map(|job| Time::from_ms(job.submit_ms));
        let commit = self.commits.first().map(|commit| commit.0);
        let parked = self.tracker.next_deadline().filter(|_| self.parks);
        let ids = || (0..self.workers.len()).filter(|_| !self.parks);
        let beats = ids().map(|worker| self.beat_from(worker, Time::from_us(self.now.as_us() + 1))).min();
        let ends = self.workers.iter().flat_map(|worker| &worker.runs).filter_map(|run| run.end);
        let ends = ends.filter(|_| self.view.heartbeat.out_of_band).min();
        [arrival, commit, parked, beats, ends].into_iter().flatten().min().expect("a job is not over").max(self.now)
    }

    /// Whether something that began in this instant is over in it.
    fn is_due(&self) -> bool {
        self.commits.first().is_some_and(|commit| commit.0 <= self.now)
            || (0..self.workers.len()).any(|worker| self.tells_of_end(worker).is_some())
            || (self.parks && self.workers.iter().any(|worker| !worker.waits))
    }

    /// A worker's first regular heartbeat from an instant on.
    fn beat_from(&self, worker: usize, from: Time) -> Time {
        let SimHeartbeat { interval, .. } = self.view.heartbeat;
        let first = interval.as_us() * worker as u64 / self.workers.len() as u64;
        let mut at = Time::from_us(first);
        if at < from {
            let whole = from.since(at).as_us().div_ceil(interval.as_us());
            at += Span::from_us(whole * interval.as_us());
        }
        at
    }

    /// The first launched attempt of which the worker tells now that it is over.
    fn tells_of_end(&self, worker: usize) -> Option<usize> {
        let speaks = self.view.heartbeat.out_of_band || self.beat_from(worker, self.now) == self.now;
        let over = |run: &&Run| run.end.is_some_and(|end| end <= self.now);
        self.workers[worker].runs.iter().filter(over).filter(|_| speaks).map(|run| run.launch).min()
    }

    /// Everything that is due, in one batch. Who tells of an end comes first, in order of launch.
    fn pass(&mut self, first: bool) {
        let mut ending: Vec<(usize, usize)> =
            (0..self.workers.len()).filter_map(|worker| Some((self.tells_of_end(worker)?, worker))).collect();
        ending.sort_unstable();
        let mut speakers: Vec<usize> = ending.into_iter().map(|(_, worker)| worker).collect();
        self.ask_for_commits(&speakers);
        let n_telling = speakers.len();
        let asks = |worker: usize| {
            let regular = !self.parks && first && self.beat_from(worker, self.now) == self.now;
            regular || (self.parks && !self.workers[worker].waits)
        };
        let others: Vec<usize> = (0..self.workers.len()).filter(|&w| asks(w) && !speakers.contains(&w)).collect();
        speakers.extend(others);
        self.spoke.0.extend(&speakers);
        self.spoke.1 |= n_telling > 0;
        self.is_ambiguous |= self.spoke.1 && self.spoke.0.len() > 1;
        let mut batch = Vec::new();
        for (place, &worker) in speakers.iter().enumerate() {
            let report = self.report(worker, true);
            if place < n_telling {
                let now = self.now;
                self.workers[worker].runs.retain(|run| run.end.is_none_or(|end| end > now));
            }
            batch.push(report);
        }
        while let Some(&(at, job)) = self.commits.first()
            && at <= self.now
        {
            self.commits.pop_first();
            batch.push(Input::JobCommitted { job, ok: true });
        }
        while let Some(&template) = self.arrivals.get(self.jobs.len())
            && Time::from_ms(template.submit_ms) <= self.now
        {
            self.jobs.push(Job { template, maps_left: template.n_maps });
            batch.push(Input::Submit { job: JobId(self.jobs.len() as u32), spec: Arc::new(spec(template)) });
        }
        if self.parks && self.tracker.next_deadline().is_some_and(|due| due <= self.now) {
            batch.push(Input::Tick);
        }
        self.apply(&batch);
    }

    /// Attempts of the last stage wait for leave before they end; the workers want no work meanwhile.
    fn ask_for_commits(&mut self, speakers: &[usize]) {
        let asking: Vec<usize> = speakers
            .iter()
            .copied()
            .filter(|&w| self.workers[w].runs.iter().any(|run| self.asks_for_commit(run)))
            .collect();
        let batch: Vec<Input> = asking.iter().map(|&w| self.report(w, false)).collect();
        self.apply(&batch);
        for worker in asking {
            let mut winners = self.workers[worker].runs.iter().filter(|run| self.asks_for_commit(run));
            assert!(winners.all(|run| self.granted.contains(&run.attempt)), "nobody else can have won");
        }
    }

    fn asks_for_commit(&self, run: &Run) -> bool {
        let is_over = run.end.is_some_and(|end| end <= self.now) && run.state == AttemptState::Succeeded;
        is_over && commits_output(self.jobs[run.attempt.job.0 as usize - 1].template, run.attempt.kind)
    }

    /// A heartbeat; all but the last one of an instant ask for leave to commit and want no work.
    fn report(&mut self, index: usize, last: bool) -> Input {
        let mut free = self.workers[index].slots;
        let mut attempts = Vec::new();
        for run in &self.workers[index].runs {
            let is_over = run.end.is_some_and(|end| end <= self.now);
            let state = match (last, is_over) {
                (true, true) => run.state,
                (false, true) if self.asks_for_commit(run) => AttemptState::CommitPending,
                _ => AttemptState::Running,
            };
            free[run.attempt.kind] -= u16::from(!state.is_final());
            attempts.push(AttemptReport {
                attempt: run.attempt,
                state,
                phase: Phase::Starting,
                progress: Progress::ZERO,
                fetch_failures: Vec::new(),
                fatal: false,
            });
        }
        self.workers[index].waits = true;
        Input::Report(Box::new(Report {
            worker: WorkerId(index as u32),
            incarnation: 1,
            response_id: self.workers[index].response_id,
            free_maps: free[0],
            free_reduces: free[1],
            accepts_tasks: last,
            may_park: self.parks && last,
            attempts,
            vitals: Vitals::default(),
            attributes: None,
        }))
    }

    fn apply(&mut self, batch: &[Input]) {
        let mut effects = Vec::new();
        self.tracker.apply(self.now, batch, &mut effects);
        for effect in effects {
            match effect {
                Effect::Launch { worker, attempt, locality, .. } => self.launch(worker, attempt, locality),
                Effect::Commit { attempt, .. } => drop(self.granted.insert(attempt)),
                Effect::Kill { worker, attempt, .. } => self.stop(worker, attempt),
                Effect::Answer { worker, response_id, .. } => {
                    let worker = &mut self.workers[worker.0 as usize];
                    (worker.response_id, worker.waits) = (response_id, false);
                }
                Effect::AttemptEnded { attempt, state: AttemptState::Succeeded, .. }
                    if attempt.kind == TaskKind::Map =>
                {
                    self.map_done(attempt.job);
                }
                Effect::CommitJob { job } => {
                    let commit = self.jobs[job.0 as usize - 1].template.commit_ms;
                    self.commits.insert((self.now + Span::from_ms(commit), job));
                }
                Effect::JobState { job, state } if state.is_final() => {
                    self.finished.insert(job, (self.now, state));
                }
                Effect::Rejected { why, .. } => panic!("{why:?} after {batch:?}"),
                _ => {}
            }
        }
    }

    /// A directive, which each answer repeats until a report confirms it.
    fn launch(&mut self, worker: WorkerId, attempt: AttemptId, locality: Locality) {
        if self.launches.contains_key(&attempt) {
            return;
        }
        let launch = self.launches.len();
        self.launches.insert(attempt, (self.now, worker));
        let job = &self.jobs[attempt.job.0 as usize - 1];
        let time = match attempt.kind {
            TaskKind::Map => Some(self.map_time(job.template, attempt.index, locality)),
            TaskKind::Reduce if job.maps_left > 0 => None,
            TaskKind::Reduce => Some(typical(job.template, attempt.index) + reduce(job.template, attempt.index)),
        };
        let lost = job.template.lost_attempts.iter().find(|lost| {
            let kind = if lost.reduce { TaskKind::Reduce } else { TaskKind::Map };
            (kind, lost.index, lost.number) == (attempt.kind, attempt.index, attempt.number)
        });
        let (time, state) = match lost {
            None => (time, AttemptState::Succeeded),
            Some(lost) => {
                let state = if lost.failed { AttemptState::Failed } else { AttemptState::Killed };
                (Some(Span::from_ms(lost.ms)), state)
            }
        };
        let end = time.map(|time| self.now + time);
        self.workers[worker.0 as usize].runs.push(Run { attempt, launch, end, state });
    }

    /// A directive: the attempt is gone at once, and its worker says so when it next speaks.
    fn stop(&mut self, worker: WorkerId, attempt: AttemptId) {
        let now = self.now;
        let later = if self.view.heartbeat.out_of_band { 0 } else { 1 };
        let run = self.workers[worker.0 as usize].runs.iter_mut().find(|run| run.attempt == attempt);
        if let Some(run) = run {
            run.state = AttemptState::Killed;
            if run.end.is_none_or(|end| end > now) {
                run.end = Some(Time::from_us(now.as_us() + later));
            }
        }
    }

    fn map_time(&self, job: &JobTemplate, index: u32, locality: Locality) -> Span {
        let cost = self.view.locality;
        let ppm = match locality {
            Locality::Rack => cost.rack_ppm,
            Locality::OffRack => cost.off_rack_ppm,
            Locality::Node | Locality::Unknown => 1_000_000,
        };
        let us = cycle(&job.map_ms, index as usize).as_us() * u64::from(ppm);
        Span::from_us(us.div_ceil(1_000_000))
    }

    fn map_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.maps_left -= 1;
        if job.maps_left > 0 {
            return;
        }
        let template = job.template;
        for run in self.workers.iter_mut().flat_map(|worker| &mut worker.runs) {
            if run.attempt.job == id && run.attempt.kind == TaskKind::Reduce && run.end.is_none() {
                run.end = Some(self.now + first(template, run.attempt.index) + reduce(template, run.attempt.index));
            }
        }
    }
}

/// Whether attempts of a kind are of the job's last stage.
fn commits_output(job: &JobTemplate, kind: TaskKind) -> bool {
    kind == TaskKind::Reduce || job.n_reduces == 0
}

fn cycle(list: &[u64], index: usize) -> Span {
    Span::from_ms(if list.is_empty() { 0 } else { list[index % list.len()] })
}

fn reduce(job: &JobTemplate, index: u32) -> Span {
    cycle(&job.reduce_ms, index as usize)
}

fn first(job: &JobTemplate, index: u32) -> Span {
    let known = if job.first_shuffle_ms.is_empty() { &job.typical_shuffle_ms } else { &job.first_shuffle_ms };
    cycle(known, index as usize)
}

fn typical(job: &JobTemplate, index: u32) -> Span {
    if job.typical_shuffle_ms.is_empty() {
        return cycle(&job.first_shuffle_ms, index as usize);
    }
    let index = index as usize;
    cycle(&job.typical_shuffle_ms, index.checked_sub(job.first_shuffle_ms.len()).unwrap_or(index))
}

fn spec(job: &JobTemplate) -> JobSpec {
    JobSpec {
        name: job.name.as_str().into(),
        user: job.user.as_str().into(),
        queue: "default".into(),
        priority: job.priority,
        n_maps: job.n_maps,
        n_reduces: job.n_reduces,
        map_input_bytes: Vec::new(),
        split_hosts: job.split_hosts.clone(),
        conf: JobConf { slowstart_ppm: job.slowstart_ppm.unwrap_or(50_000), ..JobConf::default() },
        profile: JobProfile::of(job).map(Box::new),
    }
}
