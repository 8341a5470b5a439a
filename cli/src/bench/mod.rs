//! `bench`: howdah against fixed baselines, in the same run, taking turns.
//!
//! The baselines' sources are in this folder and stay as they are: a baseline that changes makes old figures
//! meaningless. What uses CPU time is a process of its own (hidden names of `bench`), so that its time can be taken
//! as a whole. A row has the bar that the project set itself; missing one ends the command with code 1.

pub(crate) mod args;
mod baseline_replay;
mod baseline_spawn;
mod baseline_wordcount;
mod cluster;
mod echo;
mod heartbeat;
mod heartbeat_times;
mod idle;
mod intervals;
mod journal;
mod measure;
mod memory;
mod million;
mod noop;
mod predict;
mod replay;
mod replay_trace;
mod report;
mod schedulers;
mod setting;
mod simulated_workers;
#[cfg(test)]
mod store;
mod streaming;
mod turns;
mod vitals;
mod wordcount;

use self::setting::Bench;
use crate::args::Format;
use crate::bench::args::{BenchArgs, BenchName};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::local::{cannot, make_dir};
use crate::output::note;
use crate::output::table::Grid;
use report::Report;

/// What each measures; the order of `all`, which leaves out the longest one.
const ABOUT: [(BenchName, &str, &str); 13] = [
    (BenchName::Wordcount, "wordcount", "word count over 1 GiB against a hand-written two-thread hash-map program"),
    (BenchName::Streaming, "streaming", "`cat` as mapper and reducer over 1 GiB against `cat | LC_ALL=C sort`"),
    (BenchName::Noop, "noop", "10,000 attempts that do nothing against a bare loop of /bin/true, two at a time"),
    (
        BenchName::Journal,
        "journal",
        "acknowledged submissions against the disk's syncs, and attempts with the journal against none",
    ),
    (BenchName::Idle, "idle", "from submission to the first attempt on an idle cluster"),
    (BenchName::Heartbeat, "heartbeat", "the master's CPU time per heartbeat against a bare tonic echo server"),
    (BenchName::Intervals, "intervals", "a batch of short jobs under each heartbeat interval rule"),
    (BenchName::Replay, "replay", "simulated events a second against a hand-written loop over the same events"),
    (
        BenchName::Schedulers,
        "schedulers",
        "a decision of each scheduler with 10,000 jobs that wait against one with 10",
    ),
    (BenchName::Predict, "predict", "one forecast of an hour of 100 workers, and the fork that it starts from"),
    (
        BenchName::Memory,
        "memory",
        "what jobs take of the master's memory, and leave on disks, against what they took at first",
    ),
    (
        BenchName::Million,
        "million",
        "the master's memory through a job of a million tasks and a thousand jobs of a thousand; takes most of an hour",
    ),
    (BenchName::Vitals, "vitals", "the CPU time that a worker spends on measuring its machine"),
];

/// `howdah bench`
pub(crate) async fn bench(context: &Context, args: &BenchArgs) -> Outcome {
    match args.name {
        BenchName::BaselineWordcount => return baseline_wordcount::main(&args.rest),
        BenchName::BaselineSpawn => return baseline_spawn::main(&args.rest),
        BenchName::BaselineEcho => return echo::main(&args.rest),
        BenchName::ReplayMemory => return replay::memory_main(&args.rest),
        BenchName::SimulatedWorkers => return simulated_workers::main(&args.rest).await,
        BenchName::HeartbeatTimes => return heartbeat_times::main(&args.rest).await,
        _ => {}
    }
    let config = context.client(&Default::default(), args.format.output)?;
    let screen = context.screen(config.color);
    if args.name == BenchName::List {
        let mut grid = Grid::new(&["name", "measures"]);
        ABOUT.iter().for_each(|(_, name, about)| grid.row([*name, *about]));
        screen.line(grid.render(&screen))?;
        return Ok(Exit::Done);
    }
    if cfg!(debug_assertions) {
        note("warning: this is a debug build; its figures mean nothing");
    }
    let temporary = tempfile::Builder::new().prefix("howdah-bench-").tempdir()?;
    let dir = match &args.dir {
        Some(dir) => {
            make_dir(dir)?;
            dir.canonicalize().map_err(|error| cannot("use", dir, &error))?
        }
        None => temporary.path().to_owned(),
    };
    let bench = Bench {
        screen: &screen,
        dir,
        quick: args.quick,
        repeats: args.repeats,
        tasks: args.tasks,
        n_clusters: std::sync::atomic::AtomicU32::new(0),
    };
    let stop = tokio::signal::ctrl_c();
    tokio::select! {
        outcome = run(&bench, args, config.output) => outcome,
        _ = stop => Err(Failure::broke("interrupted")),
    }
}

async fn run(bench: &Bench<'_>, args: &BenchArgs, format: Format) -> Outcome {
    let mut reports = Vec::new();
    let is_asked = |name: &BenchName| args.name == *name || args.name == BenchName::All && *name != BenchName::Million;
    for (name, title, _) in ABOUT.iter().filter(|(name, _, _)| is_asked(name)) {
        note(format!("{title}:"));
        let report = match name {
            BenchName::Wordcount => wordcount::run(bench).await?,
            BenchName::Streaming => streaming::run(bench).await?,
            BenchName::Noop => noop::run(bench).await?,
            BenchName::Journal => journal::run(bench).await?,
            BenchName::Idle => idle::run(bench).await?,
            BenchName::Heartbeat => heartbeat::run(bench).await?,
            BenchName::Replay => replay::run(bench).await?,
            BenchName::Schedulers => schedulers::run(bench)?,
            BenchName::Predict => predict::run(bench)?,
            BenchName::Memory => memory::run(bench).await?,
            BenchName::Million => million::run(bench).await?,
            BenchName::Vitals => vitals::run(bench).await?,
            _ => intervals::run(bench).await?,
        };
        if format == Format::Table {
            bench.screen.line(report.text(bench.screen))?;
        }
        if let Some(path) = &args.write {
            report.write(path)?;
        }
        reports.push(report);
    }
    if format == Format::Json {
        bench.screen.json(&report::listing(&reports))?;
    }
    match reports.iter().find_map(Report::missed) {
        Some(row) if !bench.quick => Err(Failure::failed(format!("a bar was missed: {row}"))),
        _ => Ok(Exit::Done),
    }
}
