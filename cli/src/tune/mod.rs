//! `tune`: time limits and partition sizes of the size-based policies, found by simulation.

pub(crate) mod args;
mod hadoop;

use howdah_core::job::profile::Trace;
use howdah_core::replay::{Arrivals, ReplayOptions, View};
use howdah_core::time::Span;
use howdah_experiments::framework::{Curve, Plot};
use howdah_json::Listing;
use howdah_planning::optimize::Slots;
use howdah_planning::tune::{
    Figures, Listener, Objective, Tried, Tune, Tuned, default_limits, default_shares, tunable, tune,
};
use serde_json::{Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::define::{apart, params};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::hadoop_files;
use crate::interrupt::Interrupt;
use crate::output::progress::WorkProgress;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};
use crate::trace_file::{self, import_options};
use crate::tune::args::TuneArgs;
use crate::units::{self, counted};

/// Slots of each kind where nothing says otherwise, as of `replay`.
const POOL: u16 = 64;

/// `howdah tune`
pub(crate) fn run(context: &Context, args: &TuneArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let Some(partitioned) = tunable(&args.scheduler) else {
        return Err(Failure::usage(format!(
            "scheduler `{}`: it has no time limits to tune, expected fbq, tags or sita",
            args.scheduler
        )));
    };
    check(args, partitioned)?;
    let trace = trace_file::read_jobs(&args.trace, &import_options(&apart(&args.define)[1])?)?;
    let what = plan(args, &trace, partitioned)?;
    if let Some(folder) = &args.write_hadoop {
        hadoop::check(folder, &args.scheduler, partitioned, what.queues, pool_slots(args, &trace))?;
    }
    let interrupt = Interrupt::listen()?;
    let shown = Shown { progress: WorkProgress::new("simulations"), interrupt: &interrupt };
    let found = tune(&what, &shown).map_err(|error| Failure::usage(error.to_string()))?;
    drop(shown);
    let Some(found) = found else {
        return Err(Failure::new(Exit::Interrupted, "interrupted before the best was found".to_owned()));
    };
    if let Some(path) = &args.picture {
        let svg = picture(args, &what, &found)?;
        trace_file::write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if let (Some(folder), Some(best)) = (&args.write_hadoop, found.tried.get(found.best)) {
        let slots = pool_slots(args, &trace);
        let pools = hadoop::pools(&best.candidate, &args.scheduler, &what.options.scheduler_params, slots);
        hadoop_files::write(folder, &pools)?;
        note(format!("{}: the partitions as queues of Hadoop's own files, which say whose each is", folder.display()));
    }
    match config.output {
        Format::Json => screen.json(&answer(args, &what, &found))?,
        Format::Table => page(&screen, args, &found)?,
    }
    Ok(Exit::Done)
}

fn check(args: &TuneArgs, partitioned: bool) -> Outcome<()> {
    if let Some((key, _)) = args.define.iter().find(|(key, _)| ["limits", "queues", "partitions"].contains(&&key[..])) {
        return Err(Failure::usage(format!("-D {key}: this is what is tuned, expected another parameter"))
            .help("--queues, --limits and --partitions say what to try"));
    }
    if !partitioned && args.partitions.is_some() {
        return Err(Failure::usage(format!(
            "--partitions: {} has no partitions, expected tags or sita",
            args.scheduler
        )));
    }
    let drawn = matches!(args.arrivals, Arrivals::Poisson { .. } | Arrivals::Load { .. });
    if !drawn && let Some(repeats) = args.repeats.filter(|&repeats| repeats > 1) {
        return Err(Failure::usage(format!(
            "--repeats: found {repeats} with jobs that come as they did, expected 1: all would be alike"
        ))
        .help("--arrivals poisson:MEAN or load:RHO draws them"));
    }
    if let Some(path) = &args.picture {
        trace_file::check_figure("--out", path)?;
    }
    Ok(())
}

fn plan<'a>(args: &TuneArgs, trace: &'a Trace, partitioned: bool) -> Outcome<Tune<'a>> {
    let limits = args.limits.clone().map_or_else(|| default_limits(trace), |limits| limits.0);
    let queues = args.queues as usize;
    if limits.len() + 1 < queues {
        return Err(Failure::usage(format!(
            "--limits: found {}, expected at least {} for {queues} queues",
            limits.len(),
            queues - 1
        )));
    }
    let drawn = matches!(args.arrivals, Arrivals::Poisson { .. } | Arrivals::Load { .. });
    let shares = args.partitions.clone().map_or_else(default_shares, |shares| shares.0);
    let what = Tune {
        trace,
        options: ReplayOptions {
            scheduler: args.scheduler.clone(),
            scheduler_params: params(&apart(&args.define)[0])?,
            view: view(args, trace),
            arrivals: args.arrivals,
            seed: args.seed,
            ..ReplayOptions::default()
        },
        queues,
        limits,
        shares: if partitioned { shares } else { Vec::new() },
        // Without anything drawn, repeats are alike.
        repeats: if drawn { args.repeats.unwrap_or(3) } else { 1 },
        refine: !args.no_refine,
        objective: args.objective.into(),
    };
    Ok(what)
}

fn view(args: &TuneArgs, trace: &Trace) -> View {
    let Slots { maps, reduces } = pool_slots(args, trace);
    View::Slots { maps, reduces }
}

/// As given, else those of the trace's cluster.
fn pool_slots(args: &TuneArgs, trace: &Trace) -> Slots {
    let workers = trace.cluster.iter().flat_map(|cluster| &cluster.workers);
    let sum = workers.fold((0u32, 0u32), |sum, worker| {
        (sum.0 + u32::from(worker.map_slots), sum.1 + u32::from(worker.reduce_slots))
    });
    let measured = if sum == (0, 0) { (POOL, POOL) } else { (slots(sum.0), slots(sum.1)) };
    let (maps, reduces) = args.map_slots.zip(args.reduce_slots).unwrap_or(measured);
    Slots { maps, reduces }
}

fn slots(n: u32) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

fn page(screen: &Screen, args: &TuneArgs, found: &Tuned) -> Outcome<()> {
    let partitioned = found.tried.iter().any(|one| one.candidate.share.is_some());
    let mut columns = Vec::new();
    columns.extend(partitioned.then_some(">partition 1"));
    columns.extend([">limits", ">median", ">p95", ">variability", ">mean", ">spread"]);
    let mut grid = Grid::new(&columns);
    let cells = |f: &Figures| [f.median, f.p95, f.variability, f.mean].map(|value| format!("{value:.2}"));
    let mut fifo: Vec<String> = partitioned.then(|| "0 %".to_owned()).into_iter().collect();
    fifo.push("(fifo)".to_owned());
    fifo.extend(cells(&found.fifo));
    fifo.push(String::new());
    grid.row(fifo);
    for (place, one) in found.tried.iter().enumerate() {
        let mut row: Vec<String> = one.candidate.share.map(|share| format!("{share} %")).into_iter().collect();
        row.push(limits(&one.candidate.limits));
        row.extend(cells(&one.figures));
        row.push(format!("{:.2}", one.spread));
        let columns = row.len();
        grid.row(row);
        if place == found.best {
            (0..columns).for_each(|column| grid.style(column, Style::Good));
        }
    }
    screen.line(grid.render(screen))?;
    let Some(best) = found.tried.get(found.best) else { return Ok(()) };
    let mut words: Vec<String> =
        apart(&args.define)[0].iter().map(|(key, value)| format!("-D {key}={value}")).collect();
    words.extend(best.candidate.words().iter().map(|(key, value)| format!("-D {key}={value}")));
    let f = &best.figures;
    screen.line(format!(
        "\nbest of {}: median {:.2}, 95th percentile {:.2}, variability {:.2} (fifo {:.2}, {:.2}, {:.2})",
        counted(found.tried.len() as u64, "candidate"),
        f.median,
        f.p95,
        f.variability,
        found.fifo.median,
        found.fifo.p95,
        found.fifo.variability
    ))?;
    if let Some(doubt) = found.doubt(args.objective.into()) {
        screen.line(format!("  {doubt}"))?;
    }
    Ok(screen.line(format!("  --scheduler {} {}", args.scheduler, words.join(" ")))?)
}

fn limits(limits: &[Span]) -> String {
    limits.iter().map(|limit| units::seconds(limit.as_secs_f64())).collect::<Vec<_>>().join(", ")
}

/// Schema `howdah/tune/v1`; lengths are seconds.
fn answer(args: &TuneArgs, what: &Tune<'_>, found: &Tuned) -> Listing<Value> {
    let figures = |f: &Figures| {
        json!({ "median_slowdown": f.median, "p95_slowdown": f.p95, "slowdown_variability": f.variability,
            "mean_slowdown": f.mean })
    };
    let one = |one: &Tried| {
        let limits: Vec<f64> = one.candidate.limits.iter().map(|limit| limit.as_secs_f64()).collect();
        let params: serde_json::Map<String, Value> =
            one.candidate.words().into_iter().map(|(key, value)| (key.to_owned(), Value::String(value))).collect();
        json!({ "limits_s": limits, "partition_1_percent": one.candidate.share, "params": params,
            "figures": figures(&one.figures), "spread": one.spread })
    };
    let body = json!({
        "scheduler": args.scheduler,
        "queues": what.queues,
        "repeats": what.repeats,
        "objective": what.objective.name(),
        "seed": args.seed,
        "fifo": figures(&found.fifo),
        "tried": found.tried.iter().map(one).collect::<Vec<_>>(),
        "best": found.tried.get(found.best).map(one),
        "doubt": found.doubt(what.objective),
    });
    Listing::new("tune", body)
}

/// What counts, and the median, over the first queue's limit.
fn picture(args: &TuneArgs, what: &Tune<'_>, found: &Tuned) -> Outcome<String> {
    let mut shares: Vec<Option<u32>> = found.tried.iter().map(|one| one.candidate.share).collect();
    shares.sort_unstable();
    shares.dedup();
    let both: [(&str, Objective, bool); 2] =
        [(what.objective.name(), what.objective, true), ("median", what.objective, false)];
    let curves = shares.iter().flat_map(|share| {
        both.map(|(name, objective, counts)| {
            let mut points: Vec<(f64, f64)> = found
                .tried
                .iter()
                .filter(|one| one.candidate.share == *share)
                .map(|one| {
                    let y = if counts { objective.of(&one.figures) } else { one.figures.median };
                    (one.candidate.limits[0].as_secs_f64(), y)
                })
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let name = share.map_or_else(|| name.to_owned(), |share| format!("{name}, {share} %"));
            Curve { name, points, joined: what.queues == 2 }
        })
    });
    let plot = Plot {
        title: format!("{}: slowdown by time limit", args.scheduler),
        x_label: "limit of queue 1 in s".to_owned(),
        y_label: "slowdown".to_owned(),
        x_log: true,
        y_log: false,
        curves: curves.collect(),
        across: vec![(format!("{} of fifo", what.objective.name()), what.objective.of(&found.fifo))],
    };
    Ok(plot.svg()?)
}

/// A bar on a terminal, and Ctrl-C.
struct Shown<'a> {
    progress: WorkProgress,
    interrupt: &'a Interrupt,
}

impl Listener for Shown<'_> {
    fn done(&self, done: usize, all: usize) {
        self.progress.show(done as u64, all as u64, String::new);
    }

    fn stopped(&self) -> bool {
        self.interrupt.came()
    }
}
