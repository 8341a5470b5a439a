//! A cluster of both state machines: the [`JobTracker`] and a [`TaskTracker`] for each worker, as the daemons have
//! them, on a line that takes no time and loses nothing. Processes end when the job templates say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, AttemptState, JobId, JobState, TaskKind, WorkerId};
use howdah_core::replay::WorkersView;
use howdah_core::schedulers::by_name;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::task_tracker::{Directive, TaskTracker, TrackerConfig, TrackerEffect, TrackerInput};
use howdah_core::tracker::{ClusterConfig, Effect, Input, JobTracker, Vitals};

use super::{commits_output, cycle, first, reduce, spec, typical};

struct Node {
    tracker: TaskTracker,
    /// The report that waits at the master.
    waiting: Option<u32>,
    /// For the next answer.
    directives: Vec<Directive>,
    /// What it receives next, at this instant.
    inbox: Vec<TrackerInput>,
}

/// The cluster.
pub struct Live<'t> {
    view: &'t WorkersView,
    master: JobTracker,
    now: Time,
    nodes: Vec<Node>,
    /// What the master receives next, at this instant.
    inbox: Vec<Input>,
    arrivals: Vec<&'t JobTemplate>,
    /// Those that came, and their maps that are not done.
    jobs: Vec<(&'t JobTemplate, u32)>,
    ends: BTreeSet<(Time, usize, AttemptId)>,
    /// Reduces that wait for maps, and where.
    fillers: Vec<(usize, AttemptId)>,
    commits: BTreeSet<(Time, JobId)>,
    /// When each attempt was launched, and where.
    pub launches: BTreeMap<AttemptId, (Time, WorkerId)>,
    /// When each job was over and how, in order of submission.
    pub finished: BTreeMap<JobId, (Time, JobState)>,
}

impl<'t> Live<'t> {
    /// Workers that register before anything else happens. None of them waits before it parks.
    pub fn new(trace: &'t Trace, view: &'t WorkersView) -> Live<'t> {
        let node = |worker: &howdah_core::replay::SimWorker| Node {
            tracker: TaskTracker::new(TrackerConfig {
                map_slots: worker.map_slots,
                reduce_slots: worker.reduce_slots,
                park_pause: Span::ZERO,
                ..TrackerConfig::default()
            }),
            waiting: None,
            directives: Vec::new(),
            inbox: vec![TrackerInput::Tick],
        };
        let mut arrivals: Vec<&JobTemplate> = trace.jobs.iter().collect();
        arrivals.sort_by_key(|job| job.submit_ms);
        let config = ClusterConfig { expiry_ms: u64::MAX, launch_expiry_ms: 0, ..ClusterConfig::default() };
        let mut live = Live {
            view,
            master: JobTracker::new(config, by_name("fifo", &BTreeMap::new()).expect("fifo exists")),
            now: Time::ZERO,
            nodes: view.workers.iter().map(node).collect(),
            inbox: Vec::new(),
            arrivals,
            jobs: Vec::new(),
            ends: BTreeSet::new(),
            fillers: Vec::new(),
            commits: BTreeSet::new(),
            launches: BTreeMap::new(),
            finished: BTreeMap::new(),
        };
        live.talk();
        live
    }

    /// Runs until every job is over.
    pub fn run(&mut self) {
        while self.finished.len() < self.arrivals.len() {
            let arrival = self.arrivals.get(self.jobs.len()).map(|job| Time::from_ms(job.submit_ms));
            let end = self.ends.first().map(|end| end.0);
            let commit = self.commits.first().map(|commit| commit.0);
            let nodes = self.nodes.iter().filter_map(|node| node.tracker.next_deadline()).min();
            let next = [arrival, end, commit, nodes, self.master.next_deadline()].into_iter().flatten().min();
            self.now = next.expect("a job is not over").max(self.now);
            self.talk();
        }
    }

    /// Everyone says at this instant what there is to say, until nobody has anything to say.
    fn talk(&mut self) {
        loop {
            self.gather();
            for node in 0..self.nodes.len() {
                let inputs = std::mem::take(&mut self.nodes[node].inbox);
                if !inputs.is_empty() {
                    let mut effects = Vec::new();
                    self.nodes[node].tracker.apply(self.now, &inputs, &mut effects);
                    effects.into_iter().for_each(|effect| self.on_node(node, effect));
                }
            }
            let batch = std::mem::take(&mut self.inbox);
            if batch.is_empty() && self.nodes.iter().all(|node| node.inbox.is_empty()) {
                return;
            }
            let mut effects = Vec::new();
            self.master.apply(self.now, &batch, &mut effects);
            effects.into_iter().for_each(|effect| self.on_master(effect));
        }
    }

    /// What time brings.
    fn gather(&mut self) {
        while let Some(&(at, node, attempt)) = self.ends.first()
            && at <= self.now
        {
            self.ends.pop_first();
            let input = if commits_output(self.jobs[attempt.job.0 as usize - 1].0, attempt.kind) {
                TrackerInput::CommitPending { attempt }
            } else {
                TrackerInput::Ended { attempt, ok: true, process_alive: false }
            };
            self.nodes[node].inbox.push(input);
        }
        for node in &mut self.nodes {
            if node.tracker.next_deadline().is_some_and(|due| due <= self.now) && node.inbox.is_empty() {
                node.inbox.push(TrackerInput::Tick);
            }
        }
        while let Some(&(at, job)) = self.commits.first()
            && at <= self.now
        {
            self.commits.pop_first();
            self.inbox.push(Input::JobCommitted { job, ok: true });
        }
        while let Some(&template) = self.arrivals.get(self.jobs.len())
            && Time::from_ms(template.submit_ms) <= self.now
        {
            self.jobs.push((template, template.n_maps));
            self.inbox.push(Input::Submit { job: JobId(self.jobs.len() as u32), spec: Arc::new(spec(template)) });
        }
        if self.master.next_deadline().is_some_and(|due| due <= self.now) {
            self.inbox.push(Input::Tick);
        }
    }

    fn on_node(&mut self, index: usize, effect: TrackerEffect) {
        let node = &mut self.nodes[index];
        match effect {
            TrackerEffect::Register { incarnation } => {
                let hello = self.view.workers[index].hello(WorkerId(index as u32), incarnation);
                self.inbox.push(Input::Register(Box::new(hello)));
                let interval = Span::from_ms(300);
                node.inbox.push(TrackerInput::Registered { worker: WorkerId(index as u32), interval });
            }
            TrackerEffect::Report { seq } => {
                node.waiting = Some(seq);
                node.directives.clear();
                self.inbox.push(Input::Report(Box::new(node.tracker.report(Vitals::default(), true))));
            }
            TrackerEffect::FetchJob { job } => {
                node.inbox.push(TrackerInput::JobKnown { job, task_timeout: Span::ZERO, reuse_tasks: 1 });
            }
            TrackerEffect::Start { attempt, .. } => self.start(index, attempt),
            TrackerEffect::GrantCommit { attempt } => {
                node.inbox.push(TrackerInput::Ended { attempt, ok: true, process_alive: false });
            }
            TrackerEffect::Finished { .. } | TrackerEffect::ForgetJob { .. } => {}
            unexpected => panic!("nothing fails here: {unexpected:?}"),
        }
    }

    fn start(&mut self, node: usize, attempt: AttemptId) {
        let (template, maps_left) = self.jobs[attempt.job.0 as usize - 1];
        let time = match attempt.kind {
            TaskKind::Map => cycle(&template.map_ms, attempt.index as usize),
            TaskKind::Reduce if maps_left > 0 => return self.fillers.push((node, attempt)),
            TaskKind::Reduce => typical(template, attempt.index) + reduce(template, attempt.index),
        };
        self.ends.insert((self.now + time, node, attempt));
    }

    fn on_master(&mut self, effect: Effect) {
        let direct = |nodes: &mut Vec<Node>, worker: WorkerId, directive| {
            nodes[worker.0 as usize].directives.push(directive);
        };
        match effect {
            Effect::Launch { worker, attempt, .. } => {
                self.launches.entry(attempt).or_insert((self.now, worker));
                direct(&mut self.nodes, worker, Directive::Launch(attempt));
            }
            Effect::Commit { worker, attempt } => direct(&mut self.nodes, worker, Directive::Commit(attempt)),
            Effect::ForgetJob { worker, job } => direct(&mut self.nodes, worker, Directive::ForgetJob(job)),
            Effect::Answer { worker, response_id, interval_ms } => {
                let node = &mut self.nodes[worker.0 as usize];
                let seq = node.waiting.take().expect("it asked");
                let interval = Span::from_ms(u64::from(interval_ms));
                let directives = std::mem::take(&mut node.directives);
                node.inbox.push(TrackerInput::Answer { seq, response_id, interval, directives });
            }
            Effect::CommitJob { job } => {
                let commit = Span::from_ms(self.jobs[job.0 as usize - 1].0.commit_ms);
                self.commits.insert((self.now + commit, job));
            }
            Effect::JobState { job, state } if state.is_final() => drop(self.finished.insert(job, (self.now, state))),
            Effect::AttemptEnded { attempt, state, .. } => {
                assert_eq!(state, AttemptState::Succeeded, "nothing fails here");
                if attempt.kind == TaskKind::Map {
                    self.map_done(attempt.job);
                }
            }
            Effect::Rejected { why, .. } => panic!("{why:?}"),
            _ => {}
        }
    }

    fn map_done(&mut self, job: JobId) {
        let (template, maps_left) = &mut self.jobs[job.0 as usize - 1];
        *maps_left -= 1;
        if *maps_left > 0 {
            return;
        }
        for (node, attempt) in self.fillers.extract_if(.., |filler| filler.1.job == job) {
            let time = first(template, attempt.index) + reduce(template, attempt.index);
            self.ends.insert((self.now + time, node, attempt));
        }
    }
}
