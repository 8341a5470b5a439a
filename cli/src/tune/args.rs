//! Flags of `tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use howdah_core::replay::Arrivals;
use howdah_core::time::Span;
use howdah_planning::tune::Objective;

use crate::args::FormatArgs;
use crate::flag_values::{parse_arrivals, parse_pair, parse_span};

/// `howdah tune`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Every candidate is simulated --repeats times with other arrivals, on all cores; limits are tried on a \
grid, then closer around the best. The best is the one with the lowest objective among those that \
leave the median slowdown at most 5 % above FIFO's.

Examples:
  howdah trace generate slowdown-swim -o swim.json
  howdah tune fbq swim.json --map-slots 600 --reduce-slots 200 --arrivals load:0.45
  howdah tune tags swim.json --map-slots 600 --reduce-slots 200 --arrivals load:0.45 --partitions 20,30,50
  howdah tune fbq run.json --queues 4 --limits 10s,30s,100s,300s,1000s --output json
  howdah tune sita swim.json -D prediction=trace -o curve.svg
  howdah tune sita swim.json --map-slots 600 --reduce-slots 200 --write-hadoop conf")]
pub(crate) struct TuneArgs {
    /// Policy with time limits: fbq, tags or sita
    pub(crate) scheduler: String,
    /// File in any format that `howdah trace import` reads; - is standard input
    pub(crate) trace: PathBuf,
    /// Set a parameter that stays, or one of a foreign trace's import, such as swim.split=64MiB; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(crate) define: Vec<(String, String)>,
    /// Map slots in all [default: those of the trace's cluster, or 64]
    #[arg(long, value_name = "N", requires = "reduce_slots")]
    pub(crate) map_slots: Option<u16>,
    /// Reduce slots in all [default: those of the trace's cluster, or 64]
    #[arg(long, value_name = "N", requires = "map_slots")]
    pub(crate) reduce_slots: Option<u16>,
    /// When jobs come: asis, batch, poisson:MEAN, or load:RHO
    #[arg(long, value_name = "RULE", value_parser = parse_arrivals, default_value = "asis")]
    pub(crate) arrivals: Arrivals,
    /// Number of queues
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=16))]
    pub(crate) queues: u32,
    /// Time limits to try [default: factors of √2 over the middle of the jobs' sizes]
    #[arg(long, value_name = "LIST", value_parser = parse_limits)]
    pub(crate) limits: Option<Limits>,
    /// Sizes of partition 1 to try, in percent [default: 10,20,30,40,50]
    #[arg(long, value_name = "LIST", value_parser = parse_shares)]
    pub(crate) partitions: Option<Shares>,
    /// Simulations of each candidate; 1 where arrivals are not drawn [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) repeats: Option<u32>,
    /// What is to be low: variability (the 95th percentile over the median), p95 or mean
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Wanted::Variability, hide_possible_values = true)]
    pub(crate) objective: Wanted,
    /// Try no limits between those of the grid
    #[arg(long)]
    pub(crate) no_refine: bool,
    /// Of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Draw the curve (.svg)
    #[arg(long = "out", short = 'o', value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Write the best partitions as queues of Hadoop's own files, as optimize does; of tags and sita
    #[arg(long, value_name = "DIR")]
    pub(crate) write_hadoop: Option<PathBuf>,
}

/// A list of limits, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits(pub(crate) Vec<Span>);

/// A list of percents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares(pub(crate) Vec<u32>);

/// `--objective`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wanted {
    /// V_F(95).
    Variability,
    /// The 95th percentile.
    P95,
    /// The mean.
    Mean,
}

impl From<Wanted> for Objective {
    fn from(wanted: Wanted) -> Objective {
        match wanted {
            Wanted::Variability => Objective::Variability,
            Wanted::P95 => Objective::P95,
            Wanted::Mean => Objective::Mean,
        }
    }
}

fn parse_limits(text: &str) -> Result<Limits, String> {
    let limits: Result<Vec<Span>, String> = text.split(',').map(|word| parse_span(word.trim())).collect();
    let mut limits = limits
        .ok()
        .filter(|limits| limits.iter().all(|&limit| limit > Span::ZERO))
        .ok_or_else(|| "expected durations above 0 with commas, such as 1000s,2000s,1h".to_owned())?;
    limits.sort_unstable();
    limits.dedup();
    Ok(Limits(limits))
}

fn parse_shares(text: &str) -> Result<Shares, String> {
    let one = |word: &str| word.trim().trim_end_matches('%').parse().ok().filter(|share| (1..=99).contains(share));
    let shares: Option<Vec<u32>> = text.split(',').map(one).collect();
    shares.map(Shares).ok_or_else(|| "expected percents from 1 to 99 with commas, such as 10,20,30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_put_in_order() {
        let limits = parse_limits("1m,10s, 10s").map(|limits| limits.0);
        assert_eq!(limits, Ok(vec![Span::from_secs(10), Span::from_secs(60)]));
        assert_eq!(parse_shares("10,20%"), Ok(Shares(vec![10, 20])));
        assert!(["", "0s", "x"].iter().all(|text| parse_limits(text).is_err()));
        assert!(["", "0", "100", "1,x"].iter().all(|text| parse_shares(text).is_err()));
    }
}
