//! The tree of commands with their help texts: one line for each command, whose own flags are in its folder.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Effects};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::args::GlobalArgs;

pub(crate) const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Yellow.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// What `--version` prints: the release, the commit and the build.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("HOWDAH_BUILD"), ")");

pub(crate) const EXAMPLES: &str = "\
Start here:
  howdah demo                                     everything once, on this machine, checked
  howdah up --dir c && export HOWDAH_DIR=c        a cluster that stays up
  howdah submit wordcount --input notes --output counts --wait
  howdah job list
  howdah down --dir c

Three machines:
  a$ howdah master --dir /data/master --listen 10.0.0.1:9001
  b$ howdah worker --master 10.0.0.1:9001 --dir /data/worker --map-slots 8 --reduce-slots 4
  c$ howdah worker --master 10.0.0.1:9001 --dir /data/worker --map-slots 8 --reduce-slots 4";

/// A Hadoop-compatible MapReduce cluster, and an exact simulator of itself
///
/// A master hands tasks to workers; workers run each attempt as a process of its own. What the master decided
/// can be replayed from its recorded inputs, and is compared effect by effect (`howdah validate`).
#[derive(Debug, Parser)]
#[command(name = "howdah", version = VERSION, styles = STYLES, max_term_width = 110)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", crate::exit::TABLE))]
#[command(propagate_version = false, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads a line. What begins with `-` and can only be a number or a time is a flag's value, so that the error is about
    /// that flag and not about an unknown one.
    ///
    /// # Errors
    /// clap's, with help and versions among them.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let mut matches = with_negative_values(Cli::command()).try_get_matches_from(words)?;
        Cli::from_arg_matches_mut(&mut matches)
    }
}

fn with_negative_values(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        if arg.is_positional() || !arg.get_action().takes_values() {
            return arg;
        }
        let is_time = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == "DURATION"));
        // -5m is no number to clap.
        if is_time { arg.allow_hyphen_values(true) } else { arg.allow_negative_numbers(true) }
    });
    let nested: Vec<String> = command.get_subcommands().map(|nested| nested.get_name().to_owned()).collect();
    nested.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_negative_values))
}

/// All commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole thing once, here: a cluster, two jobs, checks, a replay
    Demo(crate::demo::args::DemoArgs),
    /// Start a local cluster that stays up
    Up(crate::up::args::UpArgs),
    /// Stop a cluster that `up` started
    Down(crate::up::args::DownArgs),
    /// What `up --hosts` and `down --hosts` run on each machine
    #[command(subcommand, hide = true)]
    Daemon(crate::up::args::DaemonCommand),
    /// Wait until a cluster has so many live workers
    Wait(crate::wait::args::WaitArgs),
    /// Check this machine, the master and the workers, and say what to do
    Doctor(crate::doctor::args::DoctorArgs),
    /// Submit a job
    Submit(crate::submit::args::SubmitArgs),
    /// Look at and steer jobs
    #[command(subcommand, visible_alias = "jobs")]
    Job(crate::job::args::JobCommand),
    /// Be a worker (TaskTracker), or look at and steer workers
    Worker(crate::worker::args::WorkerArgs),
    /// Be the master (JobTracker)
    Master(crate::master::args::MasterArgs),
    /// Look at queues
    #[command(subcommand)]
    Queue(crate::queue::args::QueueCommand),
    /// List the schedulers, or put another one in charge
    #[command(subcommand)]
    Scheduler(crate::scheduler::args::SchedulerCommand),
    /// The cluster on one screen
    Cluster(crate::cluster::args::ClusterCommand),
    /// Traces: recorded, foreign, looked at
    #[command(subcommand)]
    Trace(crate::trace::args::TraceCommand),
    /// Simulate a trace on a cluster of your choice
    Replay(Box<crate::replay::args::ReplayArgs>),
    /// Simulate a trace under several schedulers, side by side
    Compare(Box<crate::compare::args::CompareArgs>),
    /// The best order of a batch of jobs, or pools for it
    Optimize(crate::optimize::args::OptimizeArgs),
    /// When jobs will end, live or from a recorded moment
    Predict(Box<crate::predict::args::PredictArgs>),
    /// The present course beside another: scheduler, workers, a job more or less
    WhatIf(Box<crate::what_if::args::WhatIfArgs>),
    /// Find time limits and partition sizes of fbq, tags and sita by simulation
    Tune(Box<crate::tune::args::TuneArgs>),
    /// Decide a recorded run again and compare every effect and time
    Validate(crate::validate::args::ValidateArgs),
    /// Check, print or repair what a master recorded
    #[command(subcommand)]
    Journal(crate::journal::JournalCommand),
    /// Hold a load on this machine, or in one worker's control group
    Load(crate::load::args::LoadArgs),
    /// Hadoop's own commands, for programs that call them
    #[command(subcommand)]
    Hadoop(crate::hadoop::HadoopCommand),
    /// Make input: sudoku puzzles or text
    #[command(subcommand)]
    Generate(crate::generate::args::GenerateCommand),
    /// Measure how load on this machine slows tasks down
    Calibrate(crate::calibrate::args::CalibrateArgs),
    /// Run the papers' tables and figures again
    #[command(subcommand)]
    Experiment(crate::experiment::args::ExperimentCommand),
    /// Measure this machine's howdah against fixed baselines
    Bench(crate::bench::args::BenchArgs),
    /// Show the effective settings and where each comes from
    #[command(subcommand)]
    Config(crate::config::args::ConfigCommand),
    /// Print a completion script for your shell
    #[command(after_help = "Example:\n  howdah completions bash > ~/.local/share/bash-completion/completions/howdah")]
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// Names of jobs or workers, for completion scripts
    #[command(hide = true)]
    Complete(crate::complete::CompleteArgs),
    /// Write the manual pages into a directory, or the main one to standard output
    Man {
        /// Directory for one page per command; made if missing
        dir: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_commands_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_every_flag_says_what_it_is() {
        fn check(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
                assert!(flag.get_help().is_some(), "{} of {} has no help", flag.get_id(), command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
