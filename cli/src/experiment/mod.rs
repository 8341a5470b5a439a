//! `experiment`: the papers' tables and figures.

pub(crate) mod args;

use std::path::{Path, PathBuf};
use std::time::Instant;

use howdah_experiments::framework::{About, Check, Lab, Outcome as Results, Progress};
use howdah_json::Listing;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::experiment::args::{ExperimentCommand, ExperimentListArgs, ExperimentRunArgs};
use crate::failure::{Failure, Outcome};
use crate::local::{cannot, make_dir};
use crate::output::progress::spinner;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};
use crate::units;

/// `howdah experiment …`
pub(crate) fn run(context: &Context, command: &ExperimentCommand) -> Outcome {
    match command {
        ExperimentCommand::List(args) => list(context, args),
        ExperimentCommand::Run(args) => run_one(context, args),
    }
}

fn list(context: &Context, args: &ExperimentListArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    let all: Vec<About> = howdah_experiments::all().iter().map(|experiment| experiment.about()).collect();
    match config.output {
        Format::Json => {
            let experiments: Vec<Value> = all.iter().map(as_json).collect();
            screen.json(&Listing::new("experiments", json!({ "experiments": experiments })))?;
        }
        Format::Table => {
            let mut grid = Grid::new(&["name", "after", "needs", ">full", ">quick", "shows"]);
            for about in &all {
                let [full, quick] = about.estimate_s.map(roughly);
                let paper = about.paper.split(" (").next().unwrap_or(about.paper);
                grid.row([
                    about.name.to_owned(),
                    format!("{paper}, {}", about.figure),
                    about.needs.name().replace('-', " "),
                    full,
                    quick,
                    about.line.to_owned(),
                ]);
            }
            screen.line(grid.render(&screen))?;
        }
    }
    Ok(Exit::Done)
}

/// An estimate has no decimals to show.
fn roughly(s: u32) -> String {
    if s < 60 { format!("~{s} s") } else { format!("~{} min", s.div_ceil(60)) }
}

fn as_json(about: &About) -> Value {
    json!({
        "name": about.name,
        "about": about.line,
        "paper": about.paper,
        "figure": about.figure,
        "needs": about.needs.name(),
        "estimate_full_s": about.estimate_s[0],
        "estimate_quick_s": about.estimate_s[1],
    })
}

fn run_one(context: &Context, args: &ExperimentRunArgs) -> Outcome {
    let Some(experiment) = howdah_experiments::by_name(&args.name) else {
        let names: Vec<_> = howdah_experiments::all().iter().map(|experiment| experiment.about().name).collect();
        return Err(Failure::usage(format!(
            "experiment `{}`: no such experiment, expected {}",
            args.name,
            names.join(" or ")
        )));
    };
    for scheduler in &args.scheduler {
        crate::daemon::check_scheduler(scheduler)?;
    }
    // What would change nothing is not taken for something that does.
    if !args.scheduler.is_empty() && !experiment.takes_schedulers() {
        return Err(not_of(&args.name, "--scheduler", "it has schedulers of its own"));
    }
    if args.repeats.is_some() && !experiment.takes_repeats() {
        return Err(not_of(&args.name, "--repeats", "nothing in it is repeated"));
    }
    if cfg!(debug_assertions) {
        note("warning: this is a debug build; figures of live runs mean nothing");
    }
    let screen = context.screen(context.colour()?);
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from(format!("experiment-{}", args.name)));
    make_dir(&dir)?;
    let shown = Shown(spinner(&screen, "starting"));
    let lab = Lab {
        dir: dir.canonicalize().map_err(|error| cannot("use", &dir, &error))?,
        quick: args.quick,
        seed: args.seed,
        program: std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?,
        schedulers: if args.scheduler.is_empty() { vec!["fifo".to_owned()] } else { args.scheduler.clone() },
        repeats: args.repeats,
        progress: &shown,
    };
    let began = Instant::now();
    let results = experiment.run(&lab);
    shown.0.finish_and_clear();
    let results = results?;
    report(&screen, &dir, &results)?;
    let time = units::seconds(began.elapsed().as_secs_f64());
    let missed: Vec<&Check> = results.missed().collect();
    match missed.first() {
        None => {
            screen.line(format!("\n{} in {time}", screen.paint(Style::Good, "done")))?;
            Ok(Exit::Done)
        }
        Some(first) => {
            let all = units::counted(missed.len() as u64, "bar");
            Err(Failure::failed(format!("{all} missed, first: {}", one_line(first))))
        }
    }
}

fn not_of(name: &str, flag: &str, why: &str) -> Failure {
    Failure::usage(format!("{flag}: experiment `{name}` does not take it, expected none: {why}"))
}

fn report(screen: &Screen, dir: &Path, results: &Results) -> Outcome<()> {
    for check in &results.checks {
        let mark = match (check.holds(), check.judged) {
            (true, _) => screen.paint(Style::Good, "✓"),
            (false, true) => screen.paint(Style::Bad, "✗"),
            (false, false) => screen.paint(Style::Dim, "·"),
        };
        screen.line(format!("  {mark} {}", one_line(check)))?;
    }
    for file in &results.files {
        let name = file.file_name().map_or_else(|| file.clone(), |name| dir.join(name));
        screen.line(format!("  {} {}", screen.paint(Style::Dim, "wrote"), name.display()))?;
    }
    Ok(())
}

fn one_line(check: &Check) -> String {
    let share = |share: f64| format!("{:.2} %", share * 100.0);
    if !check.found_anything() {
        return format!("{}: nothing to judge", check.what);
    }
    let rough = if check.judged { "" } else { ", not judged" };
    format!("{}: {}, at most {}{rough}", check.what, share(check.found), share(check.bar))
}

/// Steps as lines; what is going on right now only where it can be overwritten.
struct Shown(ProgressBar);

impl Progress for Shown {
    fn step(&self, text: &str) {
        if self.0.is_hidden() {
            note(text);
        } else {
            self.0.println(format!("  {text}"));
        }
    }

    fn tick(&self, text: &str) {
        self.0.set_message(text.to_owned());
    }
}
