//! Flags of `predict`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use howdah_planning::prediction::{MODELS, ModelName};

use crate::args::{ClusterArgs, FormatArgs};
use crate::units::parse_duration;

/// `howdah predict`
#[derive(Args, Clone, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
The master forks its own state, puts in what tasks of each kind have taken so far, and lets its own scheduler run ahead \
in virtual time; nothing of the live cluster changes. The interval of a job is from the earliest to the latest end in \
simulations with drawn task times. Jobs marked `?` run something that was never seen, or not with so much input: their \
times are far from certain.

With --at, the same from a recorded run: its state then, and what it had learnt by then, beside what then happened.

Examples:
  howdah predict --dir cluster
  howdah predict --dir cluster --horizon 10m --svg ahead.svg
  howdah predict --dir run1 --at 90s
  howdah predict score --dir run2 --train run1"
)]
pub(crate) struct PredictArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PredictCommand>,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Write a timeline of the predicted ends
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// From where, how far and how to look ahead.
#[derive(Args, Clone, Debug)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// From a recorded run in --dir, this long after its first submission, instead of a live cluster
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) at: Option<Duration>,
    /// With --at: directory of another run, learnt from first
    #[arg(long, value_name = "DIR", requires = "at")]
    pub(crate) train: Option<PathBuf>,
    /// How far to look ahead
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1h")]
    pub(crate) horizon: Duration,
    #[arg(long, value_name = "MODEL", help = model_help(" [default: the master's setting; with --at, linear]"))]
    pub(crate) model: Option<ModelName>,
    /// Starts of waiting tasks to tell, the first ones
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) starts: u32,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `howdah predict …`
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// Forecasts over recorded runs, at intervals, beside what then happened
    Score(ScoreArgs),
}

/// `howdah predict score`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Each run is judged by itself, under each scheduler that was in charge when forecasts were made; then all together.

Examples:
  howdah predict score --dir run2 --train run1
  howdah predict score --dir runs/* --from 1m --to 10m")]
pub(crate) struct ScoreArgs {
    /// Directories of runs: each the master's own, or the one given to `up` or `demo`; may be repeated
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) dir: Vec<PathBuf>,
    /// Judge only what was forecast, and the tasks that ended, from this long after a run's first submission on
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) from: Option<Duration>,
    /// The same, up to this long after it
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) to: Option<Duration>,
    /// Directory of another run, learnt from before each
    #[arg(long, value_name = "DIR")]
    pub(crate) train: Option<PathBuf>,
    /// Time between two forecasts
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5s")]
    pub(crate) every: Duration,
    /// How far each looks ahead
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1h")]
    pub(crate) horizon: Duration,
    #[arg(long, value_name = "MODEL", default_value_t, help = model_help(""))]
    pub(crate) model: ModelName,
    /// Predict running reduces whole, not by the phase that they are in, to compare
    #[arg(long)]
    pub(crate) whole_reduces: bool,
    /// Do not look at the progress of running maps, to compare
    #[arg(long)]
    pub(crate) without_progress: bool,
    /// Take workers to be alike though load and frequency curves tell how they differ, to compare
    #[arg(long)]
    pub(crate) alike_workers: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `--model` chooses, and among which names.
fn model_help(default: &str) -> String {
    let [first @ .., last] = MODELS;
    format!("How task times are predicted: {} or {last}{default}", first.join(", "))
}
