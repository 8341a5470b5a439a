//! `howdah`: the one binary. A cluster's daemons, the command that people type, and the attempts' processes.
//!
//! An attempt is `howdah task`, handled before anything else happens here: its start-up is overhead of every task.
//! All else parses arguments, reads settings, runs one command and ends with a code of the table in `exit`.

mod args;
mod batch_file;
mod bench;
mod client;
mod codes;
mod commands;
mod config;
mod define;
mod exit;
mod failure;
mod interrupt;
mod load;
mod local;
mod mapred_site;
mod output;
mod profile_file;
mod replay_log;
mod trace_db;
mod trace_file;
mod units;
mod views;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "task") {
        return howdah_apps::task_main();
    }
    // clap prints usage errors itself and ends with 2, as our table says.
    let cli = args::Cli::parse_from(args::submit::sort_out(std::env::args_os().collect()));
    match commands::run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.is_silent() {
                output::note(failure.to_string());
            }
            failure.exit().into()
        }
    }
}
