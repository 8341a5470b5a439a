//! Which rule for speculative execution a policy's parameters put in force, for pages.

use super::late;
use crate::schedulers::params::Params;

/// A rule with what is common to all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeculationRule {
    /// `none`, `hadoop`, `hadoop-0.21`, `late` or `load-aware`.
    pub rule: String,
    /// How many may run at a time, as `speculation.cap` says it: `none`, a number, or a share of the slots.
    pub cap: String,
    /// Whether they are only noted.
    pub dry_run: bool,
}

/// The rule of the policy of this name with these parameters, which it has taken.
pub fn speculation_rule(scheduler: &str, params: &Params) -> SpeculationRule {
    let default = if scheduler == "load-aware" { "load-aware" } else { "none" };
    let rule = params.get("speculation").map_or(default, String::as_str);
    let cap = if rule == "late" { format!("{}%", late::CAP_PERCENT) } else { "none".to_owned() };
    SpeculationRule {
        rule: rule.to_owned(),
        cap: params.get("speculation.cap").cloned().unwrap_or(cap),
        dry_run: params.get("speculation.dry-run").is_some_and(|value| value == "true"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_described_with_its_cap_whether_that_was_given_or_not() {
        let of = |scheduler: &str, pairs: &[(&str, &str)]| {
            let params = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            let SpeculationRule { rule, cap, dry_run } = speculation_rule(scheduler, &params);
            format!("{rule}, {cap}, {dry_run}")
        };
        assert_eq!(of("fifo", &[]), "none, none, false");
        assert_eq!(of("load-aware", &[]), "load-aware, none, false");
        // LATE (OSDI'08): 10 % of the slots.
        assert_eq!(of("fair", &[("speculation", "late")]), "late, 10%, false");
        let given = [("speculation", "hadoop"), ("speculation.cap", "0.1"), ("speculation.dry-run", "true")];
        assert_eq!(of("capacity", &given), "hadoop, 0.1, true");
    }
}
