//! Subcommands of `job`, and their flags.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::select::FilterArgs;
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
    /// Submit a job that is over again, or the maps of it that failed
    Resubmit(ResubmitArgs),
    /// Kill jobs
    Kill(KillArgs),
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
    /// Change jobs' priority
    SetPriority(PriorityArgs),
    /// Move jobs to another queue; what runs of them goes on
    Move(MoveArgs),
}

/// `job list`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Filters are joined: a job must fit all of them. Pages count from the newest jobs.

Examples:
  howdah job list --state failed --user ann
  howdah job list --name nightly --last 20 --page 2")]
pub(crate) struct JobListArgs {
    /// Only jobs that are not over
    #[arg(long)]
    pub(crate) active: bool,
    /// Only jobs in this state; may be repeated
    #[arg(long, value_name = "STATE", ignore_case = true, value_enum)]
    pub(crate) state: Vec<StateChoice>,
    /// Only jobs of this user
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Only jobs of this queue
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<String>,
    /// Only jobs with this in their name, in capitals or not
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Only the last so many jobs
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) last: Option<usize>,
    /// With --last: which page of that many jobs to show, 1 being the newest
    #[arg(long, value_name = "P", requires = "last", value_parser = at_least_one)]
    pub(crate) page: Option<usize>,
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

/// A page or a number of jobs.
fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number of 1 or more".to_owned())
}

/// `--state`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateChoice {
    /// Queued: nothing of it has been launched yet
    Prep,
    /// Something of it has been launched
    Running,
    /// All tasks are done, the output is being moved to its place
    Committing,
    /// Over and well
    Succeeded,
    /// Over: a task failed too often
    Failed,
    /// Over by request
    Killed,
}

impl StateChoice {
    /// As the master writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StateChoice::Prep => "PREP",
            StateChoice::Running => "RUNNING",
            StateChoice::Committing => "COMMITTING",
            StateChoice::Succeeded => "SUCCEEDED",
            StateChoice::Failed => "FAILED",
            StateChoice::Killed => "KILLED",
        }
    }
}

/// `job kill`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  howdah job kill job_202611201200_0001
  howdah job kill 3 5-7
  howdah job kill --queue research --user ann")]
pub(crate) struct KillArgs {
    /// Printed ids, job_…, or last numbers alone; 3-7 is a range
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `job resubmit`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
What was asked for when the job was submitted is asked for again: application, inputs, properties, \
queue, priority, and the output directory unless --to names another. Of a job that has reduces, or \
that failed, all runs again; --only failed is for jobs without reduces that succeeded although some \
maps failed (mapred.max.map.failures.percent).

Examples:
  howdah job resubmit job_202611201200_0001 --wait
  howdah job resubmit 7 --only failed --to /share/pages-rest")]
pub(crate) struct ResubmitArgs {
    /// Printed id, job_…, or its last number alone
    pub(crate) job: String,
    /// Only a part of it: failed, the maps that did not succeed
    #[arg(long, value_name = "PART", value_enum)]
    pub(crate) only: Option<PartChoice>,
    /// Output directory, which must not exist [default: the one that the job had]
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,
    /// The path of --to means what the master's machine has there: whether it is the same here is not looked at
    #[arg(long, requires = "to")]
    pub(crate) remote_paths: bool,
    /// Wait until it has ended; exit code 1 if it failed
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `--only`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartChoice {
    /// Maps of which no attempt succeeded
    Failed,
}

/// `job wait`
#[derive(Args, Clone, Debug)]
pub(crate) struct WaitArgs {
    /// Printed ids, job_…, or last numbers alone; 3-7 is a range
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
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
    #[command(flatten)]
    pub(crate) format: FormatArgs,
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
    /// Printed ids, job_…, or last numbers alone, 3-7 being a range; then VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW
    #[arg(value_name = "JOB… PRIORITY", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `job move`
#[derive(Args, Clone, Debug)]
pub(crate) struct MoveArgs {
    /// Printed ids, job_…, or last numbers alone, 3-7 being a range; then the queue
    #[arg(value_name = "JOB… QUEUE", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
