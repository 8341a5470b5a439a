//! Subcommands of `job`, and their flags.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::args::{ClusterArgs, FormatArgs};
use crate::units::{parse_bytes, parse_duration};

/// Look at and steer jobs.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// List jobs, newest last
    List(JobListArgs),
    /// One job: state, progress, tasks, times
    Status(OneJobArgs),
    /// Wait until jobs have ended; exit code 1 if one failed
    Wait(WaitArgs),
    /// Kill a job
    Kill(JobArgs),
    /// Kill one attempt; it does not count as a failure and its task runs again
    KillAttempt(AttemptArgs),
    /// Fail one attempt; it counts as one of its task's failures
    FailAttempt(AttemptArgs),
    /// Print an attempt's logs, from wherever it ran
    Logs(LogsArgs),
    /// Why did it fail? The probable cause, with the last lines of stderr
    Why(OneJobArgs),
    /// Why is it not running now?
    Explain(OneJobArgs),
    /// Counters, with Hadoop's groups and names
    Counters(CountersArgs),
    /// What happened, and where the time went
    History(OneJobArgs),
    /// Every attempt of a job
    Attempts(OneJobArgs),
    /// Change a job's priority
    SetPriority(PriorityArgs),
}

/// `job list`
#[derive(Args, Clone, Debug)]
pub(crate) struct JobListArgs {
    /// Only jobs that are not over
    #[arg(long)]
    pub(crate) active: bool,
    /// Only the last so many jobs
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// A job, and how to print it.
#[derive(Args, Clone, Debug)]
pub(crate) struct OneJobArgs {
    /// Printed id, job_…, or its last number alone
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// A job.
#[derive(Args, Clone, Debug)]
pub(crate) struct JobArgs {
    /// Printed id, job_…, or its last number alone
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// `job wait`
#[derive(Args, Clone, Debug)]
pub(crate) struct WaitArgs {
    /// Printed ids
    #[arg(required = true)]
    pub(crate) jobs: Vec<String>,
    /// Give up after this long, with exit code 4
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// An attempt.
#[derive(Args, Clone, Debug)]
pub(crate) struct AttemptArgs {
    /// Printed id, attempt_…
    pub(crate) attempt: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// `job logs`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Without --stdout, --stderr or --syslog all three are printed, each under its name.

Examples:
  howdah job logs attempt_202611201200_0001_m_000005_0 --stderr
  howdah job logs job_202611201200_0001 --failed --tail 2KiB")]
pub(crate) struct LogsArgs {
    /// An attempt (attempt_…), or a job (job_…) for all of its attempts
    pub(crate) of: String,
    /// What the user's code printed
    #[arg(long)]
    pub(crate) stdout: bool,
    /// What it complained about
    #[arg(long)]
    pub(crate) stderr: bool,
    /// The task library's own account: phases, spills, merges, errors
    #[arg(long)]
    pub(crate) syslog: bool,
    /// Only the last so many bytes of each
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) tail: Option<u64>,
    /// Of a job: only its failed attempts
    #[arg(long)]
    pub(crate) failed: bool,
    /// Go on printing what is written until the attempt, or the job, is over
    #[arg(long, short, conflicts_with_all = ["tail", "failed"])]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// `job counters`
#[derive(Args, Clone, Debug)]
pub(crate) struct CountersArgs {
    /// Printed id, job_…
    pub(crate) job: String,
    /// Only this group
    pub(crate) group: Option<String>,
    /// Only this counter: its bare value is printed
    pub(crate) counter: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `job set-priority`
#[derive(Args, Clone, Debug)]
pub(crate) struct PriorityArgs {
    /// Printed id, job_…
    pub(crate) job: String,
    /// VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
    pub(crate) priority: howdah_core::job::Priority,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}
