//! Speculative attempts in virtual time: says in a few words which workers there are, which jobs come and which rule
//! holds, and tells who launched what when.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, AttemptState, Locality, TaskKind, WorkerId};
use howdah_core::replay::{
    AttemptRecord, Observer, ReplayOptions, ReplayReport, SimWorker, Simulation, View, WorkersView,
};
use howdah_core::schedulers::registry::Params;
use howdah_core::time::{Span, Time};

/// What is to happen. Workers and jobs count from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Race {
    pub(crate) trace: Trace,
    pub(crate) view: WorkersView,
    pub(crate) scheduler: String,
    pub(crate) params: Params,
}

impl Race {
    /// Nobody and nothing yet; heartbeats are immediate, and report every second while a rule may speculate.
    pub(crate) fn new() -> Race {
        let view = WorkersView { report_interval: Span::from_secs(1), ..WorkersView::default() };
        Race { view, scheduler: "fifo".to_owned(), ..Race::default() }
    }

    /// A worker with one map slot and one reduce slot, this many times as fast as a plain one by its frequency.
    pub(crate) fn worker(self, speed: f64) -> Race {
        self.machine(SimWorker { khz: (speed * 1e6) as u32, map_slots: 1, reduce_slots: 1, ..SimWorker::default() })
    }

    /// Any worker; its name and host are given here.
    pub(crate) fn machine(mut self, worker: SimWorker) -> Race {
        let number = self.view.workers.len() + 1;
        let (name, host) = (format!("w{number}"), format!("h{number}"));
        self.view.workers.push(SimWorker { name, host, rack: "/r".to_owned(), ..worker });
        self
    }

    /// A job of maps that take so many seconds on a plain worker, submitted at the start.
    pub(crate) fn job(self, n_maps: u32, seconds: u64) -> Race {
        self.template(JobTemplate { n_maps, map_ms: vec![seconds * 1_000], ..JobTemplate::default() })
    }

    /// Any job.
    pub(crate) fn template(mut self, template: JobTemplate) -> Race {
        self.trace.jobs.push(template);
        self
    }

    /// The policy and its parameters: `rule("fifo", "speculation=hadoop speculation.age=0s")`.
    pub(crate) fn rule(mut self, scheduler: &str, params: &str) -> Race {
        let pair = |text: &str| {
            let (key, value) = text.split_once('=').expect("KEY=VALUE");
            (key.to_owned(), value.to_owned())
        };
        self.scheduler = scheduler.to_owned();
        self.params = params.split_whitespace().map(pair).collect();
        self
    }

    pub(crate) fn options(&self) -> ReplayOptions {
        ReplayOptions {
            scheduler: self.scheduler.clone(),
            scheduler_params: self.params.clone(),
            view: View::Workers(self.view.clone()),
            ..ReplayOptions::default()
        }
    }

    pub(crate) fn simulation(&self) -> Simulation<'_> {
        Simulation::new(&self.trace, &self.options()).expect("the race can be run")
    }

    /// Runs it; the core's invariants hold after every step.
    pub(crate) fn run(&self) -> RaceOutcome {
        let seen = Seen::default();
        let mut simulation = self.simulation();
        simulation.observe(Box::new(seen.clone()));
        while simulation.step() {
            simulation.tracker().check_invariants().expect("the core is whole");
        }
        let report = simulation.report();
        drop(simulation);
        let (launches, records) = seen.0.take();
        RaceOutcome { launches, records, report }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) at: Time,
    pub(crate) worker: WorkerId,
    pub(crate) attempt: AttemptId,
    pub(crate) second: bool,
}

/// `60s w1 j1 m2`, and ` again` for a speculative attempt; workers and jobs from 1, tasks from 0.
impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AttemptId { job, kind, index, .. } = self.attempt;
        let kind = if kind == TaskKind::Map { 'm' } else { 'r' };
        let again = if self.second { " again" } else { "" };
        let seconds = self.at.as_us() as f64 / 1e6;
        write!(f, "{seconds}s w{} j{} {kind}{index}{again}", self.worker.0 + 1, job.0)
    }
}

/// What happened.
pub(crate) struct RaceOutcome {
    pub(crate) launches: Vec<Launch>,
    /// In order of their ends.
    pub(crate) records: Vec<AttemptRecord>,
    pub(crate) report: ReplayReport,
}

impl RaceOutcome {
    /// All launches, in order.
    pub(crate) fn story(&self) -> Vec<String> {
        self.launches.iter().map(Launch::to_string).collect()
    }

    /// Speculative attempts, in order of launch.
    pub(crate) fn seconds(&self) -> Vec<String> {
        self.launches.iter().filter(|launch| launch.second).map(Launch::to_string).collect()
    }

    /// When a job was over, in seconds.
    pub(crate) fn finish_s(&self, job: usize) -> f64 {
        self.report.jobs[job - 1].finish.as_us() as f64 / 1e6
    }

    /// When the last job was over, in seconds.
    pub(crate) fn makespan_s(&self) -> f64 {
        self.report.makespan.as_us() as f64 / 1e6
    }

    /// How many attempts of each task succeeded.
    pub(crate) fn winners(&self, id: AttemptId) -> usize {
        let same = |record: &&AttemptRecord| record.attempt.task() == id.task();
        self.records.iter().filter(same).filter(|record| record.state == AttemptState::Succeeded).count()
    }
}

type Both = (Vec<Launch>, Vec<AttemptRecord>);

#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Both>>);

impl Observer for Seen {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, _: Locality, second: bool) {
        self.0.borrow_mut().0.push(Launch { at, worker, attempt, second });
    }

    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().1.push(*record);
    }
}
