//! Flags of `optimize`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use howdah_core::replay::ShuffleModel;

use crate::args::FormatArgs;
use crate::flag_values::{parse_pair, parse_ppm, parse_shuffle};

const EXAMPLES: &str = "\
Strategies, as balanced-pools §4.2 names them: Min and Max are Johnson's order and its reverse as two stages would \
run, each serving one job at a time; MinSim and MaxSim are the same orders simulated; BalancedPools divides jobs and \
slots into pools, each with its jobs in Johnson's order, simulated. Slots are those of the whole cluster.

Examples:
  howdah optimize jobs.json --map-slots 30 --reduce-slots 30
  howdah optimize jobs.json --map-slots 256 --reduce-slots 256 --method johnson --output json
  howdah optimize jobs.json --map-slots 64 --reduce-slots 32 --pools 4 --sizes apart
  howdah optimize jobs.json --map-slots 64 --reduce-slots 64 --objective mean-delay
  howdah optimize jobs.json --map-slots 64 --reduce-slots 64 --arrivals asis
  howdah optimize jobs.json --map-slots 30 --reduce-slots 30 --write-trace plan.jsonl --write-capacity pools.toml
  howdah replay plan.jsonl --map-slots 30 --reduce-slots 30 --scheduler balanced-pools
  howdah replay plan.jsonl --map-slots 30 --reduce-slots 30 --scheduler capacity -D allocation.file=pools.toml";

/// `howdah optimize`
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OptimizeArgs {
    /// File in any format that `howdah trace import` reads; - is standard input
    pub(crate) trace: PathBuf,
    /// A setting of a foreign trace's import, such as swim.split=64MiB; repeatable
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) settings: Vec<(String, String)>,
    /// Map slots in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) map_slots: u16,
    /// Reduce slots in all
    #[arg(long, value_name = "N")]
    pub(crate) reduce_slots: u16,
    /// johnson, reverse-johnson, shortest-first (mean delay), longest-first, or balanced-pools
    #[arg(long, value_name = "NAME", value_enum, default_value_t = MethodChoice::BalancedPools, hide_possible_values = true)]
    pub(crate) method: MethodChoice,
    #[command(flatten)]
    pub(crate) pools: PoolArgs,
    /// Estimate of stages for orders, Min and Max: low, average or upper
    #[arg(long, value_name = "BOUND", value_enum, default_value_t = BoundChoice::Average, hide_possible_values = true)]
    pub(crate) bound: BoundChoice,
    /// By how many slots a stage's work is divided there: usable (what its tasks can fill) or printed (all, as in the paper)
    #[arg(long, value_name = "RULE", value_enum, default_value_t = StagesChoice::Usable, hide_possible_values = true)]
    pub(crate) stages: StagesChoice,
    /// When jobs come: batch (all at the start) or asis (as in the trace, planned again whenever some come)
    #[arg(long, value_name = "RULE", value_enum, default_value_t = ArrivalsChoice::Batch, hide_possible_values = true)]
    pub(crate) arrivals: ArrivalsChoice,
    /// What a reduce pays after its last map: simmr (its shuffle and reduce time) or mumak (its reduce time alone)
    #[arg(long, value_name = "MODEL", value_parser = parse_shuffle, default_value = "simmr")]
    pub(crate) shuffle: ShuffleModel,
    /// Share of a job's maps that must have finished before its reduces start, 0 to 1 [default: the trace's, else 0.05]
    #[arg(long, value_name = "F", value_parser = parse_ppm)]
    pub(crate) slowstart: Option<u32>,
    /// Threads to simulate on [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Show every job in the table, not the first 10 of each pool
    #[arg(long)]
    pub(crate) all: bool,
    /// Write the jobs as a trace in the order of the plan, with their pools as queues
    #[arg(long, value_name = "FILE")]
    pub(crate) write_trace: Option<PathBuf>,
    /// Write the pools as queues of the capacity scheduler with fixed slots (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) write_capacity: Option<PathBuf>,
    /// Write the pools as Hadoop's own files: mapred-site.xml, fair-scheduler.xml, capacity-scheduler.xml, and YARN's
    #[arg(long, value_name = "DIR")]
    pub(crate) write_hadoop: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What balanced-pools is to look for; `submit --batch` takes the same.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PoolArgs {
    /// Most pools of balanced-pools [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) pools: Option<u32>,
    /// Slots of a pool: machines (the same share of both kinds) or apart (each kind by itself) [default: machines]
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true)]
    pub(crate) sizes: Option<SizesChoice>,
    /// What makes a job a small one for balanced-pools: maps (their number, as printed), work (slot time) or length
    /// (time alone) [default: maps]
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    pub(crate) small_by: Option<SmallByChoice>,
    /// What balanced-pools makes small: makespan or mean-delay [default: makespan]
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    pub(crate) objective: Option<ObjectiveChoice>,
}

impl OptimizeArgs {
    /// Whether what was asked of pools has a method with pools to be about. The objective also says which row is better.
    ///
    /// # Errors
    /// Names the flag and what it is of no use with.
    pub(crate) fn check_pools(&self) -> Result<(), String> {
        let about_pools = PoolArgs { objective: None, ..self.pools.clone() };
        match about_pools.given() {
            Some(flag) if self.method != MethodChoice::BalancedPools => {
                let method =
                    self.method.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
                Err(format!(
                    "{flag}: found --method {method}, expected balanced-pools: all other methods have one pool"
                ))
            }
            _ => Ok(()),
        }
    }
}

impl PoolArgs {
    /// The first flag that was given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--pools", self.pools.is_some()),
            ("--sizes", self.sizes.is_some()),
            ("--small-by", self.small_by.is_some()),
            ("--objective", self.objective.is_some()),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }
}

/// `--method`, and `--order` of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Johnson's order.
    Johnson,
    /// Its reverse.
    ReverseJohnson,
    /// By the sum of both stages.
    ShortestFirst,
    /// By the same, from its other end.
    LongestFirst,
    /// Pools of their own for small and big jobs.
    BalancedPools,
}

/// `--sizes`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizesChoice {
    /// The same share of both kinds.
    Machines,
    /// Each kind by itself.
    Apart,
}

/// `--small-by`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmallByChoice {
    /// Number of maps.
    Maps,
    /// Slot time of all tasks.
    Work,
    /// Time alone.
    Length,
}

/// `--objective`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveChoice {
    /// The end of the last job.
    Makespan,
    /// The mean over jobs of their ends.
    MeanDelay,
}

/// `--bound`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundChoice {
    /// The least.
    Low,
    /// The mean of both.
    Average,
    /// The most.
    Upper,
}

/// `--stages`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StagesChoice {
    /// What its tasks can fill.
    Usable,
    /// All of the kind.
    Printed,
}

/// `--arrivals`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsChoice {
    /// All at the start.
    Batch,
    /// As in the trace.
    Asis,
}
