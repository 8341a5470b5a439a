//! Flags of `validate`.

use std::path::PathBuf;

use clap::Args;

use crate::args::FormatArgs;

/// `validate`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A fresh core in this process gets the recorded inputs, batch by batch, and nothing else; what it \
decides is compared with what the live master decided, effect by effect, along the recorded \
chain of digests. Then the run is simulated from its own profile, on its own cluster and under its \
own scheduler, and every job's completion time is compared with the measured one.

With --repeat, each run also predicts the others (cross-run; cross-shape where slots or scheduler \
differ), and the spread of real repeats is printed beside the errors.

Exit code 0 only if all effects are identical, whatever the errors.

Examples:
  howdah validate --dir cluster
  howdah validate --dir run1 --repeat run2 --repeat run3")]
pub(crate) struct ValidateArgs {
    /// Directory of the run: the master's own, or the one given to `up` or `demo` [variable: HOWDAH_DIR]
    #[arg(long, value_name = "DIR", env = "HOWDAH_DIR", hide_env = true)]
    pub(crate) dir: PathBuf,
    /// Directory of another run of the same workload; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) repeat: Vec<PathBuf>,
    /// Write every decision of the run, one JSON object a line: launches, and attempts that were stopped
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
    /// Write what the rule for speculative execution estimated of every attempt, one JSON object a line: at its launch, with
    /// each report of its worker, and what it took in the end
    #[arg(long, value_name = "FILE")]
    pub(crate) estimates: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
