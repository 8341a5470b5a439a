//! Which rule says when a scheduler takes over, as a setting names it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::listed::find;
use super::{RULES, SwitchingRule, Thresholds, by_name};

/// The name of a rule that is there; of `lasting` unless chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleName(&'static str);

/// There is none of that name. Whoever says so names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such switching rule, {0}")]
pub struct NoSuchRule(String);

impl RuleName {
    /// All of them, in the order of the list.
    pub fn all() -> impl Iterator<Item = RuleName> {
        RULES.into_iter().map(RuleName)
    }

    /// A rule that has seen nothing yet.
    pub(super) fn rule(self, thresholds: Thresholds) -> Box<dyn SwitchingRule> {
        by_name(self.0, thresholds).expect("a name is made of the list of rules alone")
    }
}

impl Default for RuleName {
    fn default() -> RuleName {
        RuleName(RULES[0])
    }
}

impl FromStr for RuleName {
    type Err = NoSuchRule;

    fn from_str(name: &str) -> Result<RuleName, NoSuchRule> {
        find(name, &RULES).map(RuleName).map_err(NoSuchRule)
    }
}

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for RuleName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_the_list_and_a_slip_finds_the_one_that_was_meant() {
        for (name, rule) in RULES.into_iter().zip(RuleName::all()) {
            assert_eq!(name.parse::<RuleName>(), Ok(rule));
            assert_eq!(serde_json::to_string(&rule).expect("it is text"), format!("{name:?}"));
        }
        assert_eq!(RuleName::default().to_string(), "lasting");
        let refused = |name: &str| name.parse::<RuleName>().expect_err("there is none").to_string();
        assert_eq!(refused("lastign"), "no such switching rule, did you mean `lasting`?");
        assert_eq!(refused("coin"), "no such switching rule, expected one of lasting, best");
    }
}
