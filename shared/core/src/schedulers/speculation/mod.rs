//! When a running task gets a speculative attempt.
//!
//! A policy asks its rule once no pending task could be given; a rule implements [`Speculation`] and fits under any
//! job order. They all read `speculation.cap`: how many speculative attempts may run at a time, and
//! `speculation.dry-run`: whether they are only noted. A rule may also keep a pending task from a worker
//! ([`Speculation::admits`]).

mod candidate;
mod cap;
mod hadoop;
mod hadoop_021;
mod in_force;
mod late;
mod load_aware;
mod rule;
mod running;
mod speculative_attempts;
mod statistics;

pub use self::in_force::{SpeculationRule, speculation_rule};
pub use self::rule::{NoSpeculation, Speculation};

use self::hadoop::Hadoop;
use self::hadoop_021::Hadoop021;
use self::late::Late;
use self::load_aware::LoadAware;
use self::speculative_attempts::SpeculativeAttempts;
use super::params::{Params, Reader, SchedulerError};

/// The names of all rules; the first is the default.
const RULES: [&str; 5] = ["none", "hadoop", "hadoop-0.21", "late", "load-aware"];

/// The rule that `speculation` names.
pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    let rule = params.word("speculation", &RULES)?;
    params.takes_any_rule(rules_that_read);
    named(rule, params)
}

fn named(rule: &str, params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    Ok(match rule {
        "hadoop" => Box::new(Hadoop::from_params(params)?),
        "hadoop-0.21" => Box::new(Hadoop021::from_params(params)?),
        "late" => Box::new(Late::from_params(params)?),
        "load-aware" => Box::new(LoadAware::from_params(params)?),
        _ => Box::new(NoSpeculation),
    })
}

/// The rules that have a parameter of this name.
pub(super) fn rules_that_read(key: &str) -> Vec<&'static str> {
    let params = Params::new();
    let reads = |rule: &&str| {
        let mut reader = Reader::of(&params);
        named(rule, &mut reader).is_ok() && reader.knows(key)
    };
    RULES.into_iter().filter(reads).collect()
}

/// Load-Aware, for a policy that has no other rule.
pub(super) fn load_aware(params: &mut Reader<'_>) -> Result<Box<dyn Speculation>, SchedulerError> {
    params.word("speculation", &["load-aware"])?;
    Ok(Box::new(LoadAware::from_params(params)?))
}
