//! `journal`: whether what a master recorded is whole, what is in it, and how to go on when it is not.
//!
//! All three read files only and need no cluster; `repair` makes sure that no master runs on the directory.

mod dump;
mod failure;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use howdah_json::Listing;
use howdah_master::journal;
use howdah_master::journal::{Check, DamagedSnapshot};
use serde_json::json;

use self::failure::{failure, one_line};
use crate::args::{ClusterArgs, Format, FormatArgs};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::units;

/// `howdah journal`
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Read all of it and say whether it is whole
    Check(JournalArgs),
    /// Print every batch: what came in, what was launched
    Dump(JournalArgs),
    /// Cut it behind the last batch that can be trusted
    Repair(JournalArgs),
}

/// Arguments of all its subcommands.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A write that was under way when the master was killed leaves a torn end. That is ordinary: the next \
start cuts it off, and nothing in it was ever acknowledged. Damage anywhere else keeps a master from \
starting; `repair` then cuts the journal at the damage and keeps what it cut in `cut-N`.

Examples:
  howdah journal check /data/howdah
  howdah journal dump /data/howdah --output json
  howdah journal repair /data/howdah")]
pub(crate) struct JournalArgs {
    /// A master's directory, or one run in it
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Runs one of them.
pub(crate) fn run(context: &Context, command: &JournalCommand) -> Outcome {
    let (JournalCommand::Check(args) | JournalCommand::Dump(args) | JournalCommand::Repair(args)) = command;
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = Screen::new(config.color);
    match command {
        JournalCommand::Check(_) => check(&screen, config.output, &args.dir),
        JournalCommand::Dump(_) => dump::dump(&screen, config.output, &args.dir),
        JournalCommand::Repair(_) => repair(&screen, config.output, &args.dir),
    }
}

fn check(screen: &Screen, format: Format, dir: &Path) -> Outcome {
    let check = journal::check(dir).map_err(failure)?;
    match format {
        Format::Json => screen.json(&Listing::new("journal", body(&check)))?,
        Format::Table => screen.line(text(&check))?,
    }
    match (check.damage, check.damaged_snapshots.into_iter().next_back()) {
        (None, None) => Ok(Exit::Done),
        (None, Some(DamagedSnapshot { path, problem })) => {
            Err(Failure::failed(format!("snapshot at offset 0 of `{}` is damaged: {problem}", path.display()))
                .help("all batches are whole: a start goes on from the snapshot before it, and takes another one"))
        }
        (Some(damage), _) => Err(Failure::failed(one_line(&damage))
            .help(format!("`howdah journal repair {}` keeps the batches before it", dir.display()))),
    }
}

fn body(check: &Check) -> serde_json::Value {
    json!({
        "run": check.run,
        "version": check.version,
        "program_version": check.program_version,
        "batches_gone": check.gone,
        "snapshots": check.snapshots,
        "damaged_snapshots": check.damaged_snapshots.iter().map(|damaged| damaged.path.clone()).collect::<Vec<_>>(),
        "batches": check.batches,
        "inputs": check.inputs,
        "starts": check.starts,
        "first_us_epoch": check.first_us,
        "last_us_epoch": check.last_us,
        "ended": check.ended,
        "torn": check.torn.as_ref().map(|torn| json!({ "segment": torn.path, "offset": torn.offset })),
        "damage": check.damage.as_ref().map(one_line),
    })
}

fn text(check: &Check) -> String {
    let seconds = check.last_us.saturating_sub(check.first_us) as f64 / 1e6;
    let batches = units::counted(check.batches, "batch");
    let mut lines = vec![
        format!("run `{}`, layout {}, by version {}", check.run.display(), check.version, check.program_version),
        format!(
            "{batches} with {} over {}, {} of a master",
            units::counted(check.inputs, "input"),
            units::seconds(seconds),
            units::counted(check.starts, "start")
        ),
    ];
    if check.gone > 0 {
        lines.push(format!("begins with a snapshot after {}, which are gone", units::counted(check.gone, "batch")));
    }
    for damaged in &check.damaged_snapshots {
        lines.push(format!("the snapshot in `{}` is damaged and done without", damaged.path.display()));
    }
    lines.push(match (&check.torn, &check.damage) {
        (_, Some(_)) => "what follows is damaged".to_owned(),
        (Some(torn), None) => {
            let at = format!("`{}`, offset {}", torn.path.display(), torn.offset);
            format!("the last write is torn at {at}, as after a crash; the next start cuts it off")
        }
        (None, None) if check.ended => "whole; the master stopped of its own accord".to_owned(),
        (None, None) => "whole; no end mark: the master was killed, or still runs".to_owned(),
    });
    lines.join("\n")
}

fn repair(screen: &Screen, format: Format, dir: &Path) -> Outcome {
    let run = journal::find_run(dir).map_err(failure)?;
    let master = run.parent().unwrap_or(&run);
    let _lock = howdah_master::lock(master).map_err(|error| Failure::usage(format!("{error:#}")))?;
    let done = journal::repair(&run).map_err(failure)?;
    match format {
        Format::Json => {
            let cut = done.cut.as_ref().map(|(path, offset)| json!({ "segment": path, "offset": offset }));
            let body = json!({ "run": done.run, "batches": done.batches, "cut": cut, "kept": done.kept });
            screen.json(&Listing::new("journal-repair", body))?;
        }
        Format::Table => screen.line(match (&done.cut, &done.kept) {
            (Some((path, offset)), Some(kept)) => format!(
                "cut `{}` at offset {offset}; {} stay, the segments as they were are in `{}`",
                path.display(),
                units::counted(done.batches, "batch"),
                kept.display()
            ),
            _ => format!("nothing to repair: {} are whole", units::counted(done.batches, "batch")),
        })?,
    }
    Ok(Exit::Done)
}
