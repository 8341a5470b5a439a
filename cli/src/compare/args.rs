//! Flags of `compare`.

use std::path::PathBuf;

use clap::Args;

use crate::args::FormatArgs;
use crate::flag_values::{Percentiles, parse_pair, parse_ppm};
use crate::replay::args::{
    LaneChoice, ReplayAnswerArgs, ReplayArgs, ReplayClusterArgs, ReplayFaultArgs, ReplayLoadArgs,
};

const EXAMPLES: &str = "\
Every policy is replayed on the same cluster with the same arrivals, deadlines and faults; with \
--repeats, N times, with the seeds S, S+1, …, over all cores. Figures are then means with the 95 % \
confidence interval of the mean over the seeds (Student's t), and the change against the first \
policy is paired seed by seed.

Examples:
  howdah compare run.json --scheduler fifo --scheduler fair --map-slots 64 --reduce-slots 64
  howdah compare run.json --scheduler fifo --scheduler 'fbq:queues=2,limits=10s' --arrivals load:0.7 --repeats 20
  howdah compare run.json --scheduler fifo --scheduler fair --csv jobs.csv --figure jobs.svg --output json";

/// `howdah compare`
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// File in any format that `howdah trace import` reads
    pub(crate) trace: PathBuf,
    /// A policy, with parameters of its own behind a colon; at least twice, the first is what others are compared with
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", value_parser = parse_contender, required = true, help_heading = "Policies")]
    pub(crate) scheduler: Vec<Contestant>,
    /// Set a parameter of all the policies, or of a foreign trace's import; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = "Policies")]
    pub(crate) define: Vec<(String, String)>,
    /// Share of a job's maps that must have finished before its reduces start, 0 to 1 [default: the trace's, else 0.05]
    #[arg(long, value_name = "F", value_parser = parse_ppm, help_heading = "Policies")]
    pub(crate) slowstart: Option<u32>,
    #[command(flatten)]
    pub(crate) cluster: ReplayClusterArgs,
    #[command(flatten)]
    pub(crate) load: ReplayLoadArgs,
    #[command(flatten)]
    pub(crate) faults: ReplayFaultArgs,
    /// Replays under each policy, with one seed each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Answer")]
    pub(crate) repeats: u32,
    /// Leave out slowdowns, for which each job is simulated alone once more
    #[arg(long, help_heading = "Answer")]
    pub(crate) no_slowdown: bool,
    /// Write a row for each job of each replay
    #[arg(long, value_name = "FILE", help_heading = "Answer")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw the distributions of completion times (.svg)
    #[arg(long, value_name = "FILE", help_heading = "Answer")]
    pub(crate) figure: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// A policy as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contestant {
    /// The whole word: what it is called in answers.
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) params: Vec<(String, String)>,
}

/// `fair`, or `fbq:queues=2,limits=1m,10m`: a piece without a key goes on with the value before it.
pub(crate) fn parse_contender(text: &str) -> Result<Contestant, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut params: Vec<(String, String)> = Vec::new();
    for piece in rest.split(',').filter(|piece| !piece.is_empty()) {
        match (piece.split_once('='), params.last_mut()) {
            (Some((key, value)), _) if !key.trim().is_empty() => params.push((key.trim().to_owned(), value.to_owned())),
            (None, Some((_, value))) => *value = format!("{value},{piece}"),
            _ => return Err(format!("found `{piece}`, expected NAME or NAME:KEY=VALUE,KEY=VALUE")),
        }
    }
    if name.trim().is_empty() {
        return Err("expected the name of a policy".to_owned());
    }
    Ok(Contestant { label: text.to_owned(), name: name.trim().to_owned(), params })
}

impl CompareArgs {
    /// What a replay under one of the policies would have been asked.
    pub(crate) fn replay(&self, one: &Contestant) -> ReplayArgs {
        ReplayArgs {
            trace: self.trace.clone(),
            scheduler: Some(one.name.clone()),
            define: self.define.clone(),
            mapred_site: None,
            slowstart: self.slowstart,
            cluster: self.cluster.clone(),
            load: self.load.clone(),
            faults: self.faults.clone(),
            answer: ReplayAnswerArgs {
                format: self.format,
                all: false,
                percentiles: Percentiles(Vec::new()),
                no_slowdown: self.no_slowdown,
                timeline: None,
                lanes: LaneChoice::Slot,
                csv: None,
                log: None,
                decisions: None,
                explain: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_brings_parameters_of_its_own() {
        let params = |text: &str| parse_contender(text).expect("a policy").params;
        assert_eq!(params("fair"), []);
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(params("fbq:queues=3,limits=1m,10m"), [pair("queues", "3"), pair("limits", "1m,10m")]);
        assert!(parse_contender(":a=b").is_err());
        assert!(parse_contender("fbq:queues").is_err());
    }
}
