//! `optimize`: the best order of a batch, or pools for it, and what each strategy comes to.
//!
//! The optimiser is `howdah_planning::optimize`; here are the words for its choices, the answer, and the files that
//! take a plan elsewhere: a trace in the plan's order, and queues for the capacity scheduler.

mod answer;
pub(crate) mod args;
pub(crate) mod choices;
mod found;
pub(crate) mod write;

use std::time::Instant;

use howdah_core::job::profile::Trace;
use howdah_planning::optimize::{Batch, Bound, DividedBy, Method, Slots, floor, plan, replan, theory};

use self::found::Found;
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::hadoop_files;
use crate::optimize::args::{ArrivalsChoice, BoundChoice, OptimizeArgs, StagesChoice};
use crate::output::note;
use crate::output::progress::WorkProgress;
use crate::trace_file;
use crate::trace_file::import_options;

/// `howdah optimize`
pub(crate) fn optimize(context: &Context, args: &OptimizeArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = context.screen(config.color);
    args.check_pools().map_err(|problem| {
        Failure::usage(problem).help("leave --method out for pools, or the flag for an order without them")
    })?;
    let trace = trace_file::read_jobs(&args.trace, &import_options(&args.settings)?)?;
    check_files(args)?;
    let found = find(args, &trace)?;
    write_files(&found)?;
    match config.output {
        Format::Json => screen.json(&answer::json(&found))?,
        Format::Table => screen.line(answer::page(&screen, &found))?,
    }
    Ok(Exit::Done)
}

fn find<'a>(args: &'a OptimizeArgs, trace: &'a Trace) -> Outcome<Found<'a>> {
    let began = Instant::now();
    let bar = WorkProgress::new("splits tried");
    let progress = |done, of| bar.show(done as u64, of as u64, String::new);
    let batch = Batch {
        bound: match args.bound {
            BoundChoice::Low => Bound::Low,
            BoundChoice::Average => Bound::Average,
            BoundChoice::Upper => Bound::Upper,
        },
        divided: match args.stages {
            StagesChoice::Usable => DividedBy::Usable,
            StagesChoice::Printed => DividedBy::All,
        },
        small_by: choices::small_by(&args.pools),
        shuffle: args.shuffle,
        slowstart_ppm: args.slowstart,
        threads: args.threads.map_or(0, |threads| threads as usize),
        progress: &progress,
        ..Batch::new(trace, Slots { maps: args.map_slots, reduces: args.reduce_slots })
    };
    let method = choices::method(args.method, &args.pools);
    let wrong = |error: howdah_core::replay::ReplayError| Failure::usage(error.to_string());
    let mut simulated = vec![
        (Method::Johnson, plan(&batch, Method::Johnson).map_err(wrong)?),
        (Method::ReverseJohnson, plan(&batch, Method::ReverseJohnson).map_err(wrong)?),
    ];
    let chosen = match method {
        Method::Johnson => simulated[0].1.clone(),
        Method::ReverseJohnson => simulated[1].1.clone(),
        Method::ShortestFirst | Method::LongestFirst | Method::BalancedPools { .. } => {
            let chosen = plan(&batch, method).map_err(wrong)?;
            simulated.push((method, chosen.clone()));
            chosen
        }
    };
    let replans = match args.arrivals {
        ArrivalsChoice::Batch => Vec::new(),
        ArrivalsChoice::Asis => replan(&batch, method).map_err(wrong)?,
    };
    let plan = replans.last().map_or(chosen, |last| last.plan.clone());
    Ok(Found {
        trace,
        args,
        method,
        theory: theory(&batch),
        floor: floor(&batch),
        simulated,
        plan,
        replans,
        wall_s: began.elapsed().as_secs_f64(),
    })
}

/// Before a search that may take minutes: whether what it finds can be written.
fn check_files(args: &OptimizeArgs) -> Outcome<()> {
    let asked = [
        ("--write-trace", &args.write_trace),
        ("--write-capacity", &args.write_capacity),
        ("--write-hadoop", &args.write_hadoop),
    ];
    for (flag, path) in asked {
        let Some(path) = path else { continue };
        if args.arrivals == ArrivalsChoice::Asis {
            let problem = format!("{flag}: found --arrivals asis, expected a batch: its plan is one of several");
            return Err(Failure::usage(problem));
        }
        if flag == "--write-hadoop" {
            hadoop_files::make_dirs(path)?;
        } else {
            trace_file::check_folder(flag, path)?;
        }
    }
    Ok(())
}

fn write_files(found: &Found<'_>) -> Outcome<()> {
    let args = found.args;
    if let Some(path) = &args.write_trace {
        let planned = write::trace(found.trace, &found.plan);
        trace_file::write_file(path, |out| howdah_traces::howdah::write(&planned, out))?;
        note(format!("{}: jobs in the order of the plan", path.display()));
    }
    if let Some(path) = &args.write_capacity {
        let text = write::capacity(&found.plan);
        trace_file::write_file(path, |out| out.write_all(text.as_bytes()))?;
        note(format!("{}: queues of the capacity scheduler", path.display()));
    }
    if let Some(folder) = &args.write_hadoop {
        hadoop_files::write(folder, &write::pools(&found.plan))?;
        note(format!("{}: the pools as Hadoop's own files", folder.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::{Cli, Command};

    fn args(words: &str) -> OptimizeArgs {
        let line = format!("howdah optimize t.json --map-slots 30 --reduce-slots 30 {words}");
        let Command::Optimize(args) = Cli::parse_from(line.split(' ')).command else { panic!("not optimize") };
        args
    }

    // balanced-pools §3.1, Figure 4: 24 s in Johnson's order, 42 s in its reverse.
    #[test]
    fn a_row_that_is_better_than_the_plan_is_named_with_the_method_that_takes_it() {
        let workload = howdah_planning::workloads::find("example-two-jobs").expect("a workload");
        let trace = workload.generate(&howdah_planning::workloads::Choices::default()).expect("its own size");
        let screen = crate::output::Screen::new(crate::args::Colour::Never);
        for (objective, said) in [
            ("makespan", "MinSim is over after 24.0 s, sooner than the plan below: `--method johnson` takes it"),
            (
                "mean-delay",
                "MinSim has a mean delay of 23.0 s, shorter than the plan below: `--method johnson` takes it",
            ),
        ] {
            let asked = args(&format!("--method reverse-johnson --objective {objective}"));
            let found = find(&asked, &trace).expect("slots");
            let page = answer::page(&screen, &found);
            assert!(page.lines().any(|line| line == said), "{page}");
            let json = serde_json::to_value(answer::json(&found)).expect("plain");
            assert_eq!((&json["better"]["method"], &json["better"]["makespan_s"]), (&"johnson".into(), &24.0.into()));
            let best = args(&format!("--objective {objective}"));
            let found = find(&best, &trace).expect("slots");
            assert!(found.better().is_none());
            assert!(!answer::page(&screen, &found).contains("takes it"));
        }
    }

    #[test]
    fn what_is_asked_of_pools_needs_a_method_with_pools() {
        assert_eq!(args("--pools 4 --sizes apart --small-by work").check_pools(), Ok(()));
        assert_eq!(args("--method johnson --objective mean-delay").check_pools(), Ok(()));
        for (flag, method) in [("--pools", "johnson"), ("--sizes", "longest-first"), ("--small-by", "shortest-first")] {
            let value = match flag {
                "--pools" => "4",
                "--sizes" => "apart",
                _ => "length",
            };
            let expected = "expected balanced-pools: all other methods have one pool";
            assert_eq!(
                args(&format!("--method {method} {flag} {value}")).check_pools(),
                Err(format!("{flag}: found --method {method}, {expected}"))
            );
        }
    }

    #[test]
    fn what_cannot_be_written_is_said_before_the_search() {
        let said = |words: &str| {
            let line = format!("howdah optimize t.json --map-slots 1 --reduce-slots 1 {words}");
            let Command::Optimize(args) = Cli::parse_from(line.split(' ')).command else { panic!("not optimize") };
            check_files(&args).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
        };
        let folder = "error: --write-trace: found `no/such/plan.jsonl`, expected a file in a directory that exists";
        assert_eq!(said("--write-trace no/such/plan.jsonl"), Err(folder.to_owned()));
        let asis = "error: --write-capacity: found --arrivals asis, expected a batch: its plan is one of several";
        assert_eq!(said("--arrivals asis --write-capacity p.toml"), Err(asis.to_owned()));
        assert_eq!(said("--write-trace plan.jsonl --write-capacity p.toml"), Ok(()));
    }
}
