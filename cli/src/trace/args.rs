//! `trace`: reading, looking at and writing traces.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::model_args::{TraceCompareArgs, TraceFitArgs, TraceFoldArgs, TraceGenerateArgs, TraceScaleArgs};
use super::read_args::ReadArgs;
use crate::args::FormatArgs;
use crate::flag_values::parse_pair;

/// Traces: recorded, foreign, looked at.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Extract job templates from a recorded run: durations of maps, shuffles and reduces
    Record(TraceRecordArgs),
    /// Read traces of other systems and write one in the project's own format
    Import(TraceImportArgs),
    /// Add traces to a database
    Add(TraceAddArgs),
    /// List the traces of a database
    List(TraceListArgs),
    /// Ask a database a question in SQL
    Query(TraceQueryArgs),
    /// Take a trace out of a database
    Get(TraceGetArgs),
    /// Remove a trace from a database
    Remove(TraceRemoveArgs),
    /// Write a trace in the format of another system
    Export(TraceExportArgs),
    /// Jobs, tasks, span and distributions of a trace
    Info(TraceInfoArgs),
    /// Make a trace: a workload of the papers by name, or one of your own
    Generate(TraceGenerateArgs),
    /// Fit the common distributions to the durations of a trace and rank them
    Fit(TraceFitArgs),
    /// How far apart the durations of two traces are, phase by phase
    Compare(TraceCompareArgs),
    /// From a trace of jobs on a small input, one for a larger input
    Scale(TraceScaleArgs),
    /// Make a long trace shorter, with jobs of the same character
    Fold(TraceFoldArgs),
}

/// `trace record`
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceRecordArgs {
    /// Directory of the run: the master's own, or the one given to `up` or `demo` [variable: HOWDAH_DIR]
    #[arg(long, value_name = "DIR", env = "HOWDAH_DIR", hide_env = true)]
    pub(crate) dir: PathBuf,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
}

/// `trace import`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
What is dropped or repaired is counted and reported on standard error, each with its reason and first place.
Several files become one trace, in order of submission.

Examples:
  howdah trace import job_200904211745_0002.log.gz -o words.jsonl
  howdah trace import FB-2009_samples_24_times_1hr_0.tsv -D swim.split=128MiB -o day.jsonl.gz
  howdah trace import log.swf --output json > summary.json")]
pub(crate) struct TraceImportArgs {
    /// Files to read, gzip or not; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Racks and hosts of the cluster that was traced: a Rumen topology, an SLS node list or a list of hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// File to write; compressed when it ends in .gz [default: standard output, or nowhere with --output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `trace export`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
rumen and jhist keep tasks and attempts (jhist a history for each job, one below the other), swim bytes only, csv one row per job with the fields of Batsim's jobs.csv.

Examples:
  howdah trace export run.jsonl --format rumen -o run.json
  howdah trace export run.jsonl --format csv -o jobs.csv")]
pub(crate) struct TraceExportArgs {
    /// Trace of any format, gzip or not; - is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// rumen, jhist, swim, csv or howdah
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    pub(crate) format: ExportFormat,
    /// File to write; compressed when it ends in .gz [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// A setting of the import, such as swim.split=64MiB; repeatable
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) settings: Vec<(String, String)>,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Rumen's job objects
    Rumen,
    /// Hadoop's job histories
    Jhist,
    /// SWIM's six columns
    Swim,
    /// Batsim's jobs.csv
    Csv,
    /// The project's own
    Howdah,
}

/// `trace info`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Example:
  howdah trace info day.jsonl.gz")]
pub(crate) struct TraceInfoArgs {
    /// Trace of any format, gzip or not; - is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Which trace database.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TraceDbArgs {
    /// SQLite file with traces [default: traces.db] [variable: HOWDAH_TRACE_DB]
    #[arg(long, value_name = "FILE", env = "HOWDAH_TRACE_DB", hide_env = true)]
    pub(crate) db: Option<PathBuf>,
}

/// `trace add`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  howdah trace add monday.jsonl tuesday.jsonl.gz
  howdah trace add FB-2009_samples_24_times_1hr_0.tsv --name facebook-day --db workloads.db")]
pub(crate) struct TraceAddArgs {
    /// Traces of any format, gzip or not; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Name in the database [default: the file's, up to its first dot]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Take the place of a trace that has the name
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) db: TraceDbArgs,
}

/// `trace list`
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceListArgs {
    #[command(flatten)]
    pub(crate) db: TraceDbArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `trace query`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Tables: traces (one row each), jobs (trace_id, job_index, …), tasks (a row per duration and phase; `uses` tells how
many tasks take it). The guide's page on traces lists all columns. The database is opened for reading only.

Examples:
  howdah trace query \"SELECT name, n_jobs FROM traces\"
  howdah trace query \"SELECT user, count(*), avg(completion_ms) FROM jobs GROUP BY user\" --output json")]
pub(crate) struct TraceQueryArgs {
    /// One SELECT
    pub(crate) sql: String,
    #[command(flatten)]
    pub(crate) db: TraceDbArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `trace get`
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceGetArgs {
    /// Name in the database
    pub(crate) name: String,
    /// File to write; compressed when it ends in .gz [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) db: TraceDbArgs,
}

/// `trace remove`
#[derive(Args, Clone, Debug)]
pub(crate) struct TraceRemoveArgs {
    /// Name in the database
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) db: TraceDbArgs,
}
