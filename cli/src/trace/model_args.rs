//! `trace generate`, `fit`, `compare`, `scale`, `fold`: traces made from models, and models of traces.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use howdah_core::models::Distribution;
use howdah_core::models::divergence::{Bins, EmptyBins};

use super::read_args::ReadArgs;
use crate::args::FormatArgs;
use crate::units::parse_duration;

/// `trace generate`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
WORKLOAD is a name that --list prints, or a file FILE.toml that describes one: classes of jobs with \
distributions of their counts and durations. The same workload, number of jobs and seed give the same trace on \
every machine.

Examples:
  howdah trace generate --list
  howdah trace generate example-five-jobs-johnson -o five.jsonl
  howdah trace generate simmr-facebook --jobs 5000 --arrivals poisson:30s -o facebook.jsonl.gz
  howdah trace generate slowdown-swim --properties")]
pub(crate) struct TraceGenerateArgs {
    /// Name of a workload, or a description in TOML
    #[arg(value_name = "WORKLOAD", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) workload: Option<String>,
    /// Number of jobs [default: the workload's own]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// When the jobs come: batch (all at once) or poisson:MEAN [default: the workload's own way]
    #[arg(long, value_name = "WHEN", value_parser = arrivals)]
    pub(crate) arrivals: Option<GeneratedArrivals>,
    /// What becomes of negative draws where a paper does not say: redraw, clamp or absolute
    #[arg(long, value_name = "HOW", default_value = "redraw", hide_possible_values = true)]
    pub(crate) negative: NegativeChoice,
    /// What a job's scale factor multiplies where a paper has one: durations, tasks (their numbers) or both
    #[arg(long, value_name = "WHAT", default_value = "durations", hide_possible_values = true)]
    pub(crate) scale: ScaleChoice,
    /// File to write; compressed when it ends in .gz [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// List all workloads, with their sources
    #[arg(long)]
    pub(crate) list: bool,
    /// Print what the set is like as a whole, beside what its source states, instead of the trace
    #[arg(long)]
    pub(crate) properties: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// When generated jobs come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GeneratedArrivals {
    /// All at once.
    Batch,
    /// With exponential gaps of this mean.
    Poisson(Duration),
}

impl GeneratedArrivals {
    /// Gaps in milliseconds.
    pub(crate) fn gaps(&self) -> Distribution {
        match self {
            GeneratedArrivals::Batch => Distribution::Constant(0.0),
            GeneratedArrivals::Poisson(mean) => Distribution::Exponential { mean: mean.as_secs_f64() * 1000.0 },
        }
    }
}

fn arrivals(text: &str) -> Result<GeneratedArrivals, String> {
    match text.split_once(':') {
        None if text == "batch" => Ok(GeneratedArrivals::Batch),
        Some(("poisson", mean)) => match parse_duration(mean)? {
            Duration::ZERO => Err("expected a mean above 0".to_owned()),
            mean => Ok(GeneratedArrivals::Poisson(mean)),
        },
        _ => Err("expected batch or poisson:MEAN, such as poisson:30s".to_owned()),
    }
}

/// What becomes of negative draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NegativeChoice {
    /// Draw again
    Redraw,
    /// Count as 0
    Clamp,
    /// Drop the sign
    Absolute,
}

/// What a job's scale factor multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleChoice {
    /// The durations of its tasks
    Durations,
    /// The numbers of its tasks
    Tasks,
    /// Both
    Both,
}

/// Parts of a task's time, as one names them in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhaseChoice {
    /// Maps
    Map,
    /// First and typical shuffles
    Shuffle,
    /// Reduces after their shuffle
    Reduce,
}

/// `trace fit`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Each distribution is fitted by maximum likelihood; the best is the one with the smallest Kolmogorov-Smirnov \
distance to the sample. Durations are in milliseconds, and so are the parameters.

Example:
  howdah trace fit facebook.jsonl --phase map")]
pub(crate) struct TraceFitArgs {
    /// Trace of any format, gzip or not; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// Only map, shuffle or reduce
    #[arg(long, value_name = "PHASE", hide_possible_values = true)]
    pub(crate) phase: Option<PhaseChoice>,
    /// Only jobs of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `trace compare`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The divergence is SimMR's: half of D(A,B) + D(B,A), with natural logarithms over binned durations. SimMR's Table I \
has values below 1 for maps and reduces of two runs of one application, and around 12 for different applications. \
Bins: decade:N (N to a factor of ten), width:DURATION or count:N. Bins that only one side reaches: floor:P (their \
probability counts as P), add:N (N is added to every count) or skip.

Example:
  howdah trace compare monday.jsonl tuesday.jsonl --bins width:1s")]
pub(crate) struct TraceCompareArgs {
    /// One trace of any format
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The other
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// How durations are binned
    #[arg(long, value_name = "HOW", default_value = "decade:10", value_parser = bins)]
    pub(crate) bins: Bins,
    /// What becomes of bins that only one side reaches
    #[arg(long, value_name = "HOW", default_value = "floor:0.000001", value_parser = empty_bins)]
    pub(crate) empty: EmptyBins,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

fn bins(text: &str) -> Result<Bins, String> {
    let wrong = || "expected decade:N, width:DURATION or count:N, such as decade:10 or width:1s".to_owned();
    let at_least_one = |text: &str| text.parse().ok().filter(|n| *n > 0).ok_or_else(wrong);
    match text.split_once(':') {
        Some(("decade", n)) => Ok(Bins::PerDecade(at_least_one(n)?)),
        Some(("count", n)) => Ok(Bins::Count(at_least_one(n)?)),
        Some(("width", width)) => match parse_duration(width)?.as_secs_f64() * 1000.0 {
            width if width > 0.0 => Ok(Bins::Width(width)),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn empty_bins(text: &str) -> Result<EmptyBins, String> {
    let wrong = || "expected floor:P, add:N or skip, such as floor:0.000001".to_owned();
    let positive = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0).ok_or_else(wrong);
    match text.split_once(':') {
        None if text == "skip" => Ok(EmptyBins::Skip),
        Some(("floor", floor)) => Ok(EmptyBins::Floor(positive(floor)?)),
        Some(("add", count)) => Ok(EmptyBins::Add(positive(count)?)),
        _ => Err(wrong()),
    }
}

/// `trace scale`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Assumed: blocks keep their size, so there are F times the maps, each further one with the time of a measured one; \
map output grows F times; with --reduces keep each reduce shuffles and reduces F times the data in F times the \
time, with --reduces grow there are F times the reduces with the times measured.

Example:
  howdah trace scale small.jsonl --factor 8 -o large.jsonl")]
pub(crate) struct TraceScaleArgs {
    /// Trace of any format, gzip or not; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// How many times larger the input is; below 1 for a smaller one
    #[arg(long, value_name = "F")]
    pub(crate) factor: f64,
    /// What happens to reduces: keep (as many, each with more data) or grow (more, each with as much)
    #[arg(long, value_name = "HOW", default_value = "keep", hide_possible_values = true)]
    pub(crate) reduces: ReducesChoice,
    /// Seed of the choice of times for further tasks
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// File to write; compressed when it ends in .gz [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// What happens to reduces when the input grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReducesChoice {
    /// As many, each with more data
    Keep,
    /// More, each with as much data
    Grow,
}

/// `trace fold`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Jobs are sampled by size, so that few large jobs are neither lost nor doubled; each kept job comes after the gap \
that it came after in the long trace, so that the load stays. How the two compare is printed: means, and the \
Kolmogorov-Smirnov distance between them (0 equal, 1 disjoint).

Examples:
  howdah trace fold day.jsonl.gz --jobs 500 -o short.jsonl
  howdah trace fold day.jsonl.gz --factor 10 -o short.jsonl
  howdah trace fold day.jsonl.gz --span 2h -o short.jsonl --output json")]
pub(crate) struct TraceFoldArgs {
    /// Trace of any format, gzip or not; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// Keep this many jobs
    #[arg(long, value_name = "N", required_unless_present_any = ["span", "factor"], conflicts_with_all = ["span", "factor"])]
    pub(crate) jobs: Option<usize>,
    /// Keep as many jobs as come in about this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "factor")]
    pub(crate) span: Option<Duration>,
    /// Make the trace this many times shorter, in jobs and in time
    #[arg(long, value_name = "F")]
    pub(crate) factor: Option<f64>,
    /// Seed of the choice of jobs
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// File to write; compressed when it ends in .gz [default: standard output, or nowhere with --output]
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_nonsense_says_what_was_expected() {
        assert_eq!(arrivals("poisson:1.5s"), Ok(GeneratedArrivals::Poisson(Duration::from_millis(1500))));
        assert!(arrivals("poisson:0s").is_err() && arrivals("uniform:3").is_err());
        assert_eq!(bins("width:250ms"), Ok(Bins::Width(250.0)));
        assert_eq!(bins("decade:5"), Ok(Bins::PerDecade(5)));
        assert!(bins("count:0").unwrap_err().contains("count:N") && bins("width:0").is_err());
        assert_eq!(empty_bins("add:0.5"), Ok(EmptyBins::Add(0.5)));
        assert!(empty_bins("floor:-1").is_err() && empty_bins("drop").is_err());
    }
}
