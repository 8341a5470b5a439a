//! Both state machines together in virtual time: a master and workers that talk over a lossy line.
//!
//! Nothing here decides anything; it carries messages and pretends to run processes, as the daemons do.

mod kit;

use std::collections::BTreeMap;
use std::sync::Arc;

use howdah_core::job::{AttemptId, JobId, JobState, TaskKind, WorkerId};
use howdah_core::schedulers::by_name;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::task_tracker::{Directive, TaskTracker, TrackerConfig, TrackerEffect, TrackerInput};
use howdah_core::tracker::{ClusterConfig, Effect, Input, JobTracker, Registration, Rejection, Report, Vitals};
use kit::job_with;

/// What happens to whom at some instant.
enum Event {
    Register { node: usize, incarnation: u64, attributes: Vec<(String, String)> },
    Report { node: usize, seq: u32, report: Box<Report> },
    ToNode { node: usize, input: TrackerInput },
    ToMaster(Input),
}

struct Node {
    tracker: TaskTracker,
    id: Option<WorkerId>,
    /// The heartbeat that waits at the master.
    waiting: Option<u32>,
    directives: Vec<Directive>,
}

struct Line {
    now: Time,
    master: JobTracker,
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), Event>,
    next: u64,
    random: u64,
    /// One in so many messages is lost; 0 for none.
    loss: u64,
    /// One in so many attempts fails; 0 for none.
    failures: u64,
    /// What an attempt takes, in microseconds; else it is random.
    lasts: Option<fn(AttemptId) -> u64>,
    started: Vec<(Time, AttemptId)>,
    finished: Vec<(Time, AttemptId)>,
    ended: BTreeMap<JobId, JobState>,
}

impl Line {
    fn new(n: u32, seed: u64, loss: u64, failures: u64) -> Line {
        let config = ClusterConfig { expiry_ms: 60_000, launch_expiry_ms: 60_000, ..ClusterConfig::default() };
        let master = JobTracker::new(config, by_name("fifo", &BTreeMap::new()).expect("fifo exists"));
        let node = |seed| Node {
            tracker: TaskTracker::new(TrackerConfig { seed, ..TrackerConfig::default() }),
            id: None,
            waiting: None,
            directives: Vec::new(),
        };
        let mut line = Line {
            now: Time::from_ms(1_000),
            master,
            nodes: (0..u64::from(n)).map(node).collect(),
            events: BTreeMap::new(),
            next: 0,
            random: seed | 1,
            loss,
            failures,
            lasts: None,
            started: Vec::new(),
            finished: Vec::new(),
            ended: BTreeMap::new(),
        };
        for node in 0..n as usize {
            line.node(node, TrackerInput::Tick);
        }
        line
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) % n
    }

    fn is_lost(&mut self) -> bool {
        self.loss > 0 && self.below(self.loss) == 0
    }

    fn later(&mut self, us: u64, event: Event) {
        self.next += 1;
        self.events.insert((self.now + Span::from_us(us), self.next), event);
    }

    fn send(&mut self, us: u64, node: usize, input: TrackerInput) {
        self.later(us, Event::ToNode { node, input });
    }

    /// Time goes on until the instant or until nothing happens any more.
    fn run_until(&mut self, end: Time) {
        loop {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let nodes = self.nodes.iter().filter_map(|node| node.tracker.next_deadline()).min();
            let master = self.master.next_deadline();
            let Some(at) = [event, nodes, master].into_iter().flatten().min().filter(|&at| at <= end) else { break };
            self.now = self.now.max(at);
            if event == Some(at) {
                let (_, event) = self.events.pop_first().expect("seen above");
                self.happen(event);
            } else if master == Some(at) {
                self.master(Input::Tick, None);
            } else {
                for node in 0..self.nodes.len() {
                    self.node(node, TrackerInput::Tick);
                }
            }
        }
        self.now = end;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Register { node, incarnation, attributes } => self.register(node, incarnation, attributes),
            Event::Report { node, seq, report } => {
                self.nodes[node].waiting = Some(seq);
                self.nodes[node].directives.clear();
                self.master(Input::Report(report), Some(node));
            }
            Event::ToNode { node, input } => self.node(node, input),
            Event::ToMaster(input) => self.master(input, None),
        }
    }

    fn register(&mut self, node: usize, incarnation: u64, attributes: Vec<(String, String)>) {
        let name = format!("w{node}");
        let known = self.master.state().worker_named(&name).map(|w| w.id());
        let worker = known.unwrap_or(WorkerId(self.master.state().workers().len() as u32));
        self.nodes[node].id = Some(worker);
        let hello = Registration {
            worker,
            incarnation,
            starts: false,
            name,
            host: format!("h{node}"),
            rack: "/r".into(),
            map_slots: 2,
            reduce_slots: 2,
            attributes,
            kept: Vec::new(),
        };
        self.nodes[node].waiting = None;
        self.master(Input::Register(Box::new(hello)), Some(node));
        let interval = Span::from_ms(u64::from(self.master.interval_ms()));
        self.send(200, node, TrackerInput::Registered { worker, interval });
    }

    fn master(&mut self, input: Input, from: Option<usize>) {
        let mut effects = Vec::new();
        self.master.apply(self.now, std::slice::from_ref(&input), &mut effects);
        if let Err(broken) = self.master.check_invariants() {
            panic!("{broken} after {input:?}: {effects:?}");
        }
        for effect in effects {
            match effect {
                Effect::Launch { worker, attempt, .. } => self.direct(worker, Directive::Launch(attempt)),
                Effect::Kill { worker, attempt, .. } => self.direct(worker, Directive::Kill(attempt)),
                Effect::Commit { worker, attempt } => self.direct(worker, Directive::Commit(attempt)),
                Effect::ForgetJob { worker, job } => self.direct(worker, Directive::ForgetJob(job)),
                Effect::Reinit { worker } => self.direct(worker, Directive::Reinit),
                Effect::Answer { worker, response_id, interval_ms } => self.answer(worker, response_id, interval_ms),
                Effect::CommitJob { job } => self.later(500, Event::ToMaster(Input::JobCommitted { job, ok: true })),
                Effect::JobState { job, state } if state.is_final() => drop(self.ended.insert(job, state)),
                Effect::Rejected { why: Rejection::StaleIncarnation(_), .. } => {
                    if let Some((node, seq)) = from.and_then(|n| Some((n, self.nodes[n].waiting.take()?))) {
                        self.send(200, node, TrackerInput::HeartbeatFailed { seq });
                    }
                }
                _ => {}
            }
        }
    }

    fn direct(&mut self, worker: WorkerId, directive: Directive) {
        if let Some(node) = self.nodes.iter_mut().find(|node| node.id == Some(worker)) {
            node.directives.push(directive);
        }
    }

    fn answer(&mut self, worker: WorkerId, response_id: u32, interval_ms: u32) {
        let Some(node) = self.nodes.iter().position(|node| node.id == Some(worker)) else { return };
        let directives = std::mem::take(&mut self.nodes[node].directives);
        let Some(seq) = self.nodes[node].waiting.take() else { return };
        if self.is_lost() {
            self.send(1_000_000, node, TrackerInput::HeartbeatFailed { seq });
            return;
        }
        let interval = Span::from_ms(u64::from(interval_ms));
        self.send(200, node, TrackerInput::Answer { seq, response_id, interval, directives });
    }

    fn node(&mut self, index: usize, input: TrackerInput) {
        let mut effects = Vec::new();
        self.nodes[index].tracker.apply(self.now, &[input], &mut effects);
        for effect in effects {
            self.node_effect(index, effect);
        }
    }

    fn node_effect(&mut self, node: usize, effect: TrackerEffect) {
        match effect {
            TrackerEffect::Register { incarnation } => {
                let attributes = self.nodes[node].tracker.attributes().to_vec();
                self.later(200, Event::Register { node, incarnation, attributes });
            }
            TrackerEffect::Report { seq } => {
                let report = Box::new(self.nodes[node].tracker.report(Vitals::default(), true));
                if self.is_lost() {
                    self.send(1_000_000, node, TrackerInput::HeartbeatFailed { seq });
                } else {
                    self.later(200, Event::Report { node, seq, report });
                }
            }
            TrackerEffect::FetchJob { job } => {
                let known = TrackerInput::JobKnown { job, task_timeout: Span::ZERO, reuse_tasks: 1 };
                self.send(300, node, known);
            }
            TrackerEffect::Start { attempt, .. } => {
                self.started.push((self.now, attempt));
                let time = self.lasts.map_or_else(|| 1_000 + self.below(400_000), |lasts| lasts(attempt));
                let fails = self.failures > 0 && self.below(self.failures) == 0;
                let commits = self.master.state().job(attempt.job).is_some_and(|job| job.spec().n_reduces == 0);
                let input = match (fails, commits || attempt.kind == TaskKind::Reduce) {
                    (true, _) => TrackerInput::Ended { attempt, ok: false, process_alive: false },
                    (_, true) => TrackerInput::CommitPending { attempt },
                    _ => TrackerInput::Ended { attempt, ok: true, process_alive: false },
                };
                self.send(time, node, input);
            }
            TrackerEffect::GrantCommit { attempt } => {
                self.send(500, node, TrackerInput::Ended { attempt, ok: true, process_alive: false });
            }
            TrackerEffect::Finished { attempt, .. } => self.finished.push((self.now, attempt)),
            TrackerEffect::Terminate { attempt, .. } | TrackerEffect::Kill { attempt } => {
                self.send(900, node, TrackerInput::Ended { attempt, ok: false, process_alive: false });
            }
            _ => {}
        }
    }

    fn submit(&mut self, job: u32, n_maps: u32, n_reduces: u32) {
        let spec = Arc::new(job_with(n_maps, n_reduces, |conf| conf.max_map_attempts = 20));
        self.master(Input::Submit { job: JobId(job), spec }, None);
    }
}

#[test]
fn an_idle_cluster_starts_a_job_within_milliseconds() {
    let mut line = Line::new(2, 7, 0, 0);
    for job in 1..=20 {
        line.run_until(line.now + Span::from_ms(4_321));
        let submitted = line.now;
        line.started.clear();
        line.submit(job, 4, 1);
        line.run_until(submitted + Span::from_ms(2));
        let maps = line.started.iter().filter(|(_, attempt)| attempt.kind == TaskKind::Map).count();
        assert_eq!(maps, 4, "all four slots work, job {job}");
    }
    line.run_until(line.now + Span::from_secs(10));
    assert!(line.ended.len() == 20 && line.ended.values().all(|&end| end == JobState::Succeeded));
}

#[test]
fn slots_do_not_stand_idle_while_work_waits() {
    let mut line = Line::new(4, 9, 0, 0);
    line.run_until(line.now + Span::from_secs(1));
    let submitted = line.now;
    line.submit(1, 800, 0);
    while line.ended.is_empty() {
        line.run_until(line.now + Span::from_ms(10));
    }
    // 100 maps of about 0.2 s on each of 8 slots.
    let took = line.now.since(submitted).as_ms();
    assert!(took < 24_000, "took {took} ms");
}

/// Ends come while the answer to the report before is on its way: their slots wait for one exchange, not for two.
#[test]
fn a_slot_is_taken_again_one_exchange_after_its_attempt_although_reports_cross_answers() {
    const EXCHANGE: Span = Span::from_us(400);
    let mut line = Line::new(3, 11, 0, 0);
    line.lasts = Some(|attempt| 10_000 + 45 * u64::from(attempt.index % 7));
    line.run_until(line.now + Span::from_secs(1));
    // Its reduce comes last: maps of a job without one would also wait for the leave to commit.
    let spec = Arc::new(job_with(600, 1, |conf| conf.slowstart_ppm = 1_000_000));
    line.master(Input::Submit { job: JobId(1), spec }, None);
    line.run_until(line.now + Span::from_secs(30));
    assert_eq!(line.ended.get(&JobId(1)), Some(&JobState::Succeeded));
    let maps = |times: &[(Time, AttemptId)]| -> Vec<Time> {
        times.iter().filter(|(_, attempt)| attempt.kind == TaskKind::Map).map(|&(at, _)| at).collect()
    };
    let (started, finished) = (maps(&line.started), maps(&line.finished));
    assert_eq!((started.len(), finished.len()), (600, 600));
    let late = |(start, end): (&Time, &Time)| (*start > *end + EXCHANGE).then(|| start.since(*end));
    let waited: Vec<Span> = started[6..].iter().zip(&finished).filter_map(late).collect();
    assert_eq!(waited, [], "beyond the six slots, the n-th start takes the slot of the n-th end");
}

#[test]
fn jobs_end_in_spite_of_lost_messages_failures_and_kills() {
    for seed in 1..25 {
        let mut line = Line::new(3, seed * 7_919, 12, 10);
        for job in 1..=6 {
            line.submit(job, 5, 2);
            let pause = line.below(2_000);
            line.run_until(line.now + Span::from_ms(pause));
            if job == 4 {
                line.master(Input::KillJob { job: JobId(4) }, None);
            }
            if job == 5 {
                line.master(Input::Recovered, None);
                for node in 0..3 {
                    if let Some(seq) = line.nodes[node].waiting.take() {
                        line.send(100, node, TrackerInput::HeartbeatFailed { seq });
                    }
                }
            }
        }
        line.run_until(line.now + Span::from_secs(900));
        assert_eq!(line.ended.len(), 6, "seed {seed}: {:?}", line.ended);
        assert_eq!(line.master.state().attempts().len(), 0, "seed {seed}");
    }
}

#[test]
fn the_master_hears_of_every_change_of_attributes_in_spite_of_lost_messages_and_restarts() {
    for seed in 1..25 {
        let mut line = Line::new(3, seed * 104_729, 3, 0);
        let mut last = [const { String::new() }; 3];
        for change in 0..40 {
            let node = line.below(3) as usize;
            last[node] = change.to_string();
            line.node(node, TrackerInput::Attributes(vec![("n".to_owned(), last[node].clone())]));
            let pause = line.below(1_500);
            line.run_until(line.now + Span::from_ms(pause));
            if change % 16 == 15 {
                // The master forgets a worker, which starts over.
                let (worker, incarnation) = (WorkerId(0), line.nodes[0].tracker.incarnation());
                line.master(Input::Goodbye { worker, incarnation }, None);
            }
        }
        // More than half of the exchanges fail, and the pauses after failures grow to ten seconds.
        line.run_until(line.now + Span::from_secs(600));
        for (node, last) in last.iter().enumerate().filter(|(_, last)| !last.is_empty()) {
            let worker = line.master.state().worker_named(&format!("w{node}")).expect("it registered");
            assert_eq!(worker.attribute("n"), Some(last.as_str()), "seed {seed}, node {node}");
            let report = line.nodes[node].tracker.report(Vitals::default(), true);
            assert_eq!(report.attributes, None, "seed {seed}: confirmed, so not sent again");
        }
    }
}
