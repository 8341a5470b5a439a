//! `replay`: what to simulate, on which cluster, and what to write.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use howdah_core::models::{FrequencyCurve, LoadCurve};
use howdah_core::replay::{Arrivals, Deadlines, LocalityCost, ShuffleModel, SimHeartbeat};
use howdah_core::time::Span;

use crate::args::FormatArgs;
use crate::flag_values::{
    Attribute, Loss, Percentiles, Question, Step, parse_arrivals, parse_attribute, parse_cores, parse_deadlines,
    parse_foreign_load, parse_heartbeat, parse_locality_cost, parse_loss, parse_pair, parse_percentiles, parse_ppm,
    parse_question, parse_shuffle, parse_span, parse_speed,
};

const EXAMPLES: &str = "\
Without workers the slots are one pool and a decision is made whenever one is free (SimMR's view). With --workers or \
--topology, or when the trace tells of the cluster that it was measured on and no slots are given, workers heartbeat \
(Mumak's view); slot counts are then per worker. Everything random depends on --seed alone.

Examples:
  howdah replay run.json --map-slots 64 --reduce-slots 64
  howdah replay run.json --map-slots 64 --reduce-slots 64 --arrivals load:0.7 --seed 3 --output json
  howdah replay run.json --workers 100 --map-slots 2 --reduce-slots 2 --heartbeat 3s --in-band
  howdah replay run.json --workers 10 --lose worker-3@60s+5m --speed worker-1=0.5
  howdah replay run.json --workers 4 --cores 2 --foreign-load worker-1=4@3m -D speculation=hadoop
  howdah replay run.json --timeline run.svg --log run.jsonl
  howdah replay run.json --scheduler fbq --explain 17@90s
  howdah replay run.jsonl                          the log of a replay is a trace again

Interrupted (Ctrl-C) it prints what was simulated until then, writes no files and ends with 130.";

/// `howdah replay`
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// File in any format that `howdah trace import` reads; - is standard input
    pub(crate) trace: PathBuf,
    /// Name of the policy [default: fifo]
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    pub(crate) scheduler: Option<String>,
    /// Set a parameter of the policy, or of a foreign trace's import, such as swim.split=64MiB; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = "Policy")]
    pub(crate) define: Vec<(String, String)>,
    /// Hadoop's own configuration, from which the scheduler and its parameters come; what is set here overrides it
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(crate) mapred_site: Option<PathBuf>,
    /// Share of a job's maps that must have finished before its reduces start, 0 to 1 [default: the trace's, else 0.05]
    #[arg(long, value_name = "F", value_parser = parse_ppm, help_heading = "Policy")]
    pub(crate) slowstart: Option<u32>,
    #[command(flatten)]
    pub(crate) cluster: ReplayClusterArgs,
    #[command(flatten)]
    pub(crate) load: ReplayLoadArgs,
    #[command(flatten)]
    pub(crate) faults: ReplayFaultArgs,
    #[command(flatten)]
    pub(crate) answer: ReplayAnswerArgs,
}

/// The cluster.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ReplayClusterArgs {
    /// Number of workers, which then heartbeat
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) workers: Option<u32>,
    /// Map slots in all, or of each worker [default: 64 in all, 2 of each worker]
    #[arg(long, value_name = "N", requires = "reduce_slots")]
    pub(crate) map_slots: Option<u16>,
    /// Reduce slots in all, or of each worker [default: 64 in all, 2 of each worker]
    #[arg(long, value_name = "N", requires = "map_slots")]
    pub(crate) reduce_slots: Option<u16>,
    /// Workers, one per host, and their racks: Rumen's topology or SLS' list of nodes, gzip or not
    #[arg(long, value_name = "FILE", conflicts_with = "workers")]
    pub(crate) topology: Option<PathBuf>,
    /// Time between two heartbeats of a worker, or `instant`: whenever there is something to report [default: instant]
    #[arg(long, value_name = "DURATION", value_parser = parse_heartbeat)]
    pub(crate) heartbeat: Option<Span>,
    /// Tell the end of an attempt with the next regular heartbeat, not at once
    #[arg(long, requires = "heartbeat")]
    pub(crate) in_band: bool,
    /// What a map's time is multiplied by with its data in the rack, and elsewhere: 1.1,1.3 [default: 1,1]
    #[arg(long, value_name = "RACK,OFF", value_parser = parse_locality_cost)]
    pub(crate) locality_cost: Option<LocalityCost>,
    /// A worker's speed, of which 1 is plain, from the start or an instant on; may be repeated
    #[arg(long, value_name = "WORKER=F[@TIME]", value_parser = parse_speed)]
    pub(crate) speed: Vec<Step>,
    /// Cores of each worker, which its attempts and its foreign load share [default: one for each slot]
    #[arg(long, value_name = "N", value_parser = parse_cores)]
    pub(crate) cores: Option<u32>,
    /// Tasks of others that want a worker's cores, from the start or an instant on; may be repeated
    #[arg(long, value_name = "WORKER=LOAD[@TIME]", value_parser = parse_foreign_load)]
    pub(crate) foreign_load: Vec<Step>,
    /// What a worker says of itself, for jobs that require it, from the start or an instant on; may be repeated
    #[arg(long, value_name = "WORKER=NAME=VALUE[@TIME]", value_parser = parse_attribute)]
    pub(crate) attribute: Vec<Attribute>,
    /// How time grows with load: below=0.05,exponential=0.12, or linear, or a calibration's FILE.toml [default:
    /// below=0,linear=1, a fair share]
    #[arg(long, value_name = "CURVE", value_parser = howdah_master::policies::load_curve)]
    pub(crate) load_curve: Option<LoadCurve>,
    /// How time changes with a core's frequency, which a fraction of --cores lowers; also FILE.toml [default: inverse]
    #[arg(long, value_name = "CURVE", value_parser = howdah_master::policies::frequency_curve)]
    pub(crate) frequency_curve: Option<FrequencyCurve>,
    /// Workers of different slots, cores, frequencies and loads, in TOML; the guide tells how
    #[arg(
        long = "cluster",
        value_name = "FILE",
        conflicts_with_all = ["workers", "topology", "map_slots", "reduce_slots", "cores", "load_curve", "frequency_curve"]
    )]
    pub(crate) cluster_file: Option<PathBuf>,
}

/// The jobs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Jobs")]
pub(crate) struct ReplayLoadArgs {
    /// When jobs come: asis, batch (all at the start), poisson:MEAN, or load:RHO (Poisson with the mean for this load)
    #[arg(long, value_name = "RULE", value_parser = parse_arrivals, default_value = "asis")]
    pub(crate) arrivals: Arrivals,
    /// Deadlines: trace, none, or uniform:DF (drawn from T to DF times T, the job's time alone on the cluster)
    #[arg(long, value_name = "RULE", value_parser = parse_deadlines, default_value = "trace")]
    pub(crate) deadlines: Deadlines,
    /// What a reduce pays after its last map: simmr (its shuffle and reduce time) or mumak (its reduce time alone)
    #[arg(long, value_name = "MODEL", value_parser = parse_shuffle, default_value = "simmr")]
    pub(crate) shuffle: ShuffleModel,
    /// Of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// What goes wrong.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Faults")]
pub(crate) struct ReplayFaultArgs {
    /// trace: the trace's failed and killed attempts happen again; none
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Faults::None, hide_possible_values = true)]
    pub(crate) faults: Faults,
    /// Share of attempts that fail at a random point of their time, 0 to 1
    #[arg(long, value_name = "RATE", value_parser = parse_ppm, default_value = "0")]
    pub(crate) attempt_failures: u32,
    /// Lose a worker at an instant; with +BACK it registers again so much later; may be repeated
    #[arg(long, value_name = "WORKER@TIME[+BACK]", value_parser = parse_loss)]
    pub(crate) lose: Vec<Loss>,
    /// Silence after which the master gives a lost worker up
    #[arg(long, value_name = "DURATION", value_parser = parse_span, default_value = "10m")]
    pub(crate) expiry: Span,
}

/// `--faults`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Faults {
    /// Those of the trace.
    Trace,
    /// None of them.
    None,
}

/// What is answered and written.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Answer")]
pub(crate) struct ReplayAnswerArgs {
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Show every job in the table, not the first 20
    #[arg(long)]
    pub(crate) all: bool,
    /// Percentiles of the slowdown to tell
    #[arg(long, value_name = "LIST", value_parser = parse_percentiles, default_value = "50,95,99")]
    pub(crate) percentiles: Percentiles,
    /// Leave out slowdowns, for which each job is simulated alone once more
    #[arg(long)]
    pub(crate) no_slowdown: bool,
    /// Write a row for each job, for other programs; --timeline FILE.csv has the attempts
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw slots over time (.svg), or write a row per attempt (.csv)
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// What a lane of the drawing is: slot or job
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = LaneChoice::Slot, hide_possible_values = true)]
    pub(crate) lanes: LaneChoice,
    /// Write a job history, one JSON object per job and line; it can be replayed again
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write every decision, one JSON object a line: launches, and attempts that are stopped
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
    /// Only say why a job is not running (more) at an instant: its id, or its number in order of submission
    #[arg(long, value_name = "JOB@TIME", value_parser = parse_question, conflicts_with_all = ["timeline", "csv", "log", "decisions"])]
    pub(crate) explain: Option<Question>,
}

/// `--lanes`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LaneChoice {
    /// One per slot.
    Slot,
    /// One per job.
    Job,
}

impl ReplayClusterArgs {
    /// When workers send heartbeats.
    pub(crate) fn heartbeat(&self) -> SimHeartbeat {
        SimHeartbeat { interval: self.heartbeat.unwrap_or(Span::ZERO), out_of_band: !self.in_band }
    }
}
