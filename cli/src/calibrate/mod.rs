//! `calibrate`: this machine's time against load and against frequency, as curves.
//!
//! `howdah_experiments::calibration` measures and fits; here are the words for it, the answer and the files.

pub(crate) mod args;
mod frequency;
mod guard;

use std::path::Path;

use howdah_apps::sudoku::{Generator, Grid, Mix, Symmetry, Verdict, solve};
use howdah_core::models::calibration::Calibration;
use howdah_core::models::load_curve::{FEWEST_POINTS, LoadFit};
use howdah_core::models::moments::{median, sorted};
use howdah_experiments::calibration::{self, Bench, Measured, Place, Work, figure, fit, usual_loads};
use howdah_json::Listing;
use serde_json::{Value, json};

use self::frequency::Paced;
use crate::args::{ClusterArgs, Format};
use crate::calibrate::args::CalibrateArgs;
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::progress::spinner;
use crate::output::table::Grid as Rows;
use crate::output::{Screen, note};
use crate::trace_file;
use crate::units;

/// Loads go up to this many times the cores, as far as estimates are asked to hold.
const TIMES: u32 = 3;
/// Puzzles of a round; the same for every run.
const PUZZLES: u64 = 20;

/// `howdah calibrate`
pub(crate) fn calibrate(context: &Context, args: &CalibrateArgs) -> Outcome {
    if let Some(rounds) = args.rounds {
        return run_workload_child(rounds);
    }
    if args.guard {
        return guard::be_the_guard(args);
    }
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    if let Some(n_cpus) = args.usable_cores {
        screen.line(howdah_worker::cpus_milli(n_cpus).to_string())?;
        return Ok(Exit::Done);
    }
    check(args)?;
    if cfg!(debug_assertions) {
        note("warning: this is a debug build; its times are not those of a release");
    }
    let program = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let work = match (&args.mapper, &args.input) {
        (Some(command), Some(input)) => Work::Mapper { command: command.clone(), input: input.clone() },
        _ => Work::Sudoku { rounds: 1 },
    };
    let place = args.group.clone().map_or(Place::Here, Place::Group);
    // First of all, as a method that this machine does not have is better reported before minutes of measuring.
    let mut setter = frequency::setter(args, &program, &place)?;
    let shown = spinner(&screen, "finding out how much work that is");
    let bench = Bench::new(&program, work, place, args.task)?;
    let cores = bench.machine().cores;
    let loads = args.loads.clone().map_or_else(|| usual_loads(cores, TIMES), |loads| loads.0);
    let (mut measured, mut paced) = (Vec::new(), Vec::new());
    for repeat in 1..=args.repeats {
        // By turns, so that whatever else the machine does meets all loads and frequencies.
        for load in &loads {
            shown.set_message(format!("repeat {repeat} of {}, load {load}", args.repeats));
            measured.push(bench.measure(*load)?);
        }
        paced.extend(setter.measure(&bench, |at| {
            shown.set_message(format!("repeat {repeat} of {}, {} MHz", args.repeats, at.effective_khz / 1_000));
        })?);
    }
    let paced = setter.end(paced)?;
    shown.finish_and_clear();
    let fits = fit(&measured, bench.machine())?;
    let mut calibration = calibration::calibration(bench.machine(), &fits[0], &measured);
    calibration.frequency = paced.record();
    if let Some(path) = &args.out {
        let text = calibration.text().map_err(|error| Failure::broke(format!("write the calibration: {error}")))?;
        trace_file::write_file(path, |out| out.write_all(text.as_bytes()))?;
    }
    if let Some(path) = &args.plot {
        let svg = figure(bench.machine(), &measured, &fits)?;
        trace_file::write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if let (Some(path), Some(svg)) = (&args.frequency_plot, paced.figure()?) {
        trace_file::write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    match config.output {
        Format::Json => screen.json(&Listing::new("calibrate", answer(&calibration, &measured, &fits, &paced)))?,
        Format::Table => page(&screen, &calibration, &measured, &fits, &paced)?,
    }
    Ok(Exit::Done)
}

/// Finds out before anything is measured whether the files can be written and the group is one.
fn check(args: &CalibrateArgs) -> Outcome<()> {
    let usage = |flag: &str, path: &Path, expected: &str| {
        Err(Failure::usage(format!("{flag}: found `{}`, expected {expected}", path.display())))
    };
    let enough = |flag: &str, steps: Option<usize>| match steps {
        Some(steps) if steps * (args.repeats as usize) < FEWEST_POINTS => {
            let found = format!("{steps} {flag} × {} repeats", args.repeats);
            Err(Failure::usage(format!("--{flag}: found {found}, expected {FEWEST_POINTS} runs or more for a curve")))
        }
        _ => Ok(()),
    };
    enough("loads", args.loads.as_ref().map(|loads| loads.0.len()))?;
    enough("frequencies", args.frequencies.as_ref().map(|shares| shares.0.len()))?;
    args.out.as_ref().map_or(Ok(()), |path| trace_file::check_folder("--out", path))?;
    args.plot.as_ref().map_or(Ok(()), |path| trace_file::check_figure("--plot", path))?;
    args.frequency_plot.as_ref().map_or(Ok(()), |path| trace_file::check_figure("--frequency-plot", path))?;
    match (&args.group, &args.input) {
        (Some(group), _) if !group.join("cgroup.procs").exists() => usage("--group", group, "a control group"),
        (_, Some(input)) if !input.is_file() => usage("--input", input, "a file that can be read"),
        _ => Ok(()),
    }
}

fn answer(calibration: &Calibration, measured: &[Measured], fits: &[LoadFit; 2], paced: &Paced) -> Value {
    let fit = |fit: &LoadFit| {
        json!({
            "curve": fit.curve.to_string(),
            "base_s": fit.base,
            "r_squared": fit.r_squared,
            "mean_error": fit.mean_error,
            "max_error": fit.max_error,
        })
    };
    let point =
        |m: &Measured| json!({ "foreign": m.foreign, "time_s": m.time_s, "stolen_s": m.stolen_s, "speed": m.speed });
    json!({
        "curve": calibration.curve.to_string(),
        "cores": calibration.cores,
        "khz": (calibration.khz > 0).then_some(calibration.khz),
        "best": fit(&fits[0]),
        "other": fit(&fits[1]),
        "points": measured.iter().map(point).collect::<Vec<_>>(),
        "frequency": calibration.frequency,
        "frequency_not": paced.why_not(),
    })
}

fn page(
    screen: &Screen,
    calibration: &Calibration,
    measured: &[Measured],
    fits: &[LoadFit; 2],
    paced: &Paced,
) -> Outcome<()> {
    let mut loads: Vec<f64> = measured.iter().map(|m| m.foreign).collect();
    loads.sort_unstable_by(f64::total_cmp);
    loads.dedup();
    let mut grid =
        Rows::new(&[">foreign load", ">median", ">least", ">most", ">stolen", ">speed", ">by the curve", ">error"]);
    for load in loads {
        let here = || measured.iter().filter(move |m| m.foreign == load);
        let times = sorted(here().map(|m| m.time_s));
        let middle = median(&times).unwrap_or(0.0);
        let milli = |number: f64| (number * 1e3).round() as u32;
        let factor = fits[0].curve.factor_ppm(milli(load + 1.0), milli(calibration.cores)) as f64 / 1e6;
        let fitted = fits[0].base * factor;
        grid.row([
            load.to_string(),
            units::seconds(middle),
            units::seconds(times.first().copied().unwrap_or(0.0)),
            units::seconds(times.last().copied().unwrap_or(0.0)),
            units::seconds(here().map(|m| m.stolen_s).sum()),
            units::share(median(&sorted(here().map(|m| m.speed))).unwrap_or(1.0)),
            units::seconds(fitted),
            units::share((fitted - middle).abs() / middle),
        ]);
    }
    screen.line(grid.render(screen))?;
    for (which, fit) in ["best", "other"].into_iter().zip(fits) {
        screen.line(format!(
            "{which:<6} {}   mean error {}, largest {}, R² {:.4}",
            fit.curve,
            units::share(fit.mean_error),
            units::share(fit.max_error),
            fit.r_squared
        ))?;
    }
    paced.show(screen)?;
    let frequency = calibration.frequency.as_ref();
    let frequency = frequency.map_or_else(String::new, |at| format!(" -D load-aware.frequency={}", at.curve));
    screen.line(format!(
        "\n{} cores. For the cluster:\n  howdah scheduler set load-aware -D load-aware.curve={}{frequency}",
        calibration.cores, calibration.curve
    ))?;
    Ok(())
}

/// Solves the same puzzles again and again, turned and relabelled, and checks every answer.
fn run_workload_child(rounds: u64) -> Outcome {
    let generator = Generator::new(1, Mix::parse("24-30").map_err(|error| Failure::broke(error.to_string()))?);
    let puzzles: Result<Vec<(Grid, Grid)>, _> = (0..PUZZLES).map(|index| generator.puzzle(index)).collect();
    let puzzles = puzzles.map_err(|error| Failure::broke(error.to_string()))?;
    for round in 0..rounds {
        for (puzzle, solution) in &puzzles {
            let symmetry = Symmetry::random(1, round);
            if solve(&symmetry.apply(puzzle)).0 != Verdict::Unique(symmetry.apply(solution)) {
                return Err(Failure::broke(format!("the solver contradicts itself: puzzle {puzzle}, round {round}")));
            }
        }
    }
    Ok(Exit::Done)
}
