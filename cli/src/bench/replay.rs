//! The replay engine against a hand-written loop over the same events.
//!
//! Both run in this process, in turn, on the same trace, and every job must end at the same time in both. Events are
//! counted as SimMR counts them: two per task, three per job. Time is the thread's CPU time. The engine's time covers
//! everything from the trace to the report: the core's states, the policy behind its interface, and the digest of all
//! decisions. Memory is measured in a process of its own, trace included.

use std::io::Write as _;
use std::process::{Command, Stdio};

use howdah_core::job::profile::Trace;
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::time::{Span, Time};

use super::baseline_replay;
use super::measure::{median, thread_time};
use super::replay_trace::{PAPER_JOBS, PAPER_TASKS, equal, paper, papers};
use super::report::{Bar, Report, Row};
use super::setting::Bench;
use super::turns::Turns;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::proc;
use crate::units;

/// Slots of each kind, SimMR's testbed (§IV-B).
const SLOTS: u32 = 64;

/// Turns of a small trace for each repeat that was asked for: it is over in a fraction of a second.
const SMALL: u32 = 5;

/// Turns in all for each undisturbed one that is wanted.
const MOST_TURNS: usize = 4;

/// Jobs that wait at the same time when few do.
const FEW: usize = 50;

pub(crate) async fn run(bench: &Bench<'_>) -> Outcome<Report> {
    let copies: u64 = bench.size(100, 5);
    // First, before this process grows.
    let per_task = memory_per_task(copies)?;
    // In portions between the other rows: a spell of a busy neighbour outlasts a few turns.
    let mut paper = Race::on(paper(0)?);
    let portion = bench.repeats() * SMALL / 4 + 1;
    paper.turns(bench, portion).await?;
    let large = {
        let mut large = Race::on(papers(copies, true, [SLOTS; 2])?);
        large.turns(bench, bench.repeats()).await?;
        large.all(Some(Bar::AtLeast(0.8)))
    };
    paper.turns(bench, portion).await?;
    let waiting = waiting(bench).await?;
    paper.turns(bench, portion).await?;
    let workers = workers(bench).await?;
    let figure_6 = figure_6(bench).await?;
    paper.turns(bench, portion).await?;
    paper.until_undisturbed(bench, bench.repeats() * SMALL).await?;
    let memory = Row {
        measure: format!("memory per task, {} tasks", units::count(copies * PAPER_TASKS)),
        unit: "B",
        howdah: per_task,
        baseline: None,
        bar: Some(Bar::AtMost(64.0)),
    };
    let (undisturbed, all) = (paper.undisturbed(Some(Bar::AtLeast(1.0))), paper.all(None));
    let all = Row { measure: format!("{}, disturbed turns too", all.measure), ..all };
    let rows = [vec![undisturbed, all, large, memory, waiting, workers], figure_6].concat();
    Ok(Report {
        name: "replay",
        title: "Replaying traces under FIFO".to_owned(),
        baseline: "one heap through which SimMR's seven events pass (cli/src/bench/baseline_replay.rs)",
        rows,
        notes: vec![
            format!("{SLOTS} + {SLOTS} slots unless workers are named; rates are per second of CPU time and count two events per task and three per job, idle heartbeats nothing"),
            "engine and baseline end every job at the same time, or the benchmark fails; the engine's time includes its set-up, its digest of all decisions and its report".to_owned(),
            paper.note(),
            format!("the other small traces take {SMALL} turns for each repeat"),
            "memory is the peak of a process that makes and replays the trace, less what it had before".to_owned(),
            "the row on waiting jobs has no foreign baseline: it compares the engine with itself, all jobs at once against 50 at once".to_owned(),
            "the last rows repeat SimMR's Figure 6, which has 1.5 s for 1,148 jobs of SimMR and 680 s of Mumak, on the machine of 2011".to_owned(),
        ],
        repeats: bench.repeats(),
        quick: bench.quick,
    })
}

/// What one replay took and found.
#[derive(Clone, Debug)]
struct Ran {
    seconds: f64,
    events: u64,
    /// When each job ended.
    ends: Vec<Time>,
}

impl Ran {
    fn millions_a_second(&self) -> f64 {
        self.events as f64 / self.seconds / 1e6
    }
}

fn engine(trace: &Trace, view: View) -> Outcome<Ran> {
    let options = ReplayOptions { view, ..ReplayOptions::default() };
    let began = thread_time()?;
    let mut simulation = Simulation::new(trace, &options).map_err(|error| Failure::broke(error.to_string()))?;
    simulation.run();
    let report = simulation.report();
    let seconds = (thread_time()? - began).as_secs_f64();
    Ok(Ran { seconds, events: report.events, ends: report.jobs.iter().map(|job| job.finish).collect() })
}

fn slots() -> View {
    View::Slots { maps: SLOTS as u16, reduces: SLOTS as u16 }
}

fn baseline(trace: &Trace) -> Outcome<Ran> {
    let began = thread_time()?;
    let done = baseline_replay::run(trace, [SLOTS; 2]);
    let seconds = (thread_time()? - began).as_secs_f64();
    Ok(Ran { seconds, events: done.events, ends: done.departures_ms.iter().map(|&ms| Time::from_ms(ms)).collect() })
}

/// One of each, which must agree.
fn both(trace: &Trace) -> Outcome<(Ran, Ran)> {
    let (base, ours) = (baseline(trace)?, engine(trace, slots())?);
    if base.events != ours.events {
        return Err(Failure::broke(format!("baseline counts {} events, the engine {}", base.events, ours.events)));
    }
    if let Some(job) = (0..base.ends.len()).find(|&job| ours.ends.get(job) != Some(&base.ends[job])) {
        let ours = ours.ends.get(job).map_or(0, |end| end.as_ms());
        let theirs = base.ends[job].as_ms();
        return Err(Failure::broke(format!("job {}: baseline ends it at {theirs} ms, the engine at {ours}", job + 1)));
    }
    Ok((base, ours))
}

/// Millions of events a second of the engine and of the baseline.
fn rates_of(trace: &Trace) -> Outcome<[f64; 2]> {
    let (base, engine) = both(trace)?;
    Ok([engine.millions_a_second(), base.millions_a_second()])
}

/// Engine and baseline by turns over the same jobs.
struct Race {
    trace: Trace,
    /// The jobs' and tasks' numbers.
    name: String,
    rates: Turns<[f64; 2]>,
}

impl Race {
    fn on(trace: Trace) -> Race {
        Race { name: jobs_and_tasks(&trace), trace, rates: Turns::new() }
    }

    async fn turns(&mut self, bench: &Bench<'_>, n: u32) -> Outcome<()> {
        for _ in 0..n {
            let [engine, base] = *self.rates.take(|| rates_of(&self.trace))?;
            let (name, turn) = (&self.name, self.rates.all().count());
            bench.tell(format!("{name}, turn {turn}: engine {engine:.2} million events/s, baseline {base:.2}"));
            // An interrupt is noticed between turns.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// More turns, where neighbours have disturbed most; not without end.
    async fn until_undisturbed(&mut self, bench: &Bench<'_>, wanted: u32) -> Outcome<()> {
        let wanted = wanted as usize;
        while self.rates.undisturbed().count() < wanted && self.rates.all().count() < MOST_TURNS * wanted {
            self.turns(bench, 1).await?;
        }
        Ok(())
    }

    fn note(&self) -> String {
        format!(
            "the first row has the {} of {} turns whose core ran at full speed before and after, by a fixed piece of sorting that is timed each time: a neighbour on the core's other thread costs the engine more than the baseline",
            self.rates.undisturbed().count(),
            self.rates.all().count()
        )
    }

    fn undisturbed(&self, bar: Option<Bar>) -> Row {
        self.row(self.rates.undisturbed(), bar)
    }

    fn all(&self, bar: Option<Bar>) -> Row {
        self.row(self.rates.all(), bar)
    }

    fn row<'r>(&self, rates: impl Iterator<Item = &'r [f64; 2]>, bar: Option<Bar>) -> Row {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = rates.map(|&[engine, base]| (engine, base)).unzip();
        let baseline = Some(median(&theirs));
        Row { measure: self.name.clone(), unit: "M/s", howdah: median(&ours), baseline, bar }
    }
}

fn jobs_and_tasks(trace: &Trace) -> String {
    let tasks = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    format!("{}, {}", units::counted(trace.jobs.len() as u64, "job"), units::counted(tasks, "task"))
}

/// Cost per event with all jobs waiting at once, and with few at once: equal jobs, only their arrivals differ.
async fn waiting(bench: &Bench<'_>) -> Outcome<Row> {
    let jobs = bench.size(10_000, 2_000);
    let many = equal(jobs)?;
    let mut few = many.clone();
    // Each batch comes when the one before is through.
    let mut now = 0;
    for batch in few.jobs.chunks_mut(FEW) {
        batch.iter_mut().for_each(|job| job.submit_ms = now);
        let alone = Trace { jobs: batch.to_vec(), ..Trace::default() };
        now += baseline_replay::run(&alone, [SLOTS; 2]).makespan_ms + 1;
    }
    let (mut costs_few, mut costs_many) = (Vec::new(), Vec::new());
    for _ in 0..bench.repeats() * SMALL {
        for (trace, costs) in [(&few, &mut costs_few), (&many, &mut costs_many)] {
            let (_, ran) = both(trace)?;
            costs.push(1e3 / ran.millions_a_second());
        }
        tokio::task::yield_now().await;
    }
    Ok(Row {
        measure: format!("time per event, {} jobs waiting (baseline: {FEW})", units::count(jobs as u64)),
        unit: "ns",
        howdah: median(&costs_many),
        baseline: Some(median(&costs_few)),
        bar: Some(Bar::AtMost(1.5)),
    })
}

/// Workers that send a heartbeat every three seconds only.
async fn workers(bench: &Bench<'_>) -> Outcome<Row> {
    let n: usize = 1_000;
    let worker = |index| SimWorker {
        name: format!("worker-{index:04}"),
        host: format!("host-{index:04}"),
        rack: format!("/rack-{}", index / 40),
        map_slots: 2,
        reduce_slots: 2,
        ..SimWorker::default()
    };
    let heartbeat = SimHeartbeat { interval: Span::from_secs(3), out_of_band: false };
    let view =
        View::Workers(WorkersView { workers: (0..n).map(worker).collect(), heartbeat, ..WorkersView::default() });
    let copies: u64 = bench.size(5, 1);
    let trace = papers(copies, false, [SLOTS; 2])?;
    let mut rates = Vec::new();
    for turn in 0..bench.repeats() {
        let ran = engine(&trace, view.clone())?;
        rates.push((2 * copies * PAPER_TASKS) as f64 / ran.seconds / 1e6);
        bench.tell(format!("workers, turn {}: {:.2} million task events/s", turn + 1, rates[turn as usize]));
        tokio::task::yield_now().await;
    }
    Ok(Row {
        measure: format!(
            "{} workers of 2 + 2 slots, heartbeats every 3 s, {}: task events",
            units::count(n as u64),
            jobs_and_tasks(&trace)
        ),
        unit: "M/s",
        howdah: median(&rates),
        baseline: None,
        bar: Some(Bar::AtLeast(2.0)),
    })
}

/// Time against number of jobs.
async fn figure_6(bench: &Bench<'_>) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for jobs in [50, 200, 500, PAPER_JOBS] {
        let mut trace = paper(0)?;
        trace.jobs.truncate(jobs);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..bench.repeats() * SMALL {
            let (base, engine) = both(&trace)?;
            theirs.push(base.seconds * 1e3);
            ours.push(engine.seconds * 1e3);
        }
        rows.push(Row {
            measure: format!("Figure 6: {}", jobs_and_tasks(&trace)),
            unit: "ms",
            howdah: median(&ours),
            baseline: Some(median(&theirs)),
            bar: None,
        });
        tokio::task::yield_now().await;
    }
    Ok(rows)
}

/// Peak memory per task of a replay, its trace included, in bytes.
fn memory_per_task(copies: u64) -> Outcome<f64> {
    let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let mut command = Command::new(exe);
    command.args(["bench", "replay-memory", &copies.to_string()]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| Failure::broke(format!("cannot start `replay-memory`: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let grown_kib: u64 = match text.trim().parse() {
        Ok(kib) if output.status.success() => kib,
        _ => return Err(Failure::broke(format!("`replay-memory` ended with {} and said `{text}`", output.status))),
    };
    Ok(grown_kib as f64 * 1024.0 / (copies * PAPER_TASKS) as f64)
}

/// `howdah bench replay-memory COPIES`: replays the paper's jobs so many times and says by how many KiB the process
/// grew at most.
pub(super) fn memory_main(args: &[String]) -> Outcome {
    let [copies] = args else { return Err(Failure::usage("expected COPIES")) };
    let copies: u64 = copies.parse().map_err(|_| Failure::usage(format!("expected a number, found `{copies}`")))?;
    let peak = || proc::peak_kib(std::process::id()).ok_or_else(|| Failure::broke("no peak memory in /proc"));
    let before = peak()?;
    let ran = engine(&papers(copies.max(1), true, [SLOTS; 2])?, slots())?;
    let grown = peak()? - before;
    if ran.events != copies * (2 * PAPER_TASKS + 3 * PAPER_JOBS as u64) {
        return Err(Failure::broke(format!("the replay ended after {} events", ran.events)));
    }
    writeln!(std::io::stdout(), "{grown}")?;
    Ok(Exit::Done)
}
