//! `howdah`: the one binary. A cluster's daemons, the command that people type, and the attempts' processes.
//!
//! An attempt is `howdah task`, handled before anything else happens here: its start-up is overhead of every task.
//! All else parses arguments, reads settings, runs one command and ends with a code of the table in `exit`.

mod args;
mod bench;
mod calibrate;
mod client;
mod cluster;
mod codes;
mod config;
mod daemon;
mod define;
mod demo;
mod dispatch;
mod exit;
mod experiment;
mod failure;
mod flag_values;
mod generate;
mod interrupt;
mod job;
mod listing;
mod load;
mod local;
mod manual;
mod mapred_site;
mod master;
mod optimize;
mod output;
mod queue;
mod replay;
mod replay_log;
mod scheduler;
mod submit;
mod trace;
mod trace_file;
mod tune;
mod units;
mod up;
mod validate;
mod worker;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "task") {
        return howdah_apps::task_main();
    }
    // clap prints usage errors itself and ends with 2, as our table says.
    let cli = args::Cli::parse_from(submit::args::sort_out(std::env::args_os().collect()));
    match dispatch::run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.is_silent() {
                output::note(failure.to_string());
            }
            failure.exit().into()
        }
    }
}
