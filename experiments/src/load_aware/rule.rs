//! What is compared: the thesis's three schedulers, no speculation at all, and what tells Load-Aware's order from its rule.

use std::collections::BTreeMap;

/// A scheduler with a speculation rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// FIFO without speculative attempts.
    None,
    /// FIFO with Hadoop's rule: the thesis's `default`, 0.20.2.
    Hadoop,
    /// FIFO with LATE, at most two speculative attempts at a time (§4.2).
    Late,
    /// Fair order with Load-Aware: the thesis merged it into the fair scheduler (§3.3).
    LoadAware,
    /// FIFO with Load-Aware: its rule alone, without another order of jobs.
    LoadAwareFifo,
}

impl Rule {
    /// All of them; the first four are compared, the last explains.
    pub(super) const ALL: [Rule; 5] = [Rule::None, Rule::Hadoop, Rule::Late, Rule::LoadAware, Rule::LoadAwareFifo];

    /// As printed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Rule::None => "none",
            Rule::Hadoop => "Hadoop",
            Rule::Late => "LATE",
            Rule::LoadAware => "Load-Aware",
            Rule::LoadAwareFifo => "Load-Aware, FIFO",
        }
    }

    /// The scheduler and its parameters, with the one-minute lag of Hadoop and LATE scaled to a map's time.
    pub(super) fn policy(self, lag_ms: u64, curve: &str) -> (&'static str, BTreeMap<String, String>) {
        let age = format!("{lag_ms}ms");
        let (name, pairs): (_, Vec<(&str, &str)>) = match self {
            Rule::None => ("fifo", vec![]),
            Rule::Hadoop => ("fifo", vec![("speculation", "hadoop"), ("speculation.age", &age)]),
            Rule::Late => ("fifo", vec![("speculation", "late"), ("speculation.age", &age), ("speculation.cap", "2")]),
            Rule::LoadAware => ("load-aware", vec![("speculation.age", &age), ("load-aware.curve", curve)]),
            Rule::LoadAwareFifo => {
                ("fifo", vec![("speculation", "load-aware"), ("speculation.age", &age), ("load-aware.curve", curve)])
            }
        };
        (name, pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }
}
