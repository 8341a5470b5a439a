//! Which rule says when a scheduler takes over, as a setting names it.

use super::super::listed::{List, Name};
use super::{RULES, SwitchingRule, Thresholds, by_name};

/// The list of switching rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {}

impl List for Rules {
    const WHAT: &'static str = "switching rule";
    const NAMES: &'static [&'static str] = &RULES;
}

/// The name of a rule that is there; of `lasting` unless chosen.
pub type RuleName = Name<Rules>;

impl RuleName {
    /// A rule that has seen nothing yet.
    pub(super) fn rule(self, thresholds: Thresholds) -> Box<dyn SwitchingRule> {
        by_name(self.text(), thresholds).expect("a name is made of the list of rules alone")
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
