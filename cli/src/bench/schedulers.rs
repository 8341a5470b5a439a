//! What one decision of each scheduler costs, with 10 and with 10,000 jobs that wait.
//!
//! A simulation runs under a policy whose every call is timed. A decision is all that the policy did from one launch to
//! the next: notification of the end that freed the slot, its turn, its choice, notification of the launch. So an index that is
//! dear to keep counts as much as one that is dear to ask. The time of reading the clock is measured and taken off.
//! Turns in which no job can be served decide nothing; they are timed apart, with jobs that no worker suits. So is what
//! Fair does by the clock: its updates belong to no decision, and are reported as a mean over all launches between them.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use howdah_core::cluster::ClusterState;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{JobConf, JobId, JobSpec, Priority, Requirements, WorkerId};
use howdah_core::replay::{ReplayOptions, Simulation, View};
use howdah_core::schedulers;
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{Actions, Assignment, Capabilities, Change, Round, Scheduler};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{ClusterConfig, Effect, Input, JobTracker, Registration, Report as Heartbeat, Vitals};
use howdah_master::policies;

use super::measure::median;
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use crate::failure::{Failure, Outcome};

/// Jobs that wait.
const FEW: u32 = 10;
const MANY: u32 = 10_000;
/// Slots of each kind.
const SLOTS: u16 = 64;
/// Launches before the first that counts.
const WARM_UP: u32 = 500;
/// The clock's step: what takes less counts as so much, as a quotient of nothing by nothing tells nothing.
const STEP_NS: f64 = 10.0;
/// The guide's example of a program that decides.
const EXAMPLE: &str = include_str!("../../../docs/guide/schedulers/examples/shortest_first.py");

/// A policy with its parameters, and what it is called in the table.
struct Variant {
    label: String,
    scheduler: String,
    params: Params,
}

impl Variant {
    fn new(label: &str, scheduler: &str, params: &[(&str, &str)]) -> Variant {
        let params = params.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Variant { label: label.to_owned(), scheduler: scheduler.to_owned(), params }
    }

    /// Every registered policy with its defaults, and the dialects that are not those.
    fn all() -> Vec<Variant> {
        let mut all: Vec<Variant> = schedulers::names().map(|name| Variant::new(name, name, &[])).collect();
        for (scheduler, dialect) in [("fifo", "0.20.2"), ("fifo", "1.2.1"), ("fair", "0.20.2")] {
            let label = format!("{scheduler} {dialect}");
            let place = all.iter().rposition(|variant| variant.scheduler == scheduler).map_or(all.len(), |at| at + 1);
            all.insert(place, Variant::new(&label, scheduler, &[("dialect", dialect)]));
        }
        all
    }

    /// Whether it does something by the clock, every 500 ms.
    fn updates(&self) -> bool {
        ["fair", "load-aware"].contains(&self.scheduler.as_str())
    }

    fn make(&self) -> Outcome<Box<dyn Scheduler>> {
        let policy = policies::make(&self.scheduler, &self.params);
        Ok(Box::new(Timed(policy.map_err(|error| Failure::broke(error.to_string()))?)))
    }
}

/// Nanoseconds of a launch.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Of a decision, between updates.
    median: f64,
    /// With all that was done between the launches.
    mean: f64,
}

thread_local! {
    /// Nanoseconds in the policy, and its choices, since they were last taken.
    static SPENT: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    /// What it takes to time a call.
    static CLOCK_NS: Cell<u64> = const { Cell::new(0) };
}

/// A policy on the clock.
struct Timed(Box<dyn Scheduler>);

/// Runs it on the clock.
fn timed<T>(call: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let value = call();
    let ns = began.elapsed().as_nanos() as u64;
    let (spent, choices) = SPENT.get();
    SPENT.set((spent + ns.saturating_sub(CLOCK_NS.get()), choices));
    value
}

impl Scheduler for Timed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        timed(|| self.0.observe(change, state));
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        timed(|| self.0.begin_round(round, state));
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let found = timed(|| self.0.assign(round, state));
        let (spent, choices) = SPENT.get();
        SPENT.set((spent, choices + u32::from(found.is_some())));
        found
    }

    fn end_round(&mut self, state: &ClusterState, actions: &mut Actions) {
        timed(|| self.0.end_round(state, actions));
    }

    fn next_deadline(&self) -> Option<Time> {
        self.0.next_deadline()
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        timed(|| self.0.tick(now, state, actions));
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        self.0.wakes_parked(change)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn attach(&mut self, state: &ClusterState) {
        self.0.attach(state);
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(Timed(self.0.fork()))
    }
}

pub(crate) fn run(bench: &Bench<'_>) -> Outcome<Report> {
    CLOCK_NS.set(0);
    let readings: Vec<f64> = (0..10_001).map(|_| alone(|| timed(|| ()))).collect();
    let clock_ns = median(&readings);
    CLOCK_NS.set(clock_ns as u64);
    let mut rows = Vec::new();
    for variant in &Variant::all() {
        bench.tell(&variant.label);
        let decisions = |n_jobs| -> Outcome<Cost> {
            let repeats = (0..bench.repeats()).map(|_| decision(variant, n_jobs, bench.size(8_000, 1_000)));
            Ok(Cost::of(&repeats.collect::<Outcome<Vec<Cost>>>()?))
        };
        let vain = |n_jobs| -> Outcome<f64> {
            let repeats =
                (0..bench.repeats()).map(|_| in_vain(bench, variant, n_jobs)).collect::<Outcome<Vec<f64>>>()?;
            Ok(median(&repeats))
        };
        let (few, many) = (decisions(FEW)?, decisions(MANY)?);
        let most = if ["fifo", "maxedf"].contains(&variant.label.as_str()) { 300.0 } else { 2_000.0 };
        let row = |what: &str, howdah, baseline, bar| Row {
            measure: format!("{}, {what}", variant.label),
            unit: "ns",
            howdah,
            baseline,
            bar,
        };
        rows.push(row("a decision", few.median.max(many.median), None, Some(Bar::AtMost(most))));
        let against = Some(few.median);
        rows.push(row("a decision, 10,000 against 10", many.median, against, Some(Bar::AtMost(3.0))));
        if variant.updates() {
            rows.push(row("a launch with its part of the updates, 10,000 against 10", many.mean, Some(few.mean), None));
        }
        rows.push(row("no eligible job, 10,000 against 10", vain(MANY)?, Some(vain(FEW)?), None));
    }
    let external = external(bench)?;
    let external_note =
        if external.is_empty() { "there is no python3, so that external was not measured" } else { EXTERNAL };
    rows.extend(external);
    Ok(Report {
        name: "schedulers",
        title: "What a decision costs, by scheduler".to_owned(),
        baseline: "the same scheduler with 10 jobs that wait",
        rows,
        notes: vec![
            format!("{SLOTS} slots; jobs of 10 users with deadlines, profiles and five priorities; each policy with its defaults"),
            "a decision is all that the policy does from one launch to the next: it is notified of an end, has its turn, chooses, is notified of the launch; medians over launches, and of the repeats".to_owned(),
            "its first row is the dearer of the two numbers of waiting jobs".to_owned(),
            UPDATES.to_owned(),
            external_note.to_owned(),
            "no eligible job: a turn of a worker that lacks what all waiting jobs require; it decides nothing, and has no bar".to_owned(),
            format!("reading the clock took {clock_ns:.0} ns a call, which is taken off; what is left of a decision counts as {STEP_NS:.0} ns at least"),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

/// Nanoseconds that a call adds to the count.
fn alone(call: impl FnOnce()) -> f64 {
    SPENT.set((0, 0));
    call();
    SPENT.take().0 as f64
}

const UPDATES: &str = "fair looks at demands and shares every 500 ms, which belongs to no decision: where it does so, a launch's \
    part of it is a row of its own, a mean. Under 0.20.2 each update adds to every job's deficit, as Hadoop's does, and \
    jobs overtake each other as time passes, so that it walks all jobs and has no bar";
const EXTERNAL: &str = "external is a program of its own: the guide's shortest_first.py, which searches all jobs it knows at \
    each offer; the row is the whole exchange, has no bar, and tells nothing of the policies above";

impl Cost {
    /// The medians of repeats.
    fn of(repeats: &[Cost]) -> Cost {
        let over = |part: fn(&Cost) -> f64| median(&repeats.iter().map(part).collect::<Vec<_>>());
        Cost { median: over(|cost| cost.median), mean: over(|cost| cost.mean) }
    }
}

/// The rows of the example program; none where there is no Python.
fn external(bench: &Bench<'_>) -> Outcome<Vec<Row>> {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|answer| answer.status.success()) {
        return Ok(Vec::new());
    }
    bench.tell("external");
    let file = tempfile::Builder::new().suffix(".py").tempfile()?;
    std::fs::write(file.path(), EXAMPLE)?;
    let command = format!("python3 '{}'", file.path().display());
    let variant = Variant::new("external", "external", &[("command", &command), ("timeout", "60s")]);
    let cost = |n_jobs| -> Outcome<f64> { Ok(decision(&variant, n_jobs, bench.size(500, 50))?.median) };
    let (few, many) = (cost(FEW)?, cost(MANY)?);
    Ok(vec![Row {
        measure: "external, an offer and its answer, 10,000 against 10".to_owned(),
        unit: "ns",
        howdah: many,
        baseline: Some(few),
        bar: None,
    }])
}

/// The cost of a launch while so many jobs wait.
fn decision(variant: &Variant, n_jobs: u32, launches: u32) -> Outcome<Cost> {
    // No job of the few may run out of tasks, lest fewer wait than are said to; of the many a few may.
    let n_maps = if n_jobs == FEW { launches + WARM_UP + 100 } else { 64 };
    let job = |index: u32| JobTemplate {
        user: format!("user{}", index % 10),
        priority: Priority::ALL[(index % 5) as usize],
        deadline_ms: Some(60_000 + u64::from(index) * 977 % 9_000_000),
        n_maps,
        // Ends that do not meet, so that a turn is a launch.
        map_ms: (0..97).map(|i| 1_000 + (u64::from(index) * 31 + i * 53) % 1_009).collect(),
        ..JobTemplate::default()
    };
    let trace = Trace { jobs: (0..n_jobs).map(job).collect(), ..Trace::default() };
    let view = View::Slots { maps: SLOTS, reduces: SLOTS };
    let options = ReplayOptions { view, ..ReplayOptions::default() };
    let simulation = Simulation::with_scheduler(&trace, &options, variant.make()?);
    let mut simulation = simulation.map_err(|error| Failure::broke(error.to_string()))?;
    let (mut seen, mut costs, mut all_spent, mut all_choices) = (0, Vec::new(), 0, 0);
    while seen < WARM_UP + launches {
        SPENT.set((0, 0));
        if !simulation.step() {
            return Err(Failure::broke(format!("{} ran out of jobs after {seen} launches", variant.label)));
        }
        let (spent, choices) = SPENT.take();
        if seen >= WARM_UP {
            (all_spent, all_choices) = (all_spent + spent, all_choices + u64::from(choices));
            costs.extend((choices > 0).then(|| spent as f64 / f64::from(choices)));
        }
        seen += choices;
    }
    Ok(Cost { median: median(&costs).max(STEP_NS), mean: all_spent as f64 / all_choices.max(1) as f64 })
}

/// The median cost of a turn in which none of so many jobs suits the worker.
fn in_vain(bench: &Bench<'_>, variant: &Variant, n_jobs: u32) -> Outcome<f64> {
    let turns: u32 = bench.size(200, 20);
    let mut master = JobTracker::new(ClusterConfig::default(), variant.make()?);
    let mut effects = Vec::new();
    let worker = |number: u32| {
        Input::Register(Box::new(Registration {
            worker: WorkerId(number),
            incarnation: 1,
            starts: false,
            name: format!("w{number}"),
            host: format!("h{number}"),
            rack: "/r".to_owned(),
            map_slots: 2,
            reduce_slots: 2,
            attributes: Vec::new(),
            kept: Vec::new(),
        }))
    };
    let conf = JobConf { requires: Requirements::parse(&["gpu"]).expect("a requirement"), ..JobConf::default() };
    let job = |number: u32| Input::Submit {
        job: JobId(number),
        spec: Arc::new(JobSpec {
            user: format!("user{}", number % 10).into(),
            queue: "default".into(),
            n_maps: 8,
            conf: JobConf { deadline: Some(Span::from_secs(3_600)), ..conf.clone() },
            ..JobSpec::default()
        }),
    };
    let mut now = Time::from_ms(1);
    master.apply(now, &[worker(0)], &mut effects);
    let jobs: Vec<Input> = (1..=n_jobs).map(job).collect();
    master.apply(now, &jobs, &mut effects);
    let mut costs = Vec::new();
    for response_id in 0..turns {
        now += Span::from_ms(3_000);
        let heartbeat = Input::Report(Box::new(Heartbeat {
            worker: WorkerId(0),
            incarnation: 1,
            response_id,
            free_maps: 2,
            free_reduces: 2,
            accepts_tasks: true,
            may_park: false,
            attempts: Vec::new(),
            vitals: Vitals::default(),
            attributes: None,
        }));
        effects.clear();
        SPENT.set((0, 0));
        master.apply(now, &[heartbeat], &mut effects);
        let (spent, choices) = SPENT.take();
        if effects.iter().any(|effect| matches!(effect, Effect::Rejected { .. })) {
            return Err(Failure::broke(format!("the master refused a heartbeat: {effects:?}")));
        }
        if choices > 0 {
            return Err(Failure::broke(format!("{} gave a job to a worker that does not suit it", variant.label)));
        }
        costs.push(spent as f64);
    }
    Ok(median(&costs))
}
